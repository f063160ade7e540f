//! `lexmill.TokenArrays`: tokens of many texts, an array for each column.

use std::ffi::c_void;

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PySlice, PyTuple};

use super::array_columns::{ColumnArrays, ColumnKind, contiguous};
use super::arrow::{ArrowColumn, Values, export};
use super::errors::exception;
use crate::cache::Id;
use crate::tokenizer::{Ragged, TokenColumns};

/// Tokens of many texts, end to end: an array for each column, and the places where rows begin.
///
/// Row `i` is `ids[row_splits[i]:row_splits[i + 1]]`, and `arrays[i]` gives it as a view. The other columns are divided in the same
/// way; columns that were not asked for are `None`. Arrow reads the object as a column of lists (`pyarrow.array(arrays)`), or with
/// further columns as a table (`pyarrow.record_batch(arrays)`).
///
/// Args:
///     `ids`: all ids, one-dimensional, `uint16` or `uint32`.
///     `row_splits`: where each row begins, and the end of the last row: `int64`.
///     `**columns`: further columns by the names of the attributes.
#[pyclass(name = "TokenArrays", module = "lexmill", frozen, sequence)]
pub(super) struct PyTokenArrays {
    ids: Py<PyAny>,
    row_splits: Py<PyArray1<i64>>,
    columns: ColumnArrays,
}

impl PyTokenArrays {
    /// Hands the core's vectors over to numpy without a copy.
    pub(super) fn of<T: Id + numpy::Element>(py: Python<'_>, mut columns: TokenColumns<T>) -> PyResult<Self> {
        let Ragged { ids, row_splits } = std::mem::take(&mut columns.rows);
        Ok(Self {
            ids: ids.into_pyarray(py).into_any().unbind(),
            row_splits: row_splits.into_pyarray(py).unbind(),
            columns: ColumnArrays::of(py, columns)?,
        })
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

    fn column(&self, py: Python<'_>, kind: ColumnKind) -> Option<Py<PyAny>> {
        self.columns.get(kind).map(|array| array.clone_ref(py))
    }

    /// The length of all rows.
    fn row_length(&self, py: Python<'_>) -> PyResult<usize> {
        let splits = self.row_splits.bind(py).readonly().as_array().to_vec();
        let lens = splits.windows(2).map(|row| row[1] - row[0]);
        let (shortest, longest) = (lens.clone().min().unwrap_or(0), lens.max().unwrap_or(0));
        if shortest < longest {
            let message =
                format!("rows have {shortest} to {longest} tokens but a matrix needs rows of one length");
            return Err(exception(py, "OptionError", message));
        }
        Ok(longest as usize)
    }
}

#[pymethods]
impl PyTokenArrays {
    /// Arrays put together from ids (`uint16` or `uint32`), row splits (`int64`, one more than rows) and columns.
    #[new]
    #[pyo3(signature = (ids, row_splits, **columns))]
    fn new(
        ids: Bound<'_, PyAny>,
        row_splits: Bound<'_, PyAny>,
        columns: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        if ids.cast::<PyArray1<u32>>().is_err() && ids.cast::<PyArray1<u16>>().is_err() {
            let message = "ids must be a one-dimensional array of uint16 or uint32".to_owned();
            return Err(exception(ids.py(), "InputTypeError", message));
        }
        let Ok(row_splits) = row_splits.cast_into::<PyArray1<i64>>() else {
            let message = "row_splits must be a one-dimensional array of int64".to_owned();
            return Err(exception(ids.py(), "InputTypeError", message));
        };
        let n_ids = ids.len()?;
        check_splits(&row_splits, n_ids)?;
        let columns = match columns {
            Some(columns) => ColumnArrays::of_arguments(columns, n_ids, row_splits.len() - 1)?,
            None => ColumnArrays::default(),
        };
        Ok(Self { ids: ids.unbind(), row_splits: row_splits.unbind(), columns })
    }

    /// All ids: one-dimensional, `uint16` if every id of the tokenizer fits, else `uint32`.
    #[getter]
    fn ids(&self, py: Python<'_>) -> Py<PyAny> {
        self.ids.clone_ref(py)
    }

    /// Where each row begins, from 0, and the end of the last row: `int64`.
    #[getter]
    fn row_splits(&self, py: Python<'_>) -> Py<PyArray1<i64>> {
        self.row_splits.clone_ref(py)
    }

    /// Start and end of each token in characters of its text: `uint32`, two a token; `(0, 0)` for special tokens and padding.
    #[getter]
    fn offsets(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.column(py, ColumnKind::Offsets)
    }

    /// Number of the pre-token of each token: `int32`; -1 for special tokens and padding.
    #[getter]
    fn word_ids(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.column(py, ColumnKind::WordIds)
    }

    /// Type id of each token: `uint32`.
    #[getter]
    fn type_ids(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.column(py, ColumnKind::TypeIds)
    }

    /// 0 for padding, 1 for all other tokens: `uint8`.
    #[getter]
    fn attention_mask(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.column(py, ColumnKind::AttentionMask)
    }

    /// 1 for special tokens and padding, 0 for all other tokens: `uint8`.
    #[getter]
    fn special_tokens_mask(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.column(py, ColumnKind::SpecialTokensMask)
    }

    /// Number of the text that each row comes from: `int64`, one a row.
    #[getter]
    fn sample_mapping(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.column(py, ColumnKind::SampleMapping)
    }

    /// The columns by name, each as a matrix with one row for each text, without a copy; `offsets` has three dimensions.
    ///
    /// Raises:
    ///     `OptionError`: rows have different lengths.
    fn matrices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (rows, length) = (self.rows(py), self.row_length(py)?);
        let matrices = PyDict::new(py);
        matrices.set_item("ids", self.ids.bind(py).call_method1("reshape", (rows, length))?)?;
        for (kind, array) in self.columns.iter().filter(|(kind, _)| kind.is_per_token()) {
            let array = array.bind(py);
            let matrix = match kind {
                ColumnKind::Offsets => array.call_method1("reshape", (rows, length, 2))?,
                _ => array.call_method1("reshape", (rows, length))?,
            };
            matrices.set_item(kind.name(), matrix)?;
        }
        Ok(matrices)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.rows(py)
    }

    /// The ids of one row, as a view; of a slice of rows, as a list of views.
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

    /// Arrow's capsules over the same memory: a `large_list` of ids, or a struct with a field for each column.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        this: &Bound<'py, Self>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A producer may ignore a request that it cannot meet without a copy.
        let _ = requested_schema;
        let (py, arrays) = (this.py(), this.get());
        let ids = arrays.ids.bind(py);
        let (data, values) = match ids.cast::<PyArray1<u16>>() {
            Ok(narrow) => (contiguous(narrow)?, Values::U16),
            Err(_) => (contiguous(ids.cast::<PyArray1<u32>>()?)?, Values::U32),
        };
        let mut columns = vec![ArrowColumn { name: "ids", data, values, is_per_token: true }];
        for (kind, array) in arrays.columns.iter() {
            columns.push(kind.arrow_column(array.bind(py))?);
        }
        // Whoever holds the array may have written to it.
        check_splits(arrays.row_splits.bind(py), ids.len()?)?;
        let row_splits: *const c_void = contiguous(arrays.row_splits.bind(py))?;
        export(py, &columns, (row_splits, arrays.rows(py)), ids.len()?, this.as_any())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let columns = PyDict::new(py);
        for (kind, array) in self.columns.iter() {
            columns.set_item(kind.name(), array)?;
        }
        let arrays = [self.ids.bind(py).clone(), self.row_splits.bind(py).clone().into_any()];
        Ok((PyTuple::new(py, arrays)?, columns))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let ids = self.ids.bind(py);
        let dtype = ids.getattr("dtype")?.to_string();
        let columns = std::iter::once(dtype.as_str()).chain(self.columns.iter().map(|(kind, _)| kind.name()));
        let columns = columns.collect::<Vec<_>>().join(", ");
        Ok(format!("TokenArrays({} rows, {} ids, {columns})", self.rows(py), ids.len()?))
    }
}

/// Refuses row splits that do not ascend from 0 to the number of ids.
fn check_splits(row_splits: &Bound<'_, PyArray1<i64>>, n_ids: usize) -> PyResult<()> {
    let splits: Vec<i64> = row_splits.readonly().as_array().to_vec();
    if splits.first() == Some(&0) && splits.last() == Some(&(n_ids as i64)) && splits.is_sorted() {
        return Ok(());
    }
    let message = format!("row_splits must ascend from 0 to the {n_ids} ids");
    Err(exception(row_splits.py(), "OptionError", message))
}
