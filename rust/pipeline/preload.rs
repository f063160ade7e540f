//! Caches that begin with the vocabulary, where the model encodes a token of the vocabulary as itself.

use super::model_encoder::ModelEncoder;
use crate::byte_level::char_to_byte_of;
use crate::cache::key::SHORT;
use crate::cache::{CacheLimits, ChunkCache, KeyForm};

/// Tokens at most: the tokens of the lowest ids, which are as a rule the most frequent. More would not pay, since each new
/// worker copies the memory.
const MOST: usize = 1 << 14;

/// A cache with the first tokens of the vocabulary, if the model takes tokens whole.
///
/// `may_be_known` is true for a chunk that the model certainly sees as it stands; other chunks are left out.
pub(super) fn preload_vocab(
    encoder: &ModelEncoder,
    mut may_be_known: impl FnMut(&[u8]) -> bool,
    limits: CacheLimits,
) -> Option<ChunkCache> {
    let (model, key_form) = (encoder.model(), encoder.key_form());
    if !model.takes_tokens_whole(SHORT) || matches!(key_form, KeyForm::Spaced | KeyForm::Prefixed) {
        return None;
    }
    let vocab = model.vocab();
    let mut cache = ChunkCache::with_room(limits, 2 * vocab.len().min(MOST));
    let (mut chunk, mut stored) = (Vec::with_capacity(SHORT), 0);
    for token in (0..vocab.id_bound().min(4 * MOST)).filter_map(|id| vocab.token(id as u32)) {
        let Some(id) = vocab.id(token).filter(|_| spell(token, key_form, &mut chunk)) else { continue };
        // A token that continues words stands for less than its spelling.
        let is_own = encoder.token_lens().get(id as usize) == Some(&(chunk.len() as u32));
        if !is_own || !(1..=SHORT).contains(&chunk.len()) || !may_be_known(&chunk) {
            continue;
        }
        if stored == MOST || !cache.preload(&chunk, id) {
            break;
        }
        stored += 1;
    }
    Some(cache)
}

/// Writes the chunk that is spelled as `token`; false if there is none.
fn spell(token: &str, key_form: KeyForm, chunk: &mut Vec<u8>) -> bool {
    chunk.clear();
    if key_form == KeyForm::Text {
        chunk.extend_from_slice(token.as_bytes());
        return true;
    }
    token.chars().all(|c| {
        let byte = char_to_byte_of(c);
        chunk.extend(byte);
        byte.is_some()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::cache::{ChunkKind, ChunkTokens};
    use crate::models::Model;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::models::wordlevel::{SpacedWords, WordLevel};
    use crate::models::wordpiece::{WordPiece, WordPieceOptions};
    use crate::pipeline::scratch::MissScratch;
    use crate::vocab::Vocab;

    #[test]
    fn nothing_is_known_where_words_are_looked_for_within() {
        let words = WordLevel::new(Arc::new(Vocab::from_tokens(["<unk>", "a"])), "<unk>".to_owned());
        let spaced = SpacedWords { kinds: Arc::default(), byte_fallback: false };
        for (spaced, is_known) in [(None, true), (Some(spaced), false)] {
            let model = Model::WordLevel(words.clone().with_spaced_words(spaced));
            let encoder = ModelEncoder::new(Arc::new(model), KeyForm::Text);
            assert_eq!(
                preload_vocab(&encoder, |_| true, CacheLimits { bytes: 1 << 20, id_bound: 2 }).is_some(),
                is_known
            );
        }
    }

    proptest! {
        #[test]
        fn preload_vocab_matches_naive(
            tokens in prop::collection::vec("(##)?[abĠ]{1,4}|[a-bé日]{1,20}", 1..40),
            kind in 0..3,
            limit in prop_oneof![Just(0usize), Just(1 << 20)],
        ) {
            let mut all = vec!["[UNK]".to_owned()];
            all.extend(tokens);
            let vocab = Vocab::from_tokens(&all);
            let (model, key_form) = match kind {
                0 => {
                    let options = BpeOptions { ignore_merges: true, ..BpeOptions::default() };
                    let bpe = Bpe::from_pairs(Arc::new(vocab), &[], options).expect("no dropout");
                    (Model::Bpe(bpe), KeyForm::Bytes)
                }
                1 => (Model::WordPiece(WordPiece::new(Arc::new(vocab), WordPieceOptions::default())), KeyForm::Text),
                _ => (Model::WordLevel(WordLevel::new(Arc::new(vocab), "[UNK]".to_owned())), KeyForm::Text),
            };
            let encoder = ModelEncoder::new(Arc::new(model), key_form);
            let limits = CacheLimits { bytes: limit, id_bound: all.len() };
            let cache = preload_vocab(&encoder, |_| true, limits).expect("the model takes tokens whole");
            let mut word = Vec::new();
            for token in all.iter().filter(|token| token.len() <= SHORT) {
                if !spell(token, key_form, &mut word) {
                    continue;
                }
                let is_known = limit > 0 && !(kind == 1 && token.starts_with("##"));
                let mut asked = false;
                let lookup = cache.prefetch(&word, 0, word.len(), 0, ChunkKind::Chunk);
                let miss = |_, _: &mut ChunkTokens| { asked = true; Ok(()) };
                let mut cache = cache.copy();
                let ids = cache.resolve(lookup, &word, miss).expect("nothing fails").ids.to_vec();
                prop_assert_eq!(!asked, is_known);
                if asked {
                    continue;
                }
                let mut naive = ChunkTokens { is_regular: true, ..ChunkTokens::default() };
                // Bytes that are no text may be known, but are never whole pre-tokens.
                let Ok(text) = std::str::from_utf8(&word) else { continue };
                prop_assert!(encoder.encode(text, 0..word.len(), false, &mut MissScratch::default(), &mut naive).is_ok());
                prop_assert_eq!(ids, naive.ids);
                prop_assert!(naive.is_regular);
            }
        }
    }
}
