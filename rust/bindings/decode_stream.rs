//! `lexmill.decoders.DecodeStream`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::errors::OrRaise;
use super::tokenizer::PyTokenizer;
use crate::tokenizer::DecodeStream;

/// Ids to text, a few at a time: each step gives the text that is new, once its last character is complete.
///
/// Args:
///     `ids`: ids before the first step, whose text is not given again.
///     `skip_special_tokens`: leaves special tokens out of the text.
#[pyclass(name = "DecodeStream", module = "lexmill.decoders", frozen)]
pub(super) struct PyDecodeStream {
    stream: Mutex<DecodeStream>,
}

/// Ids of the last piece, ids after those, the last piece and whether special tokens are left out.
type State = (Vec<u32>, Vec<u32>, String, bool);

impl PyDecodeStream {
    fn locked(&self) -> MutexGuard<'_, DecodeStream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyDecodeStream {
    #[new]
    #[pyo3(signature = (ids=None, skip_special_tokens=false))]
    fn new(ids: Option<Vec<u32>>, skip_special_tokens: bool) -> Self {
        let stream = DecodeStream::new(ids.unwrap_or_default(), skip_special_tokens);
        Self { stream: Mutex::new(stream) }
    }

    /// Takes an id or a list of ids; returns the new text, or None if there is none yet.
    ///
    /// Args:
    ///     `tokenizer`: what decodes; the same in all steps.
    ///     `id`: an id or a list of ids.
    ///
    /// Raises:
    ///     `LexmillError`: the decoder gives another text for ids that it has decoded already.
    fn step(
        &self,
        py: Python<'_>,
        tokenizer: &Bound<'_, PyTokenizer>,
        id: &Bound<'_, PyAny>,
    ) -> PyResult<Option<String>> {
        let message = "StreamInput must be either an integer or a list of integers";
        let ids = id.extract().map(|id| vec![id]).or_else(|_| id.extract::<Vec<u32>>());
        let ids = ids.map_err(|_| PyTypeError::new_err(message))?;
        let core = tokenizer.get().core(py)?;
        // A copy, so that another thread waits for no Python code, and a failed step leaves the stream as it was.
        let mut stream = self.locked().clone();
        let piece = py.detach(|| stream.step(&core, &ids)).or_raise(py)?;
        *self.locked() = stream;
        Ok(piece)
    }

    fn __copy__(&self) -> Self {
        Self { stream: Mutex::new(self.locked().clone()) }
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> Self {
        self.__copy__()
    }

    fn __getstate__(&self) -> State {
        let DecodeStream { context, pending, prefix, skip_special_tokens } = self.locked().clone();
        (context, pending, prefix, skip_special_tokens)
    }

    fn __setstate__(&self, state: State) {
        let (context, pending, prefix, skip_special_tokens) = state;
        *self.locked() = DecodeStream { context, pending, prefix, skip_special_tokens };
    }
}
