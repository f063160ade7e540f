//! Truncation and padding of whole batches.

use std::ops::Range;

use crate::encoding::{Direction, Encoding, Padding, check_padded, check_stride};
use crate::{Error, Result};

/// Which sequence of a pair is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncationStrategy {
    /// The longer one, until both are even; then both.
    LongestFirst,
    /// Only the first.
    OnlyFirst,
    /// Only the second.
    OnlySecond,
}

impl TruncationStrategy {
    /// All strategies with their names in Python and in files.
    pub const NAMES: [(Self, &'static str, &'static str); 3] = [
        (Self::LongestFirst, "longest_first", "LongestFirst"),
        (Self::OnlyFirst, "only_first", "OnlyFirst"),
        (Self::OnlySecond, "only_second", "OnlySecond"),
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|&(known, ..)| known == self).map_or("", |(_, _, name)| name)
    }
}

/// How long encodings are cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// The side that is cut off.
    pub direction: Direction,
    /// Tokens that remain, special tokens included.
    pub max_length: usize,
    /// Which sequence of a pair is cut.
    pub strategy: TruncationStrategy,
    /// Tokens that neighbouring windows share.
    pub stride: usize,
}

impl Truncation {
    /// Checks that windows beside `special` special tokens bring new tokens.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the stride is larger than the room beside them.
    pub fn check(&self, special: usize) -> Result<()> {
        let Self { max_length, stride, .. } = self;
        let Some(rest) = max_length.checked_sub(special).filter(|rest| stride > rest) else { return Ok(()) };
        Err(Error::Unsupported(format!(
            "tokenizer stride set to {stride}, which is greater than or equal to its effective max length of {rest} \
             (= {max_length} original max length - {special} added special tokens)"
        )))
    }

    /// Cuts an encoding, or a pair, so that `special` more tokens fit.
    ///
    /// # Errors
    /// The errors of [`Self::lens`], and [`Error::InvalidOption`] if the stride is too large.
    pub fn apply(&self, first: &mut Encoding, second: Option<&mut Encoding>, special: usize) -> Result<()> {
        let (len, second_len) =
            self.lens(first.len(), second.as_ref().map(|second| second.len()), special)?;
        first.truncate(len, self.stride, self.direction)?;
        second.map_or(Ok(()), |second| second.truncate(second_len, self.stride, self.direction))
    }

    /// How many tokens remain of a text of `first` tokens and of its pair of `second`, beside `special` more.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the sequence to cut is absent or too short.
    pub fn lens(&self, first: usize, second: Option<usize>, special: usize) -> Result<(usize, usize)> {
        let whole = (first, second.unwrap_or(0));
        // Where not even the special tokens fit, Hugging Face keeps the whole text.
        let Some(max_length) = self.max_length.checked_sub(special) else { return Ok(whole) };
        if max_length == 0 {
            return Ok((0, 0));
        }
        let Some(excess) = (whole.0 + whole.1).checked_sub(max_length).filter(|&excess| excess > 0) else {
            return Ok(whole);
        };
        match (self.strategy, second) {
            (TruncationStrategy::LongestFirst, None) => Ok((max_length, 0)),
            (TruncationStrategy::LongestFirst, Some(second)) => Ok(even_lengths(first, second, max_length)),
            (TruncationStrategy::OnlyFirst, _) => Ok((less(first, excess)?, whole.1)),
            (TruncationStrategy::OnlySecond, Some(second)) => Ok((first, less(second, excess)?)),
            (TruncationStrategy::OnlySecond, None) => Err(no_second()),
        }
    }

    /// The tokens that [`Self::apply`] keeps of a text of `first` tokens and of its pair of `second`, beside `special` more.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn kept(
        &self,
        first: usize,
        second: Option<usize>,
        special: usize,
    ) -> Result<(Range<usize>, Range<usize>)> {
        let (len, second_len) = self.lens(first, second, special)?;
        let range = |whole: usize, len: usize| {
            if 0 < len && len < whole {
                check_stride(self.stride, len)?;
            }
            Ok(match self.direction {
                Direction::Left => whole - len..whole,
                Direction::Right => 0..len,
            })
        };
        Ok((range(first, len)?, range(second.unwrap_or(0), second_len)?))
    }
}

fn no_second() -> Error {
    let message = "Truncation error: Second sequence not provided, which the strategy only_second cuts";
    Error::Unsupported(message.to_owned())
}

/// `len` less `excess` tokens.
fn less(len: usize, excess: usize) -> Result<usize> {
    len.checked_sub(excess).filter(|&rest| rest > 0).ok_or_else(|| {
        Error::Unsupported(format!(
            "Truncation error: Sequence to truncate too short to respect the provided max_length: it has {len} tokens, \
             and {excess} are too many"
        ))
    })
}

/// Lengths that fit into `max_length`, taking from the longer sequence first.
fn even_lengths(first: usize, second: usize, max_length: usize) -> (usize, usize) {
    let short = first.min(second).min(max_length / 2);
    let rest = max_length - short;
    if first > second { (rest, short) } else { (short, rest) }
}

/// How long encodings get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaddingLength {
    /// As the longest of the batch.
    BatchLongest,
    /// This many tokens.
    Fixed(usize),
}

/// How short encodings are filled up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaddingRule {
    /// How long encodings get.
    pub length: PaddingLength,
    /// Rounds the length up to a multiple of this.
    pub pad_to_multiple_of: Option<usize>,
    /// The padding token, its type id and its side.
    pub padding: Padding,
}

impl PaddingRule {
    /// Pads all encodings of a batch.
    ///
    /// # Errors
    /// The errors of [`Self::length_for`] and [`Encoding::pad`].
    pub fn apply(&self, encodings: &mut [Encoding]) -> Result<()> {
        let lens: Vec<usize> = encodings.iter().map(Encoding::len).collect();
        let length = self.length_for(&lens)?;
        encodings.iter_mut().try_for_each(|encoding| encoding.pad(length, &self.padding))
    }

    /// The length that rows of these lengths, one batch, are padded to.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if a row is to be padded to more than [`MOST_PADDED`](crate::encoding::MOST_PADDED) tokens.
    pub fn length_for(&self, lens: &[usize]) -> Result<usize> {
        let mut length = match self.length {
            PaddingLength::Fixed(length) => length,
            PaddingLength::BatchLongest => lens.iter().copied().max().unwrap_or(0),
        };
        if let Some(multiple) = self.pad_to_multiple_of.filter(|&multiple| multiple > 0) {
            length = length.checked_next_multiple_of(multiple).unwrap_or(usize::MAX);
        }
        if lens.iter().any(|&len| len < length) {
            check_padded(length)?;
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_sequence_is_cut_first() {
        assert_eq!(even_lengths(2, 10, 8), (2, 6));
        assert_eq!(even_lengths(10, 2, 8), (6, 2));
        assert_eq!(even_lengths(10, 10, 7), (3, 4));
        assert_eq!(even_lengths(4, 10, 6), (3, 3));
    }
}
