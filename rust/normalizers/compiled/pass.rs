//! The pass over one text.

use super::inner::{Inner, LONGEST};
use super::memo::{Piece, PieceMemo};
use super::output::{Mark, Output};
use super::rules::run;
use crate::scan::simd::Backend;
use crate::scan::simd::skip::SkipRun;
use crate::structures::char_table::CharTable;

/// Pieces between two cuts that are kept in mind.
const STEP: usize = 64;

/// Runs of inert characters are looked for from this lead byte on. Characters before it, as of Latin scripts, mostly stand alone among ASCII.
const LEAST_LEAD: u8 = 0xce;

/// A place where text may be cut if enough pieces follow.
#[derive(Clone, Copy, Debug, Default)]
struct Cut {
    at: usize,
    mark: Mark,
    /// Pieces of the row before it.
    pieces: usize,
}

/// The pass over one text.
pub(super) struct Pass<'a, 't> {
    inner: &'a Inner,
    text: &'t str,
    memo: &'a mut PieceMemo,
    out: &'a mut Output<'t>,
    /// Pieces of the row that ends here, each of which is left at every stage.
    pieces: usize,
    /// The last place where text may be cut.
    sure: Cut,
    /// A later one, once enough pieces follow it.
    next: Option<Cut>,
    inert: Option<&'a CharTable>,
}

impl<'a, 't> Pass<'a, 't> {
    pub(super) fn new(
        inner: &'a Inner,
        text: &'t str,
        memo: &'a mut PieceMemo,
        out: &'a mut Output<'t>,
    ) -> Self {
        memo.prepare();
        let inert = inner.inert(text.len());
        Self { inner, text, memo, out, pieces: 0, sure: Cut::default(), next: None, inert }
    }

    /// Writes the rewrite of the text from `at` on, where it may be cut; none if the text cannot be rewritten part by part.
    pub(super) fn run(mut self, mut at: usize) -> Option<()> {
        let text = self.text.as_bytes();
        self.sure = Cut { at, mark: self.out.mark(), pieces: 0 };
        while let Some(&byte) = text.get(at) {
            let start = at;
            if byte.is_ascii() {
                at = self.map_ascii(start);
            }
            if at < text.len() {
                at = match self.skip_inert(at) {
                    Some(end) => end,
                    None => self.take_pieces(start, at)?,
                };
            }
        }
        Some(())
    }

    /// Maps characters of ASCII from `start` on; returns where the run of them ends.
    fn map_ascii(&mut self, start: usize) -> usize {
        let Self { inner, text, out, pieces, sure, next, .. } = self;
        let before = *pieces;
        let end = inner.ascii.map_run(text.as_bytes(), start, out, |at, out| {
            let cut = Cut { at, mark: out.mark(), pieces: before + (at - start) };
            note(inner.reach, cut, sure, next);
        });
        *pieces = before + (end - start);
        end
    }

    /// Skips inert characters from `at` on, but for the last one before another character, which may join it; returns where they end. None if
    /// there is nothing to skip.
    fn skip_inert(&mut self, at: usize) -> Option<usize> {
        let table = self.inert.filter(|_| self.text.as_bytes()[at] >= LEAST_LEAD)?;
        let run = SkipRun { table, kinds: 1, text: self.text, start: at };
        let mut end = Backend::best().run(run);
        if end < self.text.len() {
            end = self.text.floor_char_boundary(end.saturating_sub(1));
        }
        if end <= at {
            return None;
        }
        // At least so many characters.
        self.pieces += (end - at) / 4;
        let cut = Cut { at: end, mark: self.out.mark(), pieces: self.pieces };
        note(self.inner.reach, cut, &mut self.sure, &mut self.next);
        Some(end)
    }

    /// Takes the pieces from `at` on, up to a run of ASCII, which may be empty; `start` begins the run of ASCII before `at`. Returns
    /// where they end.
    fn take_pieces(&mut self, start: usize, at: usize) -> Option<usize> {
        let (ascii, text) = (&self.inner.ascii, self.text.as_bytes());
        let mut at = at;
        let (mut piece, mut len) = self.of_char_at(at);
        if !piece.is_closed() {
            let before = start.max(at.saturating_sub(LONGEST));
            let first = text[before..at].iter().rposition(|&byte| ascii.is_start(byte));
            let Some(first) = first else { return self.run_stages(at) };
            self.take_back(before + first, at);
            return self.take_cluster(before + first);
        }
        loop {
            let end = at + len;
            let Some(&next) = text.get(end) else {
                self.put(at, end, piece);
                return Some(end);
            };
            let following;
            if ascii.is_plain(next) {
                if !ascii.is_start(next) && !piece.is_firm() {
                    return self.take_cluster(at);
                }
                self.put(at, end, piece);
                // A single character of ASCII between others is sooner looked up.
                let is_single = text.get(end + 1).is_some_and(|byte| !byte.is_ascii());
                if !is_single || !ascii.is_start(next) {
                    return Some(end);
                }
                following = self.of_char_at(end);
            } else {
                following = self.of_char_at(end);
                if !following.0.is_closed() {
                    return self.take_cluster(at);
                }
                self.put(at, end, piece);
            }
            (at, (piece, len)) = (end, following);
        }
    }

    /// Takes the character at `at`, which may begin a piece, with all characters after it that may not; returns where it ends.
    fn take_cluster(&mut self, at: usize) -> Option<usize> {
        let mut end = at;
        for c in self.text[at..].chars() {
            if end > at && self.begins_piece(c) {
                break;
            }
            end += c.len_utf8();
            if end - at > LONGEST {
                return self.run_stages(at);
            }
        }
        let piece = self.memo.of_text(&self.text[at..end], &self.inner.rules);
        if !piece.is_closed() {
            return self.run_stages(at);
        }
        self.put(at, end, piece);
        Some(end)
    }

    #[inline]
    fn of_char(&mut self, c: char) -> Piece {
        self.memo.of_char(c, &self.inner.rules)
    }

    /// The piece of the character at `at`, and its length.
    #[inline]
    fn of_char_at(&mut self, at: usize) -> (Piece, usize) {
        self.memo.of_char_at(self.text, at, &self.inner.rules)
    }

    /// True if `c` is a piece by itself.
    #[inline]
    fn begins_piece(&mut self, c: char) -> bool {
        self.of_char(c).is_closed()
    }

    #[inline]
    fn put(&mut self, at: usize, end: usize, piece: Piece) {
        if !piece.stays() {
            self.out.put(at, end, self.memo.made(piece));
        }
        if !piece.is_solid() {
            return self.end_row();
        }
        self.pieces += 1;
        if self.pieces.is_multiple_of(STEP) {
            let cut = Cut { at: end, mark: self.out.mark(), pieces: self.pieces };
            note(self.inner.reach, cut, &mut self.sure, &mut self.next);
        }
    }

    /// Forgets the rewrite of the characters of ASCII from `at` up to `end`.
    fn take_back(&mut self, at: usize, end: usize) {
        self.out.take_back_to(at);
        self.pieces = self.pieces.saturating_sub(end - at);
        self.next = self.next.filter(|cut| cut.at <= at);
    }

    fn end_row(&mut self) {
        if let Some(cut) = self.next.take().filter(|cut| cut.pieces + self.inner.reach <= self.pieces) {
            self.sure = cut;
        }
        self.pieces = 0;
    }

    /// Runs the stages on the text at `at` with all text around it that they may see together; returns where that ends.
    #[cold]
    #[inline(never)]
    fn run_stages(&mut self, at: usize) -> Option<usize> {
        self.end_row();
        let (start, end) = (self.sure.at, self.next_cut(at));
        let made = run(&self.inner.rules.0, &self.text[start..end], 0)?;
        self.out.return_to(self.sure.mark);
        self.out.put_changed(start, end, &made);
        self.pieces = self.inner.reach;
        self.sure = Cut { at: end, mark: self.out.mark(), pieces: self.pieces };
        Some(end)
    }

    /// The first place after the character at `at` where text may be cut, or the end of the text.
    fn next_cut(&mut self, at: usize) -> usize {
        let (reach, ascii) = (self.inner.reach, &self.inner.ascii);
        let (mut pieces, mut cut, mut end) = (0, at, at);
        let mut before: Option<(char, Piece)> = None;
        for c in self.text[at..].chars() {
            end += c.len_utf8();
            let piece = self.of_char(c);
            let follows = |(before, piece): (char, Piece)| {
                let are_plain = before.is_ascii() && ascii.is_plain(before as u8);
                piece.is_firm() || are_plain && !ascii.do_join(before as u8, c as u8)
            };
            let is_piece = piece.is_closed() && piece.is_solid()
                || c.is_ascii() && ascii.is_plain(c as u8) && pieces > 0 && before.is_some_and(follows);
            // The text at `at` itself is no piece.
            pieces = if is_piece && before.is_some() { pieces + 1 } else { 0 };
            if pieces == reach {
                cut = end;
            } else if pieces == 2 * reach {
                return cut;
            }
            before = Some((c, piece));
        }
        self.text.len()
    }
}

/// Keeps a cut in mind.
fn note(reach: usize, cut: Cut, sure: &mut Cut, next: &mut Option<Cut>) {
    match *next {
        // The last characters of ASCII may be taken back.
        Some(before) if cut.pieces < before.pieces + reach + LONGEST => {}
        Some(before) => (*sure, *next) = (before, Some(cut)),
        None if cut.pieces >= reach => *next = Some(cut),
        None => {}
    }
}
