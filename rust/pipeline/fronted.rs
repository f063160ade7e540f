//! The families of tokenizers whose pre-tokenizer puts something before a segment: Metaspace, and `ByteLevel` with
//! `add_prefix_space`.
//!
//! Segments are chunked once they are normalized. Metaspace that cuts begins a pre-token at each space, so a chunk is a pre-token,
//! or, where ids alone are wanted, a part of a pre-token whose bounds no merge crosses. If Metaspace does not cut, all of a segment
//! is one pre-token, and it is cut into chunks as in [`metaspace_bpe`]. In a key a space stands for the U+2581 that the model sees; a
//! segment that holds a U+2581 itself takes the stages.

use super::metaspace_bpe;
use super::plan::{ChunkPlan, Chunker, Rewrite, Scope};
use super::stages::Stages;
use crate::cache::KeyForm;
use crate::metaspace::{Metaspace, VISIBLE_SPACE};
use crate::models::Model;
use crate::pre_tokenizers::{ByteLevel, PreTokenizer};
use crate::scan::Splitter;

/// The plan of chunks, if the stages and the model allow it.
pub(super) fn detect(stages: &Stages, model: &Model) -> Option<ChunkPlan> {
    let mut pre_tokenizer = stages.pre_tokenizer.as_ref()?;
    while let PreTokenizer::Sequence(stages) = pre_tokenizer
        && let [only] = stages.as_slice()
    {
        pre_tokenizer = only;
    }
    let (splitter, key_form, pre_tokens) = match *pre_tokenizer {
        PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: true, use_regex: true, .. }) => {
            (Splitter::Gpt2, KeyForm::Bytes, Some(Splitter::Gpt2))
        }
        PreTokenizer::Metaspace(Metaspace { replacement: VISIBLE_SPACE, split, .. }) => {
            let pre_tokens = split.then_some(Splitter::SingleSpaces);
            let splitter = match pre_tokens {
                Some(_) if metaspace_bpe::cuts_words(model) => Splitter::SingleSpacedWords,
                Some(whole) => whole,
                None => metaspace_bpe::splitter(model)?,
            };
            (splitter, KeyForm::Spaced, pre_tokens)
        }
        _ => return None,
    };
    model.is_deterministic().then_some(ChunkPlan {
        chunker: Chunker::Splitter(splitter),
        key_form,
        rewrite: Rewrite::None,
        scope: Scope::Fronted { pre_tokens },
    })
}

/// True if the normalizer only makes spaces visible, which Metaspace does again: text need not be normalized. No added token in
/// normalized text may hold white space or a U+2581, or look around.
pub(super) fn repeats_normalizer(plan: ChunkPlan, stages: &Stages) -> bool {
    let is_metaspace = plan.key_form == KeyForm::Spaced && matches!(plan.scope, Scope::Fronted { .. });
    let Some(normalizer) = stages.normalizer.as_ref().filter(|_| is_metaspace) else { return false };
    let shows_spaces = matches!(normalizer.stages()[..], [only] if metaspace_bpe::shows_spaces(only));
    let contents = stages.matchers.normalized_contents();
    let tells_spaces = contents.look_around || contents.white_space || contents.visible_space;
    shows_spaces && !tells_spaces
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::testing::{ids, shard_ids, tokens};
    use super::super::{Pipeline, Plan};
    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::metaspace::PrependScheme;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::models::unigram::{Unigram, UnigramOptions};
    use crate::models::wordlevel::WordLevel;
    use crate::models::wordpiece::{WordPiece, WordPieceOptions};
    use crate::normalizers::{Form, Normalizer};
    use crate::structures::finder::{RUN_OF_SPACES, Replacement, TextPattern};
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// Characters and bytes, joined as `choices` say; with `crosses`, a visible space may follow another character.
    fn bpe(choices: &[(u8, u8)], crosses: bool, is_mapped: bool) -> Model {
        let mut tokens: Vec<String> = if is_mapped {
            BYTE_TO_CHAR.iter().map(char::to_string).collect()
        } else {
            ["▁", "a", "b", ",", "日", "'", "s"].map(str::to_owned).into()
        };
        let letters: Vec<usize> = if is_mapped {
            " ab,日'\n1s".bytes().map(usize::from).collect()
        } else {
            (0..tokens.len()).collect()
        };
        let (first, mut pairs) = (tokens.len(), Vec::new());
        for &(left, right) in choices {
            let made = tokens.len() - first;
            let choose = |choice: u8| {
                let choice = usize::from(choice) % (letters.len() + made);
                letters.get(choice).copied().unwrap_or_else(|| first + choice - letters.len())
            };
            let (left, right) = (choose(left), choose(right));
            let joined = format!("{}{}", tokens[left], tokens[right]);
            let is_crossed = joined.trim_start_matches('▁').contains('▁');
            if (crosses || !is_crossed) && !tokens.contains(&joined) {
                pairs.push(((left as u32, right as u32), tokens.len() as u32));
                tokens.push(joined);
            }
        }
        tokens.push("<unk>".to_owned());
        if !is_mapped {
            tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
        }
        let options = BpeOptions {
            unk_token: Some("<unk>".to_owned()),
            byte_fallback: !is_mapped,
            ..BpeOptions::default()
        };
        Model::Bpe(Bpe::from_pairs(Arc::new(Vocab::from_tokens(&tokens)), &pairs, options).expect("valid"))
    }

    fn model(kind: usize, choices: &[(u8, u8)], is_mapped: bool) -> Model {
        let words = ["<unk>", "▁a", "▁ab", "a", "▁", "b", "▁b", "##b", "Ġa", "Ġ", "日", "▁日"];
        let vocab = || Arc::new(Vocab::from_tokens(words));
        match kind {
            0 => {
                let scored: Vec<(&str, f64)> =
                    words.iter().zip(1..).map(|(&word, at)| (word, -f64::from(at))).collect();
                let options = UnigramOptions { unk_id: Some(0), ..UnigramOptions::default() };
                Model::Unigram(Unigram::new(&scored, options).expect("valid"))
            }
            1 => Model::WordLevel(WordLevel::new(vocab(), "<unk>".to_owned())),
            2 => {
                let options =
                    WordPieceOptions { unk_token: "<unk>".to_owned(), ..WordPieceOptions::default() };
                Model::WordPiece(WordPiece::new(vocab(), options))
            }
            kind => bpe(choices, kind == 3, is_mapped),
        }
    }

    fn normalizer(choice: usize) -> Option<Normalizer> {
        let replace = |pattern, content: &str| {
            let replacement = Replacement::new(pattern, content.to_owned());
            Normalizer::Replace(Arc::new(replacement.expect("valid")))
        };
        let [nfd, accents] = [Normalizer::Unicode(Form::Nfd), Normalizer::StripAccents];
        match choice {
            0..2 => None,
            2 => Some(Normalizer::Lowercase),
            3 => Some(Normalizer::Sequence(vec![nfd, Normalizer::Lowercase, accents])),
            4 => Some(Normalizer::Sequence(vec![
                Normalizer::Strip { left: true, right: true },
                replace(TextPattern::Regex(RUN_OF_SPACES.to_owned()), " "),
            ])),
            5 => Some(Normalizer::Prepend(" ".to_owned())),
            6 => Some(nfd),
            7 => Some(replace(TextPattern::Literal("b".to_owned()), "▁")),
            _ => Some(Normalizer::Sequence(vec![replace(TextPattern::Literal(" ".to_owned()), "▁")])),
        }
    }

    fn pre_tokenizer() -> impl Strategy<Value = PreTokenizer> {
        let schemes = PrependScheme::NAMES.map(|(scheme, _)| scheme);
        let metaspace =
            (prop::sample::select(schemes.to_vec()), any::<bool>()).prop_map(|(prepend_scheme, split)| {
                PreTokenizer::Metaspace(Metaspace { replacement: VISIBLE_SPACE, prepend_scheme, split })
            });
        let byte_level = PreTokenizer::ByteLevel(ByteLevel::default());
        prop_oneof![3 => metaspace, 1 => Just(byte_level)]
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn fronted_matches_naive(
            kind in 0..8usize,
            choices in prop::collection::vec((any::<u8>(), any::<u8>()), 0..40),
            choice in 0..9usize,
            pre_tokenizer in pre_tokenizer(),
            added_tokens in prop::collection::vec(("<s>|[ab▁]{1,2}|é| a", any::<bool>()), 0..3),
            texts in prop::collection::vec(
                "[ab,日 ]{0,40}|( {0,3}[abAé]{1,6},?){0,20}|[ab é\n▁<s>]{0,30}|('s|\n|\t| |1|a|É|\u{301}|🙂){0,20}|[a,\n']{60,90}( b)?| ?a{140}", 1..6),
        ) {
            let model = Arc::new(model(kind, &choices, matches!(pre_tokenizer, PreTokenizer::ByteLevel(_))));
            let mut added = AddedTokens::default();
            let added_tokens: Vec<AddedToken> = added_tokens.into_iter()
                .map(|(content, normalized)| AddedToken { normalized, ..AddedToken::new(content, false) }).collect();
            added.add(&added_tokens, model.vocab());
            let added = Arc::new(added);
            let pipeline = || {
                let (model, added) = (Arc::clone(&model), Arc::clone(&added));
                Pipeline::new(normalizer(choice), Some(pre_tokenizer.clone()), model, added, false, 1 << 20).expect("valid")
            };
            let (fast, naive) = (pipeline().with_all_tables(), pipeline().with_plan(Plan::Staged));
            let cuts = !matches!(pre_tokenizer, PreTokenizer::Metaspace(Metaspace { split: false, .. }));
            let is_spelled = matches!(pre_tokenizer, PreTokenizer::ByteLevel(_)) && kind == 0;
            prop_assert!(fast.plan() != Plan::Staged || !cuts || is_spelled);
            prop_assert!(fast.plan() != Plan::Staged || kind < 4 || matches!(pre_tokenizer, PreTokenizer::ByteLevel(_)));
            for text in &texts {
                // Twice, so that chunks are misses and then hits.
                for _ in 0..2 {
                    prop_assert_eq!(ids(&fast, text), ids(&naive, text), "{:?}", text);
                }
                prop_assert_eq!(tokens(&fast, text), tokens(&naive, text), "{:?}", text);
                let shards = fast.shard_ranges(text, 10);
                let of_shards: Vec<u32> = shards.iter().flat_map(|shard| shard_ids(&fast, &text[shard.clone()], shard.start == 0)).collect();
                prop_assert_eq!(of_shards, ids(&naive, text), "{:?}", text);
            }
        }
    }
}
