//! Units of parts: most of what is after a blank is a word with punctuation before or after it, and both are met again
//! in other company. So ids alone are found unit by unit where that makes no difference.
//!
//! At a border of units both characters stay what they are, whatever is left and right of them, and no piece reaches across.
//! What is before it has no part in the decisions after it, but by rounding: a unit in which some are so close to a tie
//! that this may change them is taken with what is before it, as parts are that are open.

use std::ops::Range;

use super::facts::GROWTH;
use super::{FIRST_ROOM, Splitter, Stages, Stream, Words, scan};
use crate::Result;
use crate::engine::{CachedTokens, CountSink, Sink, Worker};
use crate::models::unigram::MOST_PIECES;
use crate::normalized::Normalized;

/// Bytes of the longest part that is cut into units.
const LONGEST: usize = MOST_PIECES as usize / GROWTH;

/// What finds units where `splitter` finds parts, if `text` may be cut into units.
pub(super) fn fragment_splitter(splitter: Splitter, stages: Stages<'_>, text: &str) -> Option<Splitter> {
    let fragments = match splitter {
        Splitter::Blanks if stages.known.cuts_at_punctuation => Splitter::BlankFragments,
        Splitter::BlankSplit if stages.known.cuts_at_punctuation => Splitter::BlankSplitFragments,
        _ if stages.isolated.is_some() => splitter,
        _ => return None,
    };
    has_short_chunks(text.as_bytes(), LONGEST, |byte| stages.is_blank(byte.into())).then_some(fragments)
}

/// How many tokens the units in `known` have, which begins a part and ends before an open unit of `text`.
pub(super) fn count_tokens(
    fragments: Splitter,
    words: Words<'_>,
    text: &str,
    known: Range<usize>,
    worker: &mut Worker,
) -> Result<u64> {
    let mut count = CountSink::default();
    let mut stream = Stream::new(words, text, worker, &mut count, 0, 1).of_fragments();
    scan(fragments, text, known.start, FIRST_ROOM, &mut stream);
    stream.finish()?;
    debug_assert_eq!(stream.open(), Some(known.end), "the same units as before");
    Ok(count.0)
}

/// Encodes the whole part that begins at `chunk`, and passes on what is after the first `passed` tokens; answers where
/// it ends. None, and nothing passed on, if it is open.
pub(super) fn encode_rest<S: Sink>(
    splitter: Splitter,
    words: Words<'_>,
    text: &str,
    chunk: usize,
    passed: u64,
    worker: &mut Worker,
    sink: &mut S,
) -> Result<Option<usize>> {
    let (mut starts, mut ends) = ([0], [0]);
    splitter.fill_spans(&text[chunk..], 0, &mut starts, &mut ends);
    let end = chunk + ends[0] as usize;
    let Worker { cache, scratch } = worker;
    let lookup = cache.prefetch(text.as_bytes(), chunk, end, 0, false);
    let miss = |range, out: &mut _| words.encode(text, range, false, scratch, out);
    let found = cache.resolve(lookup, text.as_bytes(), miss)?;
    if words.is_context_dependent(found, S::TRACKED) {
        return Ok(None);
    }
    Rest { sink, passed }.plain_word(found, chunk, 0);
    Ok(Some(end))
}

/// Whether what is between blanks never has more than `limit` bytes; with just as many it may be told to have more.
fn has_short_chunks(text: &[u8], limit: usize, begins_part: impl Fn(u8) -> bool) -> bool {
    let mut rest = text;
    while rest.len() > limit {
        let Some(blank) = rest[..limit].iter().rposition(|&byte| begins_part(byte)) else { return false };
        rest = &rest[blank + 1..];
    }
    true
}

/// Where the part begins that the unit at `fragment` goes on with, or that begins there; with the blanks before it, unless
/// parts `has_gaps` between them.
pub(super) fn chunk_start(
    text: &[u8],
    fragment: usize,
    has_gaps: bool,
    begins_part: impl Fn(u8) -> bool,
) -> usize {
    if begins_part(text[fragment]) {
        return fragment;
    }
    let word = text[..fragment].iter().rposition(|&byte| begins_part(byte)).map_or(0, |blank| blank + 1);
    let blanks = text[..word].iter().rev().take_while(|&&byte| begins_part(byte)).count();
    if has_gaps { word } else { word - blanks }
}

/// Passes on what comes after some tokens that have come before.
pub(super) struct Rest<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) passed: u64,
}

impl<S: Sink> Rest<'_, S> {
    fn rest<'f>(&mut self, found: CachedTokens<'f>) -> CachedTokens<'f> {
        let passed = self.passed.min(found.ids.len() as u64);
        self.passed -= passed;
        let CachedTokens { ids, spans } = found;
        let passed = passed as usize;
        CachedTokens { ids: &ids[passed..], spans: spans.map(|spans| &spans[2 * passed..]) }
    }
}

impl<S: Sink> Sink for Rest<'_, S> {
    const TRACKED: bool = S::TRACKED;

    fn word(&mut self, found: CachedTokens<'_>, text: &Normalized<'_>, start: usize, end: usize, word: u32) {
        let rest = self.rest(found);
        self.sink.word(rest, text, start, end, word);
    }

    fn added(&mut self, id: u32, text: &Normalized<'_>, start: usize, end: usize, word: u32) {
        self.sink.added(id, text, start, end, word);
    }

    fn plain_word(&mut self, found: CachedTokens<'_>, start: usize, word: u32) {
        let rest = self.rest(found);
        self.sink.plain_word(rest, start, word);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scan::spaces::is_blank;

    proptest! {
        #[test]
        fn has_short_chunks_matches_naive(text in "[ab \t\n]{0,20}", limit in 1..6usize) {
            let longest = text.split([' ', '\t', '\n']).map(str::len).max().unwrap_or(0);
            let is_short = has_short_chunks(text.as_bytes(), limit, is_blank);
            prop_assert!(!is_short || longest <= limit);
            prop_assert!(is_short || longest >= limit);
        }

        #[test]
        fn chunk_start_matches_naive(text in "[ab \t\n]{1,20}", at: prop::sample::Index, has_gaps: bool) {
            let fragment = at.index(text.len());
            let is_blank_at = |at: usize| matches!(text.as_bytes()[at], b' ' | b'\t' | b'\n');
            let mut start = fragment;
            while start > 0 && !is_blank_at(fragment) && !is_blank_at(start - 1) {
                start -= 1;
            }
            while start > 0 && !is_blank_at(fragment) && !has_gaps && is_blank_at(start - 1) {
                start -= 1;
            }
            prop_assert_eq!(chunk_start(text.as_bytes(), fragment, has_gaps, is_blank), start);
        }
    }
}
