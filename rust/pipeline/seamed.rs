//! The family of tokenizers whose pre-tokenizer has seams ([`PreTokenizer::seams`]): places between two characters at which a text may be cut
//! first. Its stages cut there; or, for ids alone, all stages keep the place, and the model encodes both sides by themselves.
//!
//! A chunk is the text between two seams: a word with the space before it, most often one pre-token. A missed chunk takes the
//! pre-tokenizer, and the model takes each pre-token. So the text is never searched for pre-tokens where the cache knows
//! its chunks, and a pipeline of five patterns is as fast as one.

use super::plan::{ChunkPlan, Chunker, Rewrite, Scope};
use super::stages::Stages;
use crate::cache::KeyForm;
use crate::models::Model;
use crate::pre_tokenizers::{ByteLevel, PreTokenizer};

/// The plan of chunks, if the stages and the model allow it.
pub(super) fn detect(stages: &Stages, model: &Model) -> Option<ChunkPlan> {
    let pre_tokenizer = stages.pre_tokenizer.as_ref()?;
    let key_form = key_form_of_cuts(pre_tokenizer);
    // Text of unknown tokens is spelled as the model sees it, which is not the text of the chunk.
    let is_spelled = key_form.is_none() && model.id_of_unknown_text().is_some();
    let ids_alone = is_spelled || !model.has_tokens_for_all(pre_tokenizer.maps_bytes());
    (model.is_deterministic() && stages.seams().is_some()).then(|| ChunkPlan {
        chunker: Chunker::Seams,
        key_form: key_form.unwrap_or(KeyForm::Text),
        rewrite: Rewrite::PreTokenizer { cuts_alone: key_form.is_some(), ids_alone },
        scope: Scope::Unchanged,
    })
}

/// How pre-tokens are keyed if the pre-tokenizer only cuts, but for a last stage that maps bytes.
pub(super) fn key_form_of_cuts(pre_tokenizer: &PreTokenizer) -> Option<KeyForm> {
    let maps_bytes_last = |stages: &[PreTokenizer]| match stages {
        [cuts @ .., PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, .. })] => {
            cuts.iter().all(PreTokenizer::only_cuts)
        }
        _ => false,
    };
    match pre_tokenizer {
        cuts if cuts.only_cuts() => Some(KeyForm::Text),
        PreTokenizer::Sequence(stages) if maps_bytes_last(stages) => Some(KeyForm::Bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::testing::{ids, tokens};
    use super::super::{Pipeline, Plan};
    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::metaspace::{Metaspace, PrependScheme};
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::models::unigram::{Unigram, UnigramOptions};
    use crate::normalizers::Normalizer;
    use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
    use crate::structures::finder::TextPattern;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// Bytes and some pairs of them; without `is_whole`, a few bytes have no token.
    fn model(choices: &[(u8, u8)], ignore_merges: bool, is_whole: bool) -> Model {
        model_with(choices, is_whole, BpeOptions { ignore_merges, ..BpeOptions::default() })
    }

    fn model_with(choices: &[(u8, u8)], is_whole: bool, options: BpeOptions) -> Model {
        let is_known = |&c: &char| is_whole || !['c', '.', 'Ĩ'].contains(&c);
        let mut tokens: Vec<String> =
            BYTE_TO_CHAR.iter().filter(|c| is_known(c)).map(char::to_string).collect();
        let letters: Vec<usize> = " ab,日'\n1"
            .bytes()
            .map(|byte| BYTE_TO_CHAR[usize::from(byte)].to_string())
            .filter_map(|c| tokens.iter().position(|token| *token == c))
            .collect();
        let mut pairs = Vec::new();
        for &(left, right) in choices {
            let choose = |choice: u8| {
                let choice = usize::from(choice) % (letters.len() + pairs.len());
                letters.get(choice).copied().unwrap_or_else(|| tokens.len() - 1 - (choice - letters.len()))
            };
            let (left, right) = (choose(left), choose(right));
            let joined = format!("{}{}", tokens[left], tokens[right]);
            if !tokens.contains(&joined) {
                pairs.push(((left as u32, right as u32), tokens.len() as u32));
                tokens.push(joined);
            }
        }
        // A word that no merge makes.
        tokens.push("Ġca".to_owned());
        tokens.push("<unk>".to_owned());
        Model::Bpe(Bpe::from_pairs(Arc::new(Vocab::from_tokens(&tokens)), &pairs, options).expect("valid"))
    }

    fn any_cut() -> impl Strategy<Value = PreTokenizer> {
        let split = |pattern: &str, behavior, invert| {
            let pattern = TextPattern::Regex(pattern.to_owned());
            PreTokenizer::Split(Arc::new(Split::new(pattern, behavior, invert).expect("valid")))
        };
        prop::sample::select(vec![
            split(
                r"'(?:[sdmt]|ll)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s+(?!\S)|\s",
                Behavior::Isolated,
                false,
            ),
            split(
                r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s",
                Behavior::Isolated,
                false,
            ),
            split(r"\p{L}+|\p{N}|[^\s\p{L}\p{N}]+", Behavior::Removed, true),
            split(r"\s?\p{L}+", Behavior::Isolated, false),
            split(r"\s?\p{P}+", Behavior::MergedWithPrevious, false),
            split("[日本]+", Behavior::Isolated, false),
            split("[0-9][0-9]", Behavior::Isolated, false),
            PreTokenizer::Digits { individual_digits: false },
            PreTokenizer::Punctuation { behavior: Behavior::Contiguous },
            PreTokenizer::WhitespaceSplit,
            PreTokenizer::ByteLevel(ByteLevel {
                add_prefix_space: false,
                trim_offsets: true,
                use_regex: true,
            }),
            PreTokenizer::ByteLevel(ByteLevel {
                add_prefix_space: true,
                trim_offsets: true,
                use_regex: false,
            }),
            PreTokenizer::Metaspace(Metaspace::default()),
            PreTokenizer::Metaspace(Metaspace {
                replacement: 'a',
                prepend_scheme: PrependScheme::Never,
                split: false,
            }),
        ])
    }

    #[test]
    fn unknown_text_after_a_mapping_has_chunks_for_ids_alone() {
        let scored = [("<unk>", 0.0), ("a", -1.0)];
        let unigram = Unigram::new(&scored, UnigramOptions { unk_id: Some(0), ..UnigramOptions::default() });
        let model = Arc::new(Model::Unigram(unigram.expect("valid")));
        let byte_level = ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex: true };
        let digits = PreTokenizer::Digits { individual_digits: true };
        let pre_tokenizer = PreTokenizer::Sequence(vec![PreTokenizer::ByteLevel(byte_level), digits]);
        let pipeline =
            Pipeline::new(None, Some(pre_tokenizer), model, Arc::default(), false, 1 << 20).expect("valid");
        assert!(pipeline.plan().chunked().is_some_and(ChunkPlan::is_for_ids_alone));
    }

    #[test]
    fn pre_tokens_without_a_token_count_as_words() {
        let metaspace =
            Metaspace { replacement: 'a', prepend_scheme: PrependScheme::Never, ..Metaspace::default() };
        let pipeline = || {
            let pre_tokenizer = Some(PreTokenizer::Metaspace(metaspace));
            let (normalizer, model) = (Normalizer::Prepend("▁".to_owned()), model(&[], false, true));
            Pipeline::new(Some(normalizer), pre_tokenizer, Arc::new(model), Arc::default(), false, 1 << 20)
                .expect("valid")
        };
        let (fast, naive) = (pipeline(), pipeline().with_plan(Plan::Staged));
        for text in ["a", "日aa b", "a日"] {
            assert_eq!(tokens(&fast, text), tokens(&naive, text), "{text:?}");
        }
    }

    #[test]
    fn a_token_that_ends_within_a_mapped_space_covers_it() {
        let mut tokens: Vec<String> = (0..=255).map(|byte: u8| format!("<0x{byte:02X}>")).collect();
        tokens.push("a".to_owned());
        let options = BpeOptions { byte_fallback: true, ..BpeOptions::default() };
        let bpe = Bpe::from_pairs(Arc::new(Vocab::from_tokens(&tokens)), &[], options).expect("valid");
        let byte_level = ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex: true };
        let digits = PreTokenizer::Digits { individual_digits: true };
        let pipeline = || {
            let stages = vec![PreTokenizer::ByteLevel(byte_level), digits.clone()];
            let (pre_tokenizer, model) = (PreTokenizer::Sequence(stages), Model::Bpe(bpe.clone()));
            Pipeline::new(None, Some(pre_tokenizer), Arc::new(model), Arc::default(), false, 1 << 20)
                .expect("valid")
        };
        let (fast, naive) = (pipeline(), pipeline().with_plan(Plan::Staged));
        assert_eq!(super::super::testing::tokens(&fast, " a"), super::super::testing::tokens(&naive, " a"));
    }

    proptest! {
        #![proptest_config(cases(1500))]

        #[test]
        fn seamed_matches_naive(
            choices in prop::collection::vec((any::<u8>(), any::<u8>()), 0..40),
            (ignore_merges, is_whole, lowercase, has_added, has_unknown) in any::<(bool, bool, bool, bool, bool)>(),
            stages in prop::collection::vec(any_cut(), 1..4),
            texts in prop::collection::vec(
                "( ?[abc]{1,6}[.,]?){0,12}|[abcAé日本,.' \n\t1]{0,40}|( ?[日本]{1,20}|a{14,40}|['’][sa]|\n|  |12345|\u{301}|[.\u{1}]{2}|<s>){0,9}", 1..6),
        ) {
            let unk_token = has_unknown.then(|| "<unk>".to_owned());
            let options = BpeOptions { unk_token, ignore_merges, ..BpeOptions::default() };
            let (model, mut added) = (Arc::new(model_with(&choices, is_whole, options)), AddedTokens::default());
            if has_added {
                let normalized = AddedToken { normalized: true, ..AddedToken::new("ab", false) };
                added.add(&[AddedToken::new("<s>", true), normalized], model.vocab());
            }
            let byte_level = ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex: false };
            let maps = |stage: &PreTokenizer| matches!(stage, PreTokenizer::ByteLevel(_));
            let mut stages = stages;
            // Bytes are mapped once.
            let first = stages.iter().position(maps);
            stages = stages.into_iter().enumerate().filter(|(at, stage)| !maps(stage) || Some(*at) == first).map(|(_, stage)| stage).collect();
            if first.is_none() {
                stages.push(PreTokenizer::ByteLevel(byte_level));
            }
            let added = Arc::new(added);
            let pipeline = || {
                let (model, added) = (Arc::clone(&model), Arc::clone(&added));
                let normalizer = lowercase.then_some(Normalizer::Lowercase);
                let pre_tokenizer = Some(PreTokenizer::Sequence(stages.clone()));
                Pipeline::new(normalizer, pre_tokenizer, model, added, false, 1 << 20).expect("valid")
            };
            let (fast, naive) = (pipeline().with_all_tables(), pipeline().with_plan(Plan::Staged));
            for text in &texts {
                // Twice, so that chunks are misses and then hits.
                for _ in 0..2 {
                    prop_assert_eq!(ids(&fast, text), ids(&naive, text), "{:?}", text);
                    prop_assert_eq!(tokens(&fast, text), tokens(&naive, text), "{:?}", text);
                }
            }
        }
    }
}
