//! Piece kinds from a SentencePiece file: which tokens are found in text, and which are never merged.

use super::char_ids::CharIds;
use crate::models::piece_kind::PieceKind;
use crate::structures::byte_trie::ByteTrie;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// The kinds by id, and a trie of the user-defined tokens.
#[derive(Clone, Debug)]
pub(super) struct PieceKinds {
    kinds: Vec<PieceKind>,
    user_defined: ByteTrie,
}

impl PieceKinds {
    pub(super) fn new(vocab: &Vocab, kinds: Vec<PieceKind>) -> Result<Self> {
        if kinds.len() != vocab.id_bound() || kinds.len() != vocab.len() {
            return Err(Error::Unsupported(format!("{} kinds for {} tokens", kinds.len(), vocab.len())));
        }
        let is_user_defined = |id: u32| kinds[id as usize] == PieceKind::UserDefined;
        let keys = vocab.iter().filter(|&(token, id)| !token.is_empty() && is_user_defined(id));
        let mut keys: Vec<(&[u8], u32)> = keys.map(|(token, id)| (token.as_bytes(), id)).collect();
        keys.sort_unstable();
        let user_defined = ByteTrie::new(&keys).ok_or_else(|| {
            let message = format!("{} user-defined tokens have more than 2^23 distinct prefixes", keys.len());
            Error::Unsupported(message)
        })?;
        Ok(Self { kinds, user_defined })
    }

    pub(super) fn kinds(&self) -> &[PieceKind] {
        &self.kinds
    }

    /// The ids of single characters that are tokens and are found in text.
    pub(super) fn char_ids(&self, vocab: &Vocab) -> CharIds {
        let mut found = Vocab::new();
        for (token, id) in vocab.iter().filter(|&(_, id)| self.kinds[id as usize].is_in_text()) {
            found.insert(token, id);
        }
        CharIds::new(&found)
    }

    /// The longest user-defined token that `text` begins with: its id and its length in bytes.
    pub(super) fn user_defined(&self, text: &str) -> Option<(u32, usize)> {
        self.user_defined.longest(text.as_bytes())
    }
}
