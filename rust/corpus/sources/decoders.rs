//! The decoders of other libraries: their errors and their panics as errors of a file.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

thread_local! {
    /// True if this thread is in a decoder, whose panics are errors of the file.
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Has panics of decoders leave no line on standard error: the panic hook stays as it is for all other code.
fn silence_decoders() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_DECODING.try_with(Cell::get).unwrap_or(false) {
                hook(panic);
            }
        }));
    });
}

/// The outcome of `work` with a library's decoder. A decoder of a damaged file may panic, which becomes an error of the data.
///
/// # Errors
/// The error of `work`; [`io::ErrorKind::InvalidData`] with the message of a panic, after which the decoder must not be used.
pub(crate) fn decoded<T, E>(
    work: impl FnOnce() -> std::result::Result<T, E>,
    error: impl FnOnce(E) -> io::Error,
) -> io::Result<T> {
    silence_decoders();
    let was_decoding = IS_DECODING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_DECODING.set(was_decoding);
    match outcome {
        Ok(outcome) => outcome.map_err(error),
        Err(panic) => {
            let message =
                panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            let message = format!("the data is damaged: {}", message.unwrap_or("the decoder panicked"));
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        }
    }
}

/// The operating system's error, or [`io::ErrorKind::InvalidData`] with the message.
pub(crate) fn arrow_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        ArrowError::IpcError(message)
        | ArrowError::ParseError(message)
        | ArrowError::CDataInterface(message) => io::Error::new(io::ErrorKind::InvalidData, message),
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}

/// The operating system's error, or [`io::ErrorKind::InvalidData`] with the message.
pub(crate) fn parquet_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::new(io::ErrorKind::InvalidData, source),
        },
        ParquetError::General(message) | ParquetError::NYI(message) | ParquetError::EOF(message) => {
            io::Error::new(io::ErrorKind::InvalidData, message)
        }
        other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
    }
}
