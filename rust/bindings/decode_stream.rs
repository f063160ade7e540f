//! `lexmill.decoders.DecodeStream`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arguments::{id, ids};
use super::errors::{OrRaise, exception};
use super::tokenizer::PyTokenizer;
use crate::decoders::Kept;
use crate::tokenizer::{DecodeStream, Tokenizer, Window};

/// Ids to text, a few at a time: each step gives the text that is new, as soon as no later id can change it.
///
/// The texts of all steps and of `finish` are the text of all ids, without the text of the ids given here.
///
/// Args:
///     `ids`: ids before the first step, whose text is not given again. A character that they begin comes with the id that ends it.
///     `skip_special_tokens`: leaves special tokens out of the text.
#[pyclass(name = "DecodeStream", module = "lexmill.decoders", frozen)]
pub(super) struct PyDecodeStream {
    inner: Mutex<Inner>,
}

#[derive(Clone)]
struct Inner {
    stream: DecodeStream,
    /// The tokenizer of the last step.
    tokenizer: Option<Arc<Tokenizer>>,
}

/// The prompt, `skip_special_tokens`, the state of the stages, the waiting text with the unsettled end of the prompt, and the window.
type State = (Vec<u32>, bool, Vec<(usize, Vec<u8>)>, (String, String), (Vec<u32>, Vec<u32>, String));

impl PyDecodeStream {
    fn of(inner: Inner) -> Self {
        Self { inner: Mutex::new(inner) }
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `work` change a copy, so that another thread waits for no Python code, and a failure leaves the stream as it was.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        core: Arc<Tokenizer>,
        work: impl FnOnce(&mut DecodeStream, &Tokenizer) -> crate::Result<T> + Send,
    ) -> PyResult<T> {
        let mut stream = self.locked().stream.clone();
        let (made, stream) =
            py.detach(|| work(&mut stream, &core).map(|made| (made, stream))).or_raise(py)?;
        *self.locked() = Inner { stream, tokenizer: Some(core) };
        Ok(made)
    }
}

#[pymethods]
impl PyDecodeStream {
    #[new]
    #[pyo3(signature = (ids=None, skip_special_tokens=Some(false)), text_signature = "(ids=None, skip_special_tokens=False)")]
    fn new(ids: Option<&Bound<'_, PyAny>>, skip_special_tokens: Option<bool>) -> PyResult<Self> {
        let ids = ids.map(self::ids).transpose()?.unwrap_or_default();
        let stream = DecodeStream::new(ids, skip_special_tokens.unwrap_or(false));
        Ok(Self::of(Inner { stream, tokenizer: None }))
    }

    /// Takes an id or a list of ids; returns the new text, or None if there is none yet.
    ///
    /// Args:
    ///     `tokenizer`: the tokenizer that decodes; the same in all steps.
    ///     `id`: an id or a list of ids.
    ///
    /// Raises:
    ///     `LexmillError`: the decoder gives another text for ids that it has decoded already, as one written in Python may. The
    ///         stream is as before the step.
    fn step(
        &self,
        py: Python<'_>,
        tokenizer: &Bound<'_, PyTokenizer>,
        id: &Bound<'_, PyAny>,
    ) -> PyResult<Option<String>> {
        let ids = id.extract().map(|id| vec![id]).or_else(|_| {
            let is_one = id.hasattr("__index__").unwrap_or_default() && id.len().is_err();
            if is_one { self::id(id).map(|id| vec![id]) } else { self::ids(id) }
        });
        let message = "StreamInput must be either an integer or a list of integers";
        let ids = ids.map_err(|error: PyErr| {
            let is_type = error.is_instance_of::<PyTypeError>(py);
            if is_type { exception(py, "InputTypeError", message.to_owned()) } else { error }
        })?;
        let core = tokenizer.get().core(py)?;
        self.change(py, core, |stream, core| stream.step(core, &ids))
    }

    /// Ends the text; returns the rest, which no step has returned and which may be empty.
    ///
    /// Bytes of a character that was not complete become U+FFFD. After that the stream is as a new one without ids, and a further
    /// step begins a new text.
    ///
    /// Args:
    ///     `tokenizer`: decodes; by default the tokenizer of the last step.
    ///
    /// Raises:
    ///     `LexmillError`: as in `step`.
    ///     `OptionError`: no tokenizer is given, and there was no step since the stream was made or read from a pickle.
    #[pyo3(signature = (tokenizer=None))]
    fn finish(&self, py: Python<'_>, tokenizer: Option<&Bound<'_, PyTokenizer>>) -> PyResult<String> {
        let core = match tokenizer {
            Some(tokenizer) => Some(tokenizer.get().core(py)?),
            None => self.locked().tokenizer.clone(),
        };
        let Some(core) = core else {
            let message = "tokenizer is None but must be given, since this stream has taken no step yet";
            return Err(exception(py, "OptionError", message.to_owned()));
        };
        self.change(py, core, DecodeStream::finish)
    }

    fn __copy__(&self) -> Self {
        Self::of(self.locked().clone())
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyDict>) -> Self {
        self.__copy__()
    }

    fn __getstate__(&self) -> State {
        let DecodeStream { prompt, skip_special_tokens, kept, waiting, unsettled, window } =
            self.locked().stream.clone();
        let kept = kept.into_iter().map(|Kept { count, bytes }| (count, bytes)).collect();
        (
            prompt,
            skip_special_tokens,
            kept,
            (waiting, unsettled),
            (window.context, window.pending, window.prefix),
        )
    }

    fn __setstate__(&self, state: State) {
        let (prompt, skip_special_tokens, kept, (waiting, unsettled), (context, pending, prefix)) = state;
        let kept = kept.into_iter().map(|(count, bytes)| Kept { count, bytes }).collect();
        let window = Window { context, pending, prefix };
        let stream = DecodeStream { prompt, skip_special_tokens, kept, waiting, unsettled, window };
        *self.locked() = Inner { stream, tokenizer: None };
    }
}
