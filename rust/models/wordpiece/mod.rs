//! WordPiece: longest match from left to right; a pre-token that cannot be cut so is one unknown token.
//!
//! Few and short pre-tokens are cut by trying all prefixes, which is quadratic. As soon as their cost pays for it, a trie
//! with failure links is built (`linear_match`), and every pre-token takes linear time.
//!
//! Source: Schuster and Nakajima 2012, Devlin et al. 2018; options and their quirks are as in Hugging Face.

mod linear_match;

use std::sync::Arc;

use linear_match::LinearMatch;

use super::Tokens;
use crate::structures::amortized_lazy::AmortizedLazy;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// Options of [`WordPiece`]; the names and the defaults are Hugging Face's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPieceOptions {
    /// Token for pre-tokens that cannot be cut into tokens.
    pub unk_token: String,
    /// Prefix in the vocabulary of every token that does not begin a pre-token.
    pub continuing_subword_prefix: String,
    /// A pre-token of more characters is unknown.
    pub max_input_chars_per_word: usize,
}

impl Default for WordPieceOptions {
    fn default() -> Self {
        Self {
            unk_token: "[UNK]".to_owned(),
            continuing_subword_prefix: "##".to_owned(),
            max_input_chars_per_word: 100,
        }
    }
}

/// Cost of preparing one entry of the vocabulary; searching a pre-token costs its length squared.
const PRICE_PER_ENTRY: usize = 100;

/// A WordPiece encoder. Cheap to clone: tables are shared.
#[derive(Clone, Debug, Default)]
pub struct WordPiece {
    vocab: Arc<Vocab>,
    options: WordPieceOptions,
    unk_id: Option<u32>,
    /// Bytes of the longest token.
    longest: usize,
    linear: Arc<AmortizedLazy<LinearMatch>>,
}

impl WordPiece {
    /// Builds the encoder.
    pub fn new(vocab: Arc<Vocab>, options: WordPieceOptions) -> Self {
        let longest = vocab.iter().map(|(token, _)| token.len()).max().unwrap_or(0);
        let unk_id = vocab.id(&options.unk_token);
        Self { vocab, options, unk_id, longest, linear: Arc::default() }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// The vocabulary, shared.
    pub fn shared_vocab(&self) -> Arc<Vocab> {
        Arc::clone(&self.vocab)
    }

    /// The options.
    pub fn options(&self) -> &WordPieceOptions {
        &self.options
    }

    /// `token` without the continuing prefix: the text that it covers in a pre-token.
    pub fn own_text<'a>(&self, token: &'a str) -> &'a str {
        let rest = token.strip_prefix(&self.options.continuing_subword_prefix);
        rest.filter(|rest| !rest.is_empty()).unwrap_or(token)
    }

    /// Encodes one pre-token; appends to `tokens`.
    ///
    /// O(n) in bytes for any vocabulary of up to a few million tokens, once the trie is built.
    ///
    /// # Errors
    /// [`Error::TokenNotInVocab`] if the pre-token is unknown and `unk_token` has no id.
    pub fn encode_word(&self, word: &str, tokens: &mut Tokens) -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        let (limit, before) = (self.options.max_input_chars_per_word, tokens.ids.len());
        let is_short = word.len() <= limit || word.chars().nth(limit).is_none();
        if is_short && self.cut(word, tokens) {
            return Ok(());
        }
        tokens.ids.truncate(before);
        tokens.lens.truncate(before);
        let id = self.unk_id.ok_or_else(|| Error::TokenNotInVocab {
            token: self.options.unk_token.clone(),
            role: "unk_token".to_owned(),
            vocab_size: self.vocab.len(),
        })?;
        tokens.push(id, word.len() as u32);
        Ok(())
    }

    /// Cuts a pre-token into tokens; if it cannot be cut, returns false and leaves some tokens in `tokens`.
    fn cut(&self, word: &str, tokens: &mut Tokens) -> bool {
        let cost = word.len().saturating_mul(word.len());
        let make = || LinearMatch::new(&self.vocab, &self.options.continuing_subword_prefix);
        match self.linear.get(cost, self.vocab.len() * PRICE_PER_ENTRY, make) {
            Some(linear) => linear.cut(word.as_bytes(), tokens),
            None => self.search(word, tokens),
        }
    }

    /// The naive algorithm: looks up each prefix of the remaining text, the longest first.
    fn search(&self, word: &str, tokens: &mut Tokens) -> bool {
        let prefix = self.options.continuing_subword_prefix.as_str();
        let mut candidate = String::new();
        let mut start = 0;
        while start < word.len() {
            candidate.clear();
            if start > 0 {
                candidate.push_str(prefix);
            }
            let room = self.longest.saturating_sub(candidate.len());
            let mut len = word[start..].floor_char_boundary(room);
            candidate.push_str(&word[start..start + len]);
            let found = loop {
                if len == 0 {
                    return false;
                }
                if let Some(id) = self.vocab.id(&candidate) {
                    break id;
                }
                len -= candidate.pop().map_or(len, char::len_utf8);
            };
            tokens.push(found, len as u32);
            start += len;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn model(vocab: &[&str], options: WordPieceOptions) -> WordPiece {
        WordPiece::new(Arc::new(Vocab::from_tokens(vocab)), options)
    }

    fn encode(model: &WordPiece, word: &str) -> Tokens {
        let mut tokens = Tokens::default();
        model.encode_word(word, &mut tokens).expect("there is an unknown token");
        tokens
    }

    fn tokens(parts: &[(u32, u32)]) -> Tokens {
        Tokens {
            ids: parts.iter().map(|part| part.0).collect(),
            lens: parts.iter().map(|part| part.1).collect(),
            ..Tokens::default()
        }
    }

    #[test]
    fn a_word_may_begin_with_the_prefix() {
        let model = model(&["[UNK]", "##ing", "##", "a", "####x", "##c"], WordPieceOptions::default());
        assert_eq!(encode(&model, "##ingc"), tokens(&[(1, 5), (5, 1)]));
        assert_eq!(encode(&model, "##"), tokens(&[(2, 2)]));
        assert_eq!(encode(&model, "a##x"), tokens(&[(3, 1), (4, 3)]));
        assert_eq!(encode(&model, "###"), tokens(&[(0, 3)]));
    }

    #[test]
    fn length_is_counted_in_characters() {
        let options = WordPieceOptions { max_input_chars_per_word: 2, ..WordPieceOptions::default() };
        let model = model(&["[UNK]", "é", "##é"], options);
        assert_eq!(encode(&model, "éé"), tokens(&[(1, 2), (2, 2)]));
        assert_eq!(encode(&model, "ééé"), tokens(&[(0, 6)]));
    }

    #[test]
    fn what_was_there_before_an_unknown_word_stays() {
        let model = model(&["[UNK]", "a"], WordPieceOptions::default());
        let mut found = encode(&model, "a");
        model.encode_word("ab", &mut found).expect("there is an unknown token");
        assert_eq!(found, tokens(&[(1, 1), (0, 2)]));
    }

    #[test]
    fn a_missing_unknown_token_is_named_when_it_is_needed() {
        let model = model(&["a"], WordPieceOptions::default());
        assert_eq!(encode(&model, "a"), tokens(&[(0, 1)]));
        let error = model.encode_word("b", &mut Tokens::default()).expect_err("no unknown token");
        assert_eq!(error.to_string(), "token `[UNK]` of unk_token is not in the vocabulary of 1 tokens");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn linear_match_matches_naive(
            vocab in prop::collection::vec("(##|)[ab#é]{1,6}|(##|)a{1,9}", 1..30),
            prefix in prop::sample::select(vec!["##", "", "#", "a"]),
            words in prop::collection::vec("[ab#é]{1,12}|a{1,40}|[abc#]{1,20}", 1..20),
        ) {
            let options = WordPieceOptions { continuing_subword_prefix: prefix.to_owned(), ..WordPieceOptions::default() };
            let model = model(&vocab.iter().map(String::as_str).collect::<Vec<_>>(), options);
            let linear = LinearMatch::new(&model.vocab, prefix).expect("few tokens");
            for word in &words {
                let (mut fast, mut naive) = (Tokens::default(), Tokens::default());
                let (is_cut, expected) = (linear.cut(word.as_bytes(), &mut fast), model.search(word, &mut naive));
                prop_assert_eq!(is_cut, expected, "{}", word);
                if is_cut {
                    prop_assert_eq!(fast, naive, "{}", word);
                }
            }
        }
    }

    #[test]
    fn a_huge_word_is_not_quadratic() {
        let options =
            WordPieceOptions { max_input_chars_per_word: usize::MAX, ..WordPieceOptions::default() };
        let (long, inner) = ("a".repeat(5000), format!("##{}b", "a".repeat(5000)));
        let model = model(&["[UNK]", "##a", &long, &inner], options);
        let word = "a".repeat(1 << 20);
        let found = encode(&model, &word);
        assert_eq!((found.ids[0], found.ids.len()), (2, 1 + (1 << 20) - 5000));
        assert_eq!(encode(&model, &(word + "c")), tokens(&[(0, (1 << 20) + 1)]));
    }
}
