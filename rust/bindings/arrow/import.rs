//! Columns of text taken over from other libraries.

use std::ffi::{CStr, c_char};
use std::ptr;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::layout::Kind;
use super::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::bindings::errors::exception;

/// A structure of the interface, which its `release` frees.
trait Releasable: Sized {
    /// Its name as a capsule.
    const NAME: &'static CStr;

    /// The structure that was released.
    fn released() -> Self;

    /// The callback that frees it, unless somebody did or will.
    fn release(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
}

impl Releasable for ArrowSchema {
    const NAME: &'static CStr = c"arrow_schema";

    fn released() -> Self {
        Self {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    fn release(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.release
    }
}

impl Releasable for ArrowArray {
    const NAME: &'static CStr = c"arrow_array";

    fn released() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    fn release(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.release
    }
}

impl Releasable for ArrowArrayStream {
    const NAME: &'static CStr = c"arrow_array_stream";

    fn released() -> Self {
        Self {
            get_schema: None,
            get_next: None,
            get_last_error: None,
            release: None,
            private_data: ptr::null_mut(),
        }
    }

    fn release(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.release
    }
}

/// A structure that is ours now, and freed by its producer's callback when dropped.
struct Owned<T: Releasable>(T);

impl<T: Releasable> Owned<T> {
    /// Takes the structure out of a capsule; whoever looks there again finds it released.
    #[expect(unsafe_code, reason = "the structure lies in memory of the producer's")]
    fn of(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = capsule.py();
        let wrong =
            || malformed(py, format!("{capsule} is not a capsule named {}", T::NAME.to_string_lossy()));
        let pointer = capsule.cast::<PyCapsule>().map_err(|_| wrong())?.pointer_checked(Some(T::NAME));
        let pointer = pointer.map_err(|_| wrong())?.cast::<T>();
        if !pointer.is_aligned() {
            return Err(wrong());
        }
        // SAFETY: a capsule of this name holds such a structure, which we may move out if we mark it as released.
        let owned = Self(unsafe { pointer.replace(T::released()) });
        match owned.0.release() {
            Some(_) => Ok(owned),
            None => Err(malformed(py, format!("{} was released already", T::NAME.to_string_lossy()))),
        }
    }
}

impl<T: Releasable> Drop for Owned<T> {
    #[expect(unsafe_code, reason = "the interface's release callback")]
    fn drop(&mut self) {
        if let Some(release) = self.0.release() {
            // SAFETY: the callback is set, so nobody has released this structure, and after this nobody will.
            unsafe { release(&raw mut self.0) }
        }
    }
}

/// One array of a column; its buffers live as long as this.
pub(in crate::bindings) struct Imported {
    array: Owned<ArrowArray>,
    kind: Kind,
}

impl Imported {
    pub(super) fn array(&self) -> &ArrowArray {
        &self.array.0
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }
}

/// A column of text, array by array.
pub(in crate::bindings) enum Column {
    /// One array, not yet handed out.
    Array(Option<Imported>),
    /// The arrays that a producer makes when it is asked.
    Stream(Stream),
}

/// A producer of arrays, and the layout of their texts.
pub(in crate::bindings) struct Stream {
    stream: Owned<ArrowArrayStream>,
    kind: Kind,
}

impl Column {
    /// The column that an object offers through Arrow's capsules, if it does.
    pub(in crate::bindings) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = object.py();
        if let Some(method) = object.getattr_opt("__arrow_c_array__")? {
            let pair = method.call0()?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>();
            let (schema, array) =
                pair.map_err(|_| malformed(py, "there is no pair of capsules".to_owned()))?;
            let kind = kind(py, &Owned::of(&schema)?.0)?;
            let array = Owned::of(&array)?;
            return Ok(Some(Self::Array(Some(Imported { array, kind }))));
        }
        let Some(method) = object.getattr_opt("__arrow_c_stream__")? else { return Ok(None) };
        let capsule = match method.call0() {
            Ok(capsule) => capsule,
            // The method of pandas needs pyarrow, which may be absent; such an object can still be iterated over.
            Err(error) if error.is_instance_of::<PyImportError>(py) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut stream = Owned::<ArrowArrayStream>::of(&capsule)?;
        let mut schema = Owned(ArrowSchema::released());
        stream.fill(py, stream.0.get_schema, &mut schema.0)?;
        Ok(Some(Self::Stream(Stream { kind: kind(py, &schema.0)?, stream })))
    }

    /// As [`Self::of`], but `None` also for a column of other things than texts if Python gives its items as its own objects:
    /// pandas and polars have texts as categories and pairs as objects, pyarrow gives scalars. A table has no items.
    pub(in crate::bindings) fn of_texts(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = object.py();
        let found = Self::of(object);
        let Err(error) = &found else { return found };
        let is_format = error.get_type(py).name().is_ok_and(|name| name == "FormatError");
        let module = object.get_type().module()?.to_string();
        let has_items =
            object.hasattr("__iter__")? && !object.hasattr("columns")? && !module.starts_with("pyarrow");
        if is_format || !has_items { found } else { Ok(None) }
    }

    /// The next array, if there is one more.
    pub(in crate::bindings) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Imported>> {
        match self {
            Self::Array(array) => Ok(array.take()),
            Self::Stream(Stream { stream, kind }) => {
                let mut array = Owned(ArrowArray::released());
                stream.fill(py, stream.0.get_next, &mut array.0)?;
                let is_last = array.0.release.is_none();
                Ok((!is_last).then_some(Imported { array, kind: *kind }))
            }
        }
    }
}

impl Owned<ArrowArrayStream> {
    /// Has the producer fill `out` by one of its callbacks.
    #[expect(unsafe_code, reason = "the interface's callbacks")]
    fn fill<T>(
        &mut self,
        py: Python<'_>,
        callback: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut T) -> std::ffi::c_int>,
        out: &mut T,
    ) -> PyResult<()> {
        let Some(callback) = callback else {
            return Err(malformed(py, "the stream lacks a callback".to_owned()));
        };
        // SAFETY: the stream is not released, and `out` is a structure that the producer may overwrite.
        let code = unsafe { callback(&raw mut self.0, out) };
        if code == 0 {
            return Ok(());
        }
        let message = self.0.get_last_error.and_then(|last_error| {
            // SAFETY: as above; the text, if there is one, lives until the next call, and is copied before.
            unsafe { text(last_error(&raw mut self.0)) }
        });
        let message = message.unwrap_or_else(|| format!("the producer failed with error {code}"));
        Err(malformed(py, message))
    }
}

fn kind(py: Python<'_>, schema: &ArrowSchema) -> PyResult<Kind> {
    // SAFETY: the format of a schema that is not released is null or a text that ends with a zero byte.
    #[expect(unsafe_code, reason = "the interface's texts are pointers")]
    let format =
        unsafe { text(schema.format) }.ok_or_else(|| malformed(py, "the schema has no format".to_owned()))?;
    let refused = |what: &str| {
        let message = format!(
            "texts are an Arrow column of {what} but must be one of utf8, large_utf8, utf8_view, binary, large_binary \
             or binary_view"
        );
        Err(exception(py, "InputTypeError", message))
    };
    if !schema.dictionary.is_null() {
        return refused("dictionary indices");
    }
    match Kind::of_format(&format) {
        Some(kind) => Ok(kind),
        None if format == "+s" => refused("structs, such as a table,"),
        None => refused(&format!("format `{format}`")),
    }
}

/// A copy of a text of the producer's.
///
/// # Safety
/// `text` is null or points to bytes that end with a zero byte.
#[expect(unsafe_code, reason = "the interface's texts are pointers")]
unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: it is not null, and the caller promises the rest.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

pub(super) fn malformed(py: Python<'_>, message: String) -> PyErr {
    exception(py, "FormatError", format!("arrow column: {message}"))
}
