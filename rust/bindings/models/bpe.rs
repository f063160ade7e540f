//! `lexmill.models.BPE`.

use std::sync::Arc;

use pyo3::exceptions::{PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use super::PyModel;
use super::options::model_options;
use crate::bindings::arguments::{Keyword, note_unknown, with_note};
use crate::bindings::components::{get_field, replace};
use crate::bindings::errors::{OrRaise, exception};
use crate::bindings::file_paths::FilePath;
use crate::bindings::properties::{Given, Property, Seed, Shown};
use crate::formats::vocab_files;
use crate::models::Model;
use crate::models::bpe::{Bpe, BpeOptions, LastMerge};
use crate::vocab::Vocab;

/// Byte-pair encoding.
///
/// In each word, the earliest merge that applies joins two neighbours, until no merge applies. Options but `cache_capacity` are attributes too, which
/// can be set.
///
/// Args:
///     `vocab`: ids by token, or the path of a `vocab.json`; given together with `merges`.
///     `merges`: pairs of tokens, the first to be merged first, or the path of a `merges.txt`.
///     `cache_capacity`: without effect, for calls written for Hugging Face; see `Tokenizer.cache_limit`.
///     `dropout`: the probability, from 0 to 1, of skipping a merge; None for never.
///     `unk_token`: the token for characters that have none; None drops these characters.
///     `continuing_subword_prefix`: the prefix of every symbol of a word but the first.
///     `end_of_word_suffix`: the suffix of the last symbol of a word.
///     `fuse_unk`: joins neighbouring unknown characters in one unknown token.
///     `byte_fallback`: spells unknown characters as `<0xNN>` tokens, if the vocabulary has all that they need.
///     `ignore_merges`: a word that is in the vocabulary is that token without merging.
///     `alpha`: the probability, from 0 to 1, of skipping a merge, as SentencePiece's sampling does. The merge stays skipped until one of its two
///         symbols changes; with `dropout`, until the next merge in the word.
///     `seed`: the seed of `dropout` and `alpha`; with None, each call draws other numbers.
#[pyclass(name = "BPE", module = "lexmill.models", extends = PyModel, frozen)]
pub(in crate::bindings) struct PyBpe;

model_options! {
    PyBpe of Bpe(bpe), BpeOptions: bpe.options().clone() => |options| {
        let mut bpe = bpe.clone();
        bpe.set_options(options).map(|()| bpe)
    };
    dropout set_dropout: Option<f32>;
    alpha set_alpha: Option<f32>;
    seed set_seed: Option<Seed>;
    unk_token set_unk_token: Option<String>;
    continuing_subword_prefix set_continuing_subword_prefix: Option<String>;
    end_of_word_suffix set_end_of_word_suffix: Option<String>;
    fuse_unk set_fuse_unk: bool;
    byte_fallback set_byte_fallback: bool;
    ignore_merges set_ignore_merges: bool;
}

/// Merges as a list of pairs.
fn merges(pairs: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    let wrong = |error: PyErr| {
        // Python's own error names a lone surrogate and its place.
        let note = error.is_instance_of::<PyUnicodeError>(pairs.py()).then(|| error.to_string());
        let message = with_note("merges must be a path, or a list of pairs of str", note);
        exception(pairs.py(), "InputTypeError", message)
    };
    pairs.extract().map_err(wrong)
}

fn build(
    py: Python<'_>,
    vocab: Vocab,
    merges: &[(String, String)],
    options: BpeOptions,
) -> PyResult<PyClassInitializer<PyBpe>> {
    let merges: Vec<(&str, &str)> =
        merges.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
    let bpe = py.detach(|| Bpe::new(vocab, &merges, options)).or_raise(py)?;
    Ok(PyModel::of(Model::Bpe(bpe)).add_subclass(PyBpe))
}

/// A token, the parts of its last merge, and the highest rank of all its merges.
type MergeRow = (u32, u32, u32, u32);

/// Ids by token, and merges.
type ReadFile<'py> = (Bound<'py, PyDict>, Vec<(String, String)>);

#[pymethods]
impl PyBpe {
    #[new]
    #[pyo3(signature = (
        vocab=None, merges=None, *, cache_capacity=Keyword::ABSENT, dropout=None, unk_token=None,
        continuing_subword_prefix=Keyword::ABSENT, end_of_word_suffix=Keyword::ABSENT, fuse_unk=Keyword::ABSENT,
        byte_fallback=false, ignore_merges=false, alpha=None, seed=None, **kwargs
    ), text_signature = "(vocab=None, merges=None, *, cache_capacity=None, dropout=None, unk_token=None, \
        continuing_subword_prefix=None, end_of_word_suffix=None, fuse_unk=None, byte_fallback=False, \
        ignore_merges=False, alpha=None, seed=None, **kwargs)")]
    #[expect(clippy::too_many_arguments, reason = "Hugging Face's signature")]
    fn new(
        py: Python<'_>,
        vocab: Option<&Bound<'_, PyAny>>,
        merges: Option<&Bound<'_, PyAny>>,
        cache_capacity: Keyword<usize>,
        dropout: Option<f32>,
        unk_token: Option<String>,
        continuing_subword_prefix: Keyword<String>,
        end_of_word_suffix: Keyword<String>,
        fuse_unk: Keyword<bool>,
        byte_fallback: bool,
        ignore_merges: bool,
        alpha: Option<f32>,
        seed: Option<u64>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        note_unknown(kwargs)?;
        // Caches here are bounded in bytes, by `Tokenizer.cache_limit`.
        let _ = cache_capacity;
        let options = BpeOptions {
            unk_token,
            continuing_subword_prefix: continuing_subword_prefix.0,
            end_of_word_suffix: end_of_word_suffix.0,
            dropout,
            alpha,
            fuse_unk: fuse_unk.0.unwrap_or(false),
            byte_fallback,
            ignore_merges,
            seed,
        };
        match (vocab, merges) {
            (None, None) => build(py, Vocab::new(), &[], options),
            (Some(vocab), Some(merges)) => {
                let files = merges.extract::<FilePath>();
                let mixed = |path: &str, other: &str| {
                    exception(py, "OptionError", format!("{path} is a path and {other} is not"))
                };
                match (vocab.cast::<PyDict>(), files) {
                    (Ok(tokens), Err(_)) => build(py, super::vocab(tokens)?, &self::merges(merges)?, options),
                    (Ok(tokens), Ok(_)) => super::vocab(tokens).and_then(|_| Err(mixed("merges", "vocab"))),
                    (Err(_), Ok(merges)) => Self::open(py, super::path_of_vocab(vocab)?, merges, options),
                    (Err(_), Err(_)) => {
                        super::path_of_vocab(vocab)?;
                        self::merges(merges).and_then(|_| Err(mixed("vocab", "merges")))
                    }
                }
            }
            (vocab, pairs) => {
                // A wrong type is told first, as in Hugging Face.
                if let Some(vocab) = vocab {
                    vocab.cast::<PyDict>().map_or_else(
                        |_| super::path_of_vocab(vocab).map(drop),
                        |tokens| super::vocab(tokens).map(drop),
                    )?;
                }
                if let Some(pairs) = pairs.filter(|pairs| pairs.extract::<FilePath>().is_err()) {
                    self::merges(pairs)?;
                }
                Err(PyValueError::new_err("`vocab` and `merges` must be both specified"))
            }
        }
    }

    /// Reads a `vocab.json` and a `merges.txt`; further arguments go to the constructor.
    #[classmethod]
    #[pyo3(signature = (vocab, merges, **kwargs))]
    fn from_file<'py>(
        class: &Bound<'py, PyType>,
        vocab: FilePath,
        merges: FilePath,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (tokens, pairs) = Self::read_file(class.py(), vocab, merges)?;
        class.call((tokens, pairs), kwargs)
    }

    /// For each merge by rank, the id of the token that it makes.
    #[pyo3(name = "_made_ids")]
    fn made_ids(this: PyRef<'_, Self>) -> PyResult<Vec<(u32, u32)>> {
        get_field(&this.as_super().stage, |model| match &**model {
            Model::Bpe(bpe) => Some(bpe.made_ids().collect()),
            _ => None,
        })
    }

    /// Of each token that merging makes of its own text: id, the ids of the two parts that are merged last, and the highest
    /// rank of all these merges. None if other text around the token may change that.
    #[pyo3(name = "_last_merges")]
    fn last_merges(this: PyRef<'_, Self>) -> PyResult<Option<Vec<MergeRow>>> {
        let bpe = get_field(&this.as_super().stage, |model| match &**model {
            Model::Bpe(bpe) => Some(bpe.clone()),
            _ => None,
        })?;
        let merges = this.py().detach(|| bpe.last_merges());
        let row = |(id, merge): (u32, Option<LastMerge>)| {
            merge.map(|LastMerge { left, right, rank }| (id, left, right, rank))
        };
        Ok(merges.map(|merges| (0u32..).zip(merges).filter_map(row).collect()))
    }

    /// The contents of a `vocab.json` and a `merges.txt`.
    #[staticmethod]
    fn read_file(py: Python<'_>, vocab: FilePath, merges: FilePath) -> PyResult<ReadFile<'_>> {
        let (tokens, pairs) = py.detach(|| vocab_files::read(&vocab, &merges)).or_raise(py)?;
        Ok((super::dictionary(py, tokens)?, pairs))
    }
}

impl PyBpe {
    fn open(
        py: Python<'_>,
        vocab: FilePath,
        merges: FilePath,
        options: BpeOptions,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (tokens, pairs) = vocab_files::read(&vocab, &merges).or_raise(py)?;
        build(py, super::sorted(tokens), &pairs, options)
    }
}
