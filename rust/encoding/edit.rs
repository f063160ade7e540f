//! Truncates, pads and joins encodings by Hugging Face's rules.

use std::ops::Range;

use super::{Content, Encoding, Piece, Symbol};
use crate::{Error, Result};

/// An encoding is padded to at most this many tokens: padding takes no memory until it is read, and then all at once.
pub const MOST_PADDED: usize = 1 << 28;

/// Joining two encodings that both have overflowing ones may make at most this many: one for each pair.
pub const MOST_OVERFLOWING: usize = 1 << 16;

/// A side of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// At the start.
    Left,
    /// At the end.
    Right,
}

/// The padding token, and the side it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padding {
    /// The padding token.
    pub symbol: Symbol,
    /// Its type id.
    pub type_id: u32,
    /// The side that padding goes to.
    pub direction: Direction,
}

/// Refuses a stride that windows of `max_length` tokens cannot share.
pub(crate) fn check_stride(stride: usize, max_length: usize) -> Result<()> {
    if stride < max_length {
        return Ok(());
    }
    let expected = format!("below the {max_length} tokens that remain beside special tokens");
    Err(Error::InvalidOption { name: "stride", value: stride.to_string(), expected })
}

/// Refuses padding to more than [`MOST_PADDED`] tokens.
pub(crate) fn check_padded(length: usize) -> Result<()> {
    if length <= MOST_PADDED {
        return Ok(());
    }
    let (value, expected) = (format!("{length} tokens"), format!("at most {MOST_PADDED}"));
    Err(Error::InvalidOption { name: "length to pad to", value, expected })
}

/// Refuses more overflowing encodings of a pair than [`MOST_OVERFLOWING`].
fn check_overflowing(made: usize) -> Result<()> {
    if made <= MOST_OVERFLOWING {
        return Ok(());
    }
    let (value, expected) = (made.to_string(), format!("at most {MOST_OVERFLOWING}"));
    Err(Error::InvalidOption { name: "number of overflowing encodings", value, expected })
}

impl Encoding {
    /// Makes special tokens and padding count as text in the masks.
    pub(crate) fn count_as_text(&mut self) {
        for piece in &mut self.pieces {
            if let Content::Special(symbol) | Content::Pad(symbol) = &piece.content {
                piece.content = Content::Counted(symbol.clone());
            }
        }
    }

    /// The tokens `range`, without overflowing encodings.
    fn slice(&self, range: Range<usize>) -> Self {
        let cut = |(piece, tokens): (&Piece, Range<usize>)| {
            let (skipped, to) = (range.start.saturating_sub(tokens.start), range.end.min(tokens.end));
            let mut cut = Piece { end: to - range.start, ..piece.clone() };
            if let Content::Text { start, .. } = &mut cut.content {
                *start += skipped;
            }
            cut
        };
        Self::from_pieces(self.ranges_in(range.clone()).map(cut).collect())
    }

    /// Keeps at most `max_length` tokens; the rest becomes overflowing encodings of at most that length.
    ///
    /// Neighbouring windows share `stride` tokens. With [`Direction::Left`] the end is kept. The sequences of tokens
    /// are lost, as in Hugging Face.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if there are tokens to cut off and `stride` is not less than `max_length`.
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
        check_stride(stride, max_length)?;
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
    /// [`Error::InvalidOption`] if padding is needed and `length` is greater than [`MOST_PADDED`].
    pub fn pad(&mut self, length: usize, padding: &Padding) -> Result<()> {
        for overflowing in &mut self.overflowing {
            overflowing.pad(length, padding)?;
        }
        let missing = length.saturating_sub(self.len());
        if missing == 0 {
            return Ok(());
        }
        check_padded(length)?;
        let piece = Piece {
            content: Content::Pad(padding.symbol.clone()),
            end: length,
            type_id: padding.type_id,
            shift: 0,
        };
        match padding.direction {
            Direction::Left => {
                self.pieces.iter_mut().for_each(|piece| piece.end += missing);
                self.pieces.insert(0, Piece { end: missing, ..piece });
                for (_, range) in &mut self.sequences {
                    *range = range.start + missing..range.end + missing;
                }
            }
            Direction::Right => self.pieces.push(piece),
        }
        Ok(())
    }

    /// Joins encodings into one. With `growing_offsets`, the offsets of each encoding start where the offsets of the one before end.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if pairs of overflowing encodings make more than [`MOST_OVERFLOWING`].
    pub fn merge(encodings: impl IntoIterator<Item = Encoding>, growing_offsets: bool) -> Result<Self> {
        let mut encodings = encodings.into_iter().collect::<Vec<_>>().into_iter();
        let mut merged = encodings.next().unwrap_or_default();
        let mut later_pieces: usize = encodings.as_slice().iter().map(|encoding| encoding.pieces.len()).sum();
        for encoding in encodings {
            later_pieces -= encoding.pieces.len();
            merged.append(encoding, growing_offsets, later_pieces)?;
        }
        Ok(merged)
    }

    /// This encoding, its overflowing ones, and theirs.
    fn count(&self) -> usize {
        self.overflowing.iter().map(Self::count).fold(1, usize::saturating_add)
    }

    /// Appends `other`. Every overflowing encoding of one side is joined with the other side and with each of its
    /// overflowing encodings. `later_pieces` is the number of pieces that further calls will append; capacity for them is reserved
    /// here.
    fn append(&mut self, mut other: Encoding, growing_offsets: bool, later_pieces: usize) -> Result<()> {
        if !self.overflowing.is_empty() && !other.overflowing.is_empty() {
            check_overflowing(self.count().saturating_mul(other.count()))?;
        }
        let overflowing = std::mem::take(&mut other.overflowing);
        let joined = |left: &Encoding, right: Encoding| {
            let mut joined = left.clone_with_capacity(right.pieces.len() + later_pieces);
            joined.append(right, growing_offsets, later_pieces)?;
            Ok(joined)
        };
        if overflowing.is_empty() {
            self.overflowing
                .iter_mut()
                .for_each(|part| part.append_to_all(&other, growing_offsets, later_pieces));
        } else {
            let mut all = Vec::with_capacity((self.overflowing.len() + 1) * (overflowing.len() + 1) - 1);
            for part in &self.overflowing {
                let whole = Encoding { overflowing: overflowing.clone(), ..other.clone() };
                all.push(joined(part, whole)?);
                for other_part in &overflowing {
                    all.push(joined(part, other_part.clone())?);
                }
            }
            for other_part in overflowing {
                all.push(joined(self, other_part)?);
            }
            self.overflowing = all;
        }
        self.pieces.reserve_exact(other.pieces.len() + later_pieces);
        self.append_tokens(other.pieces, other.sequences, growing_offsets);
        Ok(())
    }

    /// A copy with capacity for `more_pieces` more pieces.
    fn clone_with_capacity(&self, more_pieces: usize) -> Self {
        let mut pieces = Vec::with_capacity(self.pieces.len() + more_pieces);
        pieces.extend(self.pieces.iter().cloned());
        Self { pieces, sequences: self.sequences.clone(), overflowing: self.overflowing.clone() }
    }

    /// Appends `other`, which has no overflowing encodings, to this encoding and to all its overflowing ones.
    fn append_to_all(&mut self, other: &Encoding, growing_offsets: bool, later_pieces: usize) {
        self.overflowing.iter_mut().for_each(|part| part.append_to_all(other, growing_offsets, later_pieces));
        self.pieces.reserve_exact(other.pieces.len() + later_pieces);
        self.append_tokens(other.pieces.iter().cloned(), other.sequences.iter().cloned(), growing_offsets);
    }

    fn append_tokens(
        &mut self,
        pieces: impl IntoIterator<Item = Piece>,
        sequences: impl IntoIterator<Item = (usize, Range<usize>)>,
        growing_offsets: bool,
    ) {
        let shift =
            if growing_offsets { self.iter().next_back().map_or(0, |token| token.offsets().1) } else { 0 };
        let len = self.len();
        for (sequence, range) in sequences {
            self.set_sequence_range(sequence, len + range.start..len + range.end);
        }
        self.pieces.extend(pieces.into_iter().map(|mut piece| {
            piece.shift = piece.shift.saturating_add(shift);
            piece.end += len;
            piece
        }));
    }
}

/// Windows of `max_length` tokens, each `step` tokens after the one before, until all tokens are covered.
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
    fn pairs_of_overflowing_encodings_are_limited() {
        let encoding = |windows: usize| Encoding {
            overflowing: vec![Encoding::default(); windows - 1],
            ..Encoding::default()
        };
        let merged = |left, right| Encoding::merge([encoding(left), encoding(right)], false);
        assert_eq!(merged(256, 2).map(|merged| merged.overflowing.len()).ok(), Some(511));
        assert!(merged(1 << 17, 1).is_ok());
        let error = merged(256, 257).expect_err("257 pairs for each of 256");
        let message = "number of overflowing encodings is 65792 but must be at most 65536";
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn windows_overlap_by_the_stride() {
        assert_eq!(windows(7, 4, 2, Direction::Right), [0..4, 2..6, 4..7]);
        assert_eq!(windows(7, 4, 2, Direction::Left), [3..7, 1..5, 0..3]);
        assert_eq!(windows(4, 3, 3, Direction::Right), [0..3, 3..4]);
    }
}
