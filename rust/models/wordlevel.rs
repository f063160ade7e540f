//! Word level: each pre-token is one token.

use std::sync::Arc;

use super::Tokens;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// A dictionary of whole words. Cheap to clone: the vocabulary is shared.
#[derive(Clone, Debug)]
pub struct WordLevel {
    vocab: Arc<Vocab>,
    unk_token: String,
}

impl Default for WordLevel {
    fn default() -> Self {
        Self::new(Arc::default(), Self::UNK_TOKEN.to_owned())
    }
}

impl WordLevel {
    /// The name of the unknown token unless told otherwise.
    pub const UNK_TOKEN: &str = "<unk>";

    /// A model of the words in `vocab`; `unk_token` stands for all others.
    pub fn new(vocab: Arc<Vocab>, unk_token: String) -> Self {
        Self { vocab, unk_token }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The vocabulary, shared.
    pub fn shared_vocab(&self) -> Arc<Vocab> {
        Arc::clone(&self.vocab)
    }

    /// What stands for words that the vocabulary lacks.
    pub fn unk_token(&self) -> &str {
        &self.unk_token
    }

    /// Encodes one pre-token; appends its token, which covers all of it.
    ///
    /// # Errors
    /// [`Error::TokenNotInVocab`] if the vocabulary has neither the word nor `unk_token`.
    pub fn encode_word(&self, word: &str, tokens: &mut Tokens) -> Result<()> {
        let id = self.vocab.id(word).or_else(|| self.vocab.id(&self.unk_token));
        let id = id.ok_or_else(|| Error::TokenNotInVocab {
            token: self.unk_token.clone(),
            role: "unk_token".to_owned(),
            vocab_size: self.vocab.len(),
        })?;
        tokens.push(id, word.len() as u32);
        Ok(())
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
