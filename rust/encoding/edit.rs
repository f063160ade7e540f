//! Truncating, padding and joining encodings, by Hugging Face's rules.

use std::ops::Range;

use super::{Content, Encoding, Piece, Symbol};
use crate::{Error, Result};

/// The most tokens that an encoding is padded to: they take no memory before they are read, and then all at once.
pub const MOST_PADDED: usize = 1 << 28;

/// A side of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// At the start.
    Left,
    /// At the end.
    Right,
}

/// What to pad with, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padding {
    /// The padding token.
    pub symbol: Symbol,
    /// Its type id.
    pub type_id: u32,
    /// The side that padding goes to.
    pub direction: Direction,
}

impl Encoding {
    /// Makes special tokens and padding part of the text, as far as masks tell.
    pub(crate) fn count_as_text(&mut self) {
        for piece in &mut self.pieces {
            if let Content::Special(symbol) | Content::Pad(symbol) = &piece.content {
                piece.content = Content::Counted(symbol.clone());
            }
        }
    }

    /// Tokens `range`, without what overflowed.
    fn slice(&self, range: Range<usize>) -> Self {
        let mut pieces = Vec::new();
        let mut at = 0;
        for piece in &self.pieces {
            let (from, to) = (range.start.max(at), range.end.min(at + piece.len));
            if from < to {
                let mut cut = Piece { len: to - from, ..piece.clone() };
                if let Content::Text { start, .. } = &mut cut.content {
                    *start += from - at;
                }
                pieces.push(cut);
            }
            at += piece.len;
        }
        Self::from_pieces(pieces)
    }

    /// Keeps at most `max_length` tokens; the rest becomes overflowing encodings of at most that length.
    ///
    /// Neighbouring windows share `stride` tokens. With [`Direction::Left`] the end is kept.
    /// Which sequence a token belongs to is forgotten, as in Hugging Face.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if `stride` is not below `max_length` where there is something to cut.
    pub fn truncate(&mut self, max_length: usize, stride: usize, direction: Direction) -> Result<()> {
        let len = self.len();
        if max_length >= len {
            return Ok(());
        }
        if max_length == 0 {
            let whole = std::mem::take(self);
            self.overflowing.push(whole);
            return Ok(());
        }
        if stride >= max_length {
            return Err(Error::InvalidOption {
                name: "stride",
                value: stride.to_string(),
                expected: format!("below the {max_length} tokens that remain beside special tokens"),
            });
        }
        let mut windows = windows(len, max_length, max_length - stride, direction)
            .into_iter()
            .map(|range| self.slice(range))
            .collect::<Vec<_>>()
            .into_iter();
        let Some(mut first) = windows.next() else { return Ok(()) };
        first.overflowing = windows.collect();
        *self = first;
        Ok(())
    }

    /// Pads to `length` tokens, overflowing encodings too.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if that takes padding and is more than [`MOST_PADDED`].
    pub fn pad(&mut self, length: usize, padding: &Padding) -> Result<()> {
        for overflowing in &mut self.overflowing {
            overflowing.pad(length, padding)?;
        }
        let missing = length.saturating_sub(self.len());
        if missing == 0 {
            return Ok(());
        }
        if length > MOST_PADDED {
            let (value, expected) = (format!("{length} tokens"), format!("at most {MOST_PADDED}"));
            return Err(Error::InvalidOption { name: "length to pad to", value, expected });
        }
        let piece = Piece {
            content: Content::Pad(padding.symbol.clone()),
            len: missing,
            type_id: padding.type_id,
            shift: 0,
        };
        match padding.direction {
            Direction::Left => {
                self.pieces.insert(0, piece);
                for (_, range) in &mut self.sequences {
                    *range = range.start + missing..range.end + missing;
                }
            }
            Direction::Right => self.pieces.push(piece),
        }
        Ok(())
    }

    /// Joins encodings into one; with `growing_offsets` each starts where the one before ended.
    pub fn merge(encodings: impl IntoIterator<Item = Encoding>, growing_offsets: bool) -> Self {
        let mut merged = Self::default();
        for encoding in encodings {
            merged.append(encoding, growing_offsets);
        }
        merged
    }

    /// Appends `other`; every overflowing part of one side is joined with the other side and its parts.
    fn append(&mut self, other: Encoding, growing_offsets: bool) {
        let join = |left: &Encoding, right: &Encoding| {
            let mut joined = left.clone();
            joined.append(right.clone(), growing_offsets);
            joined
        };
        let mut overflowing = Vec::new();
        for part in &self.overflowing {
            overflowing.push(join(part, &other));
            overflowing.extend(other.overflowing.iter().map(|other_part| join(part, other_part)));
        }
        overflowing.extend(other.overflowing.iter().map(|other_part| join(self, other_part)));
        let shift = if growing_offsets { self.offsets().last().map_or(0, |(_, end)| end) } else { 0 };
        self.overflowing = overflowing;
        let len = self.len();
        for (sequence, range) in other.sequences {
            self.set_sequence_range(sequence, len + range.start..len + range.end);
        }
        self.pieces.extend(other.pieces.into_iter().map(|mut piece| {
            piece.shift += shift;
            piece
        }));
    }
}

/// Windows of `max_length` tokens, each `step` tokens from the one before, until all are covered.
fn windows(len: usize, max_length: usize, step: usize, direction: Direction) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let mut moved = 0;
    loop {
        let window = match direction {
            Direction::Right => moved..(moved + max_length).min(len),
            Direction::Left => (len - moved).saturating_sub(max_length)..len - moved,
        };
        let is_last = match direction {
            Direction::Right => window.end == len,
            Direction::Left => window.start == 0,
        };
        windows.push(window);
        moved += step;
        if is_last || moved >= len {
            return windows;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_overlap_by_the_stride() {
        assert_eq!(windows(7, 4, 2, Direction::Right), [0..4, 2..6, 4..7]);
        assert_eq!(windows(7, 4, 2, Direction::Left), [3..7, 1..5, 0..3]);
        assert_eq!(windows(4, 3, 3, Direction::Right), [0..3, 3..4]);
    }
}
