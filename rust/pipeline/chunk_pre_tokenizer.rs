//! The pre-tokenizer, then the model, for one missed chunk.

use std::ops::Range;

use super::model_encoder::ModelEncoder;
use super::scratch::MissScratch;
use super::stages::Stages;
use crate::Result;
use crate::byte_level::push_mapped;
use crate::cache::key::SHORT;
use crate::cache::{ChunkCache, ChunkKind, ChunkTokens, KeyForm, Lookup};
use crate::normalized::Normalized;

/// The pre-tokenizer, for one chunk at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkPreTokenizer<'a> {
    pub(super) stages: &'a Stages,
    /// See [`Rewrite::PreTokenizer`](super::plan::Rewrite::PreTokenizer).
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
