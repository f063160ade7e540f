//! Long pre-tokens in two steps: early merges in fragments that the cache knows, then late merges of the fragments' tokens
//! ([`LateMerges`]).

use std::ops::Range;

use super::keyed_model::KeyedModel;
use super::scratch::MissScratch;
use super::stages::Stages;
use crate::Result;
use crate::cache::{CachedTokens, ChunkCache, ChunkKind, ChunkTokens, Lookup};
use crate::models::bpe::{Border, CutPoints, LateMerges};
use crate::scan::seams::Seams;
use crate::structures::amortized_lazy::AmortizedLazy;

/// Early fragments in flight at a time.
const BATCH: usize = 32;

/// From this many tokens on, a pre-token is handed over in parts.
#[cfg(not(test))]
const PART: usize = 1 << 12;
#[cfg(test)]
const PART: usize = 8;

/// Bytes of text that take as long in two steps as deriving seams from the stages: 8 to 23 milliseconds.
const DERIVING: usize = 1 << 18;

/// Early and late merges of one model, and the encoder of early fragments.
#[derive(Debug)]
pub(super) struct TwoSteps {
    merges: LateMerges,
    early: KeyedModel,
    seams: AmortizedLazy<Seams>,
}

/// The last tokens, which late merges may still join.
pub(super) struct Run {
    pub(super) start: usize,
    /// The border between the last two tokens.
    pub(super) last: Border,
}

impl Default for Run {
    fn default() -> Self {
        Self { start: 0, last: Border::Closed }
    }
}

impl TwoSteps {
    pub(super) fn new(merges: LateMerges, early: KeyedModel) -> Self {
        Self { merges, early, seams: AmortizedLazy::default() }
    }

    /// The encoder of the first step.
    pub(super) fn early(&self) -> &KeyedModel {
        &self.early
    }

    /// Where the first step may be cut.
    pub(super) fn fragments(&self) -> &CutPoints {
        self.merges.fragments()
    }

    /// The border between two neighbours of the first step.
    #[inline]
    pub(super) fn border(&self, left: u32, right: u32) -> Border {
        self.merges.border(left, right)
    }

    /// The seams of the first step, for ids alone. None until enough text has been encoded to pay for deriving them, the next `len` bytes
    /// included; none if the stages alone have the same seams.
    pub(super) fn seams(&self, stages: &Stages, len: usize) -> Option<&Seams> {
        let derive = || {
            let seams = stages.pre_tokenizer.as_ref()?.seams_of_words(self.merges.apart_from_space()?)?;
            (stages.seams() != Some(&seams)).then_some(seams)
        };
        self.seams.get(len, DERIVING, derive)
    }

    /// True if the pre-token at `range` of `text` has several early fragments.
    pub(super) fn has_fragments(&self, text: &[u8], range: Range<usize>) -> bool {
        self.merges.fragments().fragment_end(text, range.start, range.end) < range.end
    }

    /// Encodes the pre-token at `range` of `text` into the empty `out`, at least the tokens of its first part; returns the end of this part.
    /// The rest is encoded in the same way as a pre-token.
    ///
    /// # Errors
    /// The errors of the model.
    pub(super) fn encode_part(
        &self,
        text: &str,
        range: Range<usize>,
        cache: &mut ChunkCache,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<usize> {
        let (bytes, mut end) = (text.as_bytes(), range.start);
        let (mut lookups, mut run) = ([Lookup::default(); BATCH], Run::default());
        while end < range.end {
            let mut count = 0;
            while count < BATCH && end < range.end {
                let start = end;
                end = self.merges.fragments().fragment_end(bytes, start, range.end);
                lookups[count] = cache.prefetch(bytes, start, end, 0, ChunkKind::Early);
                count += 1;
            }
            for &fragment in &lookups[..count] {
                let start = fragment.start as usize;
                let slot = cache.get_short(&fragment).and_then(|slot| Some((slot, slot.count(true)?)));
                let is_taken = if let Some((slot, count)) = slot {
                    let ids = cache.packing().unpack(slot);
                    let tokens = CachedTokens { ids: &ids[..count], spans: None };
                    self.push(tokens, start - range.start, &mut run, scratch, out)
                } else {
                    let miss = |range, out: &mut _| self.early.encode(text, range, false, scratch, out);
                    let tokens = cache.resolve(fragment, bytes, miss)?;
                    self.push(tokens, start - range.start, &mut run, scratch, out)
                };
                if !is_taken {
                    return Ok(start);
                }
            }
        }
        self.close(&mut run, scratch, out);
        Ok(range.end)
    }

    /// Encodes a pre-token as [`Self::encode_part`] does, and calls `each` with the range and the tokens of each part.
    ///
    /// # Errors
    /// The errors of the model.
    pub(super) fn for_each_part(
        &self,
        text: &str,
        range: Range<usize>,
        cache: &mut ChunkCache,
        scratch: &mut MissScratch,
        mut each: impl FnMut(Range<usize>, CachedTokens<'_>),
    ) -> Result<()> {
        let (mut part, mut start) = (std::mem::take(&mut scratch.part), range.start);
        while start < range.end {
            part.clear();
            let end = self.encode_part(text, start..range.end, cache, scratch, &mut part)?;
            each(start..end, part.as_cached());
            start = end;
        }
        scratch.part = part;
        Ok(())
    }

    /// Appends the tokens of a fragment that begins at byte `at` of the pre-token; false, and none appended, if a part ends before it.
    #[inline]
    fn push(
        &self,
        tokens: CachedTokens<'_>,
        at: usize,
        run: &mut Run,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> bool {
        let lens = self.early.token_lens();
        let is_part = out.ids.len() >= PART;
        if tokens.spans.is_some() {
            out.place(lens);
        }
        let mut spans = (!out.is_regular).then(|| tokens.spans_from(at, lens));
        for (index, &id) in tokens.ids.iter().enumerate() {
            if let Some(&last) = out.ids.last() {
                let border = self.merges.border(last, id);
                if border == Border::Closed {
                    self.close(run, scratch, out);
                    if is_part && index == 0 {
                        return false;
                    }
                    run.start = out.ids.len();
                }
                run.last = border;
            }
            out.ids.push(id);
            out.spans.extend(spans.as_mut().and_then(Iterator::next).into_iter().flatten());
        }
        true
    }

    /// Merges the last run.
    #[inline]
    pub(super) fn close(&self, run: &mut Run, scratch: &mut MissScratch, out: &mut ChunkTokens) {
        match (out.ids.len() - run.start, run.last) {
            (0 | 1, _) | (2, Border::Open | Border::Closed) => (),
            (2, Border::Merged(id)) => out.join(run.start, [(id, 2)].into_iter()),
            _ => self.merge(run.start, scratch, out),
        }
    }

    #[inline(never)]
    fn merge(&self, start: usize, scratch: &mut MissScratch, out: &mut ChunkTokens) {
        let MissScratch { model, tokens, .. } = scratch;
        self.merges.merge(&out.ids[start..], model, tokens);
        out.join(start, tokens.ids.iter().copied().zip(tokens.lens.iter().copied()));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::testing::{ids, tokens};
    use super::super::{Pipeline, Plan};
    use crate::added_tokens::AddedTokens;
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::models::Model;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::normalizers::Normalizer;
    use crate::pre_tokenizers::{Behavior, ByteLevel, PreTokenizer, Split};
    use crate::structures::finder::{Replacement, TextPattern};
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// Merges inside words and before them, then others; spaces are written as `space`. The first token stands for unknown characters.
    fn bpe(characters: &[String], space: &str, early: &[(u8, u8)], late: &[(u8, u8)]) -> Bpe {
        let mut names: Vec<String> = characters.to_vec();
        let letters = [space, "a", "b", ",", "é"];
        let letters = letters.iter().filter_map(|letter| names.iter().position(|name| name == letter));
        let (mut known, mut pairs): (Vec<usize>, Vec<_>) = (letters.collect(), Vec::new());
        for (at, &(left, right)) in early.iter().chain(late).enumerate() {
            let (left, right) = (known[left as usize % known.len()], known[right as usize % known.len()]);
            let joined = format!("{}{}", names[left], names[right]);
            let is_late = joined.char_indices().skip(1).any(|(at, _)| joined[at..].starts_with(space));
            if joined.len() < 24 && !names.contains(&joined) && (!is_late || at >= early.len()) {
                pairs.push(((left as u32, right as u32), names.len() as u32));
                known.push(names.len());
                names.push(joined);
            }
        }
        let options = BpeOptions { unk_token: Some(names[0].clone()), ..BpeOptions::default() };
        Bpe::from_pairs(Arc::new(Vocab::from_tokens(&names)), &pairs, options).expect("valid")
    }

    fn of_bytes(early: &[(u8, u8)], late: &[(u8, u8)]) -> Bpe {
        bpe(&BYTE_TO_CHAR.map(String::from), "Ġ", early, late)
    }

    fn of_characters(early: &[(u8, u8)], late: &[(u8, u8)]) -> Bpe {
        bpe(&["?", "▁", "a", "b", ",", "é"].map(str::to_owned), "▁", early, late)
    }

    fn split(pattern: &str) -> PreTokenizer {
        split_to(pattern, Behavior::Isolated)
    }

    fn removed(pattern: &str) -> PreTokenizer {
        split_to(pattern, Behavior::Removed)
    }

    fn split_to(pattern: &str, behavior: Behavior) -> PreTokenizer {
        let pattern = TextPattern::Regex(pattern.to_owned());
        PreTokenizer::Split(Arc::new(Split::new(pattern, behavior, false).expect("valid")))
    }

    fn byte_level() -> PreTokenizer {
        PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex: false })
    }

    /// Tokenizers whose pre-tokens are lines or phrases.
    fn stages(at: usize) -> (Option<Normalizer>, Option<PreTokenizer>, bool) {
        let spaces = Replacement::new(TextPattern::Literal(" ".to_owned()), "▁".to_owned()).expect("valid");
        let spaces = Normalizer::Replace(Arc::new(spaces));
        let visible = Normalizer::Sequence(vec![Normalizer::Prepend("▁".to_owned()), spaces]);
        match at {
            0 => (None, Some(PreTokenizer::Sequence(vec![split("[^\n]+|\n+"), byte_level()])), true),
            1 => (
                None,
                Some(PreTokenizer::Sequence(vec![split(r"(?: ?\p{L}+)+| ?\p{P}+|\s+"), byte_level()])),
                true,
            ),
            2 => (
                Some(Normalizer::Lowercase),
                Some(PreTokenizer::Sequence(vec![split("(?: ?[ab]+)+"), byte_level()])),
                true,
            ),
            3 => (None, Some(byte_level()), true),
            4 => (Some(visible), None, false),
            5 => {
                let stages = vec![removed(" ?,+"), split("éa|(?: ?[ab]+)+"), byte_level()];
                (None, Some(PreTokenizer::Sequence(stages)), true)
            }
            6 => (None, Some(PreTokenizer::Sequence(vec![split("a b|[^\n]+"), byte_level()])), true),
            _ => (Some(visible), Some(split("[^\n]+|\n+")), false),
        }
    }

    fn pipeline(at: usize, early: &[(u8, u8)], late: &[(u8, u8)], limit: usize) -> Pipeline {
        let (normalizer, pre_tokenizer, is_bytes) = stages(at);
        let model = if is_bytes { of_bytes(early, late) } else { of_characters(early, late) };
        let (model, added) = (Arc::new(Model::Bpe(model)), Arc::new(AddedTokens::default()));
        Pipeline::new(normalizer, pre_tokenizer, model, added, false, limit).expect("valid")
    }

    proptest! {
        #![proptest_config(cases(2000))]

        #[test]
        fn two_steps_matches_naive(
            at in 0..8usize,
            early in prop::collection::vec((any::<u8>(), any::<u8>()), 1..40),
            late in prop::collection::vec((any::<u8>(), any::<u8>()), 1..40),
            words in prop::collection::vec(" ?[ab]{1,9}| ?[ab]{1,2}|,|\n|é|éa a| {1,3}|日", 1..40),
            order in prop::collection::vec(any::<prop::sample::Index>(), 1..80),
            limit in prop_oneof![Just(0usize), Just(1 << 13), Just(1 << 20)],
        ) {
            let pipeline = || pipeline(at, &early, &late, limit);
            let (fast, naive) = (pipeline().with_all_tables(), pipeline().with_plan(Plan::Staged));
            naive.encoder().forbid_two_steps();
            let text: String = order.iter().map(|at| at.get(&words).as_str()).collect();
            // Pre-tokens are cached from the second time on.
            for _ in 0..3 {
                prop_assert_eq!(ids(&fast, &text), ids(&naive, &text), "{:?}", text);
            }
            prop_assert_eq!(tokens(&fast, &text), tokens(&naive, &text), "{:?}", text);
        }
    }

    #[test]
    fn no_merge_joins_words_across_removed_text() {
        // `Ġa`, then `ĠaĠa`.
        let pipeline = || pipeline(5, &[(0, 1)], &[(5, 5)], 1 << 20);
        let (fast, naive) = (pipeline().with_all_tables(), pipeline().with_plan(Plan::Staged));
        let text = " a a a , a a";
        assert_eq!(ids(&fast, text), ids(&naive, text));
        assert_eq!(ids(&fast, text).len(), 3);
    }

    #[test]
    fn no_merge_joins_words_across_removed_spaces() {
        // `Ġa`, then `ĠaĠa` and `aa`.
        let model = of_bytes(&[(0, 1)], &[(5, 5), (1, 1)]);
        let pipeline = || {
            let stages = PreTokenizer::Sequence(vec![removed("[ ,]+"), byte_level()]);
            let (model, added) = (Arc::new(Model::Bpe(model.clone())), Arc::new(AddedTokens::default()));
            Pipeline::new(None, Some(stages), model, added, false, 1 << 20).expect("valid")
        };
        let (fast, naive) = (pipeline().with_all_tables(), pipeline().with_plan(Plan::Staged));
        for text in ["aa, ,aa", &format!("a{} ,a", " ,".repeat(40))] {
            assert_eq!(ids(&fast, text), ids(&naive, text), "{text}");
        }
    }

    #[test]
    fn pairs_of_chunks_are_told_apart() {
        // `Ġa`, then `aĠa`: the pre-tokenizer cuts the second pair of words.
        let pipeline = || pipeline(5, &[(0, 1)], &[(1, 5)], 1 << 20);
        let (fast, naive) = (pipeline().with_all_tables(), pipeline().with_plan(Plan::Staged));
        let text = "a a éa a";
        assert_eq!(ids(&fast, text), ids(&naive, text));
        assert_eq!(ids(&fast, text)[0], 257);
    }

    #[test]
    fn superwords_are_encoded_in_two_steps() {
        // `Ġa`, then `ĠaĠa`.
        for at in 0..8 {
            let pipeline = pipeline(at, &[(0, 1)], &[(5, 5)], 1 << 20).with_all_tables();
            assert!(pipeline.encoder().two_steps(0).is_some(), "{at}");
        }
    }
}
