//! Columns of tokens as Arrow lists. The lists share the buffers of the numpy arrays, and keep the arrays alive.

use std::ffi::{CStr, c_void};
use std::ptr;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::{ArrowArray, ArrowSchema};

/// The parts that an exported schema owns.
struct SchemaParts {
    children: Vec<*mut ArrowSchema>,
}

/// The parts that an exported array owns.
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

/// The type of the values of a column.
#[derive(Clone, Copy)]
pub(in crate::bindings) enum Values {
    U8,
    U16,
    I32,
    U32,
    I64,
    PairsOfU32,
}

impl Values {
    /// The format of a value, or of each of a pair.
    fn format(self) -> &'static CStr {
        match self {
            Self::U8 => c"C",
            Self::U16 => c"S",
            Self::I32 => c"i",
            Self::U32 | Self::PairsOfU32 => c"I",
            Self::I64 => c"l",
        }
    }
}

/// One column of rows of tokens.
pub(in crate::bindings) struct ArrowColumn {
    /// Name of the field.
    pub(in crate::bindings) name: &'static CStr,
    /// Start of the values.
    pub(in crate::bindings) data: *const c_void,
    /// Type of the values.
    pub(in crate::bindings) values: Values,
    /// True if there is a value for each token, false if there is one for each row.
    pub(in crate::bindings) is_per_token: bool,
}

impl ArrowColumn {
    fn values_schema(&self, name: &'static CStr) -> ArrowSchema {
        match self.values {
            Values::PairsOfU32 => {
                schema(c"+w:2", name, vec![schema(self.values.format(), c"item", Vec::new())])
            }
            _ => schema(self.values.format(), name, Vec::new()),
        }
    }

    fn values_array(&self, length: usize, owner: &Bound<'_, PyAny>) -> ArrowArray {
        let plain = |length: usize| {
            array(length as i64, vec![ptr::null(), self.data], Vec::new(), Some(owner.clone().unbind()))
        };
        match self.values {
            Values::PairsOfU32 => {
                let owned = Some(owner.clone().unbind());
                array(length as i64, vec![ptr::null()], vec![plain(2 * length)], owned)
            }
            _ => plain(length),
        }
    }

    fn schema(&self, name: &'static CStr) -> ArrowSchema {
        if self.is_per_token {
            schema(c"+L", name, vec![self.values_schema(c"item")])
        } else {
            self.values_schema(name)
        }
    }

    fn array(
        &self,
        row_splits: (*const c_void, usize),
        n_ids: usize,
        owner: &Bound<'_, PyAny>,
    ) -> ArrowArray {
        let (splits, n_rows) = row_splits;
        if !self.is_per_token {
            return self.values_array(n_rows, owner);
        }
        let values = self.values_array(n_ids, owner);
        array(n_rows as i64, vec![ptr::null(), splits], vec![values], Some(owner.clone().unbind()))
    }
}

/// Schema and array capsules of columns whose rows begin at `row_splits` (start of the 64-bit numbers, number of rows): a
/// `large_list` if there is one column, else a struct of them.
///
/// Every array holds a reference to `owner`, which keeps the buffers alive: a consumer may move a child out and release the
/// parent before it.
pub(in crate::bindings) fn export<'py>(
    py: Python<'py>,
    columns: &[ArrowColumn],
    row_splits: (*const c_void, usize),
    n_ids: usize,
    owner: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let of_column = |column: &ArrowColumn| column.array(row_splits, n_ids, owner);
    let (schema, rows) = match columns {
        [column] => (column.schema(c""), of_column(column)),
        columns => {
            let fields = columns.iter().map(|column| column.schema(column.name)).collect();
            let arrays = columns.iter().map(of_column).collect();
            let owned = Some(owner.clone().unbind());
            (schema(c"+s", c"", fields), array(row_splits.1 as i64, vec![ptr::null()], arrays, owned))
        }
    };
    Ok((
        PyCapsule::new_with_value_and_destructor(py, schema, c"arrow_schema", drop_schema)?,
        PyCapsule::new_with_value_and_destructor(py, rows, c"arrow_array", drop_array)?,
    ))
}
