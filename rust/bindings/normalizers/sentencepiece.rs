//! `lexmill.normalizers.Nmt`, `Precompiled` and `SentencePiece`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::PyNormalizer;
use crate::bindings::errors::OrRaise;
use crate::bindings::stage_class::plain_stages;
use crate::normalizers::{Charsmap, Normalizer, SentencePiece, SentencePieceOptions};

plain_stages! {
    PyNormalizer of "lexmill.normalizers":
    /// Takes control characters out and makes odd spaces plain.
    "Nmt" PyNmt => Normalizer::Nmt;
}

/// SentencePiece's compiled rules, as its model files hold them.
///
/// Args:
///     `precompiled_charsmap`: the bytes of the rules.
///
/// Raises:
///     `FormatError`: they are malformed.
#[pyclass(name = "Precompiled", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(in crate::bindings) struct PyPrecompiled;

#[pymethods]
impl PyPrecompiled {
    #[new]
    fn new(py: Python<'_>, precompiled_charsmap: &[u8]) -> PyResult<PyClassInitializer<Self>> {
        let charsmap = py.detach(|| Charsmap::new(precompiled_charsmap)).or_raise(py)?;
        Ok(PyNormalizer::of(Normalizer::Precompiled(charsmap)).add_subclass(Self))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        // A table without a rule; the state follows.
        PyTuple::new(py, [PyBytes::new(py, &[0; 4])])
    }
}

/// All of SentencePiece's normalization at once, with symbols that no rule touches.
///
/// Args:
///     `precompiled_charsmap`: the compiled rules, of which the longest that matches is applied; None for no rules.
///     `user_defined_symbols`: texts that no rule touches, at each place the longest.
///     `add_dummy_prefix`: puts a space before the text, unless it is empty.
///     `remove_extra_whitespaces`: takes spaces off the ends and leaves one of several.
///     `escape_whitespaces`: makes spaces visible, as U+2581.
///     `treat_whitespace_as_suffix`: puts the space of `add_dummy_prefix` after the text instead.
///
/// Raises:
///     `FormatError`: `precompiled_charsmap` is malformed.
///     `OptionError`: the symbols have more than 2^23 distinct prefixes.
#[pyclass(name = "SentencePiece", module = "lexmill.normalizers", extends = PyNormalizer, frozen)]
pub(in crate::bindings) struct PySentencePiece;

#[pymethods]
impl PySentencePiece {
    #[new]
    #[pyo3(signature = (
        precompiled_charsmap=None, user_defined_symbols=None, *, add_dummy_prefix=true,
        remove_extra_whitespaces=true, escape_whitespaces=true, treat_whitespace_as_suffix=false,
    ))]
    #[expect(clippy::fn_params_excessive_bools, reason = "keywords, by the names of the file")]
    fn new(
        py: Python<'_>,
        precompiled_charsmap: Option<&[u8]>,
        user_defined_symbols: Option<Vec<String>>,
        add_dummy_prefix: bool,
        remove_extra_whitespaces: bool,
        escape_whitespaces: bool,
        treat_whitespace_as_suffix: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let charsmap = precompiled_charsmap.map(Charsmap::new).transpose().or_raise(py)?;
        let options = SentencePieceOptions {
            charsmap: charsmap.map(Charsmap::longest_first),
            user_defined_symbols: user_defined_symbols.unwrap_or_default(),
            add_dummy_prefix,
            remove_extra_whitespaces,
            escape_whitespaces,
            treat_whitespace_as_suffix,
        };
        let stage = py.detach(|| SentencePiece::new(options)).or_raise(py)?;
        Ok(PyNormalizer::of(Normalizer::SentencePiece(stage)).add_subclass(Self))
    }
}
