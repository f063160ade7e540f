//! `lexmill.TokenArrays`: ids of many texts in one array.

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PySlice, PyTuple};

use super::arrow::{ListBuffers, export};
use crate::cache::Id;
use crate::tokenizer::Ragged;

/// Ids of many texts end to end, with where each text begins and ends.
#[pyclass(name = "TokenArrays", module = "lexmill", frozen, sequence)]
pub(super) struct PyTokenArrays {
    ids: Py<PyAny>,
    row_splits: Py<PyArray1<i64>>,
}

impl PyTokenArrays {
    /// Hands the core's vectors over to numpy without a copy.
    pub(super) fn of<T: Id + numpy::Element>(py: Python<'_>, rows: Ragged<T>) -> Self {
        Self {
            ids: rows.ids.into_pyarray(py).into_any().unbind(),
            row_splits: rows.row_splits.into_pyarray(py).unbind(),
        }
    }

    fn split(&self, py: Python<'_>, at: usize) -> Option<isize> {
        let splits = self.row_splits.bind(py).readonly();
        splits.as_array().get(at).map(|&split| split as isize)
    }

    fn rows(&self, py: Python<'_>) -> usize {
        self.row_splits.bind(py).len().saturating_sub(1)
    }

    fn row<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
        let (Some(start), Some(end)) = (self.split(py, at), self.split(py, at + 1)) else {
            let rows = self.rows(py);
            return Err(PyIndexError::new_err(format!("row is {at} but there are {rows}")));
        };
        self.ids.bind(py).get_item(PySlice::new(py, start, end, 1))
    }
}

#[pymethods]
impl PyTokenArrays {
    /// Arrays put together from ids (`uint16` or `uint32`) and row splits (`int64`, one more than rows).
    #[new]
    fn new(ids: Bound<'_, PyAny>, row_splits: Bound<'_, PyArray1<i64>>) -> PyResult<Self> {
        if ids.cast::<PyArray1<u32>>().is_err() && ids.cast::<PyArray1<u16>>().is_err() {
            return Err(PyTypeError::new_err("ids must be a one-dimensional array of uint16 or uint32"));
        }
        let splits: Vec<i64> = row_splits.readonly().as_array().to_vec();
        let n_ids = ids.len()? as i64;
        let is_valid = splits.first() == Some(&0) && splits.last() == Some(&n_ids) && splits.is_sorted();
        if !is_valid {
            let message = format!("row_splits must ascend from 0 to the {n_ids} ids");
            return Err(super::errors::exception(ids.py(), "OptionError", message));
        }
        Ok(Self { ids: ids.unbind(), row_splits: row_splits.unbind() })
    }

    /// All ids: one-dimensional, `uint16` if every id of the tokenizer fits, else `uint32`.
    #[getter]
    fn ids(&self, py: Python<'_>) -> Py<PyAny> {
        self.ids.clone_ref(py)
    }

    /// Where texts begin: `int64`, one more than there are texts, from 0.
    #[getter]
    fn row_splits(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        self.row_splits.clone_ref(py)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.rows(py)
    }

    /// The ids of one text, as a view; of a slice of texts, as a list of views.
    fn __getitem__<'py>(&self, py: Python<'py>, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.rows(py);
        if let Ok(slice) = at.cast::<PySlice>() {
            let indices = slice.indices(rows as isize)?;
            let at = (0..indices.slicelength as isize).map(|step| indices.start + step * indices.step);
            let views = at.map(|at| self.row(py, at as usize)).collect::<PyResult<Vec<_>>>()?;
            return views.into_pyobject(py);
        }
        let at: isize = at.extract()?;
        let wrapped = if at < 0 { at + rows as isize } else { at };
        match usize::try_from(wrapped) {
            Ok(row) if row < rows => self.row(py, row),
            _ => Err(PyIndexError::new_err(format!("row is {at} but there are {rows}"))),
        }
    }

    /// Arrow's capsules: a `large_list` over the same memory.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        this: &Bound<'py, Self>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A producer may ignore a request that it cannot meet without a copy.
        let _ = requested_schema;
        let py = this.py();
        let arrays = this.get();
        let row_splits = arrays.row_splits.bind(py);
        let ids = arrays.ids.bind(py);
        let (data, is_narrow) = match ids.cast::<PyArray1<u16>>() {
            Ok(narrow) => (contiguous(narrow)?, true),
            Err(_) => (contiguous(ids.cast::<PyArray1<u32>>()?)?, false),
        };
        let buffers = ListBuffers {
            ids: data,
            n_ids: ids.len()?,
            is_narrow,
            row_splits: contiguous(row_splits)?,
            n_rows: arrays.rows(py),
        };
        export(py, &buffers, this.clone().into_any().unbind())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, [self.ids.bind(py).clone(), self.row_splits.bind(py).clone().into_any()])
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let ids = self.ids.bind(py);
        Ok(format!("TokenArrays({} rows, {} ids, {})", self.rows(py), ids.len()?, ids.getattr("dtype")?))
    }
}

/// Start of an array's memory, which must be in one piece for Arrow.
fn contiguous<T: numpy::Element>(array: &Bound<'_, PyArray1<T>>) -> PyResult<*const std::ffi::c_void> {
    if !array.is_contiguous() {
        return Err(PyTypeError::new_err("Arrow needs arrays without gaps"));
    }
    Ok(array.data().cast_const().cast())
}
