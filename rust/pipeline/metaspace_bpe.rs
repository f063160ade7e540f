//! The family of SentencePiece-style BPE tokenizers, such as Mistral and Phi-3.
//!
//! Their normalizer puts U+2581 before the text and in place of each space, and nothing cuts the text (a rule that looks for
//! spaces finds none), so all of a text is one pre-token. If no token holds a U+2581 after another character, no merge crosses
//! the start of a run of spaces, and the text may be cut there ([`Model::is_cut_at`]). A chunk is a run of spaces with the word
//! after the run. If, in addition, no token holds a letter beside a symbol of ASCII, chunks also end between the two. In a key a
//! space stands for a U+2581.
//!
//! The first chunk of a segment gets the prefix, so that chunk takes the normalizer; so does a segment that holds a U+2581.

use super::plan::{ChunkPlan, Chunker, Rewrite, Scope};
use super::stages::Stages;
use crate::cache::KeyForm;
use crate::metaspace::VISIBLE_SPACE;
use crate::models::Model;
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::{Behavior, PreTokenizer};
use crate::scan::Splitter;
use crate::scan::classes::{Class, LETTER};
use crate::scan::spaces::is_ascii_symbol;
use crate::structures::finder::TextPattern;

/// The plan of chunks, if the stages and the vocabulary allow it.
pub(super) fn detect(stages: &Stages, model: &Model) -> Option<ChunkPlan> {
    if !stages.pre_tokenizer.as_ref().is_none_or(keeps_whole) {
        return None;
    }
    let has_prefix = match stages.normalizer.as_ref()? {
        replace @ Normalizer::Replace(_) => shows_spaces(replace).then_some(false),
        Normalizer::Sequence(stages) => match stages.as_slice() {
            [replace] => shows_spaces(replace).then_some(false),
            [Normalizer::Prepend(prefix), replace] => {
                (shows_spaces(replace) && prefix.chars().eq([VISIBLE_SPACE])).then_some(true)
            }
            _ => None,
        },
        _ => None,
    }?;
    let contents = stages.matchers.normalized_contents();
    if contents.look_around || contents.inner_visible_space {
        return None;
    }
    let splitter = splitter(model).map(|words| if contents.word_cuts { Splitter::Spaces } else { words })?;
    Some(ChunkPlan {
        chunker: Chunker::Splitter(splitter),
        key_form: KeyForm::Spaced,
        rewrite: Rewrite::None,
        scope: Scope::WithoutMetaspace { has_prefix },
    })
}

/// The scanner whose spans no merge crosses, if there is one.
pub(super) fn splitter(model: &Model) -> Option<Splitter> {
    let begins_spaces = |left: char, right: char| right == VISIBLE_SPACE && left != VISIBLE_SPACE;
    let spaces = || if cuts_words(model) { Splitter::SpacedWords } else { Splitter::Spaces };
    model.is_cut_at(begins_spaces).then(spaces)
}

/// True if no merge crosses the place between a letter and a symbol of ASCII.
pub(super) fn cuts_words(model: &Model) -> bool {
    let is_letter = |c: char| Class::of(c).is(LETTER);
    model.is_cut_at(|left, right| {
        is_letter(left) && is_ascii_symbol(right) || is_ascii_symbol(left) && is_letter(right)
    })
}

/// True if `pre_tokenizer` makes one pre-token of text without spaces.
fn keeps_whole(pre_tokenizer: &PreTokenizer) -> bool {
    match pre_tokenizer {
        PreTokenizer::Split(split) => {
            let drops_rest = split.invert() && split.behavior() == Behavior::Removed;
            matches!(split.pattern(), TextPattern::Literal(literal) if literal.contains(' ')) && !drops_rest
        }
        PreTokenizer::Sequence(stages) => stages.iter().all(keeps_whole),
        _ => false,
    }
}

/// The part of `normalizer` that works on text which continues an earlier one: all but the prefix.
pub(super) fn without_prefix(normalizer: &Normalizer) -> Option<&Normalizer> {
    match normalizer {
        Normalizer::Sequence(stages) => stages.last(),
        only => Some(only),
    }
}

/// True if a stage only puts U+2581 in place of spaces.
pub(super) fn shows_spaces(normalizer: &Normalizer) -> bool {
    let Normalizer::Replace(replacement) = normalizer else { return false };
    matches!(replacement.pattern(), TextPattern::Literal(space) if space == " ")
        && replacement.content().chars().eq([VISIBLE_SPACE])
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::testing::{ids, shard_ids, tokens};
    use super::super::{Pipeline, Plan};
    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::pre_tokenizers::Split;
    use crate::structures::finder::Replacement;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// Tokens of the characters `▁ab日`, and all bytes to fall back on. Few choices put a `▁` after another character.
    fn bpe(choices: &[(u8, u8)], has_unknown: bool) -> Bpe {
        let mut tokens: Vec<String> = ["<unk>", "▁", "a", "b", ",", "日"].map(str::to_owned).into();
        let mut pairs = Vec::new();
        for &(left, right) in choices {
            let (left, right) =
                (1 + left as usize % (tokens.len() - 1), 1 + right as usize % (tokens.len() - 1));
            // Most pairs that would keep text from being cut are passed over.
            let is_crossed =
                (right == 1 && left != 1 || (right == 4) != (left == 4)) && (left + right) % 8 != 0;
            let joined = format!("{}{}", tokens[left], tokens[right]);
            if !is_crossed && !tokens.contains(&joined) {
                pairs.push(((left as u32, right as u32), tokens.len() as u32));
                tokens.push(joined);
            }
        }
        if !has_unknown {
            tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
        }
        let options = BpeOptions {
            unk_token: Some("<unk>".to_owned()),
            fuse_unk: !has_unknown,
            byte_fallback: !has_unknown,
            ..BpeOptions::default()
        };
        Bpe::from_pairs(Arc::new(Vocab::from_tokens(&tokens)), &pairs, options).expect("no dropout")
    }

    fn pipeline(model: &Arc<Model>, has_prefix: bool, has_split: bool) -> Pipeline {
        let visible =
            Replacement::new(TextPattern::Literal(" ".to_owned()), "▁".to_owned()).expect("literal");
        let mut stages = vec![Normalizer::Replace(Arc::new(visible))];
        if has_prefix {
            stages.insert(0, Normalizer::Prepend("▁".to_owned()));
        }
        let mut added = AddedTokens::default();
        added.add(&[AddedToken::new("<s>", true)], model.vocab());
        let normalizer = Some(Normalizer::Sequence(stages));
        let split = has_split.then(|| {
            let space = TextPattern::Literal(" ".to_owned());
            let split = Split::new(space, Behavior::MergedWithPrevious, false).expect("literal");
            PreTokenizer::Split(Arc::new(split))
        });
        Pipeline::new(normalizer, split, Arc::clone(model), Arc::new(added), false, 1 << 20).expect("valid")
    }

    proptest! {
        #![proptest_config(cases(2000))]

        #[test]
        fn metaspace_bpe_matches_naive(
            choices in prop::collection::vec((any::<u8>(), any::<u8>()), 0..40),
            has_unknown in any::<bool>(),
            has_prefix in any::<bool>(),
            has_split in any::<bool>(),
            texts in prop::collection::vec("[ab,日 ]{0,40}|( {0,4}[ab]{1,6},?){0,20}|[ab é\n▁<s>]{0,30}|(<s>| |a|▁){0,20}", 1..6),
            target in 1..20usize,
        ) {
            let model = Arc::new(Model::Bpe(bpe(&choices, has_unknown)));
            let fast = pipeline(&model, has_prefix, has_split);
            let naive = pipeline(&model, has_prefix, has_split).with_plan(Plan::Staged);
            let is_boundary = |left: char, right: char| right == '▁' && left != '▁';
            prop_assert_eq!(fast.plan().key_form() == KeyForm::Spaced, model.is_cut_at(is_boundary));
            fast.encoder().cut_points(1 << 20);
            for text in &texts {
                prop_assert_eq!(tokens(&fast, text), tokens(&naive, text), "{:?}", text);
                let shards = fast.shard_ranges(text, target);
                let of_shard = |shard: &Range<usize>| shard_ids(&fast, &text[shard.clone()], shard.start == 0);
                let of_shards: Vec<u32> = shards.iter().flat_map(of_shard).collect();
                prop_assert_eq!(of_shards, ids(&naive, text), "{:?} in {:?}", text, shards);
            }
        }
    }
}
