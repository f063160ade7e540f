//! `lexmill.AddedToken`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PyList, PyString};

use super::arguments::{note_unknown, with_note};
use super::components::is_of_peer;
use super::errors::exception;
use super::strings::surrogate_note;
use crate::added_tokens::AddedToken;

/// A token that is cut out of the text before any other stage sees it.
///
/// Args:
///     `content`: the text of the token.
///     `single_word`: is found only between characters that belong to no word.
///     `lstrip`: takes the white space before it.
///     `rstrip`: takes the white space after it.
///     `normalized`: is looked for in normalized text; None is the opposite of `special`.
///     `special`: is left out when decoding with `skip_special_tokens`.
#[pyclass(name = "AddedToken", module = "lexmill", frozen, dict, weakref)]
pub(super) struct PyAddedToken {
    given: RwLock<Given>,
}

/// A token as its user describes it.
#[derive(Clone)]
struct Given {
    /// Its `normalized` counts only together with `is_explicit`.
    token: AddedToken,
    /// True if `normalized` was given; otherwise it follows from `special`, which may still change.
    is_explicit: bool,
}

impl Given {
    fn resolve(&self) -> AddedToken {
        let token = self.token.clone();
        AddedToken { normalized: if self.is_explicit { token.normalized } else { !token.special }, ..token }
    }
}

impl PyAddedToken {
    /// The token as it is now.
    pub(super) fn core(&self) -> AddedToken {
        self.given.read().unwrap_or_else(PoisonError::into_inner).resolve()
    }

    pub(super) fn of(token: AddedToken) -> Self {
        Self { given: RwLock::new(Given { token, is_explicit: true }) }
    }

    fn set(&self, change: impl FnOnce(&mut AddedToken)) {
        change(&mut self.given.write().unwrap_or_else(PoisonError::into_inner).token);
    }
}

/// A `tokenizers.AddedToken`, as an accelerated tokenizer of transformers hands on.
///
/// Such a token does not tell if its `normalized` was given, so a value that follows from `special` counts as not given.
fn of_peer(item: &Bound<'_, PyAny>) -> Option<PyAddedToken> {
    if !is_of_peer(item) {
        return None;
    }
    let flag = |name: &str| item.getattr(name).ok()?.extract::<bool>().ok();
    let token = AddedToken {
        content: item.getattr("content").ok()?.extract().ok()?,
        single_word: flag("single_word")?,
        lstrip: flag("lstrip")?,
        rstrip: flag("rstrip")?,
        normalized: flag("normalized")?,
        special: flag("special")?,
    };
    let is_explicit = token.normalized == token.special;
    Some(PyAddedToken { given: RwLock::new(Given { token, is_explicit }) })
}

fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

#[pymethods]
impl PyAddedToken {
    #[new]
    #[pyo3(signature = (
        content=None, *, single_word=false, lstrip=false, rstrip=false, normalized=None, special=false, **kwargs
    ))]
    #[expect(clippy::fn_params_excessive_bools, reason = "Hugging Face's signature")]
    fn new(
        content: Option<String>,
        single_word: bool,
        lstrip: bool,
        rstrip: bool,
        normalized: Option<bool>,
        special: bool,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        note_unknown(kwargs)?;
        let content = content.unwrap_or_default();
        let is_explicit = normalized.is_some();
        let normalized = normalized.unwrap_or_default();
        let token = AddedToken { content, single_word, lstrip, rstrip, normalized, special };
        Ok(Self { given: RwLock::new(Given { token, is_explicit }) })
    }

    #[getter]
    fn get_content(&self) -> String {
        self.core().content
    }

    #[setter]
    fn set_content(&self, content: String) {
        self.set(|token| token.content = content);
    }

    #[getter]
    fn single_word(&self) -> bool {
        self.core().single_word
    }

    #[getter]
    fn lstrip(&self) -> bool {
        self.core().lstrip
    }

    #[getter]
    fn rstrip(&self) -> bool {
        self.core().rstrip
    }

    #[getter]
    fn normalized(&self) -> bool {
        self.core().normalized
    }

    #[getter]
    fn get_special(&self) -> bool {
        self.core().special
    }

    #[setter]
    fn set_special(&self, special: bool) {
        self.set(|token| token.special = special);
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let token = self.core();
        let state = PyDict::new(py);
        state.set_item("content", token.content)?;
        state.set_item("single_word", token.single_word)?;
        state.set_item("lstrip", token.lstrip)?;
        state.set_item("rstrip", token.rstrip)?;
        state.set_item("normalized", token.normalized)?;
        state.set_item("special", token.special)?;
        Ok(state)
    }

    fn __setstate__(&self, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut given = self.given.read().unwrap_or_else(PoisonError::into_inner).clone();
        let token = &mut given.token;
        for (key, value) in state {
            let key: String = key.extract()?;
            match key.as_str() {
                "content" => token.content = value.extract()?,
                "single_word" => token.single_word = value.extract()?,
                "lstrip" => token.lstrip = value.extract()?,
                "rstrip" => token.rstrip = value.extract()?,
                "normalized" => {
                    token.normalized = value.extract()?;
                    given.is_explicit = true;
                }
                "special" => token.special = value.extract()?,
                _ => {}
            }
        }
        *self.given.write().unwrap_or_else(PoisonError::into_inner) = given;
        Ok(())
    }

    fn __repr__(&self) -> String {
        let AddedToken { content, single_word, lstrip, rstrip, normalized, special } = self.core();
        let [rstrip, lstrip, single_word, normalized, special] =
            [rstrip, lstrip, single_word, normalized, special].map(python_bool);
        format!(
            "AddedToken(\"{content}\", rstrip={rstrip}, lstrip={lstrip}, single_word={single_word}, \
             normalized={normalized}, special={special})"
        )
    }

    fn __str__(&self) -> String {
        self.core().content
    }

    /// Tokens have no order, but two of them can be compared: none is before or after another.
    fn __richcmp__(&self, other: &Bound<'_, Self>, operator: CompareOp) -> bool {
        let is_equal = other.get().core() == self.core();
        match operator {
            CompareOp::Eq => is_equal,
            CompareOp::Ne => !is_equal,
            CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => false,
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.core().content.hash(&mut hasher);
        hasher.finish()
    }
}

/// The tokens of a list of `str` and `AddedToken`; `special` makes all of them special, the caller's objects too, as in Hugging Face.
/// `subject` begins the message of an error.
pub(super) fn tokens(list: &Bound<'_, PyList>, special: bool, subject: &str) -> PyResult<Vec<AddedToken>> {
    let wrong = |note| {
        let message = with_note(&format!("{subject} must be a List[Union[str, AddedToken]]"), note);
        exception(list.py(), "InputTypeError", message)
    };
    let token = |(number, item): (usize, Bound<'_, PyAny>)| {
        if let Ok(content) = item.cast::<PyString>() {
            let note = || surrogate_note(content).map(|note| format!("token {number}: {note}"));
            return content
                .to_str()
                .map(|content| AddedToken::new(content, special))
                .map_err(|_| wrong(note()));
        }
        if special && (item.is_instance_of::<PyAddedToken>() || is_of_peer(&item)) {
            item.setattr("special", true).map_err(|_| wrong(None))?;
        }
        if let Ok(token) = item.cast::<PyAddedToken>() {
            Ok(token.get().core())
        } else {
            of_peer(&item).map(|token| token.core()).ok_or_else(|| wrong(None))
        }
    };
    list.iter().enumerate().map(token).collect()
}
