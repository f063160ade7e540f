//! Blocks of words: each word is spelled by the number of bytes that it shares with the word before, and the rest.

use super::word::{CountedWord, Place};

/// A block ends with the word that makes it this long.
pub(super) const BLOCK_BYTES: usize = 1 << 18;

/// The longest block: normalized texts, of which its last word may be a whole one, are below 4 GiB.
pub(super) const LONGEST_BLOCK: u64 = BLOCK_BYTES as u64 + u32::MAX as u64;

/// Writes words into a block.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    pub(super) bytes: Vec<u8>,
    pub(super) words: u64,
    last: Vec<u8>,
}

impl BlockBuilder {
    /// The last word of the block.
    pub(super) fn last(&self) -> &[u8] {
        &self.last
    }

    pub(super) fn push(&mut self, word: CountedWord<'_>) {
        let shared = if self.words == 0 { 0 } else { shared_len(&self.last, word.word) };
        push_number(&mut self.bytes, shared as u64);
        push_number(&mut self.bytes, (word.word.len() - shared) as u64);
        self.bytes.extend_from_slice(&word.word[shared..]);
        push_number(&mut self.bytes, word.count);
        push_number(&mut self.bytes, word.first.source.into());
        push_number(&mut self.bytes, word.first.at);
        self.last.truncate(shared);
        self.last.extend_from_slice(&word.word[shared..]);
        self.words += 1;
    }

    /// Begins the next block; keeps the last word, which the next one must be greater than.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.words = 0;
    }
}

fn shared_len(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Appends a number, seven bits a byte, the lowest first.
pub(super) fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The number at the beginning of `bytes`, which then begin after it; `None` if there is none.
pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7F);
        number |= bits.checked_shl(shift).filter(|&shifted| shifted >> shift == bits)?;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Takes the next `len` bytes; `None` if there are fewer.
fn take_bytes<'a>(bytes: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// Takes the next word of a block: `word` holds the one before and becomes this one.
///
/// `None` if the block is damaged: a number or bytes are missing, or a word is not greater than the one before.
pub(super) fn take_word(bytes: &mut &[u8], word: &mut Vec<u8>, is_first: bool) -> Option<(u64, Place)> {
    let shared = usize::try_from(take_number(bytes)?).ok().filter(|&shared| shared <= word.len())?;
    let len = take_number(bytes)?;
    let rest = take_bytes(bytes, len)?;
    if !is_first && *rest <= word[shared..] {
        return None;
    }
    word.truncate(shared);
    word.extend_from_slice(rest);
    let count = take_number(bytes).filter(|&count| count > 0)?;
    let source = u32::try_from(take_number(bytes)?).ok()?;
    Some((count, Place { source, at: take_number(bytes)? }))
}
