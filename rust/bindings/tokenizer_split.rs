//! `lexmill.Tokenizer`: texts cut by their numbers of tokens.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::arguments::utf8_errors;
use super::errors::{OrRaise, exception};
use super::numpy_loading::load_numpy;
use super::progress::watched_texts;
use super::properties::unsigned;
use super::texts::Texts;
use super::tokenizer::PyTokenizer;
use crate::tokenizer::{SpanEnd, SplitOptions};

fn split_options(
    py: Python<'_>,
    size: i64,
    overlap: i64,
    at: &str,
    add_special_tokens: bool,
) -> PyResult<SplitOptions> {
    let at = match at {
        "token" => SpanEnd::Token,
        "sentence" => SpanEnd::Sentence,
        "paragraph" => SpanEnd::Paragraph,
        other => {
            let message = format!("at is {other} but must be token, sentence or paragraph");
            return Err(exception(py, "OptionError", message));
        }
    };
    Ok(SplitOptions {
        size: unsigned(py, "size", size)?,
        overlap: unsigned(py, "overlap", overlap)?,
        at,
        add_special_tokens,
    })
}

#[pymethods]
impl PyTokenizer {
    /// Cuts a text into spans of at most `size` tokens each, as `encode` counts the tokens of each span by itself.
    ///
    /// Every character is in a span; without an overlap, the spans follow one another. A text is encoded about twice. Truncation and padding
    /// do not apply.
    ///
    /// Args:
    ///     `text`: the text.
    ///     `size`: the most tokens of a span.
    ///     `overlap`: the most tokens of the text that neighbouring spans share; less than `size`.
    ///     `at`: where spans end: after a `token`; after a `sentence` by the rules of Unicode (UAX 29), or after a token if the sentence does
    ///         not fit; or after a `paragraph`, which ends with blank lines, or after a sentence if the paragraph does not fit.
    ///     `add_special_tokens`: counts the special tokens of the post-processor in each span.
    ///
    /// Returns:
    ///     The start and the end of each span, in characters.
    ///
    /// Raises:
    ///     `OptionError`: `overlap` is not less than `size`; `size` is less than the special tokens, or than the tokens of one character; or the
    ///         model chooses at random.
    ///     `OptionRangeError`: a number is negative.
    #[pyo3(signature = (text, size, *, overlap=0, at="token", add_special_tokens=true))]
    fn split_text(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        size: i64,
        overlap: i64,
        at: &str,
        add_special_tokens: bool,
    ) -> PyResult<Vec<(u32, u32)>> {
        let options = split_options(py, size, overlap, at, add_special_tokens)?;
        let text = super::arguments::text(text)?;
        let core = self.core(py)?;
        let spans = watched_texts(py, text.len(), Some(1), |parallelism| {
            core.split_texts(&[&text], options, parallelism)
        })?;
        Ok(spans.into_iter().flatten().collect())
    }

    /// Cuts texts into spans as `split_text` does.
    ///
    /// Args:
    ///     `texts`: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
    ///     `size`: the most tokens of a span.
    ///     `overlap`: the most tokens of the text that neighbouring spans share; less than `size`.
    ///     `at`: `token`, `sentence` or `paragraph`, as in `split_text`.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
    ///     `add_special_tokens`: counts the special tokens of the post-processor in each span.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Returns:
    ///     The spans of all texts, an array of shape (n, 2), and the row splits: the spans of text `i` are
    ///     `spans[row_splits[i]:row_splits[i + 1]]`.
    ///
    /// Raises:
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `OptionError`: as `split_text`.
    ///     `OptionRangeError`: a number is negative.
    #[pyo3(signature = (
        texts, size, *, overlap=0, at="token", errors="strict", add_special_tokens=true, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "options of a Python call")]
    fn split_text_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        size: i64,
        overlap: i64,
        at: &str,
        errors: &str,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>)> {
        let options = split_options(py, size, overlap, at, add_special_tokens)?;
        let texts = Texts::of(texts, utf8_errors(errors)?, num_threads)?;
        load_numpy(py)?;
        let core = self.core(py)?;
        let rows = watched_texts(py, texts.size(), num_threads, |parallelism| {
            core.split_texts(texts.as_slice(), options, parallelism)
        })?;
        let mut row_splits = vec![0];
        row_splits.extend(rows.iter().scan(0, |end, row| {
            *end += row.len() as i64;
            Some(*end)
        }));
        let spans: Vec<u32> = rows.into_iter().flatten().flat_map(|(start, end)| [start, end]).collect();
        let shape = (spans.len() / 2, 2);
        let spans = spans.into_pyarray(py).call_method1("reshape", shape)?;
        Ok((spans, row_splits.into_pyarray(py)))
    }

    /// A beginning of the text; encoded alone, it has at most `size` tokens.
    ///
    /// It ends after a token of the text: after the last token that fits, or an earlier one if the beginning alone has more tokens than in the text.
    /// Truncation and padding do not apply.
    ///
    /// Args:
    ///     `text`: the text.
    ///     `size`: the most tokens.
    ///     `add_special_tokens`: counts the special tokens of the post-processor.
    ///
    /// Raises:
    ///     `OptionError`: `size` is less than the special tokens, or the model chooses at random.
    ///     `OptionRangeError`: `size` is negative.
    #[pyo3(signature = (text, size, *, add_special_tokens=true))]
    fn truncate_text<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        size: i64,
        add_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let size = unsigned(py, "size", size)?;
        let text = super::arguments::text(text)?;
        let core = self.core(py)?;
        let lens = py.detach(|| core.truncate_texts(&[&text], size, add_special_tokens, 1)).or_raise(py)?;
        let len = lens.first().copied().unwrap_or_default();
        Ok(PyString::new(py, &text[..len]))
    }

    /// The beginnings of texts, as `truncate_text` gives them.
    ///
    /// Args:
    ///     `texts`: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
    ///     `size`: the most tokens.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD.
    ///     `add_special_tokens`: counts the special tokens of the post-processor.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `OptionError`: as `truncate_text`.
    ///     `OptionRangeError`: `size` is negative.
    #[pyo3(signature = (texts, size, *, errors="strict", add_special_tokens=true, num_threads=None))]
    fn truncate_text_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        size: i64,
        errors: &str,
        add_special_tokens: bool,
        num_threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let size = unsigned(py, "size", size)?;
        let texts = Texts::of(texts, utf8_errors(errors)?, num_threads)?;
        let core = self.core(py)?;
        let lens = watched_texts(py, texts.size(), num_threads, |parallelism| {
            core.truncate_texts(texts.as_slice(), size, add_special_tokens, parallelism)
        })?;
        PyList::new(py, texts.as_slice().iter().zip(lens).map(|(text, len)| &text[..len]))
    }
}
