//! The encoder of missed chunks: the remaining stages, then the model.

use std::ops::Range;

use super::added_in_chunks::AddedInChunks;
use super::bert_rewriter::BertRewriter;
use super::chunk_pre_tokenizer::ChunkPreTokenizer;
use super::model_encoder::ModelEncoder;
use super::original_chunks::OriginalChunks;
use super::scratch::MissScratch;
use super::two_steps::TwoSteps;
use super::unigram::{ChunkStages, IsolatedChars};
use crate::Result;
use crate::cache::key::MEDIUM;
use crate::cache::{CachedTokens, ChunkCache, ChunkKind, ChunkTokens, Lookup};
use crate::sinks::Sink;

/// The model, and the stages that rewrite a chunk before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkEncoder<'a> {
    /// The model.
    pub(super) model: &'a ModelEncoder,
    /// The stages of a chunk before the model.
    pub(super) rewriter: Rewriter<'a>,
    /// Set if chunks may be cut beside isolated characters, where ids alone are wanted.
    pub(super) isolated: Option<&'a IsolatedChars>,
    /// Set if normalized chunks may hold added tokens.
    pub(super) added: Option<AddedInChunks<'a>>,
}

/// [`Rewrite`](super::plan::Rewrite) with its stages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rewriter<'a> {
    /// Nothing.
    None,
    /// BERT's normalizer.
    Bert(BertRewriter),
    /// All stages of a Unigram tokenizer.
    Stages(ChunkStages<'a>),
    /// The pre-tokenizer.
    PreTokenizer(ChunkPreTokenizer<'a>),
    /// The normalizer and the pre-tokenizer.
    Original(OriginalChunks<'a>),
}

impl ChunkEncoder<'_> {
    /// True if the caller has to encode a chunk by the stages: the chunk is context-dependent, or the sink needs the
    /// spelling of an unknown token or the place of an added token, which only the stages know.
    #[inline]
    pub(super) fn needs_stages<S: Sink>(&self, tokens: CachedTokens<'_>, sink: &S) -> bool {
        if S::TRACKED && self.added.is_some_and(|added| added.are_in(tokens.ids)) {
            return true;
        }
        if !matches!(self.rewriter, Rewriter::Stages(_) | Rewriter::Original(_)) {
            return false;
        }
        let unknown = if sink.wants_texts() { self.model.model().id_of_unknown_text() } else { None };
        tokens.is_context_dependent() || unknown.is_some_and(|unknown| tokens.ids.contains(&unknown))
    }

    /// True if a missed chunk of `text` is better joined from fragments than encoded whole, where the model may cut it.
    #[inline]
    pub(super) fn has_fragments(&self, text: &[u8], chunk: &Lookup) -> bool {
        match self.two_steps(0) {
            Some(steps) => {
                !chunk.is_uncached() && steps.has_fragments(text, chunk.start as usize..chunk.end as usize)
            }
            None => chunk.is_medium(),
        }
    }

    /// Writes the ids of the chunk of a lookup in `text` to `scratch.fragment_ids`, if the model may cut the chunk into
    /// fragments: these repeat more often than the whole, and the cache knows most of them. False if the model may not, or if a
    /// token does not cover its own length. The cache keeps the ids from the second time on that the chunk is met.
    ///
    /// # Errors
    /// The errors of the model.
    #[inline(never)]
    pub(super) fn join_fragments(
        &self,
        text: &str,
        chunk: Lookup,
        cache: &mut ChunkCache,
        scratch: &mut MissScratch,
    ) -> Result<bool> {
        let (bytes, range) = (text.as_bytes(), chunk.start as usize..chunk.end as usize);
        let kind = match self.rewriter {
            Rewriter::None => ChunkKind::in_context,
            Rewriter::PreTokenizer(pre_tokenizer)
                if chunk.kind() != ChunkKind::Chunk || pre_tokenizer.is_word(&bytes[range.clone()]) =>
            {
                ChunkKind::of_pre_token
            }
            _ => return Ok(false),
        };
        if self.holds_added(&text[range.clone()], scratch) {
            return Ok(false);
        }
        let mut is_regular = true;
        if let Some(steps) = self.two_steps(range.len()) {
            let mut ids = std::mem::take(&mut scratch.fragment_ids);
            ids.clear();
            steps.for_each_part(text, range, cache, scratch, |_, tokens| {
                ids.extend_from_slice(tokens.ids);
                is_regular &= tokens.spans.is_none();
            })?;
            scratch.fragment_ids = ids;
            if is_regular {
                keep_fragments(chunk, bytes, cache, scratch);
            }
            return Ok(is_regular);
        }
        let Some(cuts) = self.model.cut_points(range.len()) else { return Ok(false) };
        // All lookups are under way before the first is needed, as in the stream of chunks.
        let (mut lookups, mut count, mut start) = ([Lookup::default(); MEDIUM], 0, range.start);
        while start < range.end {
            let end = cuts.fragment_end(bytes, start, range.end);
            let in_context = chunk.in_context() || self.model.in_context(&range, start, end);
            lookups[count] = cache.prefetch(bytes, start, end, 0, kind(in_context));
            (start, count) = (end, count + 1);
        }
        if count < 2 {
            return Ok(false);
        }
        let mut ids = std::mem::take(&mut scratch.fragment_ids);
        ids.clear();
        for &fragment in &lookups[..count] {
            let slot = cache.get_short(&fragment).and_then(|slot| Some((slot, slot.count(true)?)));
            if let Some((slot, count)) = slot {
                let len = ids.len() + count;
                // As many as there is room for, since their number is not known to the compiler.
                ids.extend_from_slice(&cache.packing().unpack(slot));
                ids.truncate(len);
                continue;
            }
            let miss =
                |range, out: &mut _| self.model.encode(text, range, fragment.in_context(), scratch, out);
            let tokens = cache.resolve(fragment, bytes, miss)?;
            ids.extend_from_slice(tokens.ids);
            is_regular &= tokens.spans.is_none();
        }
        scratch.fragment_ids = ids;
        if is_regular {
            keep_fragments(chunk, bytes, cache, scratch);
        }
        Ok(is_regular)
    }

    /// The encoder of a pre-token of `len` bytes in two steps, if there is one; none where pre-tokens may hold added tokens.
    pub(super) fn two_steps(&self, len: usize) -> Option<&TwoSteps> {
        if self.added.is_some() { None } else { self.model.two_steps(len) }
    }

    /// The encoder in two steps, and the pre-tokenizer, where chunks are raw bytes that the pre-tokenizer alone cuts.
    pub(super) fn two_steps_of_chunks(&self) -> Option<(&TwoSteps, ChunkPreTokenizer<'_>)> {
        match self.rewriter {
            Rewriter::PreTokenizer(pre_tokenizer) if pre_tokenizer.cuts_alone => {
                Some((self.two_steps(0)?, pre_tokenizer))
            }
            _ => None,
        }
    }

    /// True if a chunk that no stage changes, but for spaces that become visible, holds an added token.
    pub(super) fn holds_added(&self, chunk: &str, scratch: &mut MissScratch) -> bool {
        self.added.is_some_and(|added| added.are_in_unchanged(chunk, scratch))
    }

    /// True if the model certainly sees a chunk as it stands: no stage changes or cuts the chunk, and it holds no added token.
    pub(super) fn leaves_alone(&self, chunk: &[u8], scratch: &mut MissScratch) -> bool {
        let is_alone = match self.rewriter {
            Rewriter::None => true,
            Rewriter::Bert(_) => chunk.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
            Rewriter::PreTokenizer(pre_tokenizer) => {
                str::from_utf8(chunk).is_ok() && pre_tokenizer.is_word(chunk)
            }
            Rewriter::Stages(_) | Rewriter::Original(_) => false,
        };
        is_alone && !self.holds_added(&String::from_utf8_lossy(chunk), scratch)
    }

    /// True if a missed chunk takes [`Self::encode_pre_tokens`]: stages cut it into pre-tokens.
    pub(super) fn has_pre_tokens(&self, text: &[u8], chunk: Lookup) -> bool {
        match self.rewriter {
            Rewriter::Original(_) => true,
            Rewriter::PreTokenizer(pre_tokenizer) => {
                let range = chunk.start as usize..chunk.end as usize;
                chunk.kind() == ChunkKind::Chunk && !pre_tokenizer.is_word(&text[range])
            }
            Rewriter::None | Rewriter::Bert(_) | Rewriter::Stages(_) => false,
        }
    }

    /// True if the cache keeps a chunk with [`Self::has_pre_tokens`] the first time that it is met. Long chunks of original text seldom
    /// come again, but their fragments do.
    pub(super) fn is_kept(&self, chunk: &Lookup) -> bool {
        let is_cut = match chunk.kind() {
            ChunkKind::Whole => self.model.cut_points(0).is_some(),
            _ => self.model.two_steps(0).is_some(),
        };
        chunk.is_short() || !is_cut
    }

    /// Encodes a chunk with [`Self::has_pre_tokens`] into `out`.
    ///
    /// # Errors
    /// The errors of the stages and of the model.
    pub(super) fn encode_pre_tokens(
        &self,
        text: &str,
        chunk: Lookup,
        cache: &mut ChunkCache,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let range = chunk.start as usize..chunk.end as usize;
        match self.rewriter {
            Rewriter::Original(original) => original.encode(&text[range], self.model, cache, scratch, out),
            Rewriter::PreTokenizer(pre_tokenizer) => {
                pre_tokenizer.encode((text, range), self.model, cache, scratch, out)
            }
            Rewriter::None | Rewriter::Bert(_) | Rewriter::Stages(_) => {
                self.encode(text, range, chunk.kind(), scratch, out)
            }
        }
    }

    /// Encodes the chunk at `range` of `text` into `out`.
    ///
    /// # Errors
    /// The errors of the stages and of the model.
    pub(super) fn encode(
        &self,
        text: &str,
        range: Range<usize>,
        kind: ChunkKind,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let in_context = kind == ChunkKind::Fragment;
        let chunk = &text[range.clone()];
        let is_done = match self.rewriter {
            Rewriter::Original(_) => {
                debug_assert!(false, "such chunks take `encode_pre_tokens`");
                out.set_context_dependent();
                true
            }
            Rewriter::Bert(bert) => bert.encode(chunk, in_context, (self.model, self.added), scratch, out)?,
            Rewriter::Stages(stages) => {
                stages.encode(chunk, in_context, (self.model, self.added), scratch, out)?
            }
            Rewriter::None | Rewriter::PreTokenizer(_) if self.holds_added(chunk, scratch) => false,
            // A chunk that takes the pre-tokenizer does not come here; its pre-tokens do, and so do chunks that are known to be one word.
            Rewriter::None | Rewriter::PreTokenizer(_) => {
                self.model.encode(text, range, in_context, scratch, out)?;
                true
            }
        };
        match self.added {
            Some(added) if !is_done => self.encode_with_added(added, chunk, kind, scratch, out),
            _ => Ok(()),
        }
    }
}

/// Keeps `scratch.fragment_ids` as the tokens of a chunk of `text` from the second time on that the chunk is met.
fn keep_fragments(chunk: Lookup, text: &[u8], cache: &mut ChunkCache, scratch: &MissScratch) {
    if cache.is_met_again(&chunk) {
        cache.keep(chunk, text, CachedTokens { ids: &scratch.fragment_ids, spans: None });
    }
}
