//! `lexmill.Tokenizer`: decoding.

use pyo3::prelude::*;

use super::arguments::{ids, rows_of_ids};
use super::errors::OrRaise;
use super::tokenizer::PyTokenizer;
use super::tokenizer_batch::detached;

#[pymethods]
impl PyTokenizer {
    /// The text of ids; with `strict` an id without a token is an error, otherwise it is passed over.
    ///
    /// Args:
    ///     `ids`: the ids, in a list, an array, a column of pandas, polars or Arrow, or another sequence.
    ///     `skip_special_tokens`: leaves special tokens out.
    ///     `strict`: raises for an id without a token.
    ///
    /// Raises:
    ///     `InputTypeError`: these are no sequences of integers.
    ///     `IdRangeError`: an id is negative, or does not fit 32 bits.
    ///     `VocabError`: an id has no token, with `strict`.
    #[pyo3(signature = (ids, skip_special_tokens=true, *, strict=false))]
    fn decode(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
        strict: bool,
    ) -> PyResult<String> {
        let ids = self::ids(ids)?;
        let core = self.core(py)?;
        if strict {
            core.check_ids(&ids).or_raise(py)?;
        }
        detached(py, ids.len() * 4, || core.decode(&ids, skip_special_tokens)).or_raise(py)
    }

    /// The texts of lists of ids.
    ///
    /// Args:
    ///     `sequences`: the ids of each text, in lists, the rows of an array, or other sequences.
    ///     `skip_special_tokens`: leaves special tokens out.
    ///     `strict`: raises for an id without a token.
    ///
    /// Raises:
    ///     `InputTypeError`: these are no sequences of integers.
    ///     `IdRangeError`: an id is negative, or does not fit 32 bits.
    ///     `VocabError`: an id has no token, with `strict`.
    #[pyo3(signature = (sequences, skip_special_tokens=true, *, strict=false))]
    fn decode_batch(
        &self,
        py: Python<'_>,
        sequences: &Bound<'_, PyAny>,
        skip_special_tokens: bool,
        strict: bool,
    ) -> PyResult<Vec<String>> {
        let rows = rows_of_ids(sequences)?;
        let core = self.core(py)?;
        if strict {
            rows.iter().try_for_each(|row| core.check_ids(row)).or_raise(py)?;
        }
        py.detach(|| {
            rows.iter().map(|row| core.decode(row, skip_special_tokens)).collect::<crate::Result<_>>()
        })
        .or_raise(py)
    }
}
