//! Files as documents.

use std::path::PathBuf;
use std::slice;

#[cfg(feature = "sources")]
use super::inputs::InputSource;
use super::text_file::TextFile;
use super::utf8_errors::Utf8Errors;
use crate::{Error, Result};

/// A file whose documents are encoded, or several files of records.
#[derive(Clone, Debug)]
pub enum DocumentFile {
    /// Text: one document, or the documents between separators.
    Text(PathBuf),
    /// Records, each with a text that is a document.
    #[cfg(feature = "sources")]
    Records(InputSource),
}

impl DocumentFile {
    /// The paths of the files.
    pub(super) fn paths(&self) -> &[PathBuf] {
        match self {
            Self::Text(path) => slice::from_ref(path),
            #[cfg(feature = "sources")]
            Self::Records(records) => &records.source.paths,
        }
    }
}

/// The text of several files, and how it is cut.
#[derive(Debug)]
pub(super) struct Documents {
    /// Each text; true if separators cut it, false if it is a record.
    texts: Vec<(String, bool)>,
    separator: Option<String>,
}

/// Reads files whole; with a separator each file of text is cut at it.
///
/// # Errors
/// [`Error::Io`]; [`Error::InvalidUtf8`] unless `errors` is [`Utf8Errors::Replace`];
/// [`Error::InvalidOption`] for an empty separator.
pub(super) fn read_documents(
    files: &[DocumentFile],
    separator: Option<&str>,
    errors: Utf8Errors,
) -> Result<Documents> {
    check_separator(separator)?;
    let mut texts = Vec::new();
    for file in files {
        match file {
            DocumentFile::Text(path) => {
                let mut text = String::new();
                TextFile::open(path, errors)?.read(&mut text, usize::MAX)?;
                texts.push((text, true));
            }
            #[cfg(feature = "sources")]
            DocumentFile::Records(records) => {
                let mut records = records.open();
                while records.next(|text| texts.push((text.to_owned(), false)))? {}
            }
        }
    }
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
    /// The documents, file by file. The text after a file's last separator is a document only if it is not empty.
    pub(super) fn documents(&self) -> Vec<&str> {
        let Some(separator) = &self.separator else {
            return self.texts.iter().map(|(text, _)| text.as_str()).collect();
        };
        let mut documents = Vec::new();
        for (text, is_cut) in &self.texts {
            if !is_cut {
                documents.push(text.as_str());
                continue;
            }
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
        let texts = ["a||b||", "", "c", "||"].map(|text| (text.to_owned(), true)).to_vec();
        let documents = Documents { texts, separator: Some("||".to_owned()) };
        assert_eq!(documents.documents(), ["a", "b", "c", ""]);
    }

    #[test]
    fn overlapping_separators_are_taken_from_the_left() {
        let documents =
            Documents { texts: vec![("a|||".to_owned(), true)], separator: Some("||".to_owned()) };
        assert_eq!(documents.documents(), ["a", "|"]);
    }
}
