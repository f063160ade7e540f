//! `lexmill.models.Unigram`.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::options::model_options;
use super::{PyModel, PyToken, tokens};
use crate::bindings::components::{get_field, replace};
use crate::bindings::errors::OrRaise;
use crate::bindings::properties::{Given, Property, Seed, Shown, unsigned};
use crate::models::Model;
use crate::models::unigram::{Segmentation, Unigram, UnigramOptions};

/// Unigram language model: the most likely way to cut a word into pieces.
///
/// `alpha`, `nbest_size` and `seed` are attributes that can be set.
///
/// Args:
///     `vocab`: pieces with scores, natural logarithms of probabilities; a piece's place is its id. Given together with
///         `unk_id`.
///     `unk_id`: the id for characters without a piece.
///     `byte_fallback`: spells unknown text as `<0xNN>` tokens, if the vocabulary has all that it needs.
///     `alpha`: samples instead of taking the best segmentation: one of score s is drawn with a probability in
///         proportion to exp(`alpha` s).
///     `nbest_size`: samples among this many best segmentations only, 1024 at most; None, 0 or -1 for all of them.
///     `seed`: the seed of the sampling; with None, each call draws other numbers.
#[pyclass(name = "Unigram", module = "lexmill.models", extends = PyModel, frozen)]
pub(in crate::bindings) struct PyUnigram;

/// All segmentations are asked for by None, and by -1 as in SentencePiece; 0 is Hugging Face's.
fn nbest(py: Python<'_>, given: Option<i64>) -> PyResult<usize> {
    match given {
        None | Some(-1) => Ok(0),
        Some(given) => unsigned(py, "nbest_size", given),
    }
}

fn unigram(this: &PyRef<'_, PyUnigram>) -> PyResult<Unigram> {
    get_field(&this.as_super().stage, |model| match &**model {
        Model::Unigram(unigram) => Some(unigram.clone()),
        _ => None,
    })
}

model_options! {
    PyUnigram of Unigram(unigram), UnigramOptions: unigram.options().clone() => |options| {
        let mut unigram = unigram.clone();
        unigram.set_options(options).map(|()| unigram)
    };
    alpha set_alpha: Option<f64>;
    unk_id: Option<u32>;
    byte_fallback: bool;
    seed set_seed: Option<Seed>;
}

#[pymethods]
impl PyUnigram {
    #[new]
    #[pyo3(signature = (
        vocab=None, unk_id=None, byte_fallback=None, alpha=None, nbest_size=None, *, seed=None
    ))]
    fn new(
        py: Python<'_>,
        vocab: Option<Vec<(String, f64)>>,
        unk_id: Option<u32>,
        byte_fallback: Option<bool>,
        alpha: Option<f64>,
        nbest_size: Option<i64>,
        seed: Option<u64>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let options = UnigramOptions {
            unk_id,
            byte_fallback: byte_fallback.unwrap_or(false),
            alpha,
            nbest_size: nbest(py, nbest_size)?,
            seed,
        };
        let unigram = match (vocab, unk_id) {
            (Some(pieces), _) => py.detach(|| Unigram::new(&pieces, options)),
            (None, None) => {
                let mut unigram = Unigram::default();
                let options = UnigramOptions { unk_id: Some(0), byte_fallback: false, ..options };
                unigram.set_options(options).map(|()| unigram)
            }
            _ => return Err(PyValueError::new_err("`vocab` and `unk_id` must be both specified")),
        };
        Ok(PyModel::of(Model::Unigram(unigram.or_raise(py)?)).add_subclass(Self))
    }

    /// The `n` best ways to cut one pre-token, each with its score, best first.
    ///
    /// The score is a natural logarithm, the sum of the pieces' scores. Time and memory are in proportion to `n` and the
    /// length of the pre-token.
    ///
    /// Raises:
    ///     `OptionRangeError`: `n` is negative.
    ///     `OptionError`: `n` is more than 1024.
    fn encode_nbest(
        this: PyRef<'_, Self>,
        py: Python<'_>,
        sequence: &str,
        n: i64,
    ) -> PyResult<Vec<(Vec<PyToken>, f64)>> {
        let n = unsigned(py, "n", n)?;
        let unigram = unigram(&this)?;
        let best = py.detach(|| unigram.encode_nbest(sequence, n)).or_raise(py)?;
        let model = Model::Unigram(unigram);
        let to_python = |best: Segmentation| (tokens(&model, sequence, &best.tokens), best.score);
        Ok(best.into_iter().map(to_python).collect())
    }

    #[getter]
    fn get_nbest_size(this: PyRef<'_, Self>) -> PyResult<Option<usize>> {
        Ok(Some(options(&this)?.nbest_size).filter(|&size| size > 0))
    }

    #[setter]
    fn set_nbest_size(this: PyRef<'_, Self>, value: Option<i64>) -> PyResult<()> {
        let nbest_size = nbest(this.py(), value)?;
        set_options(&this, |options| options.nbest_size = nbest_size)
    }
}
