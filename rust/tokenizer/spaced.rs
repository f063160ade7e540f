//! SentencePiece-style tokenizers on the original text.
//!
//! Their normalizer puts U+2581 before the text and in place of each space, and nothing cuts the text. Where the vocabulary
//! allows a cut before every run of U+2581 ([`Model::is_cut_at`]), the words of the original text are units, each a run of
//! spaces with what follows it, and a space is as good as a U+2581. Most vocabularies also hold no token with a letter
//! beside punctuation, which then are units of their own. Only the first word, which gets the prefix, is
//! normalized, and pieces of text that hold a U+2581 already.

use super::pipeline::Pipeline;
use super::stream::Stream;
use super::words::{CleanUp, Words};
use crate::Result;
use crate::added_tokens::Segment;
use crate::engine::{Sink, Worker};
use crate::metaspace::VISIBLE_SPACE;
use crate::models::Model;
use crate::normalized::Normalized;
use crate::normalizers::Normalizer;
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::classes::{Class, LETTER};
use crate::scan::spaces::{Spaces, is_ascii_symbol};
use crate::scan::{Scan, Splitter};
use crate::structures::finder::TextPattern;

/// How spaces are made visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spaced {
    /// Text gets a U+2581 before it.
    pub has_prefix: bool,
    /// Finds the units.
    pub splitter: Splitter,
}

impl Spaced {
    /// The part of `normalizer` that goes on where text has begun before.
    pub(super) fn without_prefix(self, normalizer: &Normalizer) -> Option<&Normalizer> {
        match normalizer {
            Normalizer::Sequence(stages) if self.has_prefix => stages.last(),
            _ => Some(normalizer),
        }
    }
}

/// What the stages amount to, if it is this.
pub(super) fn spaced(
    normalizer: Option<&Normalizer>,
    pre_tokenizer: Option<&PreTokenizer>,
    model: &Model,
) -> Option<Spaced> {
    let has_prefix = match (normalizer?, pre_tokenizer) {
        (replace @ Normalizer::Replace(_), None) => is_visible(replace).then_some(false),
        (Normalizer::Sequence(stages), None) => match stages.as_slice() {
            [replace] => is_visible(replace).then_some(false),
            [Normalizer::Prepend(prefix), replace] => {
                (is_visible(replace) && prefix.chars().eq([VISIBLE_SPACE])).then_some(true)
            }
            _ => None,
        },
        _ => None,
    }?;
    let is_space = |left: char, right: char| right == VISIBLE_SPACE && left != VISIBLE_SPACE;
    let is_letter = |c: char| Class::of(c).is(LETTER);
    let is_word_end = |left: char, right: char| {
        is_letter(left) && is_ascii_symbol(right) || is_ascii_symbol(left) && is_letter(right)
    };
    let splitter = match model.is_cut_at(is_space) {
        true if model.is_cut_at(is_word_end) => Splitter::SpacedWords,
        true => Splitter::Spaces,
        false => return None,
    };
    Some(Spaced { has_prefix, splitter })
}

fn is_visible(normalizer: &Normalizer) -> bool {
    let Normalizer::Replace(replacement) = normalizer else { return false };
    matches!(replacement.pattern(), TextPattern::Literal(space) if space == " ")
        && replacement.content().chars().eq([VISIBLE_SPACE])
}

impl Pipeline {
    /// Encodes a piece of text by words, unless it holds a U+2581; answers whether it did.
    ///
    /// The prefix goes before it only if `has_prefix`.
    pub(super) fn encode_spaced<S: Sink>(
        &self,
        text: &str,
        segment: Segment,
        Spaced { has_prefix, splitter }: Spaced,
        word: &mut u32,
        worker: &mut Worker,
        sink: &mut S,
    ) -> Result<bool> {
        let Segment { mut start, end, .. } = segment;
        let piece = &text[start..end];
        if memchr::memmem::find(piece.as_bytes(), VISIBLE_SPACE.encode_utf8(&mut [0; 4]).as_bytes()).is_some()
        {
            return Ok(false);
        }
        if let (true, Some(normalizer)) = (has_prefix, self.normalizer()) {
            let first = &piece[..Spaces::advance(piece, 0)];
            let normalized = normalizer.normalize(Normalized::new(first, start, S::TRACKED))?;
            self.encode_pre_token(&normalized, 0..normalized.text().len(), *word, worker, sink)?;
            start += first.len();
        }
        let words = Words { encoder: self.encoder(), clean_up: CleanUp::None };
        let mut stream = Stream::new(words, text, worker, sink, *word, 0);
        splitter.for_each_block(&text[start..end], |starts, ends| stream.take(start, starts, ends));
        stream.finish()?;
        *word += 1;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::pipeline::Plan;
    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::encoding::ColumnsBuilder;
    use crate::engine::{ColumnSink, IdSink};
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::structures::finder::Replacement;
    use crate::testing::cases;
    use crate::tokenizer::DEFAULT_CACHE_LIMIT;
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

    fn pipeline(model: &Arc<Model>, has_prefix: bool, pre_tokenizer: Option<PreTokenizer>) -> Pipeline {
        let visible =
            Replacement::new(TextPattern::Literal(" ".to_owned()), "▁".to_owned()).expect("literal");
        let mut stages = vec![Normalizer::Replace(Arc::new(visible))];
        if has_prefix {
            stages.insert(0, Normalizer::Prepend("▁".to_owned()));
        }
        let mut added = AddedTokens::default();
        added.add(&[AddedToken::new("<s>", true)], model.vocab());
        let normalizer = Some(Normalizer::Sequence(stages));
        let (model, added) = (Arc::clone(model), Arc::new(added));
        Pipeline::new(normalizer, pre_tokenizer, model, added, false, DEFAULT_CACHE_LIMIT).expect("valid")
    }

    /// Ids, offsets in characters and numbers of words.
    fn columns(pipeline: &Pipeline, text: &str) -> [Vec<u32>; 4] {
        let (mut columns, mut worker) = (ColumnsBuilder::default(), pipeline.pool().take());
        let mut sink = ColumnSink {
            columns: &mut columns,
            token_lens: pipeline.token_lens(),
            text,
            unknown: None,
            unnumbered: None,
        };
        pipeline.encode(text, &mut worker, &mut sink).expect("all bytes are known");
        columns.bytes_to_chars(text, 0);
        [columns.ids, columns.starts, columns.ends, columns.words]
    }

    fn ids(pipeline: &Pipeline, text: &str, is_first: bool) -> Vec<u32> {
        let (mut ids, mut worker) = (Vec::new(), pipeline.pool().take());
        pipeline
            .encode_shard(text, is_first, &mut worker, &mut IdSink(&mut ids))
            .expect("all bytes are known");
        ids
    }

    proptest! {
        #![proptest_config(cases(2000))]

        #[test]
        fn spaced_matches_naive(
            choices in prop::collection::vec((any::<u8>(), any::<u8>()), 0..40),
            has_unknown in any::<bool>(),
            has_prefix in any::<bool>(),
            texts in prop::collection::vec("[ab,日 ]{0,40}|( {0,4}[ab]{1,6},?){0,20}|[ab é\n▁<s>]{0,30}|(<s>| |a|▁){0,20}", 1..6),
            target in 1..20usize,
        ) {
            let model = Arc::new(Model::Bpe(bpe(&choices, has_unknown)));
            let fast = pipeline(&model, has_prefix, None);
            let naive = pipeline(&model, has_prefix, Some(PreTokenizer::Sequence(Vec::new())));
            let is_boundary = |left: char, right: char| right == '▁' && left != '▁';
            prop_assert_eq!(matches!(fast.plan(), Plan::Spaced(_)), model.is_cut_at(is_boundary));
            prop_assert_eq!(naive.plan(), Plan::Stages);
            fast.encoder().cut_points(1 << 20);
            for text in &texts {
                prop_assert_eq!(columns(&fast, text), columns(&naive, text), "{:?}", text);
                let pieces = fast.pieces(text, target);
                let apart = |piece: &std::ops::Range<usize>| ids(&fast, &text[piece.clone()], piece.start == 0);
                let apart: Vec<u32> = pieces.iter().flat_map(apart).collect();
                prop_assert_eq!(apart, ids(&naive, text, true), "{:?} in {:?}", text, pieces);
            }
        }
    }
}
