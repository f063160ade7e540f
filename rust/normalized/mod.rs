//! A text on its way through the stages, aligned to the original bytes.
//!
//! [`Normalized`] is the text as the next stage sees it, with its alignment. A stage that changes the text builds a
//! [`Rewrite`]. [`PreTokenized`] adds the spans of pre-tokens.

mod alignment;
mod normalized_string;
mod pre_tokenized_string;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

pub use alignment::ByteRange;
use alignment::{Runs, RunsBuilder};
pub use normalized_string::NormalizedString;
pub use pre_tokenized_string::{CharOffsets, PreTokenizedString, StringSplit, StringToken};

/// The alignment of a text: the original bytes of each character.
#[derive(Clone, Debug)]
enum Alignment<'a> {
    /// The text is unchanged original text that starts at this byte.
    Identity(u32),
    /// The text was changed.
    Runs(Runs<'a>),
    /// Offsets are not wanted; only the beginning is tracked.
    Untracked(Beginning),
}

/// The alignment if offsets are not wanted.
#[derive(Clone, Copy, Debug)]
struct Beginning {
    /// True if the original of the text begins at byte 0.
    is_origin: bool,
    /// Length of the prefix of the text that stands for the original from byte 0 on.
    len: usize,
}

/// Text after normalization, aligned to the original.
#[derive(Clone, Debug)]
pub struct Normalized<'a> {
    text: Cow<'a, str>,
    alignment: Alignment<'a>,
}

impl<'a> Normalized<'a> {
    /// Unchanged original text, which starts at byte `start` of the original. With `tracked`, offsets will be wanted.
    pub fn new(text: &'a str, start: usize, tracked: bool) -> Self {
        let alignment = if tracked {
            Alignment::Identity(start as u32)
        } else {
            let first = text.chars().next().filter(|_| start == 0);
            Alignment::Untracked(Beginning { is_origin: start == 0, len: first.map_or(0, char::len_utf8) })
        };
        Self { text: Cow::Borrowed(text), alignment }
    }

    /// `text` without alignment, which begins as this one, an untracked text, does.
    pub fn continued<'b>(&self, text: String) -> Normalized<'b> {
        let alignment = match self.alignment {
            Alignment::Untracked(beginning) => Alignment::Untracked(beginning),
            _ => Alignment::Untracked(Beginning { is_origin: false, len: 0 }),
        };
        Normalized { text: Cow::Owned(text), alignment }
    }

    /// A changed text, whose original starts at byte `origin`; `chars` are the lengths of its characters and the original
    /// bytes that each stands for.
    fn aligned(text: &'a str, origin: u32, chars: impl Iterator<Item = (u32, ByteRange)>) -> Self {
        let mut runs = RunsBuilder::default();
        chars.for_each(|(len, source)| runs.push_char(len, source));
        Self { text: Cow::Borrowed(text), alignment: Alignment::Runs(runs.finish(origin)) }
    }

    /// The text as the next stage sees it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text without its alignment.
    pub fn into_text(self) -> Cow<'a, str> {
        self.text
    }

    /// True if no stage has changed the text: it is borrowed from the original.
    pub fn is_unchanged(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    /// True if offsets are tracked.
    pub fn is_tracked(&self) -> bool {
        !matches!(self.alignment, Alignment::Untracked(_))
    }

    /// The original bytes that `range` of the text stands for; a character that `range` cuts counts as a whole.
    ///
    /// An empty range, and any range of an untracked text, gives an empty range.
    pub fn original(&self, range: Range<usize>) -> ByteRange {
        match &self.alignment {
            Alignment::Identity(base) => {
                let start = self.text.floor_char_boundary(range.start) as u32;
                let end = self.text.ceil_char_boundary(range.end) as u32;
                (base + start, base + end)
            }
            Alignment::Runs(runs) => runs.original(&self.text, range),
            Alignment::Untracked(_) => (0, 0),
        }
    }

    /// True if the character at byte `at` stands for the beginning of the whole original text.
    pub fn is_at_beginning(&self, at: usize) -> bool {
        match &self.alignment {
            Alignment::Untracked(beginning) => at < beginning.len,
            _ => self.original(at..at + 1).0 == 0,
        }
    }

    /// Start of this text's original.
    fn origin(&self) -> u32 {
        match &self.alignment {
            Alignment::Identity(base) => *base,
            Alignment::Runs(runs) => runs.origin(),
            Alignment::Untracked(_) => 0,
        }
    }

    /// Starts a rewrite of this text.
    pub fn rewrite(&self) -> Rewrite<'_> {
        let text = String::with_capacity(self.text.len() + self.text.len() / 8);
        Rewrite { from: self, text, runs: self.is_tracked().then(RunsBuilder::default), beginning: 0 }
    }

    /// The text in `range`, which must lie on character boundaries.
    pub fn slice(&self, range: Range<usize>) -> Normalized<'_> {
        let alignment = match &self.alignment {
            Alignment::Identity(base) => Alignment::Identity(base + range.start as u32),
            Alignment::Runs(runs) => {
                let origin = runs.original(&self.text, range.clone()).0;
                Alignment::Runs(runs.from(range.start, origin))
            }
            Alignment::Untracked(Beginning { len, .. }) => {
                let (is_origin, len) = (range.start < *len, len.saturating_sub(range.start));
                Alignment::Untracked(Beginning { is_origin, len })
            }
        };
        Normalized { text: Cow::Borrowed(&self.text[range]), alignment }
    }
}

/// A new text under construction; each of its characters is aligned to a range of the old text.
#[derive(Debug)]
pub struct Rewrite<'a> {
    from: &'a Normalized<'a>,
    text: String,
    runs: Option<RunsBuilder>,
    /// [`Beginning::len`] of the new text, for an untracked text.
    beginning: usize,
}

impl Rewrite<'_> {
    /// Records that everything written so far reaches up to the old character at byte `at`, if that is at the
    /// beginning.
    fn note(&mut self, at: usize) {
        if let Alignment::Untracked(Beginning { len, .. }) = self.from.alignment
            && at < len
        {
            self.beginning = self.text.len();
        }
    }

    /// Appends `c`, which stands for bytes `source` of the old text.
    pub fn push(&mut self, c: char, source: Range<usize>) {
        self.text.push(c);
        match &mut self.runs {
            Some(runs) => runs.push_char(c.len_utf8() as u32, self.from.original(source)),
            None => self.note(source.start),
        }
    }

    /// Appends several characters, all of which stand for bytes `source` of the old text.
    pub fn push_all(&mut self, chars: impl Iterator<Item = char>, source: Range<usize>) {
        let start = self.text.len();
        let count = chars.map(|c| self.text.push(c)).count();
        let Some(runs) = &mut self.runs else { return self.note(source.start) };
        let (len, range) = ((self.text.len() - start) as u32, self.from.original(source));
        if count == 1 { runs.push_char(len, range) } else { runs.push(len, range) }
    }

    /// Appends `inserted`, which stands for the old character before byte `end`, a character boundary.
    ///
    /// At the beginning it stands for the empty range where the original begins.
    pub fn push_after(&mut self, inserted: &str, end: usize) {
        self.text.push_str(inserted);
        let old = self.from;
        match (&mut self.runs, end.checked_sub(1)) {
            (Some(runs), Some(last)) => {
                let is_one = inserted.chars().nth(1).is_none();
                let (len, range) = (inserted.len() as u32, old.original(last..end));
                if is_one { runs.push_char(len, range) } else { runs.push(len, range) }
            }
            (Some(runs), None) => runs.push(inserted.len() as u32, (old.origin(), old.origin())),
            (None, Some(last)) => self.note(last),
            (None, None) => {
                if let Alignment::Untracked(Beginning { is_origin: true, .. }) = old.alignment {
                    self.beginning = self.text.len();
                }
            }
        }
    }

    /// Appends `range` of the old text unchanged.
    pub fn copy(&mut self, range: Range<usize>) {
        let start = self.text.len();
        self.text.push_str(&self.from.text[range.clone()]);
        match (&self.from.alignment, &mut self.runs) {
            (Alignment::Identity(base), Some(runs)) => {
                runs.copy(range.len() as u32, base + range.start as u32);
            }
            (Alignment::Runs(old), Some(runs)) => old.copy_to(range, runs),
            (Alignment::Untracked(Beginning { len, .. }), _) if range.start < *len => {
                self.beginning = start + len.min(&range.end) - range.start;
            }
            _ => {}
        }
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// True if nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The new text.
    pub fn finish<'b>(self) -> Normalized<'b> {
        let alignment = match (self.runs, &self.from.alignment) {
            (Some(runs), _) => Alignment::Runs(runs.finish(self.from.origin())),
            (None, Alignment::Untracked(Beginning { is_origin, .. })) => {
                Alignment::Untracked(Beginning { is_origin: *is_origin, len: self.beginning })
            }
            (None, _) => Alignment::Untracked(Beginning { is_origin: false, len: 0 }),
        };
        Normalized { text: Cow::Owned(self.text), alignment }
    }
}

/// A text cut into pre-tokens.
#[derive(Clone, Debug)]
pub struct PreTokenized<'a> {
    /// The text that the spans refer to.
    pub text: Normalized<'a>,
    /// Byte ranges of the pre-tokens in the text: ascending, without overlap, never empty.
    pub spans: Vec<Range<usize>>,
}

impl<'a> PreTokenized<'a> {
    /// The whole text as one pre-token, or none if it is empty.
    pub fn new(text: Normalized<'a>) -> Self {
        let len = text.text().len();
        let spans = if len == 0 { Vec::new() } else { std::iter::once(0..len).collect() };
        Self { text, spans }
    }

    /// Replaces every span by the ranges that `cut` pushes for its text, relative to the span. Empty ranges are
    /// dropped.
    pub fn cut(&mut self, mut cut: impl FnMut(&str, &mut Vec<Range<usize>>)) {
        let result: Result<(), std::convert::Infallible> = self.try_cut(|piece, pieces| {
            cut(piece, pieces);
            Ok(())
        });
        match result {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// As [`Self::cut`], for a `cut` that can fail.
    ///
    /// # Errors
    /// The errors of `cut`.
    pub fn try_cut<E>(
        &mut self,
        mut cut: impl FnMut(&str, &mut Vec<Range<usize>>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut spans = Vec::with_capacity(self.spans.len() * 2);
        let mut pieces = Vec::new();
        for span in &self.spans {
            pieces.clear();
            cut(&self.text.text()[span.clone()], &mut pieces)?;
            let kept = pieces.iter().filter(|piece| !piece.is_empty());
            spans.extend(kept.map(|piece| span.start + piece.start..span.start + piece.end));
        }
        self.spans = spans;
        Ok(())
    }
}
