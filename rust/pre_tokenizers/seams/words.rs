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
        let cut_from_space = !after_space && search.are_cut_from_space(first, rest);
        sets.push(WordSet {
            first: if after_space { both } else { first },
            rest,
            after_space,
            cut_from_space,
        });
        if after_space && both != first {
            unspaced.push(WordSet { first, rest, after_space: false, cut_from_space: false });
        }
    }
    sets.extend(unspaced.into_iter().take(MOST_WORDS - sets.len()));
    let table = characters.table(|group| {
        sets.iter().zip(0..).fold(0, |bits: Kinds, (&WordSet { first, rest, .. }, number)| {
            let is_in = |set: GroupSet| (set >> group & 1) as Kinds;
            bits | is_in(rest) << number | is_in(first) << (number + MOST_WORDS)
        })
    });
    let with = |fact: fn(&WordSet) -> bool| {
        sets.iter().zip(0..).fold(0, |bits, (set, number)| bits | Kinds::from(fact(set)) << number)
    };
    Words { table, after_space: with(|set| set.after_space), cut_from_space: with(|set| set.cut_from_space) }
}

/// Words of one character of `first` and any number of `rest`.
struct WordSet {
    first: GroupSet,
    rest: GroupSet,
    /// See [`Words`].
    after_space: bool,
    cut_from_space: bool,
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

    /// Whether a stage cuts such words, which all stages keep, from a space before them, and all stages keep the space.
    fn are_cut_from_space(&self, first: GroupSet, rest: GroupSet) -> bool {
        let mut numbered = self.stages.iter().enumerate();
        let Some(space) = self.characters.space() else { return false };
        let Some((number, cutter)) = numbered.find(|&(number, _)| !self.keeps(number, true, first, rest))
        else {
            return false;
        };
        let Some(places) = cutter.search.places(0, false) else { return false };
        let after_space = places.after_char(space.seen[number].last);
        let is_cut = |group: &Group| {
            let places = after_space.before_char(group.seen[number].first, None);
            let is_cut = |place: &Place| cutter.behavior.answer(cutter.invert, *place) == Answer::Cuts;
            places.is_some_and(|places| places.iter().all(is_cut))
        };
        let firsts = self.characters.groups.iter().enumerate().filter(|(group, _)| first >> group & 1 == 1);
        let mut later = self.stages.iter().enumerate().skip(number);
        firsts.map(|(_, group)| group).all(is_cut)
            && later.all(|(number, stage)| stage.keeps(&[space.seen[number].all; 2]))
    }
}

impl Stage {
    /// Whether the stage leaves each text of one character of each of these sets, but any number of the last, alone.
    fn keeps(&self, sets: &[AtomSet]) -> bool {
        let drops = self.behavior == Behavior::Removed;
        let whole = self.search.whole(sets);
        whole.is_some_and(|whole| !(drops && if self.invert { whole.is_gap } else { whole.is_match }))
    }
}
