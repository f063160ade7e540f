//! Cuts text at a pattern, with five ways to treat the matches.

use std::ops::{ControlFlow, Range};

use crate::Result;
use crate::scan::Splitter;
use crate::structures::finder::{Finder, TextPattern};

/// What happens to the text that a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// It is dropped.
    Removed,
    /// Each match is its own span.
    Isolated,
    /// A match ends the span before it.
    MergedWithPrevious,
    /// A match starts the span after it.
    MergedWithNext,
    /// Neighbouring matches form one span.
    Contiguous,
}

impl Behavior {
    /// All behaviours with their names in Python and in files.
    pub const NAMES: [(Self, &'static str, &'static str); 5] = [
        (Self::Removed, "removed", "Removed"),
        (Self::Isolated, "isolated", "Isolated"),
        (Self::MergedWithPrevious, "merged_with_previous", "MergedWithPrevious"),
        (Self::MergedWithNext, "merged_with_next", "MergedWithNext"),
        (Self::Contiguous, "contiguous", "Contiguous"),
    ];

    /// Cuts a text of `len` bytes. `matches` are ascending; with `invert`, matches and the text between them change
    /// roles.
    pub fn apply(
        self,
        len: usize,
        matches: impl Iterator<Item = Range<usize>>,
        invert: bool,
        out: &mut Vec<Range<usize>>,
    ) {
        let mut pieces: Vec<(Range<usize>, bool)> = Vec::new();
        let mut end = 0;
        for found in matches {
            if end < found.start {
                pieces.push((end..found.start, invert));
            }
            end = found.end;
            pieces.push((found, !invert));
        }
        if end < len {
            pieces.push((end..len, invert));
        }
        let start = out.len();
        match self {
            Self::Removed => out.extend(pieces.into_iter().filter(|piece| !piece.1).map(|piece| piece.0)),
            Self::Isolated => out.extend(pieces.into_iter().map(|piece| piece.0)),
            Self::Contiguous => {
                join(pieces.into_iter(), |is_match, previous| is_match == previous, out, start);
            }
            Self::MergedWithPrevious => {
                join(pieces.into_iter(), |is_match, previous| is_match && !previous, out, start);
            }
            Self::MergedWithNext => {
                join(pieces.into_iter().rev(), |is_match, previous| is_match && !previous, out, start);
                out[start..].reverse();
            }
        }
    }
}

/// Appends spans; joins a span to the one before if `joins(is_match, previous_is_match)`.
fn join(
    pieces: impl Iterator<Item = (Range<usize>, bool)>,
    joins: impl Fn(bool, bool) -> bool,
    out: &mut Vec<Range<usize>>,
    start: usize,
) {
    let mut previous = false;
    for (piece, is_match) in pieces {
        match out[start..].last_mut() {
            Some(last) if joins(is_match, previous) => {
                *last = last.start.min(piece.start)..last.end.max(piece.end);
            }
            _ => out.push(piece),
        }
        previous = is_match;
    }
}

/// Spans in a block.
const ROOM: usize = 128;

/// A compiled splitting rule.
#[derive(Clone, Debug)]
pub struct Split {
    pattern: TextPattern,
    behavior: Behavior,
    invert: bool,
    search: Search,
}

#[derive(Clone, Debug)]
enum Search {
    Finder(Finder),
    /// A published pattern, which has a scanner without gaps.
    Scanner(Splitter),
}

impl Split {
    /// Compiles the rule.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if the pattern does not compile.
    pub fn new(pattern: TextPattern, behavior: Behavior, invert: bool) -> Result<Self> {
        let splitter = match &pattern {
            TextPattern::Regex(regex) => {
                Splitter::from_pattern(regex).filter(|splitter| splitter.is_gapless())
            }
            TextPattern::Literal(_) => None,
        };
        let search = match splitter {
            Some(splitter) => Search::Scanner(splitter),
            None => Search::Finder(Finder::new(&pattern)?),
        };
        Ok(Self { pattern, behavior, invert, search })
    }

    /// The pattern.
    pub fn pattern(&self) -> &TextPattern {
        &self.pattern
    }

    /// What happens to a match.
    pub fn behavior(&self) -> Behavior {
        self.behavior
    }

    /// True if matches and the text between them change roles.
    pub fn invert(&self) -> bool {
        self.invert
    }

    /// The scanner whose spans are the spans of this rule, if there is one.
    pub fn scanner(&self) -> Option<Splitter> {
        match &self.search {
            Search::Scanner(splitter) if self.behavior == Behavior::Isolated => Some(*splitter),
            _ => None,
        }
    }

    /// True if every match, and all text between two matches, is a span of its own.
    pub fn isolates(&self) -> bool {
        self.behavior == Behavior::Isolated
    }

    /// Calls `found` with the starts and ends of many spans of an isolating rule at a time, from left to right; no span is
    /// empty. The obvious twin is [`Self::cut`].
    ///
    /// # Errors
    /// Those of [`Self::cut`].
    pub fn for_each_block(&self, text: &str, mut found: impl FnMut(&[u32], &[u32])) -> Result<()> {
        let finder = match &self.search {
            Search::Scanner(splitter) => {
                splitter.for_each_block(text, found);
                return Ok(());
            }
            Search::Finder(finder) => finder,
        };
        let (mut starts, mut ends, mut count) = ([0; ROOM], [0; ROOM], 0);
        let mut push = |span: Range<usize>| {
            (starts[count], ends[count]) = (span.start as u32, span.end as u32);
            count += usize::from(!span.is_empty());
            if count == ROOM {
                found(&starts, &ends);
                count = 0;
            }
        };
        let mut done = 0;
        let _ = finder.for_each(text, |matched| {
            if done < matched.start {
                push(done..matched.start);
            }
            done = matched.end;
            push(matched);
            ControlFlow::Continue(())
        })?;
        push(done..text.len());
        found(&starts[..count], &ends[..count]);
        Ok(())
    }

    /// Appends the ranges of `piece` between cuts; a match of nothing is an empty range.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if the regular expression gives up on the text.
    pub fn cut(&self, piece: &str, out: &mut Vec<Range<usize>>) -> Result<()> {
        let matches = match &self.search {
            Search::Finder(finder) => finder.find_all(piece)?,
            Search::Scanner(splitter) => {
                let mut matches = Vec::new();
                splitter.for_each_span(piece, |start, end| matches.push(start..end));
                matches
            }
        };
        self.behavior.apply(piece.len(), matches.into_iter(), self.invert, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_match_naive(text in "[ab1é \n]{0,300}", invert: bool) {
            for pattern in ["a", "a*", "[a1]+", r"\b", "b(?=1é)", r" ?\w+|\s+(?!\S)|\s+"] {
                let pattern = TextPattern::Regex(pattern.to_owned());
                let split = Split::new(pattern, Behavior::Isolated, invert).expect("valid");
                let (mut fast, mut naive) = (Vec::new(), Vec::new());
                split.cut(&text, &mut naive).expect("a short text");
                naive.retain(|span| !span.is_empty());
                let found = |starts: &[u32], ends: &[u32]| {
                    fast.extend(starts.iter().zip(ends).map(|(&start, &end)| start as usize..end as usize));
                };
                split.for_each_block(&text, found).expect("a short text");
                prop_assert_eq!(&fast, &naive);
            }
        }
    }

    fn pieces(behavior: Behavior, invert: bool) -> Vec<&'static str> {
        let text = "a--b-c";
        let mut out = Vec::new();
        behavior.apply(text.len(), [1..2, 2..3, 4..5].into_iter(), invert, &mut out);
        out.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn each_behavior_treats_matches_its_own_way() {
        assert_eq!(pieces(Behavior::Removed, false), ["a", "b", "c"]);
        assert_eq!(pieces(Behavior::Removed, true), ["-", "-", "-"]);
        assert_eq!(pieces(Behavior::Isolated, false), ["a", "-", "-", "b", "-", "c"]);
        assert_eq!(pieces(Behavior::Contiguous, false), ["a", "--", "b", "-", "c"]);
        assert_eq!(pieces(Behavior::MergedWithPrevious, false), ["a-", "-", "b-", "c"]);
        assert_eq!(pieces(Behavior::MergedWithNext, false), ["a", "-", "-b", "-c"]);
    }
}
