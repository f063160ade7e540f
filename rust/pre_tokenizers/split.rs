//! Cuts text at a pattern, with five ways to treat the matches.

use std::ops::{ControlFlow, Range};

use crate::Result;
use crate::scan::Splitter;
use crate::structures::finder::{Finder, TextPattern};
use crate::structures::regex::Pattern;

/// The treatment of the text that a pattern matches.
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

    /// True if a piece belongs to the span of the piece before it. `was_match` is true if the piece before is a match, `is_match` if the piece
    /// itself is one.
    pub(super) fn joins(self, was_match: bool, is_match: bool) -> bool {
        match self {
            Self::Removed | Self::Isolated => false,
            Self::Contiguous => is_match == was_match,
            Self::MergedWithPrevious => is_match && !was_match,
            Self::MergedWithNext => was_match && !is_match,
        }
    }

    /// Calls `found` with the spans of a text of `len` bytes; matches go through
    /// [`Pieces::push_match`] from left to right, then [`Pieces::finish`]. With `invert`, matches and the text between them change
    /// roles.
    pub fn pieces<F: FnMut(Range<usize>)>(self, len: usize, invert: bool, found: F) -> Pieces<F> {
        Pieces { behavior: self, len, invert, found, done: 0, open: None }
    }
}

/// Matches, and the texts between them, on their way to spans.
pub struct Pieces<F> {
    behavior: Behavior,
    len: usize,
    invert: bool,
    found: F,
    /// End of the last match.
    done: usize,
    /// A span that the next piece may join, and true if the last piece of the span is a match.
    open: Option<(Range<usize>, bool)>,
}

impl<F: FnMut(Range<usize>)> Pieces<F> {
    /// Takes the next match.
    #[inline]
    pub fn push_match(&mut self, matched: Range<usize>) {
        if self.done < matched.start {
            self.push(self.done..matched.start, self.invert);
        }
        self.done = matched.end;
        self.push(matched, !self.invert);
    }

    /// Takes the text after the last match.
    #[inline]
    pub fn finish(mut self) {
        if self.done < self.len {
            self.push(self.done..self.len, self.invert);
        }
        if let Some((span, _)) = self.open {
            (self.found)(span);
        }
    }

    #[inline]
    fn push(&mut self, piece: Range<usize>, is_match: bool) {
        match self.behavior {
            Behavior::Removed if is_match => {}
            Behavior::Removed | Behavior::Isolated => (self.found)(piece),
            _ => match &mut self.open {
                Some((span, was_match)) if self.behavior.joins(*was_match, is_match) => {
                    span.end = piece.end;
                    *was_match = is_match;
                }
                open => {
                    if let Some((span, _)) = open.replace((piece, is_match)) {
                        (self.found)(span);
                    }
                }
            },
        }
    }
}

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

    /// The pattern as a regular expression; none if a literal cannot be spelled as one.
    pub(super) fn as_pattern(&self) -> Option<Pattern> {
        if let Search::Finder(finder) = &self.search
            && let Some(pattern) = finder.compiled()
        {
            return Some(pattern.clone());
        }
        match &self.pattern {
            TextPattern::Literal(text) => Pattern::literal(text).ok(),
            TextPattern::Regex(regex) => Pattern::new(regex).ok(),
        }
    }

    /// The pattern.
    pub fn pattern(&self) -> &TextPattern {
        &self.pattern
    }

    /// The treatment of a match.
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

    /// Calls `found` with the ranges of `piece` between cuts; a match of nothing is an empty range.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if the regular expression gives up on the text.
    pub fn for_each_span(&self, piece: &str, found: &mut dyn FnMut(Range<usize>)) -> Result<()> {
        let mut pieces = self.behavior.pieces(piece.len(), self.invert, found);
        match &self.search {
            Search::Finder(finder) => {
                let _ = finder.for_each(piece, &mut |matched| {
                    pieces.push_match(matched);
                    ControlFlow::Continue(())
                })?;
            }
            Search::Scanner(splitter) => {
                splitter.for_each_span(piece, |start, end| pieces.push_match(start..end));
            }
        }
        pieces.finish();
        Ok(())
    }

    /// True if a piece that holds `c` may be cut or dropped; false only if a piece of such characters alone has no match, and stays one span.
    pub fn may_cut(&self, c: char) -> bool {
        let drops_gaps = self.behavior == Behavior::Removed && self.invert;
        drops_gaps
            || match &self.search {
                Search::Finder(finder) => finder.may_match(c),
                Search::Scanner(_) => true,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(behavior: Behavior, invert: bool) -> Vec<&'static str> {
        let text = "a--b-c";
        let mut out = Vec::new();
        let mut pieces = behavior.pieces(text.len(), invert, |span| out.push(span));
        for matched in [1..2, 2..3, 4..5] {
            pieces.push_match(matched);
        }
        pieces.finish();
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
