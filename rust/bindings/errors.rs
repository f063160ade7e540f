//! From the core's errors to the exception classes of `lexmill.errors`.

use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

use crate::Error;

/// The name of the exception class of each error.
fn class_name(error: &Error) -> &'static str {
    match error {
        Error::Io { .. } => "FileError",
        Error::Output { .. } => "OutputError",
        Error::InvalidUtf8 { .. } | Error::FileNotUtf8 { .. } => "InvalidUtf8Error",
        Error::LoneSurrogate { .. } => "InputTypeError",
        Error::EmptyCorpus { .. } => "EmptyCorpusError",
        Error::VocabSizeTooSmall { .. } | Error::InvalidOption { .. } | Error::Unsupported(_) => {
            "OptionError"
        }
        Error::Format { .. } | Error::NotText { .. } | Error::UnknownComponent { .. } => "FormatError",
        Error::Regex { .. } => "RegexError",
        Error::TokenNotInVocab { .. } | Error::UnknownId { .. } => "VocabError",
        Error::TextTooLong { .. } | Error::RecordTooLong { .. } | Error::TextGrown { .. } => {
            "TextTooLongError"
        }
        Error::Custom(_) | Error::UnstableText { .. } | Error::Interrupted => "LexmillError",
    }
}

/// An exception of class `name` of `lexmill.errors`.
pub(super) fn exception(py: Python<'_>, name: &str, message: String) -> PyErr {
    let class = py.import("lexmill.errors").and_then(|module| module.getattr(name));
    match class.and_then(|class| class.call1((message,))) {
        Ok(instance) => PyErr::from_value(instance),
        Err(error) => error,
    }
}

/// Warns by class `name` of `lexmill.errors`.
pub(super) fn warn(py: Python<'_>, name: &str, message: &str) -> PyResult<()> {
    let class = py.import("lexmill.errors")?.getattr(name)?;
    py.import("warnings")?.call_method1("warn", (message, class)).map(drop)
}

/// The exception for `error`.
pub(super) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    if matches!(error, Error::Interrupted) {
        return PyKeyboardInterrupt::new_err(());
    }
    // Python itself has raised it, in the place of a store.
    if let Error::Io { source, .. } = error
        && let Some(raised) = source.get_ref().and_then(|source| source.downcast_ref::<PyErr>())
    {
        return raised.clone_ref(py);
    }
    if let Error::Io { source, path, .. } = error
        && let Some(number) = source.raw_os_error()
    {
        return file_error(py, number, &error.to_string(), &path.display().to_string());
    }
    let raised = exception(py, class_name(error), error.to_string());
    if let Error::Custom(source) = error
        && let Some(cause) = source.downcast_ref::<PyErr>()
    {
        // An interrupt or an exit is no error of the stage, and no `except Exception` may hold it up.
        if !cause.is_instance_of::<PyException>(py) {
            return cause.clone_ref(py);
        }
        raised.set_cause(py, Some(cause.clone_ref(py)));
    }
    raised
}

/// A `FileError` that carries `errno`, `strerror` and `filename` as every `OSError` does, and says the whole sentence.
fn file_error(py: Python<'_>, number: i32, message: &str, path: &str) -> PyErr {
    let error = exception(py, "FileError", message.to_owned());
    let value = error.value(py);
    let set = || {
        let reason = py.import("os")?.call_method1("strerror", (number,))?;
        value.setattr("errno", number)?;
        value.setattr("strerror", reason)?;
        value.setattr("filename", path)
    };
    match set() {
        Ok(()) => error,
        Err(error) => error,
    }
}

/// Turns the core's results into Python's.
pub(super) trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for crate::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| to_python(py, &error))
    }
}
