//! Truncation and padding as arguments of one call.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use super::encoding::direction;
use super::errors::{OrRaise, exception};
use super::properties::unsigned;
use super::tokenizer_limits::strategy;
use crate::tokenizer::{LimitOverrides, PaddingSwitch, Tokenizer, TruncationSwitch};

/// The arguments as they were given. For an absent argument the setting of the tokenizer holds.
pub(super) struct LimitArguments<'a, 'py> {
    pub(super) max_length: Option<i64>,
    pub(super) truncation: Option<&'a Bound<'py, PyAny>>,
    pub(super) stride: Option<i64>,
    pub(super) truncation_side: Option<&'a str>,
    pub(super) padding: Option<&'a Bound<'py, PyAny>>,
    pub(super) padding_side: Option<&'a str>,
    pub(super) pad_id: Option<i64>,
    pub(super) pad_to_multiple_of: Option<i64>,
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

fn truncation_switch(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<TruncationSwitch> {
    Ok(match Switch::of(py, "truncation", value, "do_not_truncate")? {
        Switch::Off => TruncationSwitch::Off,
        Switch::On => TruncationSwitch::On,
        Switch::Named(name) => TruncationSwitch::By(strategy(py, name)?),
    })
}

fn padding_switch(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<PaddingSwitch> {
    Ok(match Switch::of(py, "padding", value, "do_not_pad")? {
        Switch::Off => PaddingSwitch::Off,
        Switch::On | Switch::Named("longest") => PaddingSwitch::Longest,
        Switch::Named("max_length") => PaddingSwitch::MaxLength,
        Switch::Named(name) => {
            let message = format!("padding is {name} but must be one of longest, max_length, do_not_pad");
            return Err(exception(py, "OptionError", message));
        }
    })
}

impl LimitArguments<'_, '_> {
    /// `core`, or the same tokenizer with these limits.
    pub(super) fn apply(&self, py: Python<'_>, core: Arc<Tokenizer>) -> PyResult<Arc<Tokenizer>> {
        let limited = self.overrides(py)?.apply(&core).or_raise(py)?;
        Ok(limited.map_or(core, Arc::new))
    }

    fn overrides(&self, py: Python<'_>) -> PyResult<LimitOverrides> {
        let truncation = self.truncation.map(|value| truncation_switch(py, value)).transpose()?;
        let padding = self.padding.map(|value| padding_switch(py, value)).transpose()?;
        // A side is not read where nothing is cut off or padded.
        let truncation_side = self.truncation_side.filter(|_| truncation != Some(TruncationSwitch::Off));
        let padding_side = self.padding_side.filter(|_| padding != Some(PaddingSwitch::Off));
        let count = |name, given: Option<i64>| given.map(|given| unsigned(py, name, given)).transpose();
        let pad_id = self.pad_id.map(|id| {
            let message = || format!("pad_id is {id} but must be from 0 to {}", u32::MAX);
            u32::try_from(id).map_err(|_| exception(py, "IdRangeError", message()))
        });
        Ok(LimitOverrides {
            max_length: count("max_length", self.max_length)?,
            truncation,
            stride: count("stride", self.stride)?,
            truncation_side: truncation_side.map(|side| direction(py, side)).transpose()?,
            padding,
            padding_side: padding_side.map(|side| direction(py, side)).transpose()?,
            pad_id: pad_id.transpose()?,
            pad_to_multiple_of: count("pad_to_multiple_of", self.pad_to_multiple_of)?,
        })
    }
}
