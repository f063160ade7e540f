//! The alignment of a rewritten text, as runs of characters instead of one range per byte.
//!
//! Most of a normalized text equals the original, shifted by some bytes. So an alignment is a list of runs of 12 bytes
//! each: two per word where spaces change, and a single one for a text that does not change. Tokens ask for offsets
//! from left to right. The run of the last answer is remembered, so a lookup takes a step or two and no search.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

/// Half-open byte range of the original text.
pub type ByteRange = (u32, u32);

/// In place of a length: each character of the run stands for as many original bytes as it has itself.
const COPY: u32 = u32::MAX;

/// Runs that a lookup steps over before it searches.
const STEPS: usize = 8;

/// A run of characters with one rule.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// First byte of the run in the rewritten text.
    at: u32,
    /// First original byte of the run.
    start: u32,
    /// Length of the original range that every character of the run stands for, or [`COPY`].
    len: u32,
}

/// The alignment of a rewritten text, or of a part of one.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    /// Ascending; the first run begins at or before the text.
    list: Cow<'a, [Run]>,
    /// Position of the text in the coordinates of the runs.
    base: u32,
    /// Start of the text's original.
    origin: u32,
    /// Index of the run of the last lookup.
    latest: Cell<usize>,
}

impl Runs<'_> {
    /// Number of runs.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Start of the text's original.
    pub(super) fn origin(&self) -> u32 {
        self.origin
    }

    /// The original bytes that `range` of `text`, the text of this alignment, stands for.
    pub(super) fn original(&self, text: &str, range: Range<usize>) -> ByteRange {
        let start = if range.start < text.len() { self.bounds(text, range.start).0 } else { 0 };
        match range.end.checked_sub(1) {
            Some(last) if last < text.len() => (start, self.bounds(text, last).1),
            _ => (start, start),
        }
    }

    /// The original bytes of the character that holds byte `at` of `text`.
    fn bounds(&self, text: &str, at: usize) -> ByteRange {
        let run = self.list[self.find(at)];
        if run.len != COPY {
            return (run.start, run.start + run.len);
        }
        let place = |at: usize| run.start + (self.base + at as u32 - run.at);
        (place(text.floor_char_boundary(at)), place(text.ceil_char_boundary(at + 1)))
    }

    /// Index of the run that holds byte `at` of the text.
    fn find(&self, at: usize) -> usize {
        let at = self.base + at as u32;
        let latest = self.latest.get();
        let mut found = latest;
        if self.list[latest].at <= at {
            let ahead = self.list[latest + 1..].iter().take(STEPS);
            found += ahead.take_while(|run| run.at <= at).count();
        }
        let is_found = self.list[found].at <= at && self.list.get(found + 1).is_none_or(|next| at < next.at);
        if !is_found {
            found = self.list.partition_point(|run| run.at <= at).saturating_sub(1);
        }
        self.latest.set(found);
        found
    }

    /// The alignment of the text from byte `at` on, whose original starts at `origin`.
    pub(super) fn from(&self, at: usize, origin: u32) -> Runs<'_> {
        let latest = Cell::new(if at == 0 { 0 } else { self.find(at) });
        Runs { list: Cow::Borrowed(&self.list), base: self.base + at as u32, origin, latest }
    }

    /// Appends the alignment of `range` to `out`.
    pub(super) fn copy_to(&self, range: Range<usize>, out: &mut RunsBuilder) {
        if range.is_empty() {
            return;
        }
        let (mut at, end) = (self.base + range.start as u32, self.base + range.end as u32);
        let first = self.find(range.start);
        for (index, run) in (first..).zip(&self.list[first..]) {
            let until = self.list.get(index + 1).map_or(end, |next| next.at.min(end));
            match run.len {
                COPY => out.copy(until - at, run.start + (at - run.at)),
                len => out.push(until - at, (run.start, run.start + len)),
            }
            if until == end {
                self.latest.set(index);
                break;
            }
            at = until;
        }
    }
}

/// Runs under construction.
#[derive(Debug, Default)]
pub(super) struct RunsBuilder {
    runs: Vec<Run>,
    /// Bytes of the rewritten text so far.
    len: u32,
}

impl RunsBuilder {
    /// Appends characters of `len` bytes that copy the original from `start` on.
    pub(super) fn copy(&mut self, len: u32, start: u32) {
        let is_next = |run: &Run| run.len == COPY && run.start + (self.len - run.at) == start;
        if len != 0 && !self.runs.last().is_some_and(is_next) {
            self.runs.push(Run { at: self.len, start, len: COPY });
        }
        self.len += len;
    }

    /// Appends characters of `len` bytes, all of which stand for `range`.
    pub(super) fn push(&mut self, len: u32, range: ByteRange) {
        let is_same = |run: &Run| run.len == range.1 - range.0 && run.start == range.0;
        if len != 0 && !self.runs.last().is_some_and(is_same) {
            self.runs.push(Run { at: self.len, start: range.0, len: range.1 - range.0 });
        }
        self.len += len;
    }

    /// Appends one character of `len` bytes that stands for `range`.
    pub(super) fn push_char(&mut self, len: u32, range: ByteRange) {
        // A character as long as its original extends a run of copies.
        if range.1 - range.0 == len { self.copy(len, range.0) } else { self.push(len, range) }
    }

    /// The finished alignment of a text whose original starts at `origin`.
    pub(super) fn finish<'b>(mut self, origin: u32) -> Runs<'b> {
        if self.runs.is_empty() {
            self.runs.push(Run { at: 0, start: origin, len: COPY });
        }
        Runs { list: Cow::Owned(self.runs), base: 0, origin, latest: Cell::new(0) }
    }
}
