//! Ids with byte offsets and word ids.

use std::ops::Range;

use super::{Sink, emit_hits_one_by_one};
use crate::cache::{CachedTokens, ChunkCache, Lookup, NEW_PRE_TOKEN};
use crate::encoding::ColumnsBuilder;
use crate::models::Model;
use crate::normalized::Normalized;

/// Where tokens with byte offsets and word ids are kept.
pub trait TokenStore {
    /// True if it matters that a token has a text of its own, in place of the text of its id.
    fn wants_texts(&self) -> bool;

    /// Takes the tokens of chunks as [`Sink::emit_hits`] does, if this store has a way of its own. No token has a text of its
    /// own.
    fn push_hits(
        &mut self,
        cache: &ChunkCache,
        text: &[u8],
        lookups: &[Lookup],
        token_lens: &[u32],
        skipped_word_ids: &mut Option<u32>,
    ) -> Option<usize> {
        let _ = (cache, text, lookups, token_lens, skipped_word_ids);
        None
    }

    /// Appends a token.
    fn push(&mut self, id: u32, offsets: (u32, u32), word: Option<u32>);

    /// Appends a token with a text of its own.
    fn push_with_text(&mut self, id: u32, text: &str, offsets: (u32, u32), word: Option<u32>);
}

impl TokenStore for ColumnsBuilder {
    fn wants_texts(&self) -> bool {
        true
    }

    #[inline]
    fn push(&mut self, id: u32, offsets: (u32, u32), word: Option<u32>) {
        self.push(id, offsets, word);
    }

    fn push_with_text(&mut self, id: u32, text: &str, offsets: (u32, u32), word: Option<u32>) {
        self.push_with_text(id, text, offsets, word);
    }
}

/// Appends ids, byte offsets and word ids to columns.
#[derive(Debug)]
pub struct ColumnSink<'a, C> {
    /// The columns.
    pub columns: &'a mut C,
    /// Bytes that each id covers where tokens simply follow one another.
    pub token_lens: &'a [u32],
    /// The original text.
    pub text: &'a str,
    /// The model, which knows the tokens that are spelled as the text they were found in.
    pub model: &'a Model,
    /// Set where a chunk is not the same as a pre-token: the number of chunks so far without a token, less the number of
    /// pre-tokens that began within a chunk. Word ids are numbers of chunks less this.
    pub skipped_word_ids: Option<u32>,
}

/// The word id of the chunk, added token or pre-token with number `at` among all of these.
#[inline]
pub(super) fn word_id(skipped_word_ids: &mut Option<u32>, at: u32, has_tokens: bool) -> u32 {
    let Some(skipped) = skipped_word_ids else { return at };
    *skipped = skipped.wrapping_add(u32::from(!has_tokens));
    at.wrapping_sub(*skipped)
}

impl<C: TokenStore> ColumnSink<'_, C> {
    /// The id whose tokens may have a text of their own, if that matters.
    #[inline]
    fn unknown(&self) -> Option<u32> {
        if self.columns.wants_texts() { self.model.id_of_unknown_text() } else { None }
    }

    /// Appends `tokens`, which lie at `range` of `text`; `original` maps ranges of `text` to the original text.
    #[inline]
    fn push(
        &mut self,
        tokens: CachedTokens<'_>,
        text: &str,
        range: Range<usize>,
        word_id: u32,
        original: impl Fn(Range<usize>) -> (u32, u32),
    ) {
        let mut word_id = self::word_id(&mut self.skipped_word_ids, word_id, !tokens.ids.is_empty());
        let unknown = self.unknown();
        let Range { start, end: limit } = range;
        let mut at = start;
        for (index, &id) in tokens.ids.iter().enumerate() {
            let (from, to) = match tokens.spans {
                Some(spans) => {
                    let begun = spans[2 * index] / NEW_PRE_TOKEN;
                    word_id += begun;
                    self.skipped_word_ids = self.skipped_word_ids.map(|skipped| skipped.wrapping_sub(begun));
                    let from = spans[2 * index] % NEW_PRE_TOKEN;
                    (start + from as usize, start + spans[2 * index + 1] as usize)
                }
                None => (at, at + self.token_lens[id as usize] as usize),
            };
            at = to;
            let range = from.min(limit)..to.min(limit);
            if Some(id) == unknown
                && let Some(own) = text.get(range.clone())
                && !self.model.falls_back(own)
            {
                self.columns.push_with_text(id, own, original(range), Some(word_id));
            } else {
                self.columns.push(id, original(range), Some(word_id));
            }
        }
    }
}

impl<C: TokenStore> Sink for ColumnSink<'_, C> {
    const TRACKED: bool = true;

    fn wants_texts(&self) -> bool {
        self.columns.wants_texts()
    }

    fn pre_token(
        &mut self,
        tokens: CachedTokens<'_>,
        text: &Normalized<'_>,
        range: Range<usize>,
        word_id: u32,
    ) {
        self.push(tokens, text.text(), range, word_id, |range| text.original(range));
    }

    fn added_token(&mut self, id: u32, text: &Normalized<'_>, range: Range<usize>, word_id: u32) {
        let word_id = self::word_id(&mut self.skipped_word_ids, word_id, true);
        self.columns.push_with_text(id, &text.text()[range.clone()], text.original(range), Some(word_id));
    }

    #[inline]
    fn chunk(&mut self, tokens: CachedTokens<'_>, chunk: Range<usize>, word_id: u32) {
        self.push(tokens, self.text, chunk.start..usize::MAX, word_id, |range| {
            (range.start as u32, range.end as u32)
        });
    }

    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, text: &[u8], lookups: &[Lookup]) -> usize {
        self.columns
            .push_hits(cache, text, lookups, self.token_lens, &mut self.skipped_word_ids)
            .unwrap_or_else(|| emit_hits_one_by_one(self, cache, text, lookups))
    }
}
