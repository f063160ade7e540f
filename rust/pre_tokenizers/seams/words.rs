//! Words that no stage cuts, so that they need not be searched.

use super::groups::Characters;
use super::{Behavior, Stage};
use crate::scan::seams::Kinds;
use crate::scan::seams::{MOST_WORDS, Words};
use crate::structures::regex::AtomSet;

/// Groups that are tried, the most frequent ones: each is asked about together with each other.
const TRIED: usize = 16;

/// A set of groups, one bit each.
type GroupSet = u128;

/// Words whose characters are of groups that no stage tells apart by cutting between them.
pub(super) fn words(stages: &[Stage], characters: &Characters<'_>) -> Words {
    let search = WordSearch { stages, characters };
    let mut tried: Vec<usize> =
        (0..characters.groups.len()).filter(|&group| characters.groups[group].facts.is_ink).collect();
    let weight = |group: usize| characters.groups[group].weight.sum();
    tried.sort_by(|&one, &other| weight(other).total_cmp(&weight(one)));
    tried.truncate(TRIED);
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
        sets.push(if after_space { (both, rest, true) } else { (first, rest, false) });
        if after_space && both != first {
            unspaced.push((first, rest, false));
        }
    }
    sets.extend(unspaced.into_iter().take(MOST_WORDS - sets.len()));
    let table = characters.table(|group| {
        sets.iter().zip(0..).fold(0, |bits: Kinds, (&(first, rest, _), number)| {
            let is_in = |set: GroupSet| (set >> group & 1) as Kinds;
            bits | is_in(rest) << number | is_in(first) << (number + MOST_WORDS)
        })
    });
    let after_space =
        sets.iter().zip(0..).fold(0, |bits, (&(.., after), number)| bits | Kinds::from(after) << number);
    Words { table, after_space }
}

struct WordSearch<'a> {
    stages: &'a [Stage],
    characters: &'a Characters<'a>,
}

impl WordSearch<'_> {
    /// Whether no stage cuts or drops a word, or one with a space before it: one character of the first set and any number of the
    /// second.
    fn are_kept(&self, has_space: bool, first: GroupSet, rest: GroupSet) -> bool {
        self.stages.iter().enumerate().all(|(number, stage)| {
            let all = self.characters.groups.iter().enumerate();
            let of = |set: GroupSet| {
                let members = all.clone().filter(|(group, _)| set >> group & 1 == 1);
                members.fold(0, |all, (_, group)| all | group.seen[number].all)
            };
            let (first, rest) = (of(first), of(rest));
            // A character of mapped text may be any byte of a character.
            let (first, rest) = if stage.is_mapped { (first | rest, first | rest) } else { (first, rest) };
            if !has_space {
                return stage.keeps(&[first, rest]);
            }
            let space = self.characters.space().map(|space| space.seen[number].all);
            space.is_some_and(|space| stage.keeps(&[space, first, rest]))
        })
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
