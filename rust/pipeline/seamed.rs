//! The family of tokenizers whose pre-tokenizer has seams ([`PreTokenizer::seams`]): places between two characters at which a text may be cut
//! first. Its stages cut there; or, for ids alone, all stages keep the place, and the model encodes both sides by themselves.
//!
//! A chunk is the text between two seams: a word with the space before it, most often one pre-token. A missed chunk takes the
//! pre-tokenizer, and the model takes each pre-token. So the text is never searched for pre-tokens where the cache knows
//! its chunks, and a pipeline of five patterns is as fast as one.

use std::ops::Range;

use super::compiled::Pipeline;
use super::model_encoder::{MissScratch, ModelEncoder};
use super::plan::{ChunkPlan, Chunker, Rewrite, Scope};
use super::plan_table::key_form_of_cuts;
use super::stages::Stages;
use crate::Result;
use crate::byte_level::push_mapped;
use crate::cache::key::SHORT;
use crate::cache::{ChunkCache, ChunkKind, ChunkTokens, KeyForm, Lookup};
use crate::models::Model;
use crate::normalized::Normalized;
#[cfg(doc)]
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::seams::Seams;

/// Bytes of text that take as long as deriving seams from the stages: 8 to 23 milliseconds.
const DERIVING: usize = 1 << 20;

/// Bytes of text that take as long as a check that merges make a token: half a microsecond.
const ASKING_MERGES: usize = 64;

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

impl Pipeline {
    /// The seams for ids alone. None as long as there was too little text to derive them, of which `len` bytes are to come; none if the
    /// pre-tokenizer alone has the same seams.
    pub(super) fn seams_for_ids(&self, len: usize) -> Option<&Seams> {
        let derive = || {
            let (pre_tokenizer, known) = (self.stages().pre_tokenizer.as_ref()?, self.stages().seams());
            // Most pre-tokenizers cut at all these places anyway, and asking the model takes longest.
            if pre_tokenizer.seams_for_ids(Some(&[true; 256])).as_ref() == known {
                return None;
            }
            let seams = pre_tokenizer.seams_for_ids(Some(&self.model().apart_from_space()?))?;
            (known != Some(&seams)).then_some(seams)
        };
        self.known_seams_for_ids().get(len, self.price_of_seams(), derive)
    }

    /// Bytes of text that take as long as deriving seams.
    pub(super) fn price_of_seams(&self) -> usize {
        // Each token is checked for merges that make it, but only if whole pre-tokens are looked up.
        let tokens = if self.model().depends_on_context() { self.model().vocab().len() } else { 0 };
        DERIVING + tokens * ASKING_MERGES
    }
}

/// The pre-tokenizer, for one chunk at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkPreTokenizer<'a> {
    pub(super) stages: &'a Stages,
    /// See [`Rewrite::PreTokenizer`].
    pub(super) cuts_alone: bool,
    pub(super) ids_alone: bool,
}

/// Encodes the pre-tokens of a chunk, at ranges of a text, into `out`, whose spans mean nothing. If there are several, they go through the cache.
///
/// # Errors
/// The errors of the model.
pub(super) fn encode_unplaced(
    (text, pre_tokens): (&str, &[Range<usize>]),
    kind: impl Fn(bool) -> ChunkKind,
    model: &ModelEncoder,
    cache: &mut ChunkCache,
    scratch: &mut MissScratch,
    out: &mut ChunkTokens,
) -> Result<()> {
    if let [only] = pre_tokens
        && only.len() <= SHORT
    {
        model.encode(text, only.clone(), false, scratch, out)?;
        out.forget_places();
        return Ok(());
    }
    // All lookups are under way before the first is needed.
    let (bytes, mut lookups) = (text.as_bytes(), std::mem::take(&mut scratch.lookups));
    lookups.clear();
    for pre_token in pre_tokens {
        if pre_token.len() > SHORT && model.two_steps(pre_token.len()).is_some() {
            lookups.push(Lookup::uncached(pre_token.clone(), 0));
            continue;
        }
        let cuts = model.cut_points_of_long(pre_token.len());
        model.for_each_fragment(bytes, pre_token.clone(), cuts, |Range { start, end }, in_context| {
            lookups.push(cache.prefetch(bytes, start, end, 0, kind(in_context)));
            Ok(())
        })?;
    }
    let result = lookups.iter().try_for_each(|&lookup| {
        if lookup.is_uncached()
            && let Some(steps) = model.two_steps(0)
        {
            let pre_token = lookup.start as usize..lookup.end as usize;
            return steps.for_each_part(text, pre_token, cache, scratch, |_, tokens| {
                out.ids.extend_from_slice(tokens.ids);
            });
        }
        let miss = |range, out: &mut _| model.encode(text, range, lookup.in_context(), scratch, out);
        out.ids.extend_from_slice(cache.resolve(lookup, bytes, miss)?.ids);
        Ok(())
    });
    scratch.lookups = lookups;
    result
}

impl ChunkPreTokenizer<'_> {
    /// Encodes a chunk of `text` into `out`; pre-tokens that are a part of it go through the cache.
    ///
    /// # Errors
    /// The errors of the pre-tokenizer and of the model.
    pub(super) fn encode(
        &self,
        (text, chunk): (&str, Range<usize>),
        model: &ModelEncoder,
        cache: &mut ChunkCache,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let chunk = &text[chunk];
        let is_cut = self.for_each_pre_token(chunk, |pre_token| {
            if pre_token.len() == chunk.len() && chunk.len() <= SHORT {
                return model.encode(chunk, pre_token, false, scratch, out);
            }
            out.begin_pre_token(pre_token.start);
            if pre_token.len() > SHORT
                && let Some(steps) = model.two_steps(pre_token.len())
            {
                return steps.for_each_part(chunk, pre_token, cache, scratch, |part, tokens| {
                    out.push_part(tokens, part.start, model.token_lens());
                });
            }
            let cuts = model.cut_points_of_long(pre_token.len());
            model.for_each_fragment(chunk.as_bytes(), pre_token, cuts, |Range { start, end }, in_context| {
                let kind = ChunkKind::of_pre_token(in_context);
                let lookup = cache.prefetch(chunk.as_bytes(), start, end, 0, kind);
                let miss = |range, out: &mut _| model.encode(chunk, range, in_context, scratch, out);
                let tokens = cache.resolve(lookup, chunk.as_bytes(), miss)?;
                out.push_part(tokens, start, model.token_lens());
                Ok(())
            })
        })?;
        if is_cut {
            return Ok(());
        }
        if self.ids_alone {
            let mut spans = std::mem::take(&mut scratch.spans);
            spans.clear();
            let text = self.stages.pre_tokens(chunk, KeyForm::Text, &mut spans)?;
            encode_unplaced((&text, &spans), ChunkKind::of_pre_token, model, cache, scratch, out)?;
            scratch.spans = spans;
            return Ok(());
        }
        self.encode_mapped(chunk, model, scratch, out)?;
        model.set_regularity(out);
        Ok(())
    }

    /// Encodes a chunk whose pre-tokens are made of mapped text.
    fn encode_mapped(
        &self,
        chunk: &str,
        model: &ModelEncoder,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let word = chunk.strip_prefix(' ').unwrap_or(chunk);
        let is_visible = word.bytes().all(|byte| byte.is_ascii_graphic());
        if is_visible && self.stages.seams().is_some_and(|seams| seams.is_word(chunk.as_bytes())) {
            let mut mapped = std::mem::take(&mut scratch.mapped);
            mapped.clear();
            push_mapped(chunk.as_bytes(), &mut mapped);
            // Only a space in front takes more than one byte.
            let longer = mapped.len() - chunk.len();
            let start_at = |mapped: usize| mapped.saturating_sub(longer) as u32;
            // A token that ends within the mapped space covers the space.
            let end_at = |mapped: usize| start_at(mapped).max(u32::from(mapped > 0));
            let original = |range: Range<usize>| (start_at(range.start), end_at(range.end));
            let result = model.encode_pre_token((&mapped, 0..mapped.len()), false, original, scratch, out);
            scratch.mapped = mapped;
            return result;
        }
        let cut = self.stages.cut(Normalized::new(chunk, 0, true), KeyForm::Text)?;
        cut.spans.iter().try_for_each(|pre_token| {
            let pre_token = (cut.text.text(), pre_token.clone());
            model.encode_pre_token(pre_token, false, |range| cut.text.original(range), scratch, out)
        })
    }

    /// True if a chunk is known to be one pre-token, which the model sees as it is.
    pub(super) fn is_word(&self, chunk: &[u8]) -> bool {
        self.cuts_alone && self.stages.seams().is_some_and(|seams| seams.is_word(chunk))
    }

    /// Calls `each` with the pre-tokens of a chunk until one fails; false, and none called, if pre-tokens are made of mapped text.
    ///
    /// # Errors
    /// The errors of the pre-tokenizer and of `each`.
    pub(super) fn for_each_pre_token(
        &self,
        chunk: &str,
        each: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<bool> {
        let Some(cuts) = self.stages.cuts.as_ref().filter(|_| self.cuts_alone) else { return Ok(false) };
        self.stages.for_each_span(cuts, chunk, each).map(|()| true)
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
        #![proptest_config(cases(4000))]

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
