//! Fragments: chunks cut between letters and punctuation, for ids alone.
//!
//! Most chunks are a word with punctuation before or after it, and both repeat with other neighbours. At the cut between two
//! fragments the letter becomes one ASCII letter and the punctuation is unchanged, beside any neighbours. No piece and no added
//! token crosses the cut. So the best path of one fragment does not depend on the other, except through rounding, which grows with
//! the sum of scores. The closest decision in a fragment is therefore compared with the rounding error after [`MOST_PIECES`] pieces.
//! If the error could turn the decision, the fragment counts as context-dependent.

use std::ops::Range;

use super::chunk_stages::ChunkStages;
use super::facts::GROWTH;
use crate::cache::CachedTokens;
use crate::models::unigram::MOST_PIECES;
use crate::normalized::Normalized;
use crate::scan::Splitter;
use crate::sinks::Sink;

/// Bytes of the longest chunk that is cut into fragments.
const LONGEST: usize = MOST_PIECES as usize / GROWTH;

/// The scanner that cuts `text` into fragments where `splitter` cuts it into chunks; none if fragments are turned off, or not
/// exact for a chunk of `text`.
pub(super) fn fragment_splitter(
    splitter: Splitter,
    stages: &ChunkStages<'_>,
    has_isolated: bool,
    text: &str,
) -> Option<Splitter> {
    let fragments = match splitter {
        Splitter::Spaces if stages.facts.cuts_at_punctuation => Splitter::SpaceFragments,
        Splitter::Blanks if stages.facts.cuts_at_punctuation => Splitter::BlankFragments,
        Splitter::BlankSplit if stages.facts.cuts_at_punctuation => Splitter::BlankSplitFragments,
        _ if has_isolated => splitter,
        _ => return None,
    };
    has_short_chunks(text.as_bytes(), LONGEST, |byte| stages.is_blank(byte.into())).then_some(fragments)
}

/// True if no text between two blanks has more than `limit` bytes; may be false if one has just `limit` bytes.
fn has_short_chunks(text: &[u8], limit: usize, is_blank: impl Fn(u8) -> bool) -> bool {
    let mut rest = text;
    while rest.len() > limit {
        let Some(blank) = rest[..limit].iter().rposition(|&byte| is_blank(byte)) else { return false };
        rest = &rest[blank + 1..];
    }
    true
}

/// Start of the chunk that holds the fragment at `fragment`.
pub(super) fn chunk_start(text: &[u8], fragment: usize, stages: &ChunkStages<'_>) -> usize {
    start_before(text, fragment, stages.facts.has_gaps, |byte| stages.is_blank(byte.into()))
}

/// The same for any kind of blanks; a chunk begins with the blanks before it unless chunks `have_gaps` between them.
fn start_before(text: &[u8], fragment: usize, have_gaps: bool, is_blank: impl Fn(u8) -> bool) -> usize {
    if is_blank(text[fragment]) {
        return fragment;
    }
    let word = text[..fragment].iter().rposition(|&byte| is_blank(byte)).map_or(0, |blank| blank + 1);
    let blanks = text[..word].iter().rev().take_while(|&&byte| is_blank(byte)).count();
    if have_gaps { word } else { word - blanks }
}

/// A sink that leaves out the first `skip` tokens, which another way has emitted already.
pub(super) struct SinkAfter<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) skip: u64,
}

impl<S: Sink> SinkAfter<'_, S> {
    fn rest<'t>(&mut self, tokens: CachedTokens<'t>) -> CachedTokens<'t> {
        let skipped = self.skip.min(tokens.ids.len() as u64);
        self.skip -= skipped;
        let CachedTokens { ids, spans } = tokens;
        let skipped = skipped as usize;
        CachedTokens { ids: &ids[skipped..], spans: spans.map(|spans| &spans[2 * skipped..]) }
    }
}

impl<S: Sink> Sink for SinkAfter<'_, S> {
    const TRACKED: bool = S::TRACKED;

    fn wants_texts(&self) -> bool {
        self.sink.wants_texts()
    }

    fn pre_token(
        &mut self,
        tokens: CachedTokens<'_>,
        text: &Normalized<'_>,
        range: Range<usize>,
        word_id: u32,
    ) {
        let rest = self.rest(tokens);
        self.sink.pre_token(rest, text, range, word_id);
    }

    fn added_token(&mut self, id: u32, text: &Normalized<'_>, range: Range<usize>, word_id: u32) {
        self.sink.added_token(id, text, range, word_id);
    }

    fn chunk(&mut self, tokens: CachedTokens<'_>, chunk: Range<usize>, word_id: u32) {
        let rest = self.rest(tokens);
        // Tokens without spans follow one another from the beginning of the chunk, but the first ones are left out.
        let begins_later = rest.spans.is_none() && rest.ids.len() < tokens.ids.len();
        self.sink.chunk(rest, if begins_later { 0..0 } else { chunk }, word_id);
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
        fn start_before_matches_naive(text in "[ab \t\n]{1,20}", at: prop::sample::Index, has_gaps: bool) {
            let fragment = at.index(text.len());
            let is_blank_at = |at: usize| matches!(text.as_bytes()[at], b' ' | b'\t' | b'\n');
            let mut start = fragment;
            while start > 0 && !is_blank_at(fragment) && !is_blank_at(start - 1) {
                start -= 1;
            }
            while start > 0 && !is_blank_at(fragment) && !has_gaps && is_blank_at(start - 1) {
                start -= 1;
            }
            prop_assert_eq!(start_before(text.as_bytes(), fragment, has_gaps, is_blank), start);
        }
    }
}
