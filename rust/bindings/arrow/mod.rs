//! The Arrow C data interface: three structures, no library.
//!
//! Source: Apache Arrow, "The Arrow C data interface" and "The Arrow C stream interface".

mod counted_words;
mod export;
mod import;
mod layout;
mod stream;

use std::ffi::{c_char, c_int, c_void};

pub(super) use counted_words::counted_words_stream;
pub(super) use export::{ArrowColumn, Values, export};
pub(super) use import::{Column, Imported};
pub(super) use layout::Malformed;
pub(super) use stream::taken_stream;

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

#[expect(unsafe_code, reason = "the capsule may be dropped by another thread")]
// SAFETY: all pointers are to static text or to memory that the structure itself owns.
unsafe impl Send for ArrowSchema {}
#[expect(unsafe_code, reason = "the capsule may be dropped by another thread")]
// SAFETY: all pointers are to memory that the structure owns or, by a reference count, keeps alive.
unsafe impl Send for ArrowArray {}
#[expect(unsafe_code, reason = "buffers are read by the threads that encode")]
// SAFETY: nobody writes to an array or to its buffers between its making and its release.
unsafe impl Sync for ArrowArray {}
