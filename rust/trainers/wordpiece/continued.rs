//! Continued training: the model cuts the words, and neighbours become further tokens.
//!
//! Each character that continues a token of the model gets a token of its own if it has none. Otherwise a new token could take the beginning
//! of that token and leave a rest that is no token, so that a word became unknown.
//!
//! A new token without prefix is the longest token of its text. A new token with prefix is in the word that begins with a token which no
//! character of the new one's text prolongs to a token; there is one, because the vocabulary is finite.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::WordPieceTrainer;
use crate::models::Tokens;
use crate::models::wordpiece::{WordPiece, WordPieceOptions};
use crate::structures::parallel::{METER_EVERY, OnProgress, run_parts};
use crate::trainers::bpe::{BpeTrainer, char_of, id_of};
use crate::trainers::continued::PresentTokens;
use crate::trainers::word_counts::{WordCounts, WordSource, read_all};
use crate::vocab::Vocab;
use crate::{Error, Result};

const STAGE: &str = "symbolise words";

impl WordPieceTrainer {
    /// Learns further tokens from `words`, until there are `vocab_size`; words that the model cannot cut are left out.
    ///
    /// The prefix is the model's. Without room for another token, or if nothing is learnt, the result is the model itself.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the present tokens, special tokens and new characters exceed `vocab_size` or if there is an
    /// `end_of_word_suffix`, [`Error::Unsupported`] for a model whose tokens share ids or of more than 1,112,064 tokens, and the errors of
    /// [`BpeTrainer::train`].
    pub fn continue_training(
        &self,
        words: &WordCounts,
        model: &WordPiece,
        present: &PresentTokens,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<WordPiece> {
        if let Some(suffix) = self.end_of_word_suffix.as_deref().filter(|suffix| !suffix.is_empty()) {
            let expected =
                "empty where training is continued, since a WordPiece model has no suffix".to_owned();
            return Err(Error::InvalidOption {
                name: "end_of_word_suffix",
                value: suffix.to_owned(),
                expected,
            });
        }
        if self.vocab_size == present.len() {
            return Ok(model.clone());
        }
        let tokens = self.initial_tokens_of(words, model, present)?;
        present.check_room(self.vocab_size, tokens.len() - present.len())?;
        let cut = cut_words(words, &tokens, model.options(), self.threads, on_progress)?;
        let (precision, trainer) = self.rule();
        let prefix = Some(model.options().continuing_subword_prefix.clone());
        let trainer = BpeTrainer { continuing_subword_prefix: prefix, ..trainer };
        let learnt = trainer.merge_tokens(&tokens, &cut, precision, on_progress)?;
        let new: Vec<&str> = tokens[present.len()..].iter().chain(&learnt).map(String::as_str).collect();
        if new.is_empty() {
            return Ok(model.clone());
        }
        Ok(WordPiece::new(Arc::new(present.with_new(&new)?), model.options().clone()))
    }

    /// The tokens of `model` that the words have before any pair is merged.
    pub(in crate::trainers) fn tokens_of_words(
        &self,
        words: &dyn WordSource,
        model: &WordPiece,
        present: &PresentTokens,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<HashSet<u32>> {
        let tokens = self.initial_tokens_of(words, model, present)?;
        let cut = cut_words(words, &tokens, model.options(), self.threads, on_progress)?;
        let places: HashSet<usize> =
            cut.iter().flat_map(|(word, _)| word.chars()).map(|place| id_of(place) as usize).collect();
        Ok(present
            .by_id()
            .iter()
            .enumerate()
            .filter(|(place, _)| places.contains(place))
            .map(|(_, &(_, id))| id)
            .collect())
    }

    /// The present tokens by id, then new special tokens and new characters.
    fn initial_tokens_of(
        &self,
        words: &dyn WordSource,
        model: &WordPiece,
        present: &PresentTokens,
    ) -> Result<Vec<String>> {
        if model.vocab().shares_ids() {
            let message = "training of this model cannot be continued: two tokens share an id".to_owned();
            return Err(Error::Unsupported(message));
        }
        let mut tokens: Vec<String> = present.by_id().iter().map(|(token, _)| token.clone()).collect();
        tokens.extend(present.without_known(&self.special_tokens).into_iter().map(str::to_owned));
        let known: HashSet<&str> = tokens.iter().map(String::as_str).collect();
        let symbols = self.symbols(words, model, present)?;
        let new: Vec<String> =
            symbols.into_iter().filter(|symbol| !known.contains(symbol.as_str())).collect();
        tokens.extend(new);
        if char_of(tokens.len() as u32).is_none() {
            let message =
                format!("training can be continued from at most 1112064 tokens, here are {}", tokens.len());
            return Err(Error::Unsupported(message));
        }
        Ok(tokens)
    }

    /// Symbols of the words and of the initial alphabet, and the characters that continue tokens of the model, sorted.
    fn symbols(
        &self,
        words: &dyn WordSource,
        model: &WordPiece,
        present: &PresentTokens,
    ) -> Result<BTreeSet<String>> {
        let WordPieceOptions { continuing_subword_prefix: prefix, max_input_chars_per_word, unk_token } =
            model.options();
        let is_short = |word: &str| word.chars().nth(*max_input_chars_per_word).is_none();
        let mut counts: BTreeMap<char, u64> = BTreeMap::new();
        let mut places: BTreeSet<(bool, char)> = BTreeSet::new();
        read_all(words, |word, count| {
            if count > 0 && is_short(word) {
                for (place, character) in word.chars().enumerate() {
                    let sum = counts.entry(character).or_default();
                    *sum = sum.saturating_add(count);
                    places.insert((place > 0, character));
                }
            }
        })?;
        let bare = |token: &str| token.strip_prefix(prefix.as_str()).unwrap_or(token).to_owned();
        let known = present.by_id().iter().filter_map(|(token, _)| {
            let bare = bare(token);
            let mut characters = bare.chars();
            characters.next().filter(|_| characters.next().is_none())
        });
        counts.extend(known.chain(self.initial_alphabet.iter().copied()).map(|known| (known, u64::MAX)));
        let mut kept: Vec<(char, u64)> = counts.into_iter().collect();
        kept.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        kept.truncate(self.limit_alphabet.unwrap_or(usize::MAX));
        let kept: BTreeSet<char> = kept.into_iter().map(|(character, _)| character).collect();
        places.extend(self.initial_alphabet.iter().map(|&character| (false, character)));
        places.retain(|(_, character)| kept.contains(character));
        for (token, _) in present.by_id() {
            if present.is_added(token) || token == unk_token {
                continue;
            }
            let is_continuing = !prefix.is_empty() && token.starts_with(prefix.as_str());
            let first = usize::from(!is_continuing);
            places.extend(bare(token).chars().skip(first).map(|character| (true, character)));
        }
        let spelled = |(continues, character): (bool, char)| {
            let prefix = if continues { prefix.as_str() } else { "" };
            format!("{prefix}{character}")
        };
        Ok(places.into_iter().map(spelled).collect())
    }
}

/// The words as token words, see [`char_of`].
fn cut_words(
    words: &dyn WordSource,
    tokens: &[String],
    options: &WordPieceOptions,
    threads: usize,
    on_progress: &mut OnProgress<'_>,
) -> Result<WordCounts> {
    // No token is the empty string, so an unknown word is an error.
    let options = WordPieceOptions { unk_token: String::new(), ..options.clone() };
    let model = WordPiece::new(Arc::new(Vocab::from_tokens(tokens)), options);
    let parts =
        run_parts(STAGE, words.byte_len() as u64, words.parts(threads), on_progress, |part, meter| {
            let (mut cut, mut found, mut bytes) = (WordCounts::new(), Tokens::default(), 0);
            words.read(part, &mut |word, count| {
                found.clear();
                if count > 0 && model.encode_word(word, &mut found).is_ok() {
                    cut.push_with(count, |text| text.extend(found.ids.iter().copied().filter_map(char_of)));
                }
                bytes += word.len();
                Ok(bytes < METER_EVERY || meter.add(std::mem::take(&mut bytes)))
            })?;
            Ok(cut)
        })?;
    parts.into_iter().try_fold(WordCounts::new(), |all, part: Result<WordCounts>| Ok(all.followed_by(part?)))
}
