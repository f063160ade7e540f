//! Rewrites of pieces: a memo by character and by text.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::images::{Image, Remains};
use super::rules::Rules;
use crate::structures::reused::{Bounds, Reused};

/// Single characters below this have an entry in a table: all common ones.
const MEMO_CHARS: usize = 0x2_0000;

/// Bytes of rewritten pieces at most; a full memo is emptied.
const LIMIT: usize = 1 << 18;

/// The facts known of a text, and where in [`PieceMemo`] its rewrite stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece(u32);

const IS_ASKED: u32 = 1;
const IS_CLOSED: u32 = 2;
const STAYS: u32 = 4;
const IS_SOLID: u32 = 8;
const IS_FIRM: u32 = 16;
const LEN_SHIFT: u32 = 5;
const LEN_BITS: u32 = 8;
const START_SHIFT: u32 = LEN_SHIFT + LEN_BITS;

impl Piece {
    /// True if the text is closed at every stage.
    #[inline]
    pub(super) fn is_closed(self) -> bool {
        self.0 & IS_CLOSED != 0
    }

    /// True if the rewrite is the text itself.
    #[inline]
    pub(super) fn stays(self) -> bool {
        self.0 & STAYS != 0
    }

    /// True if the text vanishes at no stage.
    #[inline]
    pub(super) fn is_solid(self) -> bool {
        self.0 & IS_SOLID != 0
    }

    /// True if the text is solid, and no match that goes on after the text holds its end.
    #[inline]
    pub(super) fn is_firm(self) -> bool {
        self.0 & IS_FIRM != 0
    }
}

/// The rewrite of a closed text.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) is_solid: bool,
    pub(super) is_firm: bool,
}

impl Rules {
    /// The rewrite of `text` beside other pieces; none if `text` is not known to be a piece.
    fn answer(&self, text: &str) -> Option<Answer> {
        let Image { text, remains, may_go_on, .. } = self.image(text, false)?;
        Some(Answer { text, is_solid: remains != Remains::Nothing, is_firm: !may_go_on })
    }
}

/// The memo of one thread.
#[derive(Debug, Default)]
pub struct PieceMemo {
    /// Allocated with the first character.
    chars: Vec<u32>,
    texts: HashMap<Box<str>, Piece, FixedState>,
    /// Bytes of the keys of `texts`.
    key_bytes: usize,
    /// Rewrites of pieces, one after the other.
    made: String,
}

impl Reused for PieceMemo {
    fn bytes(&self) -> usize {
        self.chars.bytes() + self.texts.bytes() + self.key_bytes + self.made.bytes()
    }

    fn trim(&mut self, bounds: Bounds) {
        if self.is_full() || self.bytes() > bounds.memo {
            *self = Self::default();
        }
    }
}

impl PieceMemo {
    fn is_full(&self) -> bool {
        self.made.len() > LIMIT || self.key_bytes > LIMIT
    }

    /// Makes room for the pieces of another text.
    pub(super) fn prepare(&mut self) {
        if self.is_full() {
            *self = Self::default();
        }
    }

    /// The rewrite of a piece that does not stay as it is.
    #[inline]
    pub(super) fn made(&self, piece: Piece) -> &str {
        let start = (piece.0 >> START_SHIFT) as usize;
        let len = (piece.0 >> LEN_SHIFT) as usize % (1 << LEN_BITS);
        &self.made[start..start + len]
    }

    /// The piece of a single character.
    #[inline]
    pub(super) fn of_char(&mut self, c: char, rules: &Rules) -> Piece {
        match self.chars.get(c as usize) {
            Some(&piece) if piece != 0 => Piece(piece),
            _ => self.ask_char(c, rules),
        }
    }

    /// The piece of the character at byte `at` of `text`, and its length.
    #[inline]
    pub(super) fn of_char_at(&mut self, text: &str, at: usize, rules: &Rules) -> (Piece, usize) {
        let (code, len) = decode(&text.as_bytes()[at..]);
        match self.chars.get(code) {
            Some(&piece) if piece != 0 => (Piece(piece), len),
            _ => (text[at..].chars().next().map_or(Piece(IS_ASKED), |c| self.of_char(c, rules)), len),
        }
    }

    #[cold]
    #[inline(never)]
    fn ask_char(&mut self, c: char, rules: &Rules) -> Piece {
        let mut text = [0; 4];
        let text = c.encode_utf8(&mut text);
        if c as usize >= MEMO_CHARS {
            return self.of_text(text, rules);
        }
        if self.chars.is_empty() {
            self.chars = vec![0; MEMO_CHARS];
        }
        let piece = self.ask(text, rules);
        self.chars[c as usize] = piece.0;
        piece
    }

    /// The piece of a text of several characters.
    pub(super) fn of_text(&mut self, text: &str, rules: &Rules) -> Piece {
        if let Some(&known) = self.texts.get(text) {
            return known;
        }
        if self.is_full() {
            return Piece(IS_ASKED);
        }
        let piece = self.ask(text, rules);
        self.key_bytes += text.len();
        self.texts.insert(text.into(), piece);
        piece
    }

    fn ask(&mut self, text: &str, rules: &Rules) -> Piece {
        let Some(answer) = rules.answer(text) else { return Piece(IS_ASKED) };
        let mut piece = IS_ASKED | IS_CLOSED;
        piece |= if answer.is_solid { IS_SOLID } else { 0 };
        piece |= if answer.is_solid && answer.is_firm { IS_FIRM } else { 0 };
        if answer.text == text {
            return Piece(piece | STAYS);
        }
        if answer.text.len() >= 1 << LEN_BITS || self.made.len() >= 1 << (32 - START_SHIFT) {
            return Piece(IS_ASKED);
        }
        piece |= (self.made.len() as u32) << START_SHIFT | (answer.text.len() as u32) << LEN_SHIFT;
        self.made.push_str(&answer.text);
        Piece(piece)
    }
}

/// The first character of text in UTF-8, and its length. (Missing bytes of a character that is cut off count as 0.)
#[inline]
fn decode(text: &[u8]) -> (usize, usize) {
    let continued = |at: usize| usize::from(text.get(at).copied().unwrap_or_default() & 0x3F);
    let first = usize::from(text.first().copied().unwrap_or_default());
    match first {
        0..0x80 => (first, 1),
        0x80..0xE0 => ((first & 0x1F) << 6 | continued(1), 2),
        0xE0..0xF0 => ((first & 0xF) << 12 | continued(1) << 6 | continued(2), 3),
        _ => ((first & 7) << 18 | continued(1) << 12 | continued(2) << 6 | continued(3), 4),
    }
}
