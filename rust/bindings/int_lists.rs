//! Lists of ids and offsets, filled with integers and pairs made once.
//!
//! Making an object for every id or offset and freeing it later costs more than encoding. Ids and offsets are small and come
//! again and again, so each integer, and each pair of offsets of a short token near the start of a text, is made when it is
//! first needed and kept as long as the process.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::tokenizer::Ragged;

/// Integers below this are kept: more than published vocabularies have. Pages of the table take memory once touched.
const KEPT: usize = 1 << 18;

/// Pairs that begin below this are kept, if they are short: 4 MB of them at most.
const KEPT_STARTS: usize = 1 << 12;

/// Kept pairs end less than this after they begin.
const KEPT_LENGTHS: usize = 1 << 4;

static INTS: [AtomicPtr<ffi::PyObject>; KEPT] = [const { AtomicPtr::new(ptr::null_mut()) }; KEPT];

static PAIRS: [AtomicPtr<ffi::PyObject>; KEPT_STARTS * KEPT_LENGTHS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; KEPT_STARTS * KEPT_LENGTHS];

/// Keeps Python from looking for cycles among lists and tuples that are being made and hold nothing but integers.
///
/// It would do so after every few hundred of them, three times each in all, which takes longer than making them.
struct NoCollection {
    was_enabled: bool,
}

impl NoCollection {
    #[expect(unsafe_code, reason = "the `gc` module from Python would cost an import and a lookup a call")]
    fn begin(_: Python<'_>) -> Self {
        // SAFETY: the interpreter is attached.
        Self { was_enabled: unsafe { ffi::PyGC_Disable() } == 1 }
    }
}

impl Drop for NoCollection {
    #[expect(unsafe_code, reason = "as in `begin`")]
    fn drop(&mut self) {
        if self.was_enabled {
            // SAFETY: the interpreter is attached, as it was at the beginning: no code in between detaches.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

/// Appends the ids of each row as a list.
pub(super) fn push_rows<T: Copy + Into<u32>>(
    py: Python<'_>,
    rows: &Ragged<T>,
    lists: &mut Vec<Py<PyList>>,
) -> PyResult<()> {
    let _paused = NoCollection::begin(py);
    for pair in rows.row_splits.windows(2) {
        let ids = &rows.ids[pair[0] as usize..pair[1] as usize];
        lists.push(list_of_ints(py, ids.len(), ids.iter().map(|&id| id.into()))?.unbind());
    }
    Ok(())
}

/// A list of lists.
pub(super) fn list_of_lists(py: Python<'_>, lists: Vec<Py<PyList>>) -> PyResult<Bound<'_, PyList>> {
    let _paused = NoCollection::begin(py);
    filled(py, lists.len(), lists.into_iter().map(|list| Ok(list.into_bound(py).into_any())))
}

/// A list of `len` integers.
pub(super) fn list_of_ints(
    py: Python<'_>,
    len: usize,
    values: impl Iterator<Item = u32>,
) -> PyResult<Bound<'_, PyList>> {
    filled(py, len, values.map(|value| int(py, value)))
}

/// A list of `len` integers or `None`.
pub(super) fn list_of_options(
    py: Python<'_>,
    len: usize,
    values: impl Iterator<Item = Option<u32>>,
) -> PyResult<Bound<'_, PyList>> {
    let item =
        |value: Option<u32>| value.map_or_else(|| Ok(py.None().into_bound(py)), |value| int(py, value));
    filled(py, len, values.map(item))
}

/// A list of `len` pairs of integers.
pub(super) fn list_of_pairs(
    py: Python<'_>,
    len: usize,
    pairs: impl Iterator<Item = (u32, u32)>,
) -> PyResult<Bound<'_, PyList>> {
    let _paused = NoCollection::begin(py);
    filled(py, len, pairs.map(|pair| self::pair(py, pair)))
}

/// The pair of integers.
#[inline]
fn pair(py: Python<'_>, (start, end): (u32, u32)) -> PyResult<Bound<'_, PyAny>> {
    let length = end.wrapping_sub(start) as usize;
    if start as usize >= KEPT_STARTS || length >= KEPT_LENGTHS {
        return new_pair(py, (start, end));
    }
    kept(py, &PAIRS[start as usize * KEPT_LENGTHS + length], || new_pair(py, (start, end)))
}

fn new_pair(py: Python<'_>, (start, end): (u32, u32)) -> PyResult<Bound<'_, PyAny>> {
    let pair = PyTuple::new(py, [int(py, start)?, int(py, end)?])?;
    leave_out(&pair);
    Ok(pair.into_any())
}

/// Keeps a tuple of integers out of Python's searches for cycles, as the first one that meets it would: millions of them
/// take longer to look through than to make.
#[expect(unsafe_code, reason = "Python has no other way to say so")]
fn leave_out(pair: &Bound<'_, PyTuple>) {
    // SAFETY: the interpreter is attached, the tuple is whole, and its integers refer to nothing.
    unsafe { ffi::PyObject_GC_UnTrack(pair.as_ptr().cast()) }
}

/// A list of the first `len` items.
#[expect(unsafe_code, reason = "the safe way costs a check and a call an item")]
fn filled<'py>(
    py: Python<'py>,
    len: usize,
    items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyList>> {
    // SAFETY: the interpreter is attached. A new list is ours alone until it is returned, and its slots are null; each
    // is set once, within its length, to an owned reference. A list dropped half-way has null slots, which is allowed.
    unsafe {
        let list = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(len as ffi::Py_ssize_t))?;
        let mut at = 0;
        // Tokens of many pieces are gone through faster from within than by asking for the next one.
        items.take(len).try_for_each(|item| -> PyResult<()> {
            ffi::PyList_SET_ITEM(list.as_ptr(), at as ffi::Py_ssize_t, item?.into_ptr());
            at += 1;
            Ok(())
        })?;
        if at < len {
            return Err(PyRuntimeError::new_err(format!("a list of {len} items got {at}")));
        }
        Ok(list.cast_into_unchecked())
    }
}

/// The integer `value`.
#[inline]
fn int(py: Python<'_>, value: u32) -> PyResult<Bound<'_, PyAny>> {
    let made = || Ok(value.into_pyobject(py)?.into_any());
    INTS.get(value as usize).map_or_else(made, |slot| kept(py, slot, made))
}

/// The object in a slot of a table, made by `make` if the slot is still empty.
#[inline]
#[expect(unsafe_code, reason = "the table holds bare references")]
fn kept<'py>(
    py: Python<'py>,
    slot: &AtomicPtr<ffi::PyObject>,
    make: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let kept = slot.load(Ordering::Acquire);
    if kept.is_null() {
        return Ok(keep(py, slot, make()?));
    }
    // SAFETY: the interpreter is attached; the table owns a reference to the object and never drops the reference.
    Ok(unsafe { Bound::from_borrowed_ptr(py, kept) })
}

/// Puts a new object into its slot, unless another thread was faster.
#[cold]
fn keep<'py>(py: Python<'py>, slot: &AtomicPtr<ffi::PyObject>, made: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let kept = made.clone().into_ptr();
    if slot.compare_exchange(ptr::null_mut(), kept, Ordering::AcqRel, Ordering::Acquire).is_err() {
        drop_reference(py, kept);
    }
    made
}

#[expect(unsafe_code, reason = "undoes an `into_ptr`")]
fn drop_reference(py: Python<'_>, owned: *mut ffi::PyObject) {
    // SAFETY: the interpreter is attached and the reference is the one that `keep` made and could not store.
    drop(unsafe { Bound::from_owned_ptr(py, owned) });
}
