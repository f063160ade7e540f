//! Text files as documents.

use std::path::PathBuf;

use super::text_file::{TextFile, Utf8Errors};
use crate::{Error, Result};

/// The text of several files, and how it is cut.
#[derive(Debug)]
pub(super) struct Documents {
    texts: Vec<String>,
    separator: Option<String>,
}

/// Reads files whole; with a separator each file is cut at it.
///
/// # Errors
/// [`Error::Io`]; [`Error::InvalidUtf8`] unless `errors` is [`Utf8Errors::Replace`];
/// [`Error::InvalidOption`] for an empty separator.
pub(super) fn read_documents(
    paths: &[PathBuf],
    separator: Option<&str>,
    errors: Utf8Errors,
) -> Result<Documents> {
    check_separator(separator)?;
    let read = |path: &PathBuf| {
        let mut text = String::new();
        TextFile::open(path, errors)?.read(&mut text, usize::MAX)?;
        Ok(text)
    };
    let texts = paths.iter().map(read).collect::<Result<_>>()?;
    Ok(Documents { texts, separator: separator.map(str::to_owned) })
}

/// Refuses an empty separator.
pub(super) fn check_separator(separator: Option<&str>) -> Result<()> {
    if separator == Some("") {
        return Err(Error::InvalidOption {
            name: "separator",
            value: "empty".to_owned(),
            expected: "at least one character".to_owned(),
        });
    }
    Ok(())
}

impl Documents {
    /// The documents, file by file. What follows a file's last separator counts only if it is not empty.
    pub(super) fn documents(&self) -> Vec<&str> {
        let Some(separator) = &self.separator else {
            return self.texts.iter().map(String::as_str).collect();
        };
        let mut documents = Vec::new();
        for text in &self.texts {
            documents.extend(text.split(separator.as_str()));
            // Not by a look at the file's end: where separators overlap, another one may be there than from the left.
            documents.pop_if(|last| last.is_empty());
        }
        documents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separator_at_the_end_opens_no_document() {
        let texts = vec!["a||b||".to_owned(), String::new(), "c".to_owned(), "||".to_owned()];
        let documents = Documents { texts, separator: Some("||".to_owned()) };
        assert_eq!(documents.documents(), ["a", "b", "c", ""]);
    }

    #[test]
    fn overlapping_separators_are_taken_from_the_left() {
        let documents = Documents { texts: vec!["a|||".to_owned()], separator: Some("||".to_owned()) };
        assert_eq!(documents.documents(), ["a", "|"]);
    }
}
