//! Ids alone, the first id of each range of the text, and the characters that unknown tokens stand for.
//!
//! Chunks tell both without offsets. A token lies within its chunk, so the number of ids at a place is known if the chunk before ends there
//! or earlier, and the next chunk begins there or later. The cache has the spans of tokens within a chunk, which are asked for only if the
//! chunk has unknown tokens.

use std::ops::Range;

use super::{IdSink, Sink};
use crate::cache::{CachedTokens, ChunkCache, Id, Lookup, NEW_PRE_TOKEN};
use crate::normalized::Normalized;

/// In place of a number that chunks do not tell.
const UNTOLD: i64 = -1;

/// In place of the end of the last chunk: the end is not known.
const NOWHERE: usize = usize::MAX;

/// Unknown tokens of a model.
#[derive(Clone, Copy, Debug)]
pub struct UnknownTokens<'a> {
    /// Their id.
    pub id: u32,
    /// Bytes that each id covers where tokens simply follow one another.
    pub token_lens: &'a [u32],
    /// True if the spans of all chunks are places in the text.
    pub have_spans: bool,
}

/// The numbers of several texts.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The index of the first id of each range, or -1.
    pub firsts: Vec<i64>,
    /// Characters of each text that unknown tokens stand for, or -1.
    pub unknown: Vec<i64>,
}

/// Appends ids to a vector, and notes how many there are at each place where a range of the text begins.
#[derive(Debug)]
pub struct RangeSink<'a, T> {
    ids: IdSink<'a, T>,
    text: &'a [u8],
    /// The bytes at which ranges begin that are still to be reached, in ascending order.
    places: &'a [u32],
    unknown: Option<UnknownTokens<'a>>,
    /// Characters that unknown tokens stand for so far, or [`UNTOLD`].
    characters: i64,
    told: &'a mut Told,
    /// The end of the last chunk, or [`NOWHERE`]. Text is encoded from left to right.
    done: usize,
    /// Ranges of chunks are of normalized text.
    is_normalized: bool,
    unpacked: Vec<u32>,
}

impl<'a, T: Id + PartialEq> RangeSink<'a, T> {
    /// A sink for a text whose ranges begin at the bytes `places`, the first of which is the beginning of the text.
    pub fn new(
        text: &'a str,
        places: &'a [u32],
        unknown: Option<UnknownTokens<'a>>,
        ids: &'a mut Vec<T>,
        told: &'a mut Told,
    ) -> Self {
        let text = text.as_bytes();
        if !places.is_empty() {
            told.firsts.push(ids.len() as i64);
        }
        Self {
            ids: IdSink(ids),
            text,
            places: places.get(1..).unwrap_or_default(),
            unknown,
            characters: 0,
            told,
            done: 0,
            is_normalized: false,
            unpacked: Vec::new(),
        }
    }

    /// Ends the text.
    pub fn finish(self) {
        self.told.firsts.extend(self.places.iter().map(|_| UNTOLD));
        self.told.unknown.push(self.characters);
    }

    /// Notes the places up to the beginning of the next chunk.
    #[inline]
    fn reach(&mut self, start: usize) {
        while let Some((&place, rest)) = self.places.split_first()
            && place as usize <= start
        {
            let is_told = place as usize == start || self.done <= place as usize;
            self.told.firsts.push(if is_told { self.ids.0.len() as i64 } else { UNTOLD });
            self.places = rest;
        }
    }

    /// True if a chunk of original text that begins at `start` reaches the next place.
    #[inline]
    fn is_reached(&self, start: u32) -> bool {
        !self.is_normalized && self.places.first().is_some_and(|&place| place <= start)
    }

    /// Adds characters of unknown tokens, or [`UNTOLD`].
    fn add(&mut self, characters: i64) {
        let is_told = self.characters >= 0 && characters >= 0;
        self.characters = if is_told { self.characters + characters } else { UNTOLD };
    }

    /// Adds the unknown tokens among the tokens of a chunk. An empty range means that the place of the chunk is not known.
    fn add_unknown(&mut self, tokens: CachedTokens<'_>, chunk: &Range<usize>) {
        let Some(unknown) = self.unknown.filter(|unknown| tokens.ids.contains(&unknown.id)) else { return };
        if chunk.is_empty() || self.is_normalized || !unknown.have_spans {
            return self.add(UNTOLD);
        }
        let spans = tokens.spans_from(chunk.start, unknown.token_lens);
        for (_, [start, end]) in tokens.ids.iter().zip(spans).filter(|&(&id, _)| id == unknown.id) {
            let range = (start % NEW_PRE_TOKEN) as usize..end as usize;
            // Chunks with added tokens have no spans.
            self.add(if range.is_empty() { UNTOLD } else { self.characters_at(range) });
        }
    }

    /// Characters with a byte in a range.
    fn characters_at(&self, range: Range<usize>) -> i64 {
        let Some(bytes) = self.text.get(range) else { return UNTOLD };
        let is_continued = |byte: &u8| byte & 0xC0 == 0x80;
        let begins_within = !bytes.is_empty() && is_continued(&bytes[0]);
        bytes.iter().filter(|byte| !is_continued(byte)).count() as i64 + i64::from(begins_within)
    }

    /// Adds the unknown tokens among the ids from index `first` on, which come from `lookups` in `text`, original or normalized.
    #[inline]
    fn add_unknown_of_hits(&mut self, cache: &ChunkCache, text: &[u8], lookups: &[Lookup], first: usize) {
        let Some(unknown) = self.unknown else { return };
        if !self.ids.0[first..].contains(&T::narrow(unknown.id)) {
            return;
        }
        let mut unpacked = std::mem::take(&mut self.unpacked);
        for lookup in lookups {
            match cache.tokens_of(lookup, text, &mut unpacked) {
                Some(tokens) => self.add_unknown(tokens, &lookup.range()),
                None => self.add(UNTOLD),
            }
        }
        self.unpacked = unpacked;
    }

    /// Appends ids whose place in the text is not known.
    fn push_nowhere(&mut self, ids: &[u32]) {
        self.add_unknown(CachedTokens { ids, spans: None }, &(0..0));
        self.done = NOWHERE;
        self.ids.push(ids);
    }
}

impl<T: Id + PartialEq> Sink for RangeSink<'_, T> {
    const TRACKED: bool = false;

    fn pre_token(&mut self, tokens: CachedTokens<'_>, _: &Normalized<'_>, _: Range<usize>, _: u32) {
        self.push_nowhere(tokens.ids);
    }

    fn added_token(&mut self, id: u32, _: &Normalized<'_>, _: Range<usize>, _: u32) {
        self.push_nowhere(&[id]);
    }

    fn chunk(&mut self, tokens: CachedTokens<'_>, chunk: Range<usize>, _: u32) {
        if self.is_normalized || chunk.is_empty() {
            return self.push_nowhere(tokens.ids);
        }
        self.reach(chunk.start);
        self.add_unknown(tokens, &chunk);
        self.done = chunk.end;
        self.ids.push(tokens.ids);
    }

    fn isolated(&mut self, ids: &[u32], run: Range<usize>, unknown: u32, _: u32) {
        self.reach(run.start);
        self.add(unknown.into());
        self.done = run.end;
        self.ids.push(ids);
    }

    fn begin_normalized(&mut self) {
        self.is_normalized = true;
        self.done = NOWHERE;
    }

    fn end_normalized(&mut self) {
        self.is_normalized = false;
    }

    #[inline]
    fn emit_hits(&mut self, cache: &ChunkCache, text: &[u8], lookups: &[Lookup]) -> usize {
        let mut taken = 0;
        loop {
            let rest = &lookups[taken..];
            let is_ahead = |lookup: &Lookup| !lookup.is_resolved() && self.is_reached(lookup.start);
            // Most texts have words of one script alone.
            let ahead = if self.places.is_empty() { None } else { rest.iter().position(is_ahead) };
            let count = ahead.unwrap_or(rest.len());
            let first = self.ids.0.len();
            let emitted = self.ids.emit_hits(cache, text, &rest[..count]);
            if let Some(last) = rest[..emitted].last() {
                self.done = if self.is_normalized { NOWHERE } else { last.end as usize };
                self.add_unknown_of_hits(cache, text, &rest[..emitted], first);
            }
            taken += emitted;
            if emitted < count || count == rest.len() {
                return taken;
            }
            self.reach(lookups[taken].start as usize);
        }
    }
}
