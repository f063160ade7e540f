//! The handling of bytes that are not UTF-8.

/// The handling of bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utf8Errors {
    /// Stop with an error that names the file and the byte.
    Strict,
    /// Read U+FFFD in their place.
    Replace,
}

impl Utf8Errors {
    /// Its name in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Replace => "replace",
        }
    }
}
