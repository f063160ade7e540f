//! Texts of a source that lie end to end in UTF-8.

use std::ops::Range;
use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString};

use super::errors::exception;

/// Texts in the order of their source. An index makes one `str`, and iteration makes all of them.
#[pyclass(name = "TextBlock", module = "lexmill._core", frozen)]
pub(super) struct PyTextBlock {
    /// Texts end to end, also the texts that [`Self::chosen`] left out.
    utf8: Arc<str>,
    /// The range of each text in `utf8`.
    rows: Vec<Range<usize>>,
}

impl PyTextBlock {
    /// A block of the texts that end at the bytes `ends`.
    pub(super) fn new(utf8: String, ends: &[usize]) -> Self {
        let mut start = 0;
        let rows = ends.iter().map(|&end| std::mem::replace(&mut start, end)..end).collect();
        Self { utf8: utf8.into(), rows }
    }

    pub(super) fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        self.rows.iter().map(|row| &self.utf8[row.clone()])
    }
}

#[pymethods]
impl PyTextBlock {
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyString>> {
        let row = if index < 0 { self.rows.len().checked_add_signed(index) } else { Some(index as usize) };
        let Some(range) = row.and_then(|row| self.rows.get(row)) else {
            return Err(PyIndexError::new_err(format!("no text {index}: there are {}", self.rows.len())));
        };
        Ok(PyString::new(py, &self.utf8[range.clone()]))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.texts())?.try_iter()
    }

    /// The texts for which `chosen` is true, without a copy of their bytes.
    fn chosen(&self, py: Python<'_>, chosen: PyReadonlyArray1<'_, bool>) -> PyResult<Self> {
        let chosen = chosen.as_slice()?;
        if chosen.len() != self.rows.len() {
            let message = format!("chosen has {} entries but must have {}", chosen.len(), self.rows.len());
            return Err(exception(py, "OptionError", message));
        }
        let rows = self.rows.iter().zip(chosen).filter(|&(_, &is_chosen)| is_chosen);
        Ok(Self { utf8: Arc::clone(&self.utf8), rows: rows.map(|(row, _)| row.clone()).collect() })
    }

    /// The texts end to end in UTF-8.
    fn utf8<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.rows.iter().map(Range::len).sum(), |mut bytes| {
            for text in self.texts() {
                let (own, others) = bytes.split_at_mut(text.len());
                own.copy_from_slice(text.as_bytes());
                bytes = others;
            }
            Ok(())
        })
    }
}
