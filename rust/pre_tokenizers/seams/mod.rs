//! The seams of a pre-tokenizer, derived from its stages.
//!
//! A stage *keeps* a place between two characters if its spans of the text before the place and of the text after it are its spans of
//! the whole text, but for a border at the place. It *cuts* the place if there is a border in the whole text too. A place that one stage
//! cuts and all stages before it keep is a seam, since the stages after it see the two texts apart.
//!
//! Stages that look at single characters keep every place. For a pattern, its automaton says which places it keeps, whatever was read
//! before ([`Places`]). A stage after a mapping of bytes to characters is asked about the last
//! mapped byte of one character and the first of the next.

mod search;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{Behavior, ByteLevel, PreTokenizer};
use crate::scan::Splitter;
use crate::scan::classes::{NUMERIC, PUNCTUATION, SPACE, WORD};
use crate::scan::seams::{BLANK, CAPITAL, KINDS, Letters, SMALL, Seams, UNCASED, Words};
#[cfg(doc)]
use crate::structures::regex::Places;
use crate::structures::regex::{AtomSet, Pattern, Place, Whole};
use search::{Search, Sets};

/// What a stage does at a place between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// Cutting there may change other spans.
    Changes,
    Keeps,
    Cuts,
}

/// The answers of all stages together, by the kinds of the two characters.
type Table = [[Answer; KINDS]; KINDS];

impl PreTokenizer {
    /// The seams of the pre-tokenizer; none if there are none, or if a stage does more than cut and map bytes.
    pub(crate) fn seams(&self) -> Option<Seams> {
        let mut derived = Derived {
            tables: [[[Answer::Keeps; KINDS]; KINDS]; 2],
            words: Words { alone: Letters::All, after_space: Letters::All },
            is_mapped: false,
        };
        derived.add(self)?;
        let [always, after_ink] = derived.tables;
        let begins_words = after_ink.iter().any(|row| row[BLANK] == Answer::Cuts);
        let is_seam = |left: usize, right: usize, is_after_ink: bool| {
            // A space stays with the word after it, or every word would be two parts.
            let is_kept = left == BLANK && begins_words;
            !is_kept && (if is_after_ink { after_ink } else { always })[left][right] == Answer::Cuts
        };
        Seams::new(is_seam, derived.words)
    }
}

struct Derived {
    /// After any character, and after ink.
    tables: [Table; 2],
    /// What words no stage cuts.
    words: Words,
    /// The stages after see mapped bytes.
    is_mapped: bool,
}

impl Derived {
    /// Adds a stage; none if it does more than cut and map bytes.
    fn add(&mut self, stage: &PreTokenizer) -> Option<()> {
        match stage {
            PreTokenizer::Sequence(stages) => return stages.iter().try_for_each(|stage| self.add(stage)),
            PreTokenizer::Split(split) => match split.as_pattern() {
                Some(pattern) => self.ask(&Search::Pattern(pattern), split.behavior(), split.invert()),
                None => self.change_all(),
            },
            PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, use_regex, .. })
                if !self.is_mapped =>
            {
                if *use_regex {
                    let (gpt2, _) = Splitter::PATTERNS[0];
                    self.ask(&Search::Pattern(Pattern::new(gpt2).ok()?), Behavior::Isolated, false);
                }
                self.is_mapped = true;
            }
            PreTokenizer::Whitespace => {
                self.ask(&Search::Class(SPACE), Behavior::Removed, false);
                self.ask(&Search::Class(WORD), Behavior::Contiguous, false);
            }
            PreTokenizer::WhitespaceSplit => self.ask(&Search::Class(SPACE), Behavior::Removed, false),
            PreTokenizer::Bert => {
                self.ask(&Search::Class(SPACE), Behavior::Removed, false);
                self.ask(&Search::Class(PUNCTUATION), Behavior::Isolated, false);
            }
            PreTokenizer::Digits { individual_digits } => {
                let behavior = if *individual_digits { Behavior::Isolated } else { Behavior::Contiguous };
                self.ask(&Search::Class(NUMERIC), behavior, false);
            }
            PreTokenizer::Punctuation { behavior } => self.ask(&Search::Class(PUNCTUATION), *behavior, false),
            PreTokenizer::CharDelimiterSplit { delimiter } => {
                self.ask(&Search::Char(*delimiter), Behavior::Removed, false);
            }
            PreTokenizer::UnicodeScripts | PreTokenizer::FixedLength { .. } => self.change_all(),
            PreTokenizer::ByteLevel(_) | PreTokenizer::Metaspace(_) | PreTokenizer::Custom(_) => return None,
        }
        Some(())
    }

    /// Adds a stage that may change spans wherever a text is cut.
    fn change_all(&mut self) {
        let places = self.tables.iter_mut().flatten().flatten();
        places.filter(|answer| **answer == Answer::Keeps).for_each(|answer| *answer = Answer::Changes);
        self.words = Words::default();
    }

    /// Adds the answers of a search whose matches `behavior` treats.
    fn ask(&mut self, search: &Search, behavior: Behavior, invert: bool) {
        let sets = if self.is_mapped { Sets::of_bytes(search) } else { Sets::of_chars(search) };
        let answer = |places: Option<BTreeSet<Place>>| match places {
            None => Answer::Changes,
            Some(places) => {
                let answers = places.iter().map(|place| behavior.answer(invert, *place));
                answers.min().unwrap_or(Answer::Keeps)
            }
        };
        for (table, before) in self.tables.iter_mut().zip(sets.before) {
            let places = search.places(before);
            for (row, &left) in table.iter_mut().zip(&sets.left) {
                for (known, &right) in row.iter_mut().zip(&sets.right) {
                    if *known == Answer::Keeps {
                        *known = answer(places.as_ref().and_then(|places| places.between(left, right)));
                    }
                }
            }
        }
        let [blank, small, capital] = [BLANK, SMALL, CAPITAL].map(|kind| sets.left[kind]);
        let letters = sets.left[SMALL..=UNCASED].iter().fold(0, |all, atoms| all | atoms);
        let is_kept = |sets: &[AtomSet]| {
            let keeps = |whole: Whole| {
                let drops = behavior == Behavior::Removed;
                !(drops && if invert { whole.is_gap } else { whole.is_match })
            };
            search.whole(sets).is_some_and(keeps)
        };
        let kept = |all: bool, small: bool| match (all, small) {
            (true, _) => Letters::All,
            (false, true) => Letters::Small,
            (false, false) => Letters::None,
        };
        let alone = kept(is_kept(&[letters, letters]), is_kept(&[small | capital, small]));
        let after_space =
            kept(is_kept(&[blank, letters, letters]), is_kept(&[blank, small | capital, small]));
        self.words.alone = self.words.alone.min(alone);
        self.words.after_space = self.words.after_space.min(after_space);
    }
}

impl Behavior {
    fn answer(self, invert: bool, place: Place) -> Answer {
        let joins = |before_match: bool| self.joins(place.after_match != invert, before_match != invert);
        let may_join = match place.before_match {
            Some(before_match) => joins(before_match),
            None => joins(true) || joins(false),
        };
        if place.is_border && !may_join { Answer::Cuts } else { Answer::Keeps }
    }
}
