//! `lexmill.Session`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::arguments::text;
use super::errors::{OrRaise, exception};
use super::int_lists::list_of_ints;
use super::threads::detached;
use super::tokenizer::PyTokenizer;
use crate::pipeline::Pipeline;
use crate::tokenizer::Session;

/// The ids of a text that grows at its end: an appended text costs time in proportion to its own length, not to the length of the whole text.
///
/// The ids are at any time the ids that `encode_ids(text, add_special_tokens=False)` gives for all text together. Special tokens that stand in
/// the text are found, also across two appended texts. Truncation and padding do not apply.
///
/// Args:
///     `tokenizer`: encodes. A change of its normalizer, pre-tokenizer, model or added tokens ends the session.
#[pyclass(name = "Session", module = "lexmill", frozen)]
pub(super) struct PySession {
    tokenizer: Py<PyTokenizer>,
    /// The stages that the session began with.
    pipeline: Arc<Pipeline>,
    /// None while a thread appends.
    session: Mutex<Option<Session>>,
}

/// The ids, the number of settled ids, the tail, and `has_settled`.
type State = (Vec<u32>, usize, String, bool);

impl PySession {
    /// Lets `work` see the session.
    fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&Session) -> T) -> PyResult<T> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.as_ref().map(work).ok_or_else(|| in_use(py))
    }

    fn put(&self, session: Session) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }
}

fn in_use(py: Python<'_>) -> PyErr {
    let message = "another thread appends to this session; use a session for each thread, or a lock";
    exception(py, "LexmillError", message.to_owned())
}

#[pymethods]
impl PySession {
    #[new]
    pub(super) fn new(py: Python<'_>, tokenizer: Py<PyTokenizer>) -> PyResult<Self> {
        let pipeline = Arc::clone(tokenizer.get().core(py)?.pipeline());
        Ok(Self { tokenizer, pipeline, session: Mutex::new(Some(Session::default())) })
    }

    /// Appends a text.
    ///
    /// Args:
    ///     `text`: the text, of any length.
    ///
    /// Returns:
    ///     The index of the first id that has changed, and all ids from there on: `ids[start:] = new`.
    ///
    /// Raises:
    ///     `OptionError`: the tokenizer has changed since the session began, or its model chooses at random.
    ///     `LexmillError`: another thread appends to the session.
    fn append<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<(usize, Bound<'py, PyList>)> {
        let text = self::text(text)?;
        let core = self.tokenizer.get().core(py)?;
        if !Arc::ptr_eq(core.pipeline(), &self.pipeline) {
            let message = "the tokenizer has changed since the session began; begin another session with all of the text";
            return Err(exception(py, "OptionError", message.to_owned()));
        }
        let taken = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut session = taken.ok_or_else(|| in_use(py))?;
        let start = detached(py, text.len(), || session.append(&core, &text));
        let made = start.or_raise(py).and_then(|start| {
            let new = &session.ids[start..];
            Ok((start, list_of_ints(py, new.len(), new.iter().copied())?))
        });
        self.put(session);
        made
    }

    /// The ids of all text, a new list each time.
    #[getter]
    fn get_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.with(py, |session| list_of_ints(py, session.ids.len(), session.ids.iter().copied()))?
    }

    /// The number of ids at the beginning that no further text can change.
    #[getter]
    fn get_settled(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |session| session.settled)
    }

    /// The tokenizer.
    #[getter]
    fn get_tokenizer(&self, py: Python<'_>) -> Py<PyTokenizer> {
        self.tokenizer.clone_ref(py)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |session| session.ids.len())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |session| {
            format!("Session({} ids, {} of them settled)", session.ids.len(), session.settled)
        })
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        let session = self.with(py, Session::clone)?;
        Ok(Self {
            tokenizer: self.tokenizer.clone_ref(py),
            pipeline: Arc::clone(&self.pipeline),
            session: Mutex::new(Some(session)),
        })
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyDict>) -> PyResult<Self> {
        self.__copy__(py)
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyTokenizer>,) {
        (self.tokenizer.clone_ref(py),)
    }

    fn __getstate__(&self, py: Python<'_>) -> PyResult<State> {
        self.with(py, |session| {
            (session.ids.clone(), session.settled, session.tail.clone(), session.has_settled)
        })
    }

    fn __setstate__(&self, py: Python<'_>, state: State) -> PyResult<()> {
        let (ids, settled, tail, has_settled) = state;
        if settled > ids.len() {
            let message = format!(
                "the state of a session has {} ids, fewer than the {settled} settled ones",
                ids.len()
            );
            return Err(exception(py, "OptionError", message));
        }
        self.put(Session { ids, settled, tail, has_settled });
        Ok(())
    }
}

#[pymethods]
impl PyTokenizer {
    /// Begins the ids of a text that grows at its end. `Session` has the details.
    fn session(slf: Py<Self>, py: Python<'_>) -> PyResult<PySession> {
        PySession::new(py, slf)
    }
}
