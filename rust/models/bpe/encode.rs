//! Encodes one pre-token, from characters or from raw bytes.

use super::{Bpe, ByteSymbols, Scratch};
#[cfg(doc)]
use crate::Error;
use crate::Result;
use crate::byte_level::push_mapped;
use crate::models::Tokens;

impl Bpe {
    fn takes_whole(&self, scratch: &Scratch) -> bool {
        self.options.ignore_merges && !scratch.in_context
    }

    /// Encodes one pre-token; appends to `tokens`.
    ///
    /// O(n log n) in bytes. Of merges with equal ranks the leftmost comes first.
    ///
    /// # Errors
    /// [`Error::TokenNotInVocab`] if an unknown character needs `unk_token` and that has no id.
    pub fn encode_word(&self, word: &str, scratch: &mut Scratch, tokens: &mut Tokens) -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        if self.is_deterministic()
            && self.takes_whole(scratch)
            && let Some(id) = self.vocab.id(word)
        {
            tokens.push(id, word.len() as u32);
            return Ok(());
        }
        scratch.clear();
        self.push_char_symbols(word, scratch)?;
        if let Some(turns) = &self.turns {
            return self.merge_in_turns(turns, scratch, tokens);
        }
        self.merge(self.options.dropout.filter(|&dropout| dropout > 0.0), scratch, tokens);
        Ok(())
    }

    /// Encodes one pre-token given as raw bytes; lengths of tokens are in raw bytes.
    ///
    /// `mapped` is a buffer for the pre-token in the byte-level alphabet. Returns false, and appends nothing, if a byte has no
    /// id.
    pub fn encode_bytes(
        &self,
        word: &[u8],
        symbols: &ByteSymbols,
        mapped: &mut String,
        scratch: &mut Scratch,
        tokens: &mut Tokens,
    ) -> bool {
        let is_deterministic = self.is_deterministic();
        if is_deterministic && let Some(matcher) = symbols.longest_match(self, word) {
            if self.takes_whole(scratch)
                && let Some(id) = matcher.whole(word)
            {
                tokens.push(id, word.len() as u32);
                return true;
            }
            if matcher.encode(word, &self.pairs, &mut scratch.matching, tokens) {
                return true;
            }
        } else if is_deterministic && self.takes_whole(scratch) {
            push_mapped(word, mapped);
            if let Some(id) = self.vocab.id(mapped) {
                tokens.push(id, word.len() as u32);
                return true;
            }
        }
        scratch.clear();
        if !scratch.push_byte_symbols(word, symbols, &self.pairs) {
            return false;
        }
        if let Some(turns) = &self.turns {
            // Only an unused token could need the unknown one, and no token of a byte-level model is unused.
            return self.merge_in_turns(turns, scratch, tokens).is_ok();
        }
        self.merge_started(self.options.dropout.filter(|&dropout| dropout > 0.0), scratch, tokens);
        true
    }
}
