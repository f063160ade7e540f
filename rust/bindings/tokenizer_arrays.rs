//! `lexmill.Tokenizer`: encoding to arrays.

use pyo3::prelude::*;

use super::arguments::utf8_errors;
use super::arrays::PyTokenArrays;
use super::limits::LimitArguments;
use super::numpy_loading::load_numpy;
use super::progress::watched_texts;
use super::sources::OpenedDocuments;
use super::texts::Texts;
use super::tokenizer::PyTokenizer;
use crate::corpus::files::{FileOptions, encode_files};
use crate::structures::parallel::Parallelism;
use crate::tokenizer::{ColumnOptions, TokenColumns, Tokenizer};

/// Arrays of the tokens that `narrow` makes of texts of a size, or `wide` if `narrow` cannot hold all ids of the tokenizer.
pub(super) fn encode_arrays(
    py: Python<'_>,
    core: &Tokenizer,
    size: usize,
    num_threads: Option<usize>,
    narrow: impl FnOnce(Parallelism<'_>) -> crate::Result<TokenColumns<u16>> + Send,
    wide: impl FnOnce(Parallelism<'_>) -> crate::Result<TokenColumns<u32>> + Send,
) -> PyResult<PyTokenArrays> {
    load_numpy(py)?;
    if core.has_narrow_ids() {
        PyTokenArrays::of(py, watched_texts(py, size, num_threads, narrow)?)
    } else {
        PyTokenArrays::of(py, watched_texts(py, size, num_threads, wide)?)
    }
}

#[pymethods]
impl PyTokenizer {
    /// Encodes texts, or pairs of texts, to arrays: ids, and the columns that are asked for.
    ///
    /// Truncation and padding are as the tokenizer is set to, unless arguments say otherwise for this call.
    ///
    /// Args:
    ///     `texts`: `str` or `bytes` in a list, another iterable or a numpy array, or an Arrow column.
    ///     `pairs`: the second texts of pairs, as many as `texts`, of any of those kinds.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///     `max_length`: tokens that remain of a row, special tokens included; None means as set. Given alone, it truncates.
    ///     `truncation`: True or a strategy (`longest_first`, `only_first`, `only_second`), False for none, None for as set.
    ///     `stride`: tokens that neighbouring windows share; None means as set.
    ///     `truncation_side`: the side that is cut off, `left` or `right`; None means as set.
    ///     `padding`: True or `longest` to pad to the longest row, `max_length` to pad to that, False for none, None for as set.
    ///     `padding_side`: the side that padding goes to, `left` or `right`; None means as set.
    ///     `pad_id`: the id to pad with; None means as set, or 0.
    ///     `pad_to_multiple_of`: rounds the padded length up; None means as set.
    ///     `return_offsets`: start and end of each token, in characters of its text.
    ///     `return_word_ids`: the number of each token's pre-token, -1 for special tokens and padding.
    ///     `return_type_ids`: the type id of each token.
    ///     `return_attention_mask`: 0 for padding, 1 for all other tokens.
    ///     `return_special_tokens_mask`: 1 for special tokens and padding, 0 for all other tokens.
    ///     `return_overflowing`: also a row for each window that truncation cuts off, and `sample_mapping`, the number of each row's text.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `OptionError`: arguments that do not fit together, or another number of pairs than of texts.
    #[pyo3(signature = (
        texts, *, pairs=None, errors="strict", add_special_tokens=true, max_length=None, truncation=None, stride=None,
        truncation_side=None, padding=None, padding_side=None, pad_id=None, pad_to_multiple_of=None, return_offsets=false,
        return_word_ids=false, return_type_ids=false, return_attention_mask=false, return_special_tokens_mask=false,
        return_overflowing=false, num_threads=None
    ))]
    #[expect(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "options of a Python call"
    )]
    fn encode_batch_arrays(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        pairs: Option<&Bound<'_, PyAny>>,
        errors: &str,
        add_special_tokens: bool,
        max_length: Option<i64>,
        truncation: Option<&Bound<'_, PyAny>>,
        stride: Option<i64>,
        truncation_side: Option<&str>,
        padding: Option<&Bound<'_, PyAny>>,
        padding_side: Option<&str>,
        pad_id: Option<i64>,
        pad_to_multiple_of: Option<i64>,
        return_offsets: bool,
        return_word_ids: bool,
        return_type_ids: bool,
        return_attention_mask: bool,
        return_special_tokens_mask: bool,
        return_overflowing: bool,
        num_threads: Option<usize>,
    ) -> PyResult<PyTokenArrays> {
        let limits = LimitArguments {
            max_length,
            truncation,
            stride,
            truncation_side,
            padding,
            padding_side,
            pad_id,
            pad_to_multiple_of,
        };
        let core = limits.apply(py, self.core(py)?)?;
        let errors = utf8_errors(errors)?;
        let options = ColumnOptions {
            offsets: return_offsets,
            word_ids: return_word_ids,
            type_ids: return_type_ids,
            attention_mask: return_attention_mask,
            special_tokens_mask: return_special_tokens_mask,
            overflowing: return_overflowing,
        };
        if options.is_ids_alone(pairs.is_some()) {
            let texts = Texts::for_ids(texts, errors, num_threads)?;
            let (size, texts) = (texts.size(), texts.as_source());
            return encode_arrays(
                py,
                &core,
                size,
                num_threads,
                |parallelism| {
                    core.encode_ids(&texts, add_special_tokens, parallelism).map(TokenColumns::from)
                },
                |parallelism| {
                    core.encode_ids(&texts, add_special_tokens, parallelism).map(TokenColumns::from)
                },
            );
        }
        let texts = Texts::of(texts, errors, num_threads)?;
        let pairs = pairs.map(|pairs| Texts::of(pairs, errors, num_threads)).transpose()?;
        let size = texts.size() + pairs.as_ref().map_or(0, Texts::size);
        let (texts, pairs) = (texts.as_slice(), pairs.as_ref().map(Texts::as_slice));
        encode_arrays(
            py,
            &core,
            size,
            num_threads,
            |parallelism| core.encode_columns(texts, pairs, options, add_special_tokens, parallelism),
            |parallelism| core.encode_columns(texts, pairs, options, add_special_tokens, parallelism),
        )
    }

    /// Encodes files to one array of ids: a row a file, or a row for each document between separators.
    ///
    /// Truncation and padding are as the tokenizer is set to, unless arguments say otherwise for this call.
    ///
    /// Args:
    ///     `paths`: paths of text files in UTF-8, plain or compressed; paths whose names say that the files hold records, with texts
    ///         in the field or column `text`, each of which is a document; folders and patterns; and sources of `lexmill.sources`.
    ///     `separator`: the text between the documents of a text file, which is left out; None makes each text file one document.
    ///     `errors`: `strict`, or `replace` to read bytes that are not UTF-8 as U+FFFD; sources have an option of their own.
    ///     `add_special_tokens`: adds the special tokens of the post-processor.
    ///     `max_length`: tokens that remain of a row, special tokens included; None means as set. Given alone, it truncates.
    ///     `truncation`: True or a strategy (`longest_first`, `only_first`, `only_second`), False for none, None for as set.
    ///     `truncation_side`: the side that is cut off, `left` or `right`; None means as set.
    ///     `padding`: True or `longest` to pad to the longest row, `max_length` to pad to that, False for none, None for as set.
    ///     `padding_side`: the side that padding goes to, `left` or `right`; None means as set.
    ///     `pad_id`: the id to pad with; None means as set, or 0.
    ///     `pad_to_multiple_of`: rounds the padded length up; None means as set.
    ///     `num_threads`: threads to work on; by default one for each core, or the number in `RAYON_NUM_THREADS`.
    ///
    /// Raises:
    ///     `FileError`: a file cannot be read.
    ///     `InvalidUtf8Error`: bytes are not UTF-8, with `errors="strict"`.
    ///     `OptionError`: arguments that do not fit together.
    #[pyo3(signature = (
        paths, separator=None, *, errors="strict", add_special_tokens=true, max_length=None, truncation=None,
        truncation_side=None, padding=None, padding_side=None, pad_id=None, pad_to_multiple_of=None, num_threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "options of a Python call")]
    fn encode_files_arrays(
        &self,
        py: Python<'_>,
        paths: &Bound<'_, PyAny>,
        separator: Option<&str>,
        errors: &str,
        add_special_tokens: bool,
        max_length: Option<i64>,
        truncation: Option<&Bound<'_, PyAny>>,
        truncation_side: Option<&str>,
        padding: Option<&Bound<'_, PyAny>>,
        padding_side: Option<&str>,
        pad_id: Option<i64>,
        pad_to_multiple_of: Option<i64>,
        num_threads: Option<usize>,
    ) -> PyResult<PyTokenArrays> {
        let limits = LimitArguments {
            max_length,
            truncation,
            stride: None,
            truncation_side,
            padding,
            padding_side,
            pad_id,
            pad_to_multiple_of,
        };
        let core = limits.apply(py, self.core(py)?)?;
        let opened = OpenedDocuments::of(paths, separator, errors)?;
        let files = opened.files();
        let options = FileOptions { separator, errors: utf8_errors(errors)?, add_special_tokens };
        let arrays = encode_arrays(
            py,
            &core,
            // The size is unknown, and opening a file takes longer than starting a thread.
            usize::MAX,
            num_threads,
            |parallelism| encode_files(&core, &files, options, parallelism).map(TokenColumns::from),
            |parallelism| encode_files(&core, &files, options, parallelism).map(TokenColumns::from),
        )?;
        opened.warn(py)?;
        Ok(arrays)
    }
}
