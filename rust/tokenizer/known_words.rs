//! Words that need not be met to be known: tokens of the vocabulary that are their own encoding.

use crate::byte_level::char_to_byte_of;
use crate::engine::key::SHORT;
use crate::engine::{CacheLimits, Unit, WordCache, WordEncoder};

/// Words at most: those of the lowest ids, which are as a rule the most frequent ones. More would cost more memory, which has
/// to be made and copied, than they save.
const MOST: usize = 1 << 14;

/// A cache that knows the first tokens of the vocabulary, if the model takes tokens whole.
///
/// With `is_changed`, a normalizer works on each pre-token by itself: only words of ASCII that BERT's leaves alone are known.
pub(super) fn known_words(encoder: &WordEncoder, is_changed: bool, limits: CacheLimits) -> Option<WordCache> {
    let (model, unit) = (encoder.model(), encoder.unit());
    if !model.takes_tokens_whole(SHORT) || matches!(unit, Unit::Spaced | Unit::Prefixed) {
        return None;
    }
    let vocab = model.vocab();
    let mut cache = WordCache::with_room(limits, 2 * vocab.len().min(MOST));
    let (mut word, mut known) = (Vec::with_capacity(SHORT), 0);
    for token in (0..vocab.id_bound().min(4 * MOST)).filter_map(|id| vocab.token(id as u32)) {
        let Some(id) = vocab.id(token).filter(|_| spell(token, unit, &mut word)) else { continue };
        // A token that continues words stands for less than its spelling.
        let is_own = encoder.token_lens().get(id as usize) == Some(&(word.len() as u32));
        let is_left_alone = word.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !is_own || !(1..=SHORT).contains(&word.len()) || (is_changed && !is_left_alone) {
            continue;
        }
        if known == MOST || !cache.add_known(&word, id) {
            break;
        }
        known += 1;
    }
    Some(cache)
}

/// Writes the pre-token that is spelled as `token`; false if there is none.
fn spell(token: &str, unit: Unit, word: &mut Vec<u8>) -> bool {
    word.clear();
    if unit == Unit::Text {
        word.extend_from_slice(token.as_bytes());
        return true;
    }
    token.chars().all(|c| {
        let byte = char_to_byte_of(c);
        word.extend(byte);
        byte.is_some()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::engine::WordTokens;
    use crate::engine::word_encoder::MissScratch;
    use crate::models::Model;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::models::wordlevel::{SpacedWords, WordLevel};
    use crate::models::wordpiece::{WordPiece, WordPieceOptions};
    use crate::vocab::Vocab;

    #[test]
    fn nothing_is_known_where_words_are_looked_for_within() {
        let words = WordLevel::new(Arc::new(Vocab::from_tokens(["<unk>", "a"])), "<unk>".to_owned());
        let spaced = SpacedWords { kinds: Arc::default(), byte_fallback: false };
        for (spaced, is_known) in [(None, true), (Some(spaced), false)] {
            let model = Model::WordLevel(words.clone().with_spaced_words(spaced));
            let encoder = WordEncoder::new(Arc::new(model), Unit::Text);
            assert_eq!(
                known_words(&encoder, false, CacheLimits { bytes: 1 << 20, id_bound: 2 }).is_some(),
                is_known
            );
        }
    }

    proptest! {
        #[test]
        fn known_words_matches_naive(
            tokens in prop::collection::vec("(##)?[abĠ]{1,4}|[a-bé日]{1,20}", 1..40),
            kind in 0..3,
            limit in prop_oneof![Just(0usize), Just(1 << 20)],
        ) {
            let mut all = vec!["[UNK]".to_owned()];
            all.extend(tokens);
            let vocab = Vocab::from_tokens(&all);
            let (model, unit) = match kind {
                0 => {
                    let options = BpeOptions { ignore_merges: true, ..BpeOptions::default() };
                    let bpe = Bpe::from_pairs(Arc::new(vocab), &[], options).expect("no dropout");
                    (Model::Bpe(bpe), Unit::Bytes)
                }
                1 => (Model::WordPiece(WordPiece::new(Arc::new(vocab), WordPieceOptions::default())), Unit::Text),
                _ => (Model::WordLevel(WordLevel::new(Arc::new(vocab), "[UNK]".to_owned())), Unit::Text),
            };
            let encoder = WordEncoder::new(Arc::new(model), unit);
            let limits = CacheLimits { bytes: limit, id_bound: all.len() };
            let cache = known_words(&encoder, false, limits).expect("the model takes tokens whole");
            let mut word = Vec::new();
            for token in all.iter().filter(|token| token.len() <= SHORT) {
                if !spell(token, unit, &mut word) {
                    continue;
                }
                let is_known = limit > 0 && !(kind == 1 && token.starts_with("##"));
                let mut asked = false;
                let ahead = cache.look_ahead(&word, 0, word.len(), 0, false);
                let miss = |_, _: &mut WordTokens| { asked = true; Ok(()) };
                let mut cache = cache.copy();
                let ids = cache.get_ahead(ahead, &word, miss).expect("nothing fails").ids.to_vec();
                prop_assert_eq!(!asked, is_known);
                if asked {
                    continue;
                }
                let mut naive = WordTokens { is_regular: true, ..WordTokens::default() };
                // Bytes that are no text may be known, but are never whole pre-tokens.
                let Ok(text) = std::str::from_utf8(&word) else { continue };
                prop_assert!(encoder.encode(text, 0..word.len(), false, &mut MissScratch::default(), &mut naive).is_ok());
                prop_assert_eq!(ids, naive.ids);
                prop_assert!(naive.is_regular);
            }
        }
    }
}
