//! Rows of ids as an Arrow list. Buffers stay those of the numpy arrays, which the exported structure keeps alive.

use std::ffi::{CStr, c_void};
use std::ptr;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::{ArrowArray, ArrowSchema};

/// What an exported schema owns.
struct SchemaParts {
    children: Vec<*mut ArrowSchema>,
}

/// What an exported array owns.
struct ArrayParts {
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    /// Keeps the buffers alive.
    _owner: Option<Py<PyAny>>,
}

fn schema(format: &'static CStr, name: &'static CStr, children: Vec<ArrowSchema>) -> ArrowSchema {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut parts = Box::new(SchemaParts { children });
    ArrowSchema {
        format: format.as_ptr(),
        name: name.as_ptr(),
        metadata: ptr::null(),
        flags: 0,
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

fn array(
    length: i64,
    buffers: Vec<*const c_void>,
    children: Vec<ArrowArray>,
    owner: Option<Py<PyAny>>,
) -> ArrowArray {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut parts = Box::new(ArrayParts { buffers, children, _owner: owner });
    ArrowArray {
        length,
        null_count: 0,
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

#[expect(unsafe_code, reason = "the interface's release callback")]
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: consumers call this once, with a structure that `schema` made or a bitwise move of it; its
    // private data and children are the boxes made there, and a child already moved out has no release.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        for &child in &parts.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*schema).release = None;
    }
}

#[expect(unsafe_code, reason = "the interface's release callback")]
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as for `release_schema`; dropping a Python reference without the interpreter is pyo3's affair,
    // and it is attached here first so that the array is freed at once.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        for &child in &parts.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
        Python::attach(|_| drop(parts));
    }
}

#[expect(unsafe_code, reason = "a capsule that nobody consumed releases its content")]
fn drop_schema(mut schema: ArrowSchema, _: *mut c_void) {
    if let Some(release) = schema.release {
        // SAFETY: `release` is set, so nobody has released this structure.
        unsafe { release(&raw mut schema) }
    }
}

#[expect(unsafe_code, reason = "a capsule that nobody consumed releases its content")]
fn drop_array(mut array: ArrowArray, _: *mut c_void) {
    if let Some(release) = array.release {
        // SAFETY: `release` is set, so nobody has released this structure.
        unsafe { release(&raw mut array) }
    }
}

/// The buffers of rows of ids.
pub(in crate::bindings) struct ListBuffers {
    /// Start of the ids.
    pub(in crate::bindings) ids: *const c_void,
    /// Number of ids.
    pub(in crate::bindings) n_ids: usize,
    /// Whether an id takes two bytes rather than four.
    pub(in crate::bindings) is_narrow: bool,
    /// Start of the row splits, 64-bit.
    pub(in crate::bindings) row_splits: *const c_void,
    /// Number of rows.
    pub(in crate::bindings) n_rows: usize,
}

/// Schema and array capsules of a `large_list<uint16>` or `large_list<uint32>`.
///
/// `owner` keeps the buffers alive until the consumer releases the array.
pub(in crate::bindings) fn export<'py>(
    py: Python<'py>,
    buffers: &ListBuffers,
    owner: Py<PyAny>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let item = schema(if buffers.is_narrow { c"S" } else { c"I" }, c"item", Vec::new());
    let list = schema(c"+L", c"", vec![item]);
    let values = array(buffers.n_ids as i64, vec![ptr::null(), buffers.ids], Vec::new(), None);
    let rows = array(buffers.n_rows as i64, vec![ptr::null(), buffers.row_splits], vec![values], Some(owner));
    Ok((
        PyCapsule::new_with_value_and_destructor(py, list, c"arrow_schema", drop_schema)?,
        PyCapsule::new_with_value_and_destructor(py, rows, c"arrow_array", drop_array)?,
    ))
}
