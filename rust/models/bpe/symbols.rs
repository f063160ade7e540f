//! The initial symbols of a pre-token: its characters with affixes, unknown tokens and byte fallback.

use std::sync::Arc;

use super::char_ids::{CharIds, CharPlace, SymbolIds};
use super::{Bpe, Scratch};
use crate::{Error, Result};

/// An unknown token that is held back, so that the next unknown character can join it.
#[derive(Clone, Copy)]
struct PendingUnk {
    id: u32,
    len: u32,
}

impl Bpe {
    /// Builds the table of initial symbols for the present options and pieces.
    pub(super) fn set_symbol_ids(&mut self) {
        let symbol_ids = if !self.has_plain_symbols() {
            SymbolIds::affixed(&self.vocab, &self.options)
        } else if let Some(pieces) = &self.pieces {
            SymbolIds::plain(pieces.char_ids(&self.vocab))
        } else {
            SymbolIds::plain(CharIds::new(&self.vocab))
        };
        self.symbol_ids = Arc::new(symbol_ids);
    }

    /// Appends one symbol for each character of `word`, or for each user-defined token in it.
    pub(super) fn push_char_symbols(&self, word: &str, scratch: &mut Scratch) -> Result<()> {
        let mut pending = None;
        let mut taken = 0;
        for (start, c) in word.char_indices() {
            if start < taken {
                continue;
            }
            if let Some((id, len)) =
                self.pieces.as_ref().and_then(|pieces| pieces.user_defined(&word[start..]))
            {
                flush(&mut pending, scratch);
                scratch.push(id, len as u32);
                taken = start + len;
                continue;
            }
            let end = start + c.len_utf8();
            let place = CharPlace { is_first: start == 0, is_last: end == word.len() };
            let len = c.len_utf8() as u32;
            if let Some(id) = self.symbol_ids.get(c, place) {
                flush(&mut pending, scratch);
                scratch.push(id, len);
            } else if !(self.options.byte_fallback && self.push_fallback(&word[start..end], place, scratch)) {
                // As in Hugging Face, fallback bytes do not flush a pending unknown token, which then follows them.
                pending = self.push_unknown(pending, len, scratch)?;
            }
        }
        flush(&mut pending, scratch);
        Ok(())
    }

    /// Pushes the symbols of `token`, with affixes; returns false if one of them is not in the vocabulary.
    pub(super) fn push_token_symbols(&self, token: &str, scratch: &mut Scratch) -> bool {
        let [prefix, suffix] = self.options.affixes();
        let without_prefix = token.strip_prefix(prefix).filter(|_| !prefix.is_empty());
        let text = without_prefix.unwrap_or(token);
        let without_suffix = text.strip_suffix(suffix).filter(|_| !suffix.is_empty());
        let text = without_suffix.unwrap_or(text);
        for (start, c) in text.char_indices() {
            let end = start + c.len_utf8();
            let is_first = start == 0 && without_prefix.is_none();
            let is_last = end == text.len() && without_suffix.is_some();
            let [prefix, suffix] = CharPlace { is_first, is_last }.affixes(&self.options);
            let Some(id) = self.vocab.id(&[prefix, &text[start..end], suffix].concat()) else { return false };
            scratch.push(id, c.len_utf8() as u32);
        }
        true
    }

    /// Pushes one `<0xNN>` token for each byte of a character and its affixes; returns false, without a push, if one is missing.
    fn push_fallback(&self, c: &str, place: CharPlace, scratch: &mut Scratch) -> bool {
        let [prefix, suffix] = place.affixes(&self.options);
        let bytes = || [prefix, c, suffix].into_iter().flat_map(str::bytes);
        let id = |byte: u8| self.fallback_ids.get(byte as usize).copied().flatten();
        if bytes().any(|byte| id(byte).is_none()) {
            return false;
        }
        for id in bytes().filter_map(id) {
            scratch.push(id, 1);
        }
        true
    }

    /// The id of `unk_token`; `None` if unknown characters are dropped.
    pub(super) fn id_of_unknown(&self) -> Result<Option<u32>> {
        let Some(token) = &self.options.unk_token else { return Ok(None) };
        let missing = || Error::TokenNotInVocab {
            token: token.clone(),
            role: "unk_token".to_owned(),
            vocab_size: self.vocab.len(),
        };
        self.unk_id.map(Some).ok_or_else(missing)
    }

    fn push_unknown(
        &self,
        pending: Option<PendingUnk>,
        len: u32,
        scratch: &mut Scratch,
    ) -> Result<Option<PendingUnk>> {
        let Some(id) = self.id_of_unknown()? else { return Ok(pending) };
        match pending {
            Some(unk) if self.options.fuse_unk => Ok(Some(PendingUnk { id, len: unk.len + len })),
            mut unk => {
                flush(&mut unk, scratch);
                Ok(Some(PendingUnk { id, len }))
            }
        }
    }
}

fn flush(pending: &mut Option<PendingUnk>, scratch: &mut Scratch) {
    if let Some(unk) = pending.take() {
        scratch.push(unk.id, unk.len);
    }
}
