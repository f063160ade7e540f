//! How many tokens files have, counted without holding their text or their ids.

use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use super::documents::{check_separator, read_documents};
use super::text_file::TextFile;
use crate::Result;
use crate::tokenizer::{Crew, Tokenizer, Utf8Errors, check_length};

/// Bytes of text that are counted at a time: enough for all threads.
const BLOCK: usize = 1 << 24;

/// Number of tokens of each document, as [`read_documents`] cuts files.
///
/// A file is read 16 MiB at a time. A document that does not end therein is counted up to a place where
/// its ids cannot depend on what follows; where the tokenizer has no such places, it is read to its end.
/// Truncation and padding need all documents at once.
///
/// # Errors
/// Those of [`read_documents`] and of [`Tokenizer::count_tokens`]; a document may be longer than a text if it can be cut.
pub fn count_files(
    tokenizer: &Tokenizer,
    paths: &[PathBuf],
    separator: Option<&str>,
    errors: Utf8Errors,
    add_special_tokens: bool,
    crew: Crew<'_>,
) -> Result<Vec<u64>> {
    check_separator(separator)?;
    let Some(framing) = tokenizer.framing(add_special_tokens)? else {
        let files = read_documents(paths, separator, errors, crew.threads)?;
        return tokenizer.count_tokens(&files.documents(), add_special_tokens, crew);
    };
    let mut counting =
        Counting { tokenizer, separator: separator.map(Finder::new), crew, framing, counts: Vec::new() };
    for path in paths {
        counting.add_file(path, errors, BLOCK)?;
    }
    Ok(counting.counts)
}

struct Counting<'a> {
    tokenizer: &'a Tokenizer,
    separator: Option<Finder<'a>>,
    crew: Crew<'a>,
    /// Special tokens of a document.
    framing: u64,
    counts: Vec<u64>,
}

impl Counting<'_> {
    fn add_file(&mut self, path: &Path, errors: Utf8Errors, block: usize) -> Result<()> {
        let mut file = TextFile::open(path, errors)?;
        let (mut text, mut wanted) = (String::new(), block);
        // Tokens of the document that has begun and not ended.
        let mut begun = 0;
        while file.read(&mut text, wanted)? {
            let used = self.add_beginning(&text, &mut begun)?;
            text.drain(..used);
            check_length(text.len())?;
            // Twice as much each time, so that a long document is not looked through again and again.
            wanted = text.len().max(block);
        }
        let (mut documents, rest) = self.documents(&text);
        if !rest.is_empty() || self.separator.is_none() {
            documents.push(rest);
        }
        self.add_documents(&documents, &mut begun)
    }

    /// Counts the documents that have ended, and the beginning of the next one; answers how many bytes that were.
    fn add_beginning(&mut self, text: &str, begun: &mut u64) -> Result<usize> {
        let (documents, rest) = self.documents(text);
        self.add_documents(&documents, begun)?;
        let separator = self.separator.as_ref().map_or(0, |separator| separator.needle().len());
        let border = self.tokenizer.pipeline().last_border(rest, separator).unwrap_or(0);
        if border > 0 {
            *begun += self.tokenizer.count_tokens(&[&rest[..border]], false, self.crew)?.iter().sum::<u64>();
        }
        Ok(text.len() - rest.len() + border)
    }

    /// The documents that have ended, and what follows them.
    fn documents<'t>(&self, text: &'t str) -> (Vec<&'t str>, &'t str) {
        let Some(separator) = &self.separator else { return (Vec::new(), text) };
        let (mut documents, mut start) = (Vec::new(), 0);
        for end in separator.find_iter(text.as_bytes()) {
            documents.push(&text[start..end]);
            start = end + separator.needle().len();
        }
        (documents, &text[start..])
    }

    fn add_documents(&mut self, documents: &[&str], begun: &mut u64) -> Result<()> {
        for count in self.tokenizer.count_tokens(documents, false, self.crew)? {
            self.counts.push(self.framing + std::mem::take(begun) + count);
        }
        Ok(())
    }
}
