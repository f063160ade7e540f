//! The columns that `lexmill.TokenArrays` may have beside ids.

use std::ffi::c_void;

use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::arrow::{ArrowColumn, Values};
use super::errors::exception;
use crate::tokenizer::TokenColumns;

/// A column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Offsets,
    WordIds,
    TypeIds,
    AttentionMask,
    SpecialTokensMask,
    SampleMapping,
}

/// All columns, in the order of dictionaries and Arrow fields. A kind's discriminant is its index.
const KINDS: [ColumnKind; 6] = [
    ColumnKind::Offsets,
    ColumnKind::WordIds,
    ColumnKind::TypeIds,
    ColumnKind::AttentionMask,
    ColumnKind::SpecialTokensMask,
    ColumnKind::SampleMapping,
];

impl ColumnKind {
    /// The name of the attribute.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Offsets => "offsets",
            Self::WordIds => "word_ids",
            Self::TypeIds => "type_ids",
            Self::AttentionMask => "attention_mask",
            Self::SpecialTokensMask => "special_tokens_mask",
            Self::SampleMapping => "sample_mapping",
        }
    }

    /// True if the column has one value per token, false if it has one value per row.
    pub(super) fn is_per_token(self) -> bool {
        self != Self::SampleMapping
    }

    fn values(self) -> Values {
        match self {
            Self::Offsets => Values::PairsOfU32,
            Self::WordIds => Values::I32,
            Self::TypeIds => Values::U32,
            Self::AttentionMask | Self::SpecialTokensMask => Values::U8,
            Self::SampleMapping => Values::I64,
        }
    }

    /// The column as Arrow has it.
    pub(super) fn arrow_column(self, array: &Bound<'_, PyAny>) -> PyResult<ArrowColumn> {
        let data = match self.values() {
            Values::U8 => contiguous(array.cast::<PyArray1<u8>>()?),
            Values::U16 => contiguous(array.cast::<PyArray1<u16>>()?),
            Values::I32 => contiguous(array.cast::<PyArray1<i32>>()?),
            Values::U32 => contiguous(array.cast::<PyArray1<u32>>()?),
            Values::I64 => contiguous(array.cast::<PyArray1<i64>>()?),
            Values::PairsOfU32 => {
                let pairs = array.cast::<PyArray2<u32>>()?;
                if !pairs.is_c_contiguous() {
                    return Err(has_gaps());
                }
                Ok(pairs.data().cast_const().cast())
            }
        }?;
        let (values, is_per_token) = (self.values(), self.is_per_token());
        Ok(ArrowColumn { name: self.name(), data, values, is_per_token })
    }

    /// Checks an array that shall be this column of `n_ids` tokens in `n_rows` rows.
    fn check(self, array: &Bound<'_, PyAny>, n_ids: usize, n_rows: usize) -> PyResult<()> {
        let py = array.py();
        let (dtype, name) = match self.values() {
            Values::U8 => (numpy::dtype::<u8>(py), "uint8"),
            Values::U16 => (numpy::dtype::<u16>(py), "uint16"),
            Values::I32 => (numpy::dtype::<i32>(py), "int32"),
            Values::U32 | Values::PairsOfU32 => (numpy::dtype::<u32>(py), "uint32"),
            Values::I64 => (numpy::dtype::<i64>(py), "int64"),
        };
        let expected = match self {
            Self::Offsets => vec![n_ids, 2],
            Self::SampleMapping => vec![n_rows],
            _ => vec![n_ids],
        };
        let untyped = array.cast::<PyUntypedArray>();
        let is_valid =
            untyped.is_ok_and(|array| array.dtype().is_equiv_to(&dtype) && array.shape() == expected);
        if is_valid {
            return Ok(());
        }
        let message = format!("{} must be an array of {name} of shape {expected:?}", self.name());
        Err(exception(py, "OptionError", message))
    }
}

/// The columns that are there.
#[derive(Default)]
pub(super) struct ColumnArrays([Option<Py<PyAny>>; KINDS.len()]);

impl ColumnArrays {
    /// Hands the core's vectors over to numpy without a copy.
    pub(super) fn of<T>(py: Python<'_>, columns: TokenColumns<T>) -> PyResult<Self> {
        fn array<V: numpy::Element>(py: Python<'_>, column: Option<Vec<V>>) -> Option<Py<PyAny>> {
            column.map(|column| column.into_pyarray(py).into_any().unbind())
        }
        let offsets = columns.offsets.map(|offsets| {
            let shape = (offsets.len(), 2);
            offsets.into_flattened().into_pyarray(py).call_method1("reshape", shape).map(Bound::unbind)
        });
        Ok(Self([
            offsets.transpose()?,
            array(py, columns.word_ids),
            array(py, columns.type_ids),
            array(py, columns.attention_mask),
            array(py, columns.special_tokens_mask),
            array(py, columns.sample_mapping),
        ]))
    }

    /// Columns by their names, checked.
    pub(super) fn of_arguments(arguments: &Bound<'_, PyDict>, n_ids: usize, n_rows: usize) -> PyResult<Self> {
        let mut columns = Self::default();
        for (name, array) in arguments {
            let name = name.cast::<PyString>()?.to_str()?.to_owned();
            let Some(kind) = KINDS.into_iter().find(|kind| kind.name() == name) else {
                let message = format!("TokenArrays.__new__() got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(message));
            };
            if !array.is_none() {
                kind.check(&array, n_ids, n_rows)?;
                columns.0[kind as usize] = Some(array.unbind());
            }
        }
        Ok(columns)
    }

    /// A column, if it is there.
    pub(super) fn get(&self, kind: ColumnKind) -> Option<&Py<PyAny>> {
        self.0[kind as usize].as_ref()
    }

    /// The columns that are there.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ColumnKind, &Py<PyAny>)> {
        KINDS.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)))
    }
}

fn has_gaps() -> PyErr {
    PyTypeError::new_err("Arrow needs arrays without gaps")
}

/// Start of an array's memory, which must be in one piece for Arrow.
pub(super) fn contiguous<T: numpy::Element>(array: &Bound<'_, PyArray1<T>>) -> PyResult<*const c_void> {
    if array.is_contiguous() { Ok(array.data().cast_const().cast()) } else { Err(has_gaps()) }
}
