//! `lexmill.Tokenizer`: decoding.

use pyo3::exceptions::PyLookupError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::arguments::{id, ids, rows_of_ids};
use super::errors::{OrRaise, exception};
use super::threads::detached;
use super::tokenizer::PyTokenizer;
use crate::tokenizer::Tokenizer;

/// The reader of the bytes of a text.
#[derive(Clone, Copy)]
enum Reading {
    /// The decoder.
    Decoder,
    /// UTF-8 without errors.
    Strict,
    /// An error handler of Python.
    Python,
}

impl Reading {
    fn of(py: Python<'_>, errors: &str) -> PyResult<Self> {
        match errors {
            "replace" => Ok(Self::Decoder),
            "strict" => Ok(Self::Strict),
            name => match py.import("codecs")?.call_method1("lookup_error", (name,)) {
                Ok(_) => Ok(Self::Python),
                Err(error) if error.is_instance_of::<PyLookupError>(py) => {
                    let message = format!(
                        "errors is {name} but must be replace, strict, ignore or another of Python's error handlers"
                    );
                    Err(exception(py, "OptionError", message))
                }
                Err(error) => Err(error),
            },
        }
    }

    fn decode(self, core: &Tokenizer, ids: &[u32], skip_special_tokens: bool) -> crate::Result<Decoded> {
        match self {
            Self::Decoder => core.decode(ids, skip_special_tokens).map(Decoded::Text),
            Self::Strict => core.decode_valid(ids, skip_special_tokens).map(Decoded::Text),
            Self::Python => core.decode_bytes(ids, skip_special_tokens).map(Decoded::Bytes),
        }
    }
}

/// A text, or its bytes.
enum Decoded {
    Text(String),
    Bytes(Vec<u8>),
}

impl Decoded {
    /// The text; `errors` is the name of Python's error handler for bytes.
    fn into_string<'py>(self, py: Python<'py>, errors: &str) -> PyResult<Bound<'py, PyString>> {
        match self {
            Self::Text(text) => Ok(PyString::new(py, &text)),
            Self::Bytes(bytes) => {
                let text = PyBytes::new(py, &bytes).call_method1("decode", ("utf-8", errors))?;
                Ok(text.cast_into()?)
            }
        }
    }
}

#[pymethods]
impl PyTokenizer {
    /// The text of ids; with `strict` an id without a token is an error, otherwise it is passed over.
    ///
    /// Args:
    ///     `ids`: the ids, in a list, an array, a column of pandas, polars or Arrow, or another sequence.
    ///     `skip_special_tokens`: leaves special tokens out.
    ///     `strict`: raises for an id without a token.
    ///     `errors`: treats bytes that are not UTF-8: `replace` as the decoder does, by U+FFFD; `strict`, `ignore` or another of Python's
    ///         error handlers as `bytes.decode` does.
    ///
    /// Raises:
    ///     `InputTypeError`: the ids are not sequences of integers.
    ///     `IdRangeError`: an id is negative, or does not fit 32 bits.
    ///     `VocabError`: an id has no token, with `strict`.
    ///     `InvalidUtf8Error`: the bytes are not UTF-8, with `errors="strict"`.
    ///     `OptionError`: Python has no error handler of this name.
    #[pyo3(signature = (ids, skip_special_tokens=true, *, strict=false, errors="replace"))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
        strict: bool,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        let read = Reading::of(py, errors)?;
        let ids = self::ids(ids)?;
        let core = self.core(py)?;
        if strict {
            core.check_ids(&ids).or_raise(py)?;
        }
        let decoded = detached(py, ids.len() * 4, || read.decode(&core, &ids, skip_special_tokens));
        decoded.or_raise(py)?.into_string(py, errors)
    }

    /// The bytes of the text of ids, before they are read as UTF-8: a character that is not complete keeps its bytes.
    ///
    /// Args:
    ///     `ids`: the ids, in a list, an array, a column of pandas, polars or Arrow, or another sequence.
    ///     `skip_special_tokens`: leaves special tokens out.
    ///     `strict`: raises for an id without a token.
    ///
    /// Raises:
    ///     `InputTypeError`: the ids are not sequences of integers.
    ///     `IdRangeError`: an id is negative, or does not fit 32 bits.
    ///     `VocabError`: an id has no token, with `strict`.
    #[pyo3(signature = (ids, skip_special_tokens=true, *, strict=false))]
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
        strict: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ids = self::ids(ids)?;
        let core = self.core(py)?;
        if strict {
            core.check_ids(&ids).or_raise(py)?;
        }
        let bytes = detached(py, ids.len() * 4, || core.decode_bytes(&ids, skip_special_tokens));
        Ok(PyBytes::new(py, &bytes.or_raise(py)?))
    }

    /// The bytes that a token adds inside a text, not at its beginning or end.
    ///
    /// Args:
    ///     `id`: the id of the token.
    ///
    /// Raises:
    ///     `IdRangeError`: the id is negative, or does not fit 32 bits.
    ///     `VocabError`: the id has no token.
    ///     `OptionError`: the decoder looks at several tokens together, so a token has no bytes of its own.
    fn token_bytes<'py>(&self, py: Python<'py>, id: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let id = self::id(id)?;
        Ok(PyBytes::new(py, &self.core(py)?.token_bytes(id).or_raise(py)?))
    }

    /// The bytes of all tokens, by id, as `token_bytes` gives them; None for an id without a token.
    ///
    /// Raises:
    ///     `OptionError`: the decoder looks at several tokens together, so a token has no bytes of its own, or an id is beyond 16,777,215.
    fn vocab_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let core = self.core(py)?;
        let listed = py.detach(|| core.vocab_bytes()).or_raise(py)?;
        PyList::new(py, listed.iter().map(|bytes| bytes.as_deref().map(|bytes| PyBytes::new(py, bytes))))
    }

    /// The texts of lists of ids.
    ///
    /// Args:
    ///     `sequences`: the ids of each text, in lists, the rows of an array, or other sequences.
    ///     `skip_special_tokens`: leaves special tokens out.
    ///     `strict`: raises for an id without a token.
    ///     `errors`: treats bytes that are not UTF-8, as in `decode`.
    ///
    /// Raises:
    ///     `InputTypeError`: the ids are not sequences of integers.
    ///     `IdRangeError`: an id is negative, or does not fit 32 bits.
    ///     `VocabError`: an id has no token, with `strict`.
    ///     `InvalidUtf8Error`: the bytes are not UTF-8, with `errors="strict"`.
    ///     `OptionError`: Python has no error handler of this name.
    #[pyo3(signature = (sequences, skip_special_tokens=true, *, strict=false, errors="replace"))]
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        sequences: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
        strict: bool,
        errors: &str,
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        let read = Reading::of(py, errors)?;
        let rows = rows_of_ids(sequences)?;
        let core = self.core(py)?;
        if strict {
            rows.iter().try_for_each(|row| core.check_ids(row)).or_raise(py)?;
        }
        let decoded = py.detach(|| {
            let decode = |row: &Vec<u32>| read.decode(&core, row, skip_special_tokens);
            rows.iter().map(decode).collect::<crate::Result<Vec<_>>>()
        });
        decoded.or_raise(py)?.into_iter().map(|text| text.into_string(py, errors)).collect()
    }
}
