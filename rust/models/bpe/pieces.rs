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
    /// By id, where text is merged to unused pieces; empty where these are never found in text.
    scores: Vec<f32>,
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
        Ok(Self { kinds, scores: Vec::new(), user_defined })
    }

    /// Adds scores by id, so that text is merged to unused pieces.
    pub(super) fn with_scores(self, scores: Vec<f32>) -> Result<Self> {
        if scores.len() != self.kinds.len() {
            return Err(Error::Unsupported(format!(
                "{} scores for {} tokens",
                scores.len(),
                self.kinds.len()
            )));
        }
        if let Some(score) = scores.iter().find(|score| !score.is_finite()) {
            let (value, expected) = (score.to_string(), "finite".to_owned());
            return Err(Error::InvalidOption { name: "score", value, expected });
        }
        Ok(Self { scores, ..self })
    }

    pub(super) fn kinds(&self) -> &[PieceKind] {
        &self.kinds
    }

    /// Scores by id, if the model has them.
    pub(super) fn scores(&self) -> Option<&[f32]> {
        Some(&*self.scores).filter(|scores| !scores.is_empty())
    }

    /// The ids of single characters that are tokens and are found in text, or that merge to such tokens.
    pub(super) fn char_ids(&self, vocab: &Vocab) -> CharIds {
        let is_symbol =
            |kind: PieceKind| kind.is_in_text() || kind == PieceKind::Unused && self.scores().is_some();
        let mut found = Vocab::new();
        for (token, id) in vocab.iter().filter(|&(_, id)| is_symbol(self.kinds[id as usize])) {
            found.insert(token, id);
        }
        CharIds::new(&found)
    }

    /// The longest user-defined token that `text` begins with: its id and its length in bytes.
    pub(super) fn user_defined(&self, text: &str) -> Option<(u32, usize)> {
        self.user_defined.longest(text.as_bytes())
    }
}
