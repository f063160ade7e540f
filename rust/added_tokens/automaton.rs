//! One automaton that finds added tokens, and the matches of several as if they were one.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Input, Match, MatchKind, StartKind};

use crate::{Error, Result};

/// The search for the tokens of one layer.
#[derive(Debug)]
pub(super) struct Automaton {
    pub(super) search: AhoCorasick,
    patterns: Vec<Pattern>,
    pub(super) longest: usize,
    /// The characters of all texts that are looked for.
    pub(super) chars: HashSet<char>,
}

/// A token that an automaton looks for.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "options of the file format")]
pub(super) struct Pattern {
    pub(super) id: u32,
    pub(super) is_special: bool,
    pub(super) single_word: bool,
    pub(super) lstrip: bool,
    pub(super) rstrip: bool,
}

impl Automaton {
    /// Of patterns that look for the same text the first one counts. `None` if there is no text to look for.
    pub(super) fn new(patterns: Vec<(String, Pattern)>) -> Result<Option<Arc<Self>>> {
        let mut seen = HashSet::new();
        let is_new = patterns.iter().map(|(text, _)| !text.is_empty() && seen.insert(text.as_str()));
        let is_new: Vec<bool> = is_new.collect();
        let new = patterns.into_iter().zip(is_new).filter(|&(_, is_new)| is_new).map(|(pattern, _)| pattern);
        let (texts, patterns): (Vec<_>, Vec<_>) = new.unzip();
        if patterns.is_empty() {
            return Ok(None);
        }
        let search = AhoCorasickBuilder::new()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Both)
            .build(&texts)
            .map_err(|error| Error::InvalidOption {
                name: "added tokens",
                value: format!("{} tokens", patterns.len()),
                expected: format!("searchable by one automaton ({error})"),
            })?;
        let longest = texts.iter().map(String::len).max().unwrap_or_default();
        let chars = texts.iter().flat_map(|text| text.chars()).collect();
        Ok(Some(Arc::new(Self { search, patterns, longest, chars })))
    }

    pub(super) fn pattern(&self, found: &Match) -> &Pattern {
        &self.patterns[found.pattern().as_usize()]
    }
}

/// Merges the matches of several automata into the matches of one automaton of all their patterns.
pub(super) struct LeftmostLongest<'a> {
    /// Each automaton with its next match; `None` once it has no more.
    searches: Vec<(&'a Automaton, Option<Match>)>,
    text: &'a str,
}

impl<'a> LeftmostLongest<'a> {
    pub(super) fn new(automata: &'a [Arc<Automaton>], text: &'a str) -> Self {
        let searches = automata.iter().map(|automaton| (&**automaton, automaton.search.find(text)));
        Self { searches: searches.collect(), text }
    }
}

impl<'a> Iterator for LeftmostLongest<'a> {
    type Item = (Match, &'a Pattern);

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.searches.iter().filter_map(|&(automaton, found)| {
            let found = found?;
            Some((found, automaton.pattern(&found)))
        });
        let next = next.min_by_key(|(found, pattern)| (found.start(), Reverse(found.end()), pattern.id))?;
        let end = next.0.end();
        for (automaton, found) in &mut self.searches {
            // A match further on is still the leftmost one from `end` on.
            if found.is_some_and(|found| found.start() < end) {
                *found = automaton.search.find(Input::new(self.text).range(end..));
            }
        }
        Some(next)
    }
}
