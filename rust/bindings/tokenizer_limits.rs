//! `lexmill.Tokenizer`: truncation and padding.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arguments::note_unknown;
use super::encoding::{direction, direction_name};
use super::errors::{OrRaise, exception, warn};
use super::tokenizer::PyTokenizer;
use super::tokenizer_state::Concerns;
use crate::encoding::{Padding, Symbol};
use crate::tokenizer::{PaddingLength, PaddingRule, Truncation, TruncationStrategy};

/// A strategy by its name.
pub(super) fn strategy(py: Python<'_>, name: &str) -> PyResult<TruncationStrategy> {
    let found = TruncationStrategy::NAMES.into_iter().find(|&(_, known, _)| known == name);
    found.map(|(strategy, ..)| strategy).ok_or_else(|| {
        let [names @ .., last] = TruncationStrategy::NAMES.map(|(_, name, _)| format!("`{name}`"));
        let message = format!("Unknown `strategy`: `{name}`. Use one of {}, or {last}", names.join(", "));
        exception(py, "OptionError", message)
    })
}

#[pymethods]
impl PyTokenizer {
    /// Cuts encodings to `max_length` tokens from now on, special tokens included. If the special tokens alone are more, nothing is cut, as in
    /// Hugging Face, and a `TruncationWarning` says so.
    ///
    /// Args:
    ///     `max_length`: tokens to keep.
    ///     `stride`: tokens that each overflowing encoding repeats from the one before.
    ///     `strategy`: which side of a pair is cut: `longest_first`, `only_first` or `only_second`.
    ///     `direction`: the end that is cut off, `left` or `right`.
    ///     `**kwargs`: other keywords, which are noted on standard error and ignored.
    #[pyo3(signature = (max_length, *, stride=0, strategy="longest_first", direction="right", **kwargs))]
    fn enable_truncation(
        &self,
        py: Python<'_>,
        max_length: usize,
        stride: usize,
        strategy: &str,
        direction: &str,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        note_unknown(kwargs)?;
        let strategy = self::strategy(py, strategy)?;
        let direction = self::direction(py, direction)?;
        let truncation = Truncation { direction, max_length, strategy, stride };
        let special = self.core(py)?.added_tokens(false);
        truncation.check(special).or_raise(py)?;
        if max_length < special {
            let message = format!(
                "max_length is {max_length} but the post-processor adds {special} special tokens: nothing is truncated"
            );
            warn(py, "TruncationWarning", &message)?;
        }
        self.shared.change(Concerns::Rest, |state| state.truncation = Some(truncation));
        Ok(())
    }

    /// Stops truncating.
    fn no_truncation(&self) {
        self.shared.change(Concerns::Rest, |state| state.truncation = None);
    }

    /// The truncation options, if any.
    #[getter]
    fn truncation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(truncation) = self.shared.state().truncation.clone() else { return Ok(None) };
        let names = TruncationStrategy::NAMES.into_iter().find(|&(known, ..)| known == truncation.strategy);
        let options = PyDict::new(py);
        options.set_item("max_length", truncation.max_length)?;
        options.set_item("stride", truncation.stride)?;
        options.set_item("strategy", names.map(|(_, name, _)| name))?;
        options.set_item("direction", direction_name(truncation.direction))?;
        Ok(Some(options))
    }

    /// Fills encodings up from now on: to `length`, or as the longest of each batch.
    ///
    /// Args:
    ///     `direction`: the side of the padding, `left` or `right`.
    ///     `pad_id`: the id of padding.
    ///     `pad_type_id`: the type id of padding.
    ///     `pad_token`: the text of padding.
    ///     `length`: tokens after padding; None for as many as the longest of the batch has.
    ///     `pad_to_multiple_of`: rounds the number of tokens up.
    ///     `**kwargs`: other keywords, which are noted on standard error and ignored.
    #[pyo3(signature = (
        *, direction="right", pad_id=0, pad_type_id=0, pad_token="[PAD]", length=None, pad_to_multiple_of=None,
        **kwargs
    ))]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature")]
    fn enable_padding(
        &self,
        py: Python<'_>,
        direction: &str,
        pad_id: u32,
        pad_type_id: u32,
        pad_token: &str,
        length: Option<usize>,
        pad_to_multiple_of: Option<usize>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        note_unknown(kwargs)?;
        let direction = self::direction(py, direction)?;
        let symbol = Symbol { id: pad_id, text: pad_token.into() };
        let rule = PaddingRule {
            length: length.map_or(PaddingLength::BatchLongest, PaddingLength::Fixed),
            pad_to_multiple_of,
            padding: Padding { symbol, type_id: pad_type_id, direction },
        };
        self.shared.change(Concerns::Rest, |state| state.padding = Some(rule));
        Ok(())
    }

    /// Stops padding.
    fn no_padding(&self) {
        self.shared.change(Concerns::Rest, |state| state.padding = None);
    }

    /// The padding options, if any.
    #[getter]
    fn padding<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(rule) = self.shared.state().padding.clone() else { return Ok(None) };
        let length = match rule.length {
            PaddingLength::BatchLongest => None,
            PaddingLength::Fixed(length) => Some(length),
        };
        let options = PyDict::new(py);
        options.set_item("length", length)?;
        options.set_item("pad_to_multiple_of", rule.pad_to_multiple_of)?;
        options.set_item("pad_id", rule.padding.symbol.id)?;
        options.set_item("pad_token", &*rule.padding.symbol.text)?;
        options.set_item("pad_type_id", rule.padding.type_id)?;
        options.set_item("direction", direction_name(rule.padding.direction))?;
        Ok(Some(options))
    }
}
