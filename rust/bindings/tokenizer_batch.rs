//! `lexmill.Tokenizer`: encoding.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::arguments::{Inputs, OwnedInput, sequence, text, utf8_errors};
use super::encoding::PyEncoding;
use super::errors::OrRaise;
use super::int_lists::{list_of_ints, list_of_lists, push_rows};
use super::numpy_loading::load_numpy;
use super::progress::{watched, watched_texts};
use super::properties::unsigned;
use super::sources::OpenedDocuments;
use super::texts::Texts;
use super::threads::{detached, threads};
use super::tokenizer::PyTokenizer;
use crate::cache::Id;
use crate::corpus::files::{FileOptions, count_files};
use crate::structures::parallel::Parallelism;
use crate::tokenizer::{LimitedCounts, Ragged, TextSource, Tokenizer};

/// Warns if truncation or padding has changed `counts`.
fn warn_of_limits(
    py: Python<'_>,
    core: &Tokenizer,
    counts: &[u64],
    recount: impl FnOnce(&Tokenizer) -> PyResult<Vec<u64>>,
) -> PyResult<()> {
    let LimitedCounts { cut, padded, tokens } = core.limited_counts(counts, recount)?;
    if cut + padded > 0 {
        let length = core.truncation().map(|rule| rule.max_length);
        let module = py.import("lexmill._data.corpus_warnings")?;
        module.call_method1("warn_of_limits", (counts.len(), cut, padded, length, tokens))?;
    }
    Ok(())
}

fn count_array(py: Python<'_>, counts: Vec<u64>) -> Bound<'_, PyArray1<i64>> {
    counts.into_iter().map(|count| count as i64).collect::<Vec<_>>().into_pyarray(py)
}

/// Lists of ids, made while other threads encode.
struct Lists {
    lists: Vec<Py<PyList>>,
    /// The exception that Python raised meanwhile.
    raised: Option<PyErr>,
}

impl Lists {
    fn push<T: Id + Into<u32>>(&mut self, rows: &Ragged<T>) -> crate::Result<()> {
        Python::attach(|py| push_rows(py, rows, &mut self.lists)).map_err(|error| {
            self.raised = Some(error);
            crate::Error::Interrupted
        })
    }
}

fn encode_lists<'py, T: Id + Into<u32>>(
    py: Python<'py>,
    core: &Tokenizer,
    texts: &Texts,
    special: bool,
    num_threads: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let source = texts.as_source();
    let mut lists = Lists { lists: Vec::with_capacity(source.count()), raised: None };
    let encode = |parallelism: Parallelism<'_>| {
        core.for_each_rows::<T>(&source, special, parallelism, |rows| lists.push(rows))
    };
    let encoded = watched_texts(py, texts.size(), num_threads, encode);
    lists.raised.map_or(encoded, Err)?;
    list_of_lists(py, lists.lists)
}

#[pymethods]
impl PyTokenizer {
    /// Encodes one text or a pair.
    ///
    /// Args:
    ///     `sequence`: the text, or a list, an array or another sequence of words.
    ///     `pair`: the second text of a pair.
    ///     `is_pretokenized`: each text is a list of words, which the pre-tokenizer cuts further.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    #[pyo3(signature = (sequence, pair=None, is_pretokenized=false, add_special_tokens=true))]
    fn encode(
        &self,
        py: Python<'_>,
        sequence: &Bound<'_, PyAny>,
        pair: Option<&Bound<'_, PyAny>>,
        is_pretokenized: bool,
        add_special_tokens: bool,
    ) -> PyResult<PyEncoding> {
        let first = self::sequence(sequence, is_pretokenized)?;
        let second = pair.map(|pair| self::sequence(pair, is_pretokenized)).transpose()?;
        let input = OwnedInput { first, second };
        let core = self.core(py)?;
        let bytes = input.bytes();
        detached(py, bytes, || core.encode(&input.borrow(), add_special_tokens))
            .or_raise(py)
            .map(PyEncoding::of)
    }

    /// The `n` best tokenizations of a text by a Unigram model, each with its score, best first.
    ///
    /// The score is a natural logarithm, the sum of the pre-tokens' scores. Tokenizations with equal scores are sorted by their scores without the
    /// last pre-token, then without the last two, and so on. Time and memory are in proportion to `n` and the length of the text.
    ///
    /// Args:
    ///     `sequence`: the text.
    ///     `n`: tokenizations, 1024 at most; fewer are returned if there are fewer.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///
    /// Raises:
    ///     `OptionRangeError`: `n` is negative.
    ///     `OptionError`: `n` is more than 1024, or the model is not Unigram.
    #[pyo3(signature = (sequence, n, *, add_special_tokens=true))]
    fn encode_nbest(
        &self,
        py: Python<'_>,
        sequence: &Bound<'_, PyAny>,
        n: i64,
        add_special_tokens: bool,
    ) -> PyResult<Vec<(PyEncoding, f64)>> {
        let n = unsigned(py, "n", n)?;
        let text = self::text(sequence)?;
        let core = self.core(py)?;
        let best = py.detach(|| core.encode_nbest(&text, n, add_special_tokens)).or_raise(py)?;
        Ok(best.into_iter().map(|(encoding, score)| (PyEncoding::of(encoding), score)).collect())
    }

    /// Encodes one text to a list of ids.
    ///
    /// Args:
    ///     `text`: the text.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    #[pyo3(signature = (text, *, add_special_tokens=true, num_threads=None))]
    fn encode_ids<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = self::text(text)?;
        let core = self.core(py)?;
        let ids = watched_texts(py, text.len(), num_threads, |parallelism| {
            core.encode_one(&text, add_special_tokens, parallelism)
        })?;
        list_of_ints(py, ids.len(), ids.into_iter())
    }

    /// Encodes texts or pairs.
    ///
    /// Args:
    ///     `input`: texts, or pairs of two, in a list, an array, a column of pandas, polars or Arrow, or another sequence.
    ///     `is_pretokenized`: each text is a list of words, which the pre-tokenizer cuts further.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    #[pyo3(signature = (input, is_pretokenized=false, add_special_tokens=true, *, num_threads=None))]
    fn encode_batch(
        &self,
        py: Python<'_>,
        input: &Bound<'_, PyAny>,
        is_pretokenized: bool,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Vec<PyEncoding>> {
        let inputs = Inputs::of(input, is_pretokenized)?;
        let core = self.core(py)?;
        let encode = |parallelism: Parallelism<'_>| {
            core.encode_batch(&inputs.borrow(), add_special_tokens, parallelism)
        };
        let encodings = watched_texts(py, inputs.size(), num_threads, encode)?;
        Ok(encodings.into_iter().map(PyEncoding::of).collect())
    }

    /// As `encode_batch`: offsets cost nothing here until they are read.
    ///
    /// Args:
    ///     `input`: texts, or pairs of two, in a list, an array, a column of pandas, polars or Arrow, or another sequence.
    ///     `is_pretokenized`: each text is a list of words, which the pre-tokenizer cuts further.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    #[pyo3(signature = (input, is_pretokenized=false, add_special_tokens=true, *, num_threads=None))]
    fn encode_batch_fast(
        &self,
        py: Python<'_>,
        input: &Bound<'_, PyAny>,
        is_pretokenized: bool,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Vec<PyEncoding>> {
        self.encode_batch(py, input, is_pretokenized, add_special_tokens, num_threads)
    }

    /// Encodes texts to lists of ids.
    ///
    /// Args:
    ///     `texts`: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    #[pyo3(signature = (texts, *, errors="strict", add_special_tokens=true, num_threads=None))]
    fn encode_batch_ids<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        errors: &str,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let texts = Texts::for_ids(texts, utf8_errors(errors)?, num_threads)?;
        let core = self.core(py)?;
        let lists = if core.has_narrow_ids() { encode_lists::<u16> } else { encode_lists::<u32> };
        lists(py, &core, &texts, add_special_tokens, num_threads)
    }

    /// Number of tokens of each text, as `encode` gives them: a `LengthLimitWarning` tells if texts were truncated or padded.
    ///
    /// Args:
    ///     `texts`: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    #[pyo3(signature = (texts, *, errors="strict", add_special_tokens=true, num_threads=None))]
    fn count_tokens<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        errors: &str,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let texts = Texts::for_ids(texts, utf8_errors(errors)?, num_threads)?;
        load_numpy(py)?;
        let core = self.core(py)?;
        let count = |core: &Tokenizer| {
            watched_texts(py, texts.size(), num_threads, |parallelism| {
                core.count_tokens(&texts.as_source(), add_special_tokens, parallelism)
            })
        };
        let counts = count(&core)?;
        warn_of_limits(py, &core, &counts, count)?;
        Ok(count_array(py, counts))
    }

    /// Number of tokens of files: of each file, or of each document between separators. A `LengthLimitWarning` tells if texts were truncated or
    /// padded.
    ///
    /// Args:
    ///     `paths`: paths of text files in UTF-8, plain or compressed; paths whose names say that the files hold records, with texts
    ///         in the field or column `text`, each of which is a document; folders and patterns; and sources of `lexmill.sources`.
    ///     `separator`: the text between the documents of a text file, which is left out; None makes each text file one document.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read.
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    #[pyo3(signature = (paths, separator=None, *, errors="strict", add_special_tokens=true, num_threads=None))]
    fn count_tokens_files<'py>(
        &self,
        py: Python<'py>,
        paths: &Bound<'_, PyAny>,
        separator: Option<&str>,
        errors: &str,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let opened = OpenedDocuments::of(paths, separator, errors)?;
        let files = opened.files();
        let options = FileOptions { separator, errors: utf8_errors(errors)?, add_special_tokens };
        load_numpy(py)?;
        let core = self.core(py)?;
        let count = |core: &Tokenizer| {
            watched(py, threads(num_threads), |all| count_files(core, &files, options, all))
        };
        let counts = count(&core)?;
        opened.warn(py)?;
        // A pipe can be read only once.
        if opened.can_be_read_again() {
            warn_of_limits(py, &core, &counts, count)?;
        }
        Ok(count_array(py, counts))
    }
}
