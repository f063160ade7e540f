//! Texts from Python, borrowed for one call: lists, iterables, numpy arrays and Arrow columns.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFrozenSet, PyList, PyMapping, PyMemoryView, PySet, PyString};

use super::arrow::{Column, Imported};
use super::errors::{exception, to_python};
use super::numpy_loading::load_numpy;
use super::strings::{Units, UnwrittenTexts, Written, replaced, write_all};
use super::text_block::PyTextBlock;
use super::threads::threads;
use crate::corpus::Utf8Errors;
use crate::pipeline::WHOLE;

/// Texts that stay alive and unchanged while the interpreter is detached; ASCII, bytes and columns are not copied.
pub(super) struct Texts {
    /// Each text lies in memory that another field owns, and is lent for no longer than `self` lives.
    rows: Vec<&'static str>,
    bytes: usize,
    errors: Utf8Errors,
    objects: Vec<Py<PyAny>>,
    arrays: Vec<Imported>,
    mended: Vec<Box<str>>,
    /// Rows of strings that are not written as UTF-8 yet.
    waiting: Vec<(usize, Units)>,
    /// By row, the units for the thread that encodes the row to write; empty unless [`Self::for_ids`] made the texts.
    units: Vec<Option<Units>>,
    written: Vec<Vec<u8>>,
}

/// Keeps a text beyond its borrow.
#[expect(unsafe_code, reason = "a structure cannot say that it borrows from itself")]
fn kept(text: &str) -> &'static str {
    // SAFETY: the callers put the owner of the text, which never changes it, beside it into `Texts`.
    unsafe { &*std::ptr::from_ref(text) }
}

impl Texts {
    /// No texts; bytes that are not UTF-8 and lone surrogates will be treated as `errors` says.
    pub(super) fn new(errors: Utf8Errors) -> Self {
        Self {
            rows: Vec::new(),
            bytes: 0,
            errors,
            objects: Vec::new(),
            arrays: Vec::new(),
            mended: Vec::new(),
            waiting: Vec::new(),
            units: Vec::new(),
            written: Vec::new(),
        }
    }

    /// All texts of a column.
    pub(super) fn of_column(py: Python<'_>, mut column: Column, errors: Utf8Errors) -> PyResult<Self> {
        let mut texts = Self::new(errors);
        while texts.push_next(py, &mut column)? {}
        Ok(texts)
    }

    /// All texts of a list, an iterable, an array or a column; strings are written as UTF-8 by `num_threads`.
    pub(super) fn of(
        items: &Bound<'_, PyAny>,
        errors: Utf8Errors,
        num_threads: Option<usize>,
    ) -> PyResult<Self> {
        let mut texts = Self::collect(items, errors)?;
        let waiting = std::mem::take(&mut texts.waiting);
        let written = texts.write(items.py(), waiting, num_threads);
        written.map_err(|(row, units)| to_python(items.py(), &units.error(row)))?;
        Ok(texts)
    }

    /// As [`Self::of`], for [`Self::as_source`]: strings that no other thread shares are left to the thread that encodes them.
    pub(super) fn for_ids(
        items: &Bound<'_, PyAny>,
        errors: Utf8Errors,
        num_threads: Option<usize>,
    ) -> PyResult<Self> {
        let mut texts = Self::collect(items, errors)?;
        let waiting = std::mem::take(&mut texts.waiting);
        let (short, long): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, units)| units.bound() <= WHOLE);
        texts.write(items.py(), long, num_threads).map_err(|(row, units)| {
            let is_earlier = |&&(at, units): &&(usize, Units)| at < row && !units.is_text();
            let &(row, units) = short.iter().find(is_earlier).unwrap_or(&(row, units));
            to_python(items.py(), &units.error(row))
        })?;
        if !short.is_empty() {
            texts.units.resize(texts.rows.len(), None);
        }
        for (row, units) in short {
            texts.bytes += units.likely_bytes();
            texts.units[row] = Some(units);
        }
        Ok(texts)
    }

    fn collect(items: &Bound<'_, PyAny>, errors: Utf8Errors) -> PyResult<Self> {
        let mut texts = Self::new(errors);
        if let Ok(list) = items.cast::<PyList>() {
            texts.push_list(list)?;
            return Ok(texts);
        }
        if let Ok(block) = items.cast::<PyTextBlock>() {
            texts.push_block(block);
            return Ok(texts);
        }
        if let Some(column) = Column::of_texts(items)? {
            return Self::of_column(items.py(), column, errors);
        }
        load_numpy(items.py())?;
        if let Ok(array) = items.cast::<PyUntypedArray>() {
            texts.push_list(&list_of(array)?)?;
        } else {
            if has_other_items(items) {
                return Err(not_texts(items)?);
            }
            let iterator = match items.try_iter() {
                Err(error) if error.is_instance_of::<PyTypeError>(items.py()) => {
                    return Err(not_texts(items)?);
                }
                iterator => iterator?,
            };
            for item in iterator {
                texts.push(&item?)?;
            }
        }
        Ok(texts)
    }

    /// The texts of [`Self::for_ids`].
    pub(super) fn as_source(&self) -> UnwrittenTexts<'_> {
        UnwrittenTexts::new(&self.rows, &self.units, self.errors)
    }

    /// The texts of [`Self::of`] and [`Self::of_column`].
    pub(super) fn as_slice(&self) -> &[&str] {
        &self.rows
    }

    /// Bytes of all texts; a guess for texts that are not written yet.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How much work the texts are: their bytes, and one for each text, since empty texts take time as well.
    pub(super) fn size(&self) -> usize {
        self.bytes + self.rows.len()
    }

    fn push_list(&mut self, list: &Bound<'_, PyList>) -> PyResult<()> {
        self.rows.reserve(list.len());
        self.objects.reserve(list.len());
        list.iter().try_for_each(|item| self.push(&item))
    }

    fn push_block(&mut self, block: &Bound<'_, PyTextBlock>) {
        self.rows.extend(block.get().texts().map(kept));
        self.bytes += block.get().texts().map(str::len).sum::<usize>();
        self.objects.push(block.clone().into_any().unbind());
    }

    /// Adds a `str` or `bytes`.
    fn push(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(string) = item.cast::<PyString>() {
            let Some(units) = Units::of(string)? else { return self.push_str(string) };
            self.waiting.push((self.rows.len(), units));
            self.rows.push("");
            self.objects.push(item.clone().unbind());
            return Ok(());
        }
        if let Ok(bytes) = item.cast::<PyBytes>() {
            self.push_bytes(item.py(), bytes.as_bytes())?;
            self.objects.push(item.clone().unbind());
            return Ok(());
        }
        let message = format!("text {} is {} but must be str or bytes", self.rows.len(), kind_of(item)?);
        Err(exception(item.py(), "InputTypeError", message))
    }

    /// Adds a `str` as CPython's own UTF-8; lone surrogates that are not to be replaced raise the error of encoding them.
    pub(super) fn push_str(&mut self, string: &Bound<'_, PyString>) -> PyResult<()> {
        let text = match (string.to_str(), self.errors) {
            (Err(error), Utf8Errors::Strict) => return Err(error),
            (Err(_), Utf8Errors::Replace) => self.mend(replaced(string)?),
            (Ok(text), _) => kept(text),
        };
        self.bytes += text.len();
        self.rows.push(text);
        self.objects.push(string.clone().into_any().unbind());
        Ok(())
    }

    /// Keeps a text that was made of another one.
    fn mend(&mut self, text: String) -> &'static str {
        let mended = text.into_boxed_str();
        let text = kept(&mended);
        self.mended.push(mended);
        text
    }

    /// Writes strings to their rows; the error is the first one with lone surrogates, and its row.
    fn write(
        &mut self,
        py: Python<'_>,
        waiting: Vec<(usize, Units)>,
        num_threads: Option<usize>,
    ) -> Result<(), (usize, Units)> {
        if waiting.is_empty() {
            return Ok(());
        }
        let (rows, units): (Vec<usize>, Vec<Units>) = waiting.into_iter().unzip();
        let (errors, threads) = (self.errors, threads(num_threads));
        let written = py.detach(|| write_all(&units, errors, threads)).map_err(|at| (rows[at], units[at]))?;
        let mut rows = rows.into_iter().zip(units);
        for Written { bytes, places } in written {
            for (place, (row, units)) in places.into_iter().zip(&mut rows) {
                let text = simdutf8::basic::from_utf8(&bytes[place]).map_err(|_| (row, units))?;
                self.bytes += text.len();
                self.rows[row] = kept(text);
            }
            self.written.push(bytes);
        }
        Ok(())
    }

    /// Adds bytes, whose owner the caller adds, if they are UTF-8 or may be mended.
    fn push_bytes(&mut self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let text = match (simdutf8::compat::from_utf8(bytes), self.errors) {
            (Ok(text), _) => kept(text),
            (Err(_), Utf8Errors::Replace) => self.mend(String::from_utf8_lossy(bytes).into_owned()),
            (Err(error), Utf8Errors::Strict) => {
                let error = crate::Error::InvalidUtf8 {
                    origin: format!("text {}", self.rows.len()),
                    byte: error.valid_up_to() as u64,
                };
                return Err(to_python(py, &error));
            }
        };
        self.bytes += text.len();
        self.rows.push(text);
        Ok(())
    }

    /// Adds the next array of a column; false if there is none.
    pub(super) fn push_next(&mut self, py: Python<'_>, column: &mut Column) -> PyResult<bool> {
        let Some(array) = column.next(py)? else { return Ok(false) };
        let first = self.rows.len();
        let rows = array.rows().map_err(|row| {
            let message = format!("text {} is null but must be a text", first + row);
            exception(py, "InputTypeError", message)
        })?;
        self.rows.reserve(rows.len());
        let pushed = rows.into_iter().try_for_each(|row| self.push_bytes(py, row));
        // Kept on failure as well: the rows before the bad one lie in it.
        self.arrays.push(array);
        pushed.map(|()| true)
    }
}

/// The items of a numpy array, which may be changed at any time and is copied for that.
fn list_of<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyList>> {
    let refused = |what: String| {
        let message = format!("texts are {what} but must be a one-dimensional array of str, bytes or object");
        Err(exception(array.py(), "InputTypeError", message))
    };
    if array.ndim() != 1 {
        return refused(format!("an array of {} dimensions", array.ndim()));
    }
    match array.dtype().kind() {
        b'U' | b'S' | b'O' | b'T' => Ok(array.call_method0("tolist")?.cast_into()?),
        _ => refused(format!("an array of {}", array.dtype())),
    }
}

/// True if iteration over an object gives other items than the texts that were meant: the keys of a mapping, the characters of a `str`,
/// the numbers of bytes, or the texts of a set in an order of its own.
pub(super) fn has_other_items(items: &Bound<'_, PyAny>) -> bool {
    items.is_instance_of::<PyString>()
        || items.is_instance_of::<PyBytes>()
        || items.is_instance_of::<PyByteArray>()
        || items.is_instance_of::<PyMemoryView>()
        || items.is_instance_of::<PySet>()
        || items.is_instance_of::<PyFrozenSet>()
        || items.cast::<PyMapping>().is_ok()
}

fn not_texts(items: &Bound<'_, PyAny>) -> PyResult<PyErr> {
    let message = format!("texts are {} but must be a list, an array or a column of texts", kind_of(items)?);
    Ok(exception(items.py(), "InputTypeError", message))
}

/// The name of an object's type, as messages give it.
pub(super) fn kind_of(item: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(if item.is_none() { "None".to_owned() } else { format!("of type {}", item.get_type().name()?) })
}
