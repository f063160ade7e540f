//! Word level: each pre-token is one token; one lookup in the vocabulary.
//!
//! SentencePiece's word models cut a pre-token into words first ([`SpacedWords`]).

use std::sync::Arc;

use super::Tokens;
use super::piece_kind::PieceKind;
use crate::metaspace::VISIBLE_SPACE;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// A dictionary of whole words. Cheap to clone: the vocabulary is shared.
#[derive(Clone, Debug)]
pub struct WordLevel {
    vocab: Arc<Vocab>,
    unk_token: String,
    spaced: Option<SpacedWords>,
}

/// How the model cuts pre-tokens into words itself, as SentencePiece's word models do: before every U+2581.
///
/// Neighbouring unknown words are joined into one unknown token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpacedWords {
    /// Kinds of the words by id; only normal and user-defined ones are found in text.
    pub kinds: Arc<Vec<PieceKind>>,
    /// Spells unknown words as `<0xNN>` tokens where all of them exist.
    pub byte_fallback: bool,
}

impl Default for WordLevel {
    fn default() -> Self {
        Self::new(Arc::default(), Self::UNK_TOKEN.to_owned())
    }
}

impl WordLevel {
    /// The default unknown token.
    pub const UNK_TOKEN: &str = "<unk>";

    /// A model of the words in `vocab`; `unk_token` stands for all others.
    pub fn new(vocab: Arc<Vocab>, unk_token: String) -> Self {
        Self { vocab, unk_token, spaced: None }
    }

    /// The same model, which cuts pre-tokens into words if `spaced` is given.
    #[must_use]
    pub fn with_spaced_words(self, spaced: Option<SpacedWords>) -> Self {
        Self { spaced, ..self }
    }

    /// How pre-tokens are cut into words; `None` if they are not.
    pub fn spaced_words(&self) -> Option<&SpacedWords> {
        self.spaced.as_ref()
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The vocabulary, shared.
    pub fn shared_vocab(&self) -> Arc<Vocab> {
        Arc::clone(&self.vocab)
    }

    /// The token that stands for words which the vocabulary lacks.
    pub fn unk_token(&self) -> &str {
        &self.unk_token
    }

    /// Encodes one pre-token; appends one token that covers all of it, or the tokens of its words.
    ///
    /// # Errors
    /// [`Error::TokenNotInVocab`] if the vocabulary has neither the word nor `unk_token`.
    pub fn encode_word(&self, word: &str, tokens: &mut Tokens) -> Result<()> {
        if let Some(spaced) = &self.spaced {
            return self.encode_words(word, spaced, tokens);
        }
        let id = self.vocab.id(word).map_or_else(|| self.unknown_id(), Ok)?;
        tokens.push(id, word.len() as u32);
        Ok(())
    }

    fn unknown_id(&self) -> Result<u32> {
        self.vocab.id(&self.unk_token).ok_or_else(|| Error::TokenNotInVocab {
            token: self.unk_token.clone(),
            role: "unk_token".to_owned(),
            vocab_size: self.vocab.len(),
        })
    }

    fn encode_words(&self, text: &str, spaced: &SpacedWords, tokens: &mut Tokens) -> Result<()> {
        let is_found = |&id: &u32| spaced.kinds.get(id as usize).is_some_and(|kind| kind.is_in_text());
        let (mut rest, mut is_after_unknown) = (text, false);
        while let Some(first) = rest.chars().next() {
            let start = first.len_utf8();
            let end = rest[start..].find(VISIBLE_SPACE).map_or(rest.len(), |at| start + at);
            let (word, after) = rest.split_at(end);
            rest = after;
            let is_unknown = match self.vocab.id(word).filter(is_found) {
                Some(id) => {
                    tokens.push(id, word.len() as u32);
                    false
                }
                None => !(spaced.byte_fallback && self.push_bytes(word, tokens)),
            };
            match tokens.lens.last_mut() {
                Some(last) if is_unknown && is_after_unknown => *last += word.len() as u32,
                _ if is_unknown => tokens.push(self.unknown_id()?, word.len() as u32),
                _ => {}
            }
            is_after_unknown = is_unknown;
        }
        Ok(())
    }

    /// Appends one `<0xNN>` token per byte, each of which covers the whole word.
    ///
    /// Returns false, and appends nothing, if one of these tokens is missing.
    fn push_bytes(&self, word: &str, tokens: &mut Tokens) -> bool {
        let id = |byte: u8| self.vocab.id(&format!("<0x{byte:02X}>"));
        let Some(ids) = word.bytes().map(id).collect::<Option<Vec<u32>>>() else { return false };
        for (place, id) in ids.into_iter().enumerate() {
            if place == 0 { tokens.push(id, word.len() as u32) } else { tokens.push_again(id) }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(vocab: &[&str], word: &str) -> Result<Tokens> {
        let model = WordLevel::new(Arc::new(Vocab::from_tokens(vocab)), "<unk>".to_owned());
        let mut tokens = Tokens::default();
        model.encode_word(word, &mut tokens).map(|()| tokens)
    }

    #[test]
    fn an_unknown_token_covers_its_word() {
        let found = encode(&["<unk>", "é"], "éé").expect("there is an unknown token");
        assert_eq!(found, Tokens { ids: vec![0], lens: vec![4], ..Tokens::default() });
    }

    #[test]
    fn a_missing_unknown_token_is_named_when_it_is_needed() {
        assert!(encode(&["a"], "a").is_ok());
        let error = encode(&["a"], "b").expect_err("no unknown token");
        assert_eq!(error.to_string(), "token `<unk>` of unk_token is not in the vocabulary of 1 tokens");
    }
}
