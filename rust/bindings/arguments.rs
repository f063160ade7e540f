//! Texts, ids and other arguments from Python.

use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyIterator, PyList, PyMapping, PyString, PyTuple};

use super::arrow::Column;
use super::errors::exception;
use super::strings::surrogate_note;
use super::texts::{Texts, kind_of};
use crate::corpus::Utf8Errors;
use crate::tokenizer::{EncodeInput, Sequence};

/// Says on standard error which keywords are passed over, as Hugging Face does, so that its callers work here.
pub(super) fn note_unknown(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(keywords) = keywords else { return Ok(()) };
    let stderr = keywords.py().import("sys")?.getattr("stderr")?;
    if stderr.is_none() {
        return Ok(());
    }
    for (name, _) in keywords {
        stderr.call_method1("write", (format!("Ignored unknown kwarg option {name}\n"),))?;
    }
    Ok(())
}

/// A keyword that may be left out, but not be None.
pub(super) struct Keyword<T>(pub(super) Option<T>);

impl<T> Keyword<T> {
    /// The keyword left out.
    pub(super) const ABSENT: Self = Self(None);
}

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Keyword<T> {
    type Error = T::Error;

    fn extract(item: Borrowed<'a, 'py, PyAny>) -> Result<Self, T::Error> {
        item.extract().map(|value| Self(Some(value)))
    }
}

/// The treatment of bytes that are not UTF-8, by Python's name.
pub(super) fn utf8_errors(name: &str) -> PyResult<Utf8Errors> {
    match name {
        "strict" => Ok(Utf8Errors::Strict),
        "replace" => Ok(Utf8Errors::Replace),
        other => {
            let message = format!("errors is {other} but must be strict or replace");
            Err(Python::attach(|py| exception(py, "OptionError", message)))
        }
    }
}

/// A text that stays alive and unchanged while the interpreter is detached; CPython's own UTF-8, not a copy.
pub(super) fn text(item: &Bound<'_, PyAny>) -> PyResult<PyBackedStr> {
    let wrong = |note: Option<String>| {
        let message = with_note("TextInputSequence must be str", note);
        exception(item.py(), "InputTypeError", message)
    };
    let string = item.cast::<PyString>().map_err(|_| wrong(None))?;
    string.clone().try_into().map_err(|_: PyErr| wrong(surrogate_note(string)))
}

/// Hugging Face's words with a note that they lack: that a `str` is no text.
pub(super) fn with_note(message: &str, note: Option<String>) -> String {
    note.map_or_else(|| message.to_owned(), |note| format!("{message}: {note}"))
}

/// The lone surrogate of a `str`, or of the first word of several that has one.
fn note_of(item: &Bound<'_, PyAny>) -> Option<String> {
    if let Ok(string) = item.cast::<PyString>() {
        return surrogate_note(string);
    }
    let word = |(number, word): (usize, PyResult<Bound<'_, PyAny>>)| {
        let note = surrogate_note(word.ok()?.cast::<PyString>().ok()?)?;
        Some(format!("word {number}: {note}"))
    };
    item.try_iter().ok()?.enumerate().find_map(word)
}

/// A text, or words cut already, kept alive.
pub(super) enum OwnedSequence {
    Text(PyBackedStr),
    Words(Vec<PyBackedStr>),
}

impl OwnedSequence {
    fn borrow(&self) -> Sequence<'_> {
        match self {
            Self::Text(text) => Sequence::Text(text),
            Self::Words(words) => Sequence::Words(words.iter().map(|word| &**word).collect()),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Words(words) => words.iter().map(|word| word.len()).sum(),
        }
    }
}

/// A text or a pair, kept alive.
pub(super) struct OwnedInput {
    pub(super) first: OwnedSequence,
    pub(super) second: Option<OwnedSequence>,
}

impl OwnedInput {
    pub(super) fn borrow(&self) -> EncodeInput<'_> {
        EncodeInput { first: self.first.borrow(), second: self.second.as_ref().map(OwnedSequence::borrow) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.first.bytes() + self.second.as_ref().map_or(0, OwnedSequence::bytes)
    }
}

/// One sequence: a `str`, or with `is_pretokenized` a list, an array or another sequence of `str`.
pub(super) fn sequence(item: &Bound<'_, PyAny>, is_pretokenized: bool) -> PyResult<OwnedSequence> {
    if !is_pretokenized {
        return text(item).map(OwnedSequence::Text);
    }
    let message = "PreTokenizedInputSequence must be Union[List[str], Tuple[str]]";
    words(item)?.ok_or_else(|| exception(item.py(), "InputTypeError", with_note(message, note_of(item))))
}

/// A sequence of `str`; `None` for anything else.
fn words(item: &Bound<'_, PyAny>) -> PyResult<Option<OwnedSequence>> {
    if !has_items(item) {
        return Ok(None);
    }
    let mut words = Vec::new();
    for word in iterate(item)? {
        let word = word?;
        let Ok(word) = word.cast::<PyString>() else { return Ok(None) };
        let Ok(word) = text(word) else { return Ok(None) };
        words.push(word);
    }
    Ok(Some(OwnedSequence::Words(words)))
}

/// One input of a batch: a sequence, or a tuple, a list, a row of an array or another sequence of two.
fn input(item: &Bound<'_, PyAny>, is_pretokenized: bool) -> PyResult<OwnedInput> {
    let first = if is_pretokenized {
        words(item)?
    } else if item.is_instance_of::<PyString>() {
        text(item).ok().map(OwnedSequence::Text)
    } else {
        None
    };
    if let Some(first) = first {
        return Ok(OwnedInput { first, second: None });
    }
    // Two words, of which one cannot be read, are no pair of sequences.
    let is_words = || is_pretokenized && note_of(item).is_some();
    if has_items(item) && item.len()? == 2 && !is_words() {
        // Items by place, and not by a label as pandas has them.
        let mut parts = iterate(item)?;
        if let (Some(first), Some(second)) = (parts.next(), parts.next()) {
            let first = sequence(&first?, is_pretokenized)?;
            return Ok(OwnedInput { first, second: Some(sequence(&second?, is_pretokenized)?) });
        }
    }
    let message = if is_pretokenized {
        "PreTokenizedEncodeInput must be Union[PreTokenizedInputSequence, \
         Tuple[PreTokenizedInputSequence, PreTokenizedInputSequence]]"
    } else {
        "TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]"
    };
    Err(exception(item.py(), "InputTypeError", with_note(message, note_of(item))))
}

/// The inputs of a batch, kept alive.
pub(super) enum Inputs {
    /// One by one.
    Items(Vec<OwnedInput>),
    /// A column of texts.
    Column(Texts),
}

impl Inputs {
    /// Reads a sequence of inputs, or an Arrow column of texts.
    pub(super) fn of(items: &Bound<'_, PyAny>, is_pretokenized: bool) -> PyResult<Self> {
        let is_list = items.is_instance_of::<PyList>();
        if !(is_list || is_pretokenized)
            && let Some(column) = Column::of_texts(items)?
        {
            return Texts::of_column(items.py(), column, Utf8Errors::Strict).map(Self::Column);
        }
        check_sequence(items)?;
        let items = iterate(items)?.map(|item| input(&item?, is_pretokenized)).collect::<PyResult<_>>();
        items.map(Self::Items)
    }

    pub(super) fn borrow(&self) -> Vec<EncodeInput<'_>> {
        match self {
            Self::Items(items) => items.iter().map(OwnedInput::borrow).collect(),
            Self::Column(texts) => texts.as_slice().iter().map(|text| EncodeInput::of_text(text)).collect(),
        }
    }

    /// As [`Texts::size`].
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Items(items) => items.iter().map(|input| input.bytes() + 1).sum(),
            Self::Column(texts) => texts.size(),
        }
    }
}

/// Ids from a list, an array, a column or another sequence of integers.
pub(super) fn ids(items: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    if let Ok(array) = items.extract::<PyReadonlyArray1<'_, u32>>() {
        return Ok(array.as_array().to_vec());
    }
    if let Ok(array) = items.extract::<PyReadonlyArray1<'_, u16>>() {
        debug_assert!(array.len() == array.as_array().len(), "one dimension");
        return Ok(array.as_array().iter().map(|&id| u32::from(id)).collect());
    }
    check_sequence(items)?;
    iterate(items)?.map(|item| id(&item?)).collect()
}

/// Lists of ids from a list, an array, a column or another sequence.
pub(super) fn rows_of_ids(items: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u32>>> {
    check_sequence(items)?;
    iterate(items)?.map(|row| ids(&row?)).collect()
}

/// True if `item` is a sequence by Python's own measure, such as an array, a column or an object of any class with `__getitem__`.
/// False for a mapping; for a table, whose items are names or columns; and for a string, whose characters nobody means.
fn has_items(item: &Bound<'_, PyAny>) -> bool {
    let is_one = |item: &Bound<'_, PyAny>| {
        item.is_instance_of::<PyString>()
            || item.is_instance_of::<PyBytes>()
            || item.is_instance_of::<PyByteArray>()
    };
    item.is_instance_of::<PyList>()
        || item.is_instance_of::<PyTuple>()
        || (!is_one(item)
            && is_sequence(item)
            && item.cast::<PyMapping>().is_err()
            && !item.hasattr("columns").unwrap_or_default())
}

#[expect(
    unsafe_code,
    reason = "PyO3 asks for an instance of `collections.abc.Sequence`, which arrays are not"
)]
fn is_sequence(item: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the pointer leads to a live object.
    unsafe { pyo3::ffi::PySequence_Check(item.as_ptr()) == 1 }
}

/// Refuses a string, and any other object that is no sequence. Bytes pass: their items are integers.
fn check_sequence(items: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_bytes = items.is_instance_of::<PyBytes>() || items.is_instance_of::<PyByteArray>();
    if is_bytes || has_items(items) {
        return Ok(());
    }
    // Hugging Face's words.
    let message = if items.is_instance_of::<PyString>() {
        "Can't extract `str` to `Vec`: put it into a list".to_owned()
    } else {
        let kind = items.get_type().name()?;
        let found = if items.is_none() { "'None'".to_owned() } else { format!("'{kind}' object") };
        format!("{found} is not an instance of 'Sequence': make a list of it")
    };
    Err(exception(items.py(), "InputTypeError", message))
}

/// The items of a sequence; an array without dimensions has none to give.
fn iterate<'py>(items: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    items.try_iter().map_err(|error| {
        let py = items.py();
        let is_type = error.get_type(py).is(py.get_type::<PyTypeError>());
        if is_type { exception(py, "InputTypeError", error.value(py).to_string()) } else { error }
    })
}

/// One id. Another object is refused with its type; a negative integer, or one from 2^32 on, with its value.
pub(super) fn id(item: &Bound<'_, PyAny>) -> PyResult<u32> {
    item.extract::<u32>().map_err(|error| {
        let py = item.py();
        if error.is_instance_of::<PyOverflowError>(py) {
            let message = format!("id is {item} but must be from 0 to {}", u32::MAX);
            return exception(py, "IdRangeError", message);
        }
        if error.get_type(py).is(py.get_type::<PyTypeError>()) {
            let message = match kind_of(item) {
                Ok(kind) => format!("id is {kind} but must be an integer: {}", error.value(py)),
                Err(error) => return error,
            };
            return exception(py, "InputTypeError", message);
        }
        error
    })
}
