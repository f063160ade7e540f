//! `lexmill.Tokenizer`: the same calls for asyncio, on a thread of the running loop's executor.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::tokenizer::PyTokenizer;

/// An awaitable of `tokenizer.name(*arguments, **keywords)`.
///
/// # Errors
/// `RuntimeError` without a running loop.
fn awaited<'py>(
    tokenizer: &Bound<'py, PyTokenizer>,
    name: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    keywords: &[(&str, bool)],
) -> PyResult<Bound<'py, PyAny>> {
    let py = tokenizer.py();
    let running = py.import("asyncio")?.call_method0("get_running_loop")?;
    let options = PyDict::new(py);
    keywords.iter().try_for_each(|(name, value)| options.set_item(name, value))?;
    let arguments = arguments.into_pyobject(py)?;
    let call = py.import("functools")?.getattr("partial")?;
    let mut bound = vec![tokenizer.getattr(name)?];
    bound.extend(arguments.iter());
    let call = call.call(PyTuple::new(py, bound)?, Some(&options))?;
    running.call_method1("run_in_executor", (py.None(), call))
}

#[pymethods]
impl PyTokenizer {
    /// As `encode`, for `await`.
    #[pyo3(signature = (sequence, pair=None, is_pretokenized=false, add_special_tokens=true))]
    fn async_encode<'py>(
        this: &Bound<'py, Self>,
        sequence: Bound<'py, PyAny>,
        pair: Option<Bound<'py, PyAny>>,
        is_pretokenized: bool,
        add_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = [("is_pretokenized", is_pretokenized), ("add_special_tokens", add_special_tokens)];
        awaited(this, "encode", (sequence, pair), &options)
    }

    /// As `encode_batch`, for `await`.
    #[pyo3(signature = (input, is_pretokenized=false, add_special_tokens=true))]
    fn async_encode_batch<'py>(
        this: &Bound<'py, Self>,
        input: Bound<'py, PyAny>,
        is_pretokenized: bool,
        add_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = [("is_pretokenized", is_pretokenized), ("add_special_tokens", add_special_tokens)];
        awaited(this, "encode_batch", (input,), &options)
    }

    /// As `encode_batch_fast`, for `await`.
    #[pyo3(signature = (input, is_pretokenized=false, add_special_tokens=true))]
    fn async_encode_batch_fast<'py>(
        this: &Bound<'py, Self>,
        input: Bound<'py, PyAny>,
        is_pretokenized: bool,
        add_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = [("is_pretokenized", is_pretokenized), ("add_special_tokens", add_special_tokens)];
        awaited(this, "encode_batch_fast", (input,), &options)
    }

    /// As `decode_batch`, for `await`.
    #[pyo3(signature = (sequences, skip_special_tokens=true))]
    fn async_decode_batch<'py>(
        this: &Bound<'py, Self>,
        sequences: Bound<'py, PyAny>,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        awaited(this, "decode_batch", (sequences,), &[("skip_special_tokens", skip_special_tokens)])
    }
}
