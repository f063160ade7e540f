//! The table of rules: a double-array trie of what is replaced, and the replacements.
//!
//! Layout: the size of the trie in bytes (32 bits, little-endian), its units of 32 bits each, then all replacements,
//! each ended by a zero byte. A unit has a label in bits 0 to 7, a flag for a value in bit 8, and in bits 10 to 30 the
//! offset of its children, times 256 if bit 9 is set; a value has bit 31 set and says where its replacement starts.
//! Source: the darts-clone library and SentencePiece's normalizer.

use std::sync::Arc;

use crate::{Error, Result};

/// Bytes that text without a rule is looked at ahead for.
const ASCII: usize = 128;

/// Rules, cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Charsmap {
    table: Arc<Table>,
    is_longest_first: bool,
}

#[derive(PartialEq, Eq)]
struct Table {
    blob: Vec<u8>,
    units: Vec<u32>,
    replacements: String,
    /// ASCII characters that no rule matches alone.
    is_plain: [bool; ASCII],
}

impl std::fmt::Debug for Charsmap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Table { units, replacements, .. } = &*self.table;
        write!(formatter, "Charsmap({} units, {} bytes of text)", units.len(), replacements.len())
    }
}

/// Where a unit's children lie, relative to it.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & (1 << 9)) >> 6)) as usize
}

impl Charsmap {
    /// Reads a table. Units that lead out of it match nothing.
    ///
    /// # Errors
    /// [`Error::Format`] if the trie is longer than `blob` or the replacements are not UTF-8.
    pub fn new(blob: &[u8]) -> Result<Self> {
        let failed = |message: String| Error::Format { path: "precompiled_charsmap".to_owned(), message };
        let Some((size, rest)) = blob.split_first_chunk::<4>() else {
            return Err(failed(format!("{} bytes, but its size alone takes 4", blob.len())));
        };
        let size = u32::from_le_bytes(*size) as usize & !3;
        let Some((trie, text)) = rest.split_at_checked(size) else {
            return Err(failed(format!("the trie has {size} bytes, but only {} are there", rest.len())));
        };
        let units: Vec<u32> = trie
            .chunks_exact(4)
            .map(|unit| unit.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte)))
            .collect();
        let replacements = std::str::from_utf8(text)
            .map_err(|error| failed(format!("replacements are not UTF-8 at byte {}", error.valid_up_to())))?;
        let mut table = Table {
            blob: blob.to_vec(),
            units,
            replacements: replacements.to_owned(),
            is_plain: [false; ASCII],
        };
        for byte in 0..ASCII as u8 {
            // A carriage return and a newline are one character to the reader.
            table.is_plain[usize::from(byte)] = byte != b'\r' && table.matches(&[byte]).next().is_none();
        }
        Ok(Self { table: Arc::new(table), is_longest_first: false })
    }

    /// The same rules, the longest that matches at each place first, as SentencePiece applies them.
    #[must_use]
    pub fn longest_first(self) -> Self {
        Self { is_longest_first: true, ..self }
    }

    /// Whether the longest rule goes first.
    pub fn is_longest_first(&self) -> bool {
        self.is_longest_first
    }

    /// The table as it was read.
    pub fn blob(&self) -> &[u8] {
        &self.table.blob
    }

    /// What the shortest rule that `text` begins with makes of it.
    pub(super) fn shortest(&self, text: &str) -> Option<&str> {
        let (_, start) = self.table.matches(text.as_bytes()).next()?;
        self.table.replacement(start)
    }

    /// What the longest rule that `text` begins with makes of it, and how many bytes it matches.
    pub fn longest(&self, text: &str) -> Option<(usize, &str)> {
        let (len, start) = self.table.matches(text.as_bytes()).last()?;
        Some((len, self.table.replacement(start)?))
    }

    /// Whether any rule begins with this character of ASCII.
    pub(super) fn has_rule_from(&self, byte: u8) -> bool {
        let root = self.table.units.first().map(|&root| offset(root));
        let unit = root.and_then(|root| self.table.units.get(root ^ usize::from(byte)));
        unit.is_some_and(|unit| unit & (1 << 31 | 0xFF) == u32::from(byte))
    }

    /// Whether any rule's text begins with `prefix`.
    pub fn has_rules_of(&self, prefix: &str) -> bool {
        let mut place = self.table.units.first().map(|&root| offset(root));
        for byte in prefix.bytes() {
            let child = place.map(|at| at ^ usize::from(byte));
            let unit = child.and_then(|child| self.table.units.get(child));
            let unit = unit.filter(|&&unit| byte != 0 && unit & (1 << 31 | 0xFF) == u32::from(byte));
            place = child.zip(unit).map(|(child, &unit)| child ^ offset(unit));
        }
        place.is_some()
    }

    /// Bytes at the beginning of `text` that no rule concerns: ASCII not followed by anything else.
    pub(super) fn plain_prefix(&self, text: &[u8]) -> usize {
        let is_plain = |&byte: &u8| self.table.is_plain.get(usize::from(byte)).copied().unwrap_or(false);
        let count = text.iter().take_while(|byte| is_plain(byte)).count();
        // A mark after the last one would make one cluster of both.
        if text.get(count).is_some_and(|byte| !byte.is_ascii()) { count.saturating_sub(1) } else { count }
    }
}

impl Table {
    /// Lengths and values of all rules that `text` begins with, shorter ones first.
    fn matches(&self, text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
        let mut place = self.units.first().map(|&root| offset(root));
        let mut bytes = text.iter().enumerate();
        std::iter::from_fn(move || {
            loop {
                let at = place?;
                let (index, &byte) = bytes.next()?;
                place = None;
                let child = at ^ usize::from(byte);
                let &unit = self.units.get(child).filter(|_| byte != 0)?;
                // A value is never a child.
                if unit & (1 << 31 | 0xFF) != u32::from(byte) {
                    return None;
                }
                let next = child ^ offset(unit);
                place = Some(next);
                if unit >> 8 & 1 == 1 {
                    let value = self.units.get(next)? & !(1 << 31);
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
