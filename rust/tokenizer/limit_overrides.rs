//! Truncation and padding of one call, where they differ from the settings of the tokenizer.

use super::{PaddingLength, PaddingRule, Tokenizer, Truncation, TruncationStrategy};
use crate::encoding::{Direction, Padding, Symbol};
use crate::{Error, Result};

/// How a call truncates, if at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncationSwitch {
    /// Not at all.
    Off,
    /// By the tokenizer's strategy, or else the longest sequence first.
    On,
    /// By this strategy.
    By(TruncationStrategy),
}

/// How far a call pads, if at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaddingSwitch {
    /// Not at all.
    Off,
    /// To the longest row of the batch.
    Longest,
    /// To the `max_length` of the call, or else the tokenizer's length to pad to, or else its length to truncate to.
    MaxLength,
}

/// Limits of length for one call; an absent one is as the tokenizer is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitOverrides {
    /// Tokens that remain of a row, special tokens included. Given alone, it truncates.
    pub max_length: Option<usize>,
    /// How to truncate, if at all.
    pub truncation: Option<TruncationSwitch>,
    /// Tokens that neighbouring windows share.
    pub stride: Option<usize>,
    /// The side that is cut off.
    pub truncation_side: Option<Direction>,
    /// How far to pad, if at all.
    pub padding: Option<PaddingSwitch>,
    /// The side that padding goes to.
    pub padding_side: Option<Direction>,
    /// The id to pad with.
    pub pad_id: Option<u32>,
    /// Rounds the length up to a multiple of this.
    pub pad_to_multiple_of: Option<usize>,
}

impl LimitOverrides {
    /// The tokenizer with these limits; `None` if all are absent.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a limit needs another one that is neither given nor set, [`Error::InvalidOption`] if special tokens
    /// alone exceed the `max_length` given, and the errors of [`Truncation::check`].
    pub fn apply(&self, tokenizer: &Tokenizer) -> Result<Option<Tokenizer>> {
        if *self == Self::default() {
            return Ok(None);
        }
        Ok(Some(tokenizer.with_limits(self.truncation(tokenizer)?, self.padding(tokenizer)?)))
    }

    fn truncation(&self, tokenizer: &Tokenizer) -> Result<Option<Truncation>> {
        let set = tokenizer.truncation();
        let strategy = match self.truncation {
            Some(TruncationSwitch::Off) => return Ok(None),
            Some(TruncationSwitch::By(strategy)) => Some(strategy),
            None if self.max_length.is_none() && set.is_none() => {
                let given =
                    [("stride", self.stride.is_some()), ("truncation_side", self.truncation_side.is_some())];
                return refuse_given("truncation", &given).map(|()| None);
            }
            Some(TruncationSwitch::On) | None => None,
        };
        let truncation = Truncation {
            direction: self.truncation_side.or(set.map(|set| set.direction)).unwrap_or(Direction::Right),
            max_length: self.max_length.or(set.map(|set| set.max_length)).ok_or_else(|| {
                Error::Unsupported("truncation is on but max_length is not given".to_owned())
            })?,
            strategy: strategy.or(set.map(|set| set.strategy)).unwrap_or(TruncationStrategy::LongestFirst),
            stride: self.stride.or(set.map(|set| set.stride)).unwrap_or(0),
        };
        let special = tokenizer.added_tokens(false);
        if let Some(given) = self.max_length.filter(|&given| given < special) {
            let expected = format!("at least {special}, the special tokens of the post-processor");
            return Err(Error::InvalidOption { name: "max_length", value: given.to_string(), expected });
        }
        truncation.check(special)?;
        Ok(Some(truncation))
    }

    fn padding(&self, tokenizer: &Tokenizer) -> Result<Option<PaddingRule>> {
        let set = tokenizer.padding();
        let length = match (self.padding, set) {
            (Some(PaddingSwitch::Off), _) => return Ok(None),
            (Some(PaddingSwitch::Longest), _) => PaddingLength::BatchLongest,
            (Some(PaddingSwitch::MaxLength), _) => PaddingLength::Fixed(self.fixed_length(tokenizer)?),
            (None, Some(set)) => set.length,
            (None, None) => {
                let given = [
                    ("padding_side", self.padding_side.is_some()),
                    ("pad_id", self.pad_id.is_some()),
                    ("pad_to_multiple_of", self.pad_to_multiple_of.is_some()),
                ];
                return refuse_given("padding", &given).map(|()| None);
            }
        };
        let set_padding = set.map(|set| &set.padding);
        let symbol = set_padding.map(|set| set.symbol.clone());
        let symbol = symbol.unwrap_or_else(|| Symbol { id: 0, text: "[PAD]".into() });
        let padding = Padding {
            symbol: Symbol { id: self.pad_id.unwrap_or(symbol.id), ..symbol },
            type_id: set_padding.map_or(0, |set| set.type_id),
            direction: self.padding_side.or(set_padding.map(|set| set.direction)).unwrap_or(Direction::Right),
        };
        let pad_to_multiple_of = self.pad_to_multiple_of.or(set.and_then(|set| set.pad_to_multiple_of));
        Ok(Some(PaddingRule { length, pad_to_multiple_of, padding }))
    }

    fn fixed_length(&self, tokenizer: &Tokenizer) -> Result<usize> {
        let of_padding = tokenizer.padding().and_then(|set| match set.length {
            PaddingLength::Fixed(length) => Some(length),
            PaddingLength::BatchLongest => None,
        });
        let of_truncation = tokenizer.truncation().map(|set| set.max_length);
        self.max_length
            .or(of_padding)
            .or(of_truncation)
            .ok_or_else(|| Error::Unsupported("padding is max_length but max_length is not given".to_owned()))
    }
}

/// Refuses limits that are given without the truncation or padding that they belong to.
fn refuse_given(what: &str, given: &[(&str, bool)]) -> Result<()> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => {
            Err(Error::Unsupported(format!("{name} is given but {what} is neither given nor set")))
        }
        None => Ok(()),
    }
}
