//! Units of parts: most of what is behind a blank is a word with punctuation before or behind it, and both are met again
//! in other company. So ids alone are found unit by unit where that makes no difference.
//!
//! At a border of units both characters stay what they are, whatever is left and right of them, and no piece reaches across.
//! What is before it has no part in the decisions behind it, but by rounding: a unit in which some are so close to a tie
//! that this may change them is taken with what is before it, as parts are that are open.

use super::{Pipeline, Splitter};
use crate::engine::{Found, Sink};
use crate::normalized::Normalized;
use crate::scan::spaces::is_blank;

impl Pipeline {
    /// What finds units where `splitter` finds parts, if `text` may be cut into units.
    pub(super) fn units_of(&self, splitter: Splitter, text: &str) -> Option<Splitter> {
        let units = match splitter {
            Splitter::Blanks => Splitter::BlankUnits,
            Splitter::BlankSplit => Splitter::BlankSplitUnits,
            _ => return None,
        };
        has_blanks(text.as_bytes(), self.known_of_parts().unit_limit).then_some(units)
    }
}

/// Whether there is a blank in all so many bytes of `text`; in the first and last ones, too, if there are more.
fn has_blanks(text: &[u8], bytes: usize) -> bool {
    let mut rest = text;
    while rest.len() > bytes {
        let Some(blank) = memchr::memrchr3(b' ', b'\n', b'\r', &rest[..bytes]) else { return false };
        rest = &rest[blank + 1..];
    }
    bytes > 0
}

/// Where the part begins that the unit at `unit` goes on with, or that begins there.
pub(super) fn part_start(text: &[u8], unit: usize) -> usize {
    if unit < text.len() && is_blank(text[unit]) {
        return unit;
    }
    memchr::memrchr3(b' ', b'\n', b'\r', &text[..unit]).map_or(0, |blank| blank + 1)
}

/// Passes on what comes behind some tokens that have come before.
pub(super) struct Rest<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) passed: u64,
}

impl<S: Sink> Rest<'_, S> {
    fn rest<'f>(&mut self, found: Found<'f>) -> Found<'f> {
        let passed = self.passed.min(found.ids.len() as u64);
        self.passed -= passed;
        let Found { ids, spans } = found;
        let passed = passed as usize;
        Found { ids: &ids[passed..], spans: spans.map(|spans| &spans[2 * passed..]) }
    }
}

impl<S: Sink> Sink for Rest<'_, S> {
    const TRACKED: bool = S::TRACKED;

    fn word(&mut self, found: Found<'_>, text: &Normalized<'_>, start: usize, end: usize, word: u32) {
        let rest = self.rest(found);
        self.sink.word(rest, text, start, end, word);
    }

    fn added(&mut self, id: u32, text: &Normalized<'_>, start: usize, end: usize, word: u32) {
        self.sink.added(id, text, start, end, word);
    }

    fn plain_word(&mut self, found: Found<'_>, start: usize, word: u32) {
        let rest = self.rest(found);
        self.sink.plain_word(rest, start, word);
    }
}
