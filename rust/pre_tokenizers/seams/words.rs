//! Words that no stage cuts, so that they need not be searched.

use super::answers::Answer;
use super::groups::{Characters, Group};
use super::{Behavior, Stage};
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
    // Words of letters first: words of symbols are short and few, so a cache holds them.
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
        let space = if after_space { Space::Kept } else { search.space_before(first, rest) };
        sets.push(WordSet { first: if after_space { both } else { first }, rest, space });
        if after_space && both != first {
            unspaced.push(WordSet { first, rest, space: Space::Unknown });
        }
    }
    sets.extend(unspaced.into_iter().take(MOST_WORDS - sets.len()));
    let table = characters.table(|group| {
        sets.iter().zip(0..).fold(0, |bits: Kinds, (&WordSet { first, rest, .. }, number)| {
            let is_in = |set: GroupSet| (set >> group & 1) as Kinds;
            bits | is_in(rest) << number | is_in(first) << (number + MOST_WORDS)
        })
    });
    let with = |spaces: &[Space]| {
        let is_in = |set: &WordSet| Kinds::from(spaces.contains(&set.space));
        sets.iter().zip(0..).fold(0, |bits, (set, number)| bits | is_in(set) << number)
    };
    Words {
        table,
        after_space: with(&[Space::Kept]),
        cut_from_space: with(&[Space::CutOff, Space::Dropped]),
        drop_space: with(&[Space::Dropped]),
    }
}

/// Words of one character of `first` and any number of `rest`.
struct WordSet {
    first: GroupSet,
    rest: GroupSet,
    space: Space,
}

/// What becomes of one space before a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    /// It stays part of the word.
    Kept,
    /// It is a pre-token.
    CutOff,
    Dropped,
    /// Text decides.
    Unknown,
}

struct WordSearch<'a> {
    stages: &'a [Stage],
    characters: &'a Characters<'a>,
}

impl WordSearch<'_> {
    /// Whether no stage cuts or drops a word, or one with a space before it: one character of the first set and any number of the
    /// second.
    fn are_kept(&self, has_space: bool, first: GroupSet, rest: GroupSet) -> bool {
        (0..self.stages.len()).all(|stage| self.keeps(stage, has_space, first, rest))
    }

    fn keeps(&self, stage: usize, has_space: bool, first: GroupSet, rest: GroupSet) -> bool {
        let of = |set: GroupSet| {
            let all = self.characters.groups.iter().enumerate();
            let members = all.filter(|(group, _)| set >> group & 1 == 1);
            members.fold(0, |all, (_, group)| all | group.seen[stage].all)
        };
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

    /// What becomes of a space before such words, which all stages keep, if the first stage that does not keep both together cuts between them.
    fn space_before(&self, first: GroupSet, rest: GroupSet) -> Space {
        let cutter = (0..self.stages.len()).find(|&stage| !self.keeps(stage, true, first, rest));
        let is_cut = cutter.is_some_and(|cutter| self.cuts_after_space(cutter, first));
        let (Some(cutter), Some(space), true) = (cutter, self.characters.space(), is_cut) else {
            return Space::Unknown;
        };
        let mut outcome = Space::CutOff;
        for (stage, seen) in self.stages.iter().zip(&space.seen).skip(cutter) {
            match stage.leaves(&[seen.all]) {
                Some(Left::All) => {}
                Some(Left::Nothing) => outcome = Space::Dropped,
                None => return Space::Unknown,
            }
        }
        outcome
    }

    /// Whether a stage cuts between a space at the start of a text and any character of a set.
    fn cuts_after_space(&self, number: usize, first: GroupSet) -> bool {
        let cutter = &self.stages[number];
        let (Some(places), Some(space)) = (cutter.search.places(0, false), self.characters.space()) else {
            return false;
        };
        let after_space = places.after_char(space.seen[number].last);
        let is_cut = |group: &Group| {
            let places = after_space.before_char(group.seen[number].first, None);
            let is_cut = |place: &Place| cutter.behavior.answer(cutter.invert, *place) == Answer::Cuts;
            places.is_some_and(|places| places.iter().all(is_cut))
        };
        let mut firsts =
            self.characters.groups.iter().enumerate().filter(|(group, _)| first >> group & 1 == 1);
        firsts.all(|(_, group)| is_cut(group))
    }
}

/// What a stage leaves of a text that it does not cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    All,
    Nothing,
}

impl Stage {
    /// What the stage leaves of each text of one character of each of these sets, but any number of the last; none if it may cut some.
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

    /// Whether the stage leaves each such text alone.
    fn keeps(&self, sets: &[AtomSet]) -> bool {
        self.leaves(sets) == Some(Left::All)
    }
}
