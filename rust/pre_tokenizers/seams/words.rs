//! Words that no stage cuts: a chunk that is such a word, or a space and such a word, needs no search.

use super::answers::Answer;
use super::groups::{Characters, Group};
use super::stage::Stage;
use crate::pre_tokenizers::Behavior;
use crate::scan::seams::Kinds;
use crate::scan::seams::{MOST_WORDS, Words};
use crate::structures::regex::{AtomSet, Place};

/// Groups that are tried, the most frequent ones: each is asked about together with each other.
const TRIED: usize = 16;

/// A set of groups, one bit each.
type GroupSet = u128;

/// Words whose characters are of groups that no stage tells apart by cutting between them.
pub(super) fn words(stages: &[Stage], characters: &Characters<'_>) -> Words {
    let search = WordSearch { stages, characters };
    let mut tried: Vec<usize> =
        (0..characters.groups.len()).filter(|&group| characters.groups[group].facts.is_ink).collect();
    let weight = |group: usize| characters.groups[group].weight;
    tried.sort_by(|&one, &other| weight(other).sum().total_cmp(&weight(one).sum()));
    tried.truncate(TRIED);
    // At most four sets are kept. Letters first: words of symbols are short and few, so the cache holds them.
    tried.sort_by(|&one, &other| weight(other).letters().total_cmp(&weight(one).letters()));
    // Words of the other sets may begin with more characters, such as an opening quote, where no space stands before them.
    let (mut sets, mut unspaced, mut done) = (Vec::new(), Vec::new(), 0);
    for &seed in &tried {
        let mut rest: GroupSet = 1 << seed;
        if sets.len() == MOST_WORDS || done & rest != 0 || !search.are_kept(false, rest, rest) {
            continue;
        }
        for &group in &tried {
            let more = rest | 1 << group;
            if more != rest && search.are_kept(false, more, more) {
                rest = more;
            }
        }
        done |= rest;
        let firsts = |after_space: bool| {
            let may_begin = |&&group: &&usize| search.are_kept(after_space, 1 << group, rest);
            tried.iter().filter(may_begin).fold(0, |first: GroupSet, group| first | 1 << group)
        };
        let (first, first_after_space) = (firsts(false), firsts(true));
        let both = first & first_after_space;
        let after_space = both & rest == rest;
        let space = if after_space { Some(Space::Kept) } else { search.space_before(first, rest) };
        sets.push(WordSet { first: if after_space { both } else { first }, rest, space });
        if after_space && both != first {
            unspaced.push(WordSet { first, rest, space: None });
        }
    }
    sets.extend(unspaced.into_iter().take(MOST_WORDS - sets.len()));
    let table = characters.table(|group| {
        sets.iter().zip(0..).fold(0, |bits: Kinds, (&WordSet { first, rest, .. }, number)| {
            let is_in = |set: GroupSet| (set >> group & 1) as Kinds;
            bits | is_in(rest) << number | is_in(first) << (number + MOST_WORDS)
        })
    });
    let with = |space: Space| {
        let is_in = |set: &WordSet| Kinds::from(set.space == Some(space));
        sets.iter().zip(0..).fold(0, |bits, (set, number)| bits | is_in(set) << number)
    };
    Words {
        table,
        space_kept: with(Space::Kept),
        space_cut_off: with(Space::CutOff),
        space_dropped: with(Space::Dropped),
    }
}

/// Words of one character of `first` and any number of `rest`.
struct WordSet {
    first: GroupSet,
    rest: GroupSet,
    /// None if text decides.
    space: Option<Space>,
}

/// The effect of the stages on one space before a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    /// It stays part of the word.
    Kept,
    /// It is a pre-token.
    CutOff,
    Dropped,
}

struct WordSearch<'a> {
    stages: &'a [Stage],
    characters: &'a Characters<'a>,
}

impl WordSearch<'_> {
    /// True if every stage keeps each word whole, or with `has_space`, each word with a space before it. A word is one character of `first` and
    /// any number of `rest`.
    fn are_kept(&self, has_space: bool, first: GroupSet, rest: GroupSet) -> bool {
        (0..self.stages.len()).all(|stage| self.is_kept_by(stage, has_space, first, rest))
    }

    fn is_kept_by(&self, stage: usize, has_space: bool, first: GroupSet, rest: GroupSet) -> bool {
        let of = |set: GroupSet| self.members(set).fold(0, |all, group| all | group.seen[stage].all);
        let (first, rest) = (of(first), of(rest));
        let space = self.characters.space().map(|space| space.seen[stage].all);
        let stage = &self.stages[stage];
        // A character of mapped text may be any byte of a character.
        let (first, rest) = if stage.is_mapped { (first | rest, first | rest) } else { (first, rest) };
        if !has_space {
            return stage.keeps(&[first, rest]);
        }
        space.is_some_and(|space| stage.keeps(&[space, first, rest]))
    }

    /// The effect on one space before such a word, which all stages keep if no space is before it. None unless the first stage that does not keep
    /// both together cuts between them.
    fn space_before(&self, first: GroupSet, rest: GroupSet) -> Option<Space> {
        let cutter = (0..self.stages.len()).find(|&stage| !self.is_kept_by(stage, true, first, rest))?;
        let space = self.characters.space().filter(|space| self.cuts_after(cutter, space, first))?;
        let mut outcome = Space::CutOff;
        for (stage, seen) in self.stages.iter().zip(&space.seen).skip(cutter) {
            if stage.leaves(&[seen.all])? == Left::Nothing {
                outcome = Space::Dropped;
            }
        }
        Some(outcome)
    }

    /// True if a stage cuts between a space at the start of a text and each character of a set.
    fn cuts_after(&self, number: usize, space: &Group, first: GroupSet) -> bool {
        let cutter = &self.stages[number];
        let Some(places) = cutter.search.places(0, false) else { return false };
        let after_space = places.after_char(space.seen[number].last);
        self.members(first).all(|group| {
            let places = after_space.before_char(group.seen[number].first, None);
            let cuts = |place: &Place| cutter.behavior.answer(cutter.invert, *place) == Answer::Cuts;
            places.is_some_and(|places| places.iter().all(cuts))
        })
    }

    fn members(&self, set: GroupSet) -> impl Iterator<Item = &Group> {
        self.characters
            .groups
            .iter()
            .enumerate()
            .filter(move |(group, _)| set >> group & 1 == 1)
            .map(|(_, group)| group)
    }
}

/// The rest of a text that a stage does not cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    All,
    Nothing,
}

impl Stage {
    /// The rest of texts with one character of each set in turn, and any number of the last if there are several. None if the stage may cut one, or
    /// drops only some.
    fn leaves(&self, sets: &[AtomSet]) -> Option<Left> {
        let drops = self.behavior == Behavior::Removed;
        let whole = self.search.whole(sets)?;
        let (dropped, kept) =
            if self.invert { (whole.is_gap, whole.is_match) } else { (whole.is_match, whole.is_gap) };
        match (drops && dropped, kept) {
            (false, _) => Some(Left::All),
            (true, false) => Some(Left::Nothing),
            (true, true) => None,
        }
    }

    /// True if the stage neither cuts nor drops any of the texts of [`Self::leaves`].
    fn keeps(&self, sets: &[AtomSet]) -> bool {
        self.leaves(sets) == Some(Left::All)
    }
}
