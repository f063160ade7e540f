//! Texts for training: taken from a Python iterator, and counted batch by batch.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};

use super::arrow::Column;
use super::errors::exception;
use super::progress::Reporter;
use super::texts::{Texts, has_other_items, kind_of};
use crate::corpus::Utf8Errors;
use crate::structures::parallel::Progress;
use crate::tokenizer::WordCounting;

/// Texts are taken from a Python iterator until they make about this many bytes, then counted.
const ITERATOR_BYTES: usize = 16 << 20;

/// Iterates over texts.
///
/// # Errors
/// `InputTypeError`, with the name of the object, if it cannot be iterated or [`has_other_items`].
fn texts_in<'py>(
    items: &Bound<'py, PyAny>,
    name: impl FnOnce() -> PyResult<String>,
) -> PyResult<Bound<'py, PyIterator>> {
    if !has_other_items(items) {
        match items.try_iter() {
            Err(error) if error.is_instance_of::<PyTypeError>(items.py()) => {}
            iterator => return iterator,
        }
    }
    let message = format!(
        "{} is {} but must be texts: an iterable of str or of lists of str, or a column; of rows of a table pass the texts alone",
        name()?,
        kind_of(items)?
    );
    Err(exception(items.py(), "InputTypeError", message))
}

/// Counts the words of all texts of an iterator.
pub(super) fn count_corpus(
    py: Python<'_>,
    iterator: &Bound<'_, PyAny>,
    errors: Utf8Errors,
    mut counting: WordCounting,
    length: Option<usize>,
    reporter: &mut Reporter,
) -> PyResult<WordCounting> {
    count_into(py, iterator, errors, &mut counting, length, reporter)?;
    Ok(counting)
}

/// As [`count_corpus`], for a counting that stays where it is.
pub(super) fn count_into(
    py: Python<'_>,
    iterator: &Bound<'_, PyAny>,
    errors: Utf8Errors,
    counting: &mut WordCounting,
    length: Option<usize>,
    reporter: &mut Reporter,
) -> PyResult<()> {
    let count = |texts: &Texts| {
        let counted = count(py, counting, texts, length, reporter);
        reporter.or_raise(py, counted)
    };
    let mut batches = Batches { texts: Texts::new(errors), errors, count };
    batches.push_all(iterator)?;
    batches.count_if(0)
}

/// Texts taken from Python and not counted yet, and the function that counts them.
struct Batches<F> {
    texts: Texts,
    errors: Utf8Errors,
    count: F,
}

impl<F: FnMut(&Texts) -> PyResult<()>> Batches<F> {
    /// Takes all texts of an iterable or of a column.
    fn push_all(&mut self, items: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.push_column(items)? {
            return Ok(());
        }
        for (number, item) in texts_in(items, || Ok("iterator".to_owned()))?.enumerate() {
            let item = item?;
            if item.is_instance_of::<PyString>() {
                self.push(&item)?;
            } else if !self.push_column(&item)? {
                let name = || Ok(format!("item {number} of the iterator"));
                for (inner_number, inner) in texts_in(&item, name)?.enumerate() {
                    let inner = inner?;
                    if !inner.is_instance_of::<PyString>() {
                        let kind = kind_of(&inner)?;
                        let message = format!(
                            "text {inner_number} of item {number} of the iterator is {kind} but must be str"
                        );
                        return Err(exception(items.py(), "InputTypeError", message));
                    }
                    self.push(&inner)?;
                }
            }
        }
        Ok(())
    }

    /// False if the object offers no column.
    fn push_column(&mut self, items: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(mut column) = Column::of_texts(items)? else { return Ok(false) };
        while self.texts.push_next(items.py(), &mut column)? {
            self.count_if(ITERATOR_BYTES)?;
        }
        Ok(true)
    }

    fn push(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        self.texts.push_str(item.cast()?)?;
        self.count_if(ITERATOR_BYTES)
    }

    /// Counts the texts that have come together, if these have at least `bytes` bytes.
    fn count_if(&mut self, bytes: usize) -> PyResult<()> {
        if self.texts.bytes() < bytes {
            return Ok(());
        }
        let texts = std::mem::replace(&mut self.texts, Texts::new(self.errors));
        (self.count)(&texts)
    }
}

fn count(
    py: Python<'_>,
    counting: &mut WordCounting,
    texts: &Texts,
    length: Option<usize>,
    reporter: &mut Reporter,
) -> crate::Result<()> {
    py.detach(|| {
        counting.add_texts(texts.as_slice())?;
        let total = length.map_or(0, |length| length as u64);
        reporter.report(Progress { stage: "count words", done: counting.texts(), total })
    })
}
