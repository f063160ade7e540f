//! Truncation and padding as arguments of one call.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use super::encoding::direction;
use super::errors::exception;
use super::tokenizer_limits::{check_stride, strategy};
use crate::encoding::{Direction, Padding, Symbol};
use crate::tokenizer::{PaddingLength, PaddingRule, Tokenizer, Truncation, TruncationStrategy};

/// The arguments as they were given; what is absent is as the tokenizer is set.
pub(super) struct LimitArguments<'a, 'py> {
    pub(super) max_length: Option<usize>,
    pub(super) truncation: Option<&'a Bound<'py, PyAny>>,
    pub(super) stride: Option<usize>,
    pub(super) truncation_side: Option<&'a str>,
    pub(super) padding: Option<&'a Bound<'py, PyAny>>,
    pub(super) padding_side: Option<&'a str>,
    pub(super) pad_id: Option<u32>,
    pub(super) pad_to_multiple_of: Option<usize>,
}

/// A switch that also takes names.
enum Switch<'a> {
    Off,
    On,
    Named(&'a str),
}

impl<'a> Switch<'a> {
    fn of(py: Python<'_>, name: &str, value: &'a Bound<'_, PyAny>, off: &str) -> PyResult<Self> {
        if let Ok(value) = value.cast::<PyBool>() {
            return Ok(if value.is_true() { Self::On } else { Self::Off });
        }
        let Ok(value) = value.cast::<PyString>() else {
            let message = format!("{name} is {} but must be a bool or a str", value.repr()?);
            return Err(exception(py, "InputTypeError", message));
        };
        Ok(Some(value.to_str()?).filter(|&value| value != off).map_or(Self::Off, Self::Named))
    }
}

impl LimitArguments<'_, '_> {
    /// `core`, or the same tokenizer with these limits.
    pub(super) fn apply(&self, py: Python<'_>, core: Arc<Tokenizer>) -> PyResult<Arc<Tokenizer>> {
        let is_given = self.max_length.is_some()
            || self.truncation.is_some()
            || self.stride.is_some()
            || self.truncation_side.is_some()
            || self.padding.is_some()
            || self.padding_side.is_some()
            || self.pad_id.is_some()
            || self.pad_to_multiple_of.is_some();
        if !is_given {
            return Ok(core);
        }
        let (truncation, padding) = (self.truncation(py, &core)?, self.padding(py, &core)?);
        Ok(Arc::new(core.with_limits(truncation, padding)))
    }

    fn truncation(&self, py: Python<'_>, core: &Tokenizer) -> PyResult<Option<Truncation>> {
        let set = core.truncation();
        let named = match self.truncation {
            Some(value) => match Switch::of(py, "truncation", value, "do_not_truncate")? {
                Switch::Off => return Ok(None),
                Switch::On => None,
                Switch::Named(name) => Some(strategy(py, name)?),
            },
            None if self.max_length.is_none() && set.is_none() => {
                return self.refuse_alone(
                    py,
                    "truncation",
                    &[("stride", self.stride.is_some()), ("truncation_side", self.truncation_side.is_some())],
                );
            }
            None => None,
        };
        let Some(max_length) = self.max_length.or(set.map(|set| set.max_length)) else {
            return Err(exception(
                py,
                "OptionError",
                "truncation is on but max_length is not given".to_owned(),
            ));
        };
        let side = self.truncation_side.map(|side| direction(py, side)).transpose()?;
        let truncation = Truncation {
            direction: side.or(set.map(|set| set.direction)).unwrap_or(Direction::Right),
            max_length,
            strategy: named.or(set.map(|set| set.strategy)).unwrap_or(TruncationStrategy::LongestFirst),
            stride: self.stride.or(set.map(|set| set.stride)).unwrap_or(0),
        };
        check_stride(py, core, &truncation)?;
        Ok(Some(truncation))
    }

    fn padding(&self, py: Python<'_>, core: &Tokenizer) -> PyResult<Option<PaddingRule>> {
        let set = core.padding();
        let length = match self.padding {
            Some(value) => match Switch::of(py, "padding", value, "do_not_pad")? {
                Switch::Off => return Ok(None),
                Switch::On | Switch::Named("longest") => PaddingLength::BatchLongest,
                Switch::Named("max_length") => PaddingLength::Fixed(self.fixed_length(py, core)?),
                Switch::Named(name) => {
                    let message =
                        format!("padding is {name} but must be one of longest, max_length, do_not_pad");
                    return Err(exception(py, "OptionError", message));
                }
            },
            None => match set {
                Some(set) => set.length,
                None => {
                    return self.refuse_alone(
                        py,
                        "padding",
                        &[
                            ("padding_side", self.padding_side.is_some()),
                            ("pad_id", self.pad_id.is_some()),
                            ("pad_to_multiple_of", self.pad_to_multiple_of.is_some()),
                        ],
                    );
                }
            },
        };
        let side = self.padding_side.map(|side| direction(py, side)).transpose()?;
        let set_padding = set.map(|set| &set.padding);
        let symbol = set_padding.map(|set| set.symbol.clone());
        let symbol = symbol.unwrap_or_else(|| Symbol { id: 0, text: "[PAD]".into() });
        let padding = Padding {
            symbol: Symbol { id: self.pad_id.unwrap_or(symbol.id), ..symbol },
            type_id: set_padding.map_or(0, |set| set.type_id),
            direction: side.or(set_padding.map(|set| set.direction)).unwrap_or(Direction::Right),
        };
        let pad_to_multiple_of = self.pad_to_multiple_of.or(set.and_then(|set| set.pad_to_multiple_of));
        Ok(Some(PaddingRule { length, pad_to_multiple_of, padding }))
    }

    fn fixed_length(&self, py: Python<'_>, core: &Tokenizer) -> PyResult<usize> {
        let of_set = core.padding().and_then(|set| match set.length {
            PaddingLength::Fixed(length) => Some(length),
            PaddingLength::BatchLongest => None,
        });
        let of_truncation = core.truncation().map(|set| set.max_length);
        self.max_length.or(of_set).or(of_truncation).ok_or_else(|| {
            exception(py, "OptionError", "padding is max_length but max_length is not given".to_owned())
        })
    }

    /// Refuses arguments that mean nothing without `what`.
    fn refuse_alone<T>(&self, py: Python<'_>, what: &str, given: &[(&str, bool)]) -> PyResult<Option<T>> {
        let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(None) };
        let message = format!("{name} is given but {what} is neither given nor set");
        Err(exception(py, "OptionError", message))
    }
}
