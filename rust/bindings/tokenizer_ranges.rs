//! `lexmill.Tokenizer`: numbers of tokens for evaluations and reports, without offsets.

use std::sync::OnceLock;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::arguments::ids;
use super::arrays::PyTokenArrays;
use super::errors::OrRaise;
use super::strings::UnwrittenTexts;
use super::texts::Texts;
use super::tokenizer::PyTokenizer;
use super::tokenizer_arrays::encode_arrays;
use crate::cache::Id;
use crate::corpus::Utf8Errors;
use crate::sinks::Told;
use crate::structures::parallel::Parallelism;
use crate::tokenizer::{TextRanges, TokenColumns, Tokenizer};

/// An array of `int64`.
type Numbers<'py> = Bound<'py, PyArray1<i64>>;

#[pymethods]
impl PyTokenizer {
    /// Encodes texts to arrays of ids, without special tokens, truncation and padding. Also tells the index of the first id of each range,
    /// and for each text the characters that the unknown token stands for; -1 where this is not known without offsets.
    ///
    /// Args:
    ///     `texts`: the texts.
    ///     `places`: the byte of its text at which each range begins, 0 for the first one of a text; `uint32`.
    ///     `splits`: text `i` has the ranges `splits[i]:splits[i + 1]`; `int64`.
    ///     `unknown`: the id of the unknown token, if there is one.
    ///     `num_threads`: as in `encode_batch_arrays`.
    ///
    /// Raises:
    ///     `OptionError`: the splits do not fit the texts and places.
    #[pyo3(name = "_encode_ranges", signature = (texts, places, splits, unknown=None, num_threads=None))]
    fn encode_ranges<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        places: PyReadonlyArray1<'py, u32>,
        splits: PyReadonlyArray1<'py, i64>,
        unknown: Option<u32>,
        num_threads: Option<usize>,
    ) -> PyResult<(PyTokenArrays, Numbers<'py>, Numbers<'py>)> {
        let core = self.core(py)?;
        let texts = Texts::for_ids(texts, Utf8Errors::Strict, num_threads)?;
        let (size, texts, found) = (texts.size(), texts.as_source(), OnceLock::new());
        let ranges = TextRanges { places: places.as_slice()?, splits: splits.as_slice()? };
        let arrays = encode_arrays(
            py,
            &core,
            size,
            num_threads,
            |parallelism| by_ranges(&core, &texts, (ranges, unknown), parallelism, &found),
            |parallelism| by_ranges(&core, &texts, (ranges, unknown), parallelism, &found),
        )?;
        let Told { firsts, unknown } = found.into_inner().unwrap_or_default();
        Ok((arrays, firsts.into_pyarray(py), unknown.into_pyarray(py)))
    }

    /// The numbers of the texts that differ from the decoded ids of their rows, special tokens included, in ascending order.
    ///
    /// Args:
    ///     `texts`: the texts.
    ///     `ids`: the ids of all texts; `uint16` or `uint32`.
    ///     `row_splits`: text `i` has the ids `row_splits[i]:row_splits[i + 1]`; `int64`.
    ///
    /// Raises:
    ///     `OptionError`: the row splits do not fit the texts and ids.
    #[pyo3(name = "_undecoded")]
    fn undecoded(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        ids: &Bound<'_, PyAny>,
        row_splits: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Vec<usize>> {
        let core = self.core(py)?;
        let texts = Texts::of(texts, Utf8Errors::Strict, None)?;
        let (texts, ids, splits) = (texts.as_slice(), self::ids(ids)?, row_splits.as_slice()?);
        py.detach(|| core.undecoded(texts, &ids, splits)).or_raise(py)
    }
}

/// Encodes texts, and hands over the numbers of their ranges.
fn by_ranges<T: Id + PartialEq>(
    core: &Tokenizer,
    texts: &UnwrittenTexts<'_>,
    (ranges, unknown): (TextRanges<'_>, Option<u32>),
    parallelism: Parallelism<'_>,
    told: &OnceLock<Told>,
) -> crate::Result<TokenColumns<T>> {
    let (rows, found) = core.encode_ranges(texts, ranges, unknown, parallelism)?;
    told.get_or_init(|| found);
    Ok(TokenColumns::from(rows))
}
