//! The table of rules: a double-array trie over the source texts, and their replacements.
//!
//! Layout: the size of the trie in bytes (32 bits, little-endian), its entries of 32 bits each, then all replacements,
//! each terminated by a zero byte. An entry has a label in bits 0 to 7 and a flag for a value in bit 8. Bits 10 to 30
//! are the offset of its children, times 256 if bit 9 is set. A value has bit 31 set and is the start of its
//! replacement. Source: the darts-clone library and SentencePiece's normalizer.

use std::sync::Arc;

use crate::{Error, Result};

/// Number of ASCII characters.
const ASCII: usize = 128;

/// A table of rules; cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Charsmap {
    table: Arc<Table>,
    is_longest_first: bool,
}

#[derive(PartialEq, Eq)]
struct Table {
    /// The size of the trie as it was read: not always a multiple of 4.
    size: u32,
    entries: Vec<u32>,
    replacements: String,
    /// By byte: true for an ASCII character that no rule matches alone.
    is_plain: [bool; ASCII],
}

impl std::fmt::Debug for Charsmap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Table { entries, replacements, .. } = &*self.table;
        write!(formatter, "Charsmap({} units, {} bytes of text)", entries.len(), replacements.len())
    }
}

/// Offset of an entry's children, relative to the entry.
fn offset(entry: u32) -> usize {
    ((entry >> 10) << ((entry & (1 << 9)) >> 6)) as usize
}

impl Charsmap {
    /// Reads a table. Entries that lead out of the table match nothing.
    ///
    /// # Errors
    /// [`Error::Format`] if the trie is longer than `blob` or the replacements are not UTF-8.
    pub fn new(blob: &[u8]) -> Result<Self> {
        let failed = |message: String| Error::Format { path: "precompiled_charsmap".to_owned(), message };
        let Some((size, rest)) = blob.split_first_chunk::<4>() else {
            return Err(failed(format!("{} bytes, but its size alone takes 4", blob.len())));
        };
        let size = u32::from_le_bytes(*size);
        let trie_bytes = size as usize & !3;
        let Some((trie, text)) = rest.split_at_checked(trie_bytes) else {
            return Err(failed(format!(
                "the trie has {trie_bytes} bytes, but only {} are there",
                rest.len()
            )));
        };
        let entries: Vec<u32> = trie
            .chunks_exact(4)
            .map(|entry| entry.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte)))
            .collect();
        let replacements = simdutf8::compat::from_utf8(text)
            .map_err(|error| failed(format!("replacements are not UTF-8 at byte {}", error.valid_up_to())))?;
        let mut table =
            Table { size, entries, replacements: replacements.to_owned(), is_plain: [false; ASCII] };
        for byte in 0..ASCII as u8 {
            // A carriage return and a newline form one cluster, which may have its own rule.
            table.is_plain[usize::from(byte)] = byte != b'\r' && table.matches(&[byte]).next().is_none();
        }
        Ok(Self { table: Arc::new(table), is_longest_first: false })
    }

    /// The same rules, but the longest match wins, as in SentencePiece.
    #[must_use]
    pub fn longest_first(self) -> Self {
        Self { is_longest_first: true, ..self }
    }

    /// True if the longest match wins.
    pub fn is_longest_first(&self) -> bool {
        self.is_longest_first
    }

    /// The table as it was read.
    pub fn blob(&self) -> Vec<u8> {
        let Table { size, entries, replacements, .. } = &*self.table;
        let mut blob = size.to_le_bytes().to_vec();
        blob.extend(entries.iter().flat_map(|entry| entry.to_le_bytes()));
        blob.extend_from_slice(replacements.as_bytes());
        blob
    }

    /// The replacement of the shortest rule that matches at the front of `text`.
    pub(crate) fn shortest(&self, text: &str) -> Option<&str> {
        let (_, start) = self.table.matches(text.as_bytes()).next()?;
        self.table.replacement(start)
    }

    /// Length and replacement of the longest rule that matches at the front of `text`.
    pub fn longest(&self, text: &str) -> Option<(usize, &str)> {
        let (len, start) = self.table.matches(text.as_bytes()).last()?;
        Some((len, self.table.replacement(start)?))
    }

    /// True if a replacement holds `c`.
    pub(crate) fn makes(&self, c: char) -> bool {
        self.table.replacements.contains(c)
    }

    /// True if the source text of any rule begins with this ASCII character.
    pub(crate) fn has_rule_from(&self, byte: u8) -> bool {
        let root = self.table.entries.first().map(|&root| offset(root));
        let entry = root.and_then(|root| self.table.entries.get(root ^ usize::from(byte)));
        entry.is_some_and(|entry| entry & (1 << 31 | 0xFF) == u32::from(byte))
    }

    /// True if the source text of any rule begins with `prefix`.
    pub fn has_rules_of(&self, prefix: &str) -> bool {
        let mut place = self.table.entries.first().map(|&root| offset(root));
        for byte in prefix.bytes() {
            let child = place.map(|at| at ^ usize::from(byte));
            let entry = child.and_then(|child| self.table.entries.get(child));
            let entry = entry.filter(|&&entry| byte != 0 && entry & (1 << 31 | 0xFF) == u32::from(byte));
            place = child.zip(entry).map(|(child, &entry)| child ^ offset(entry));
        }
        place.is_some()
    }

    /// Length of a prefix of `text` that no rule matches: ASCII characters, without the last one if a non-ASCII
    /// character follows it.
    pub(crate) fn plain_prefix(&self, text: &[u8]) -> usize {
        let is_plain = |&&byte: &&u8| self.table.is_plain.get(usize::from(byte)).copied().unwrap_or(false);
        // The longest match may reach over several characters, so no rule may begin at one that is passed over.
        let is_passed = |byte: &&u8| is_plain(byte) && !(self.is_longest_first && self.has_rule_from(**byte));
        let count = text.iter().take_while(is_passed).count();
        // The non-ASCII character may be a mark, which forms one cluster with the last one.
        if text.get(count).is_some_and(|byte| !byte.is_ascii()) { count.saturating_sub(1) } else { count }
    }
}

impl Table {
    /// Lengths and values of all rules that match at the front of `text`, shortest first.
    fn matches(&self, text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
        let mut place = self.entries.first().map(|&root| offset(root));
        let mut bytes = text.iter().enumerate();
        std::iter::from_fn(move || {
            loop {
                let at = place?;
                let (index, &byte) = bytes.next()?;
                place = None;
                let child = at ^ usize::from(byte);
                let &entry = self.entries.get(child).filter(|_| byte != 0)?;
                // An entry that holds a value is nobody's child.
                if entry & (1 << 31 | 0xFF) != u32::from(byte) {
                    return None;
                }
                let next = child ^ offset(entry);
                place = Some(next);
                if entry >> 8 & 1 == 1 {
                    let value = self.entries.get(next)? & !(1 << 31);
                    return Some((index + 1, value as usize));
                }
            }
        })
    }

    fn replacement(&self, start: usize) -> Option<&str> {
        let text = self.replacements.get(start..)?;
        Some(&text[..memchr::memchr(0, text.as_bytes()).unwrap_or(text.len())])
    }
}
