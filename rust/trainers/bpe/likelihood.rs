//! The choice by likelihood: count(ab) / (count(a) count(b)), the highest first.
//!
//! When a token is merged away, the scores of all other pairs that hold it rise, so no queue of old scores will do. All
//! pairs with the same left token form a group. A merge of `a` and `b` into `c` changes the scores of the pairs in the
//! groups of these three, which are looked through anew, and those of the pairs with one of the three on the right,
//! each of which is compared with the best of its group alone. A tournament of the groups' best has the best of all.

use std::cmp::Ordering;

use super::TieBreak;
use super::arena::Arena;
use super::pairs::PairTable;
use crate::structures::fraction::Fraction;
use crate::structures::tournament::Tournament;

/// How far an estimate may be from the fraction that it stands for, in proportion: four roundings and some room.
const UNCERTAINTY: f64 = 1e-14;

/// How scores are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trainers) enum Precision {
    /// As fractions.
    Exact,
    /// As numbers of 64 bits, to which the fractions are rounded.
    Float64,
}

/// A merge that has been applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merged {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) joined: u32,
    /// How often it was applied, by the words' counts.
    pub(super) weight: u64,
    /// Pairs from this index on are new.
    pub(super) first_new: u32,
}

/// A pair with its score.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    pair: u32,
    /// The score: rounded once if that is how scores are compared, else a little off.
    estimate: f64,
    score: Fraction,
}

/// What is known of the pairs that begin with one token.
#[derive(Clone, Debug, Default)]
struct Group {
    pairs: Vec<u32>,
    best: Option<Candidate>,
}

/// The state of the choice.
#[derive(Debug)]
pub(super) struct Likelihood {
    precision: Precision,
    rule: TieBreak,
    /// Occurrences by token.
    counts: Vec<u64>,
    /// By left token.
    groups: Vec<Group>,
    /// Pairs by right token.
    by_right: Vec<Vec<u32>>,
    tournament: Tournament,
}

impl Likelihood {
    /// A choice among the pairs of tokens that occur as `counts` says.
    pub(super) fn new(precision: Precision, rule: TieBreak, counts: Vec<u64>) -> Self {
        let (groups, by_right) = (Vec::new(), Vec::new());
        Self { precision, rule, counts, groups, by_right, tournament: Tournament::default() }
    }

    /// Begins with a new table of pairs.
    pub(super) fn start(&mut self, pairs: &mut PairTable, arena: &Arena) {
        let size = self.counts.len();
        self.groups = vec![Group::default(); size];
        self.by_right = vec![Vec::new(); size];
        self.tournament = Tournament::new(size);
        self.list(0, pairs);
        for token in 0..self.groups.len() as u32 {
            self.look_through(token, pairs, arena);
        }
    }

    fn list(&mut self, first: u32, pairs: &PairTable) {
        for index in first..pairs.len() as u32 {
            let pair = pairs.get(index);
            self.groups[pair.left as usize].pairs.push(index);
            self.by_right[pair.right as usize].push(index);
        }
    }

    /// The best pair.
    pub(super) fn next(&self) -> Option<u32> {
        let token = self.tournament.winner()?;
        self.groups[token as usize].best.map(|best| best.pair)
    }

    /// Counts the tokens after a merge.
    pub(super) fn recount(&mut self, Merged { left, right, joined, weight, .. }: Merged) {
        if self.counts.len() <= joined as usize {
            self.counts.resize(joined as usize + 1, 0);
        }
        self.counts[left as usize] -= weight;
        self.counts[right as usize] -= weight;
        self.counts[joined as usize] += weight;
    }

    /// Brings all scores up to date after a merge.
    pub(super) fn update(&mut self, merged: Merged, pairs: &mut PairTable, arena: &Arena) {
        self.recount(merged);
        self.groups.resize_with(self.counts.len(), Group::default);
        self.by_right.resize_with(self.counts.len(), Vec::new);
        self.tournament.make_room(self.counts.len());
        self.list(merged.first_new, pairs);
        let Merged { left, right, joined, .. } = merged;
        let changed = [left, right, joined];
        for token in changed {
            let mut listed = std::mem::take(&mut self.by_right[token as usize]);
            listed.retain(|&index| {
                let group = pairs.get(index).left;
                if !changed.contains(&group) {
                    self.compare(group, index, pairs, arena);
                }
                pairs.live_count(index) > 0
            });
            self.by_right[token as usize] = listed;
        }
        for token in changed {
            self.look_through(token, pairs, arena);
        }
    }

    /// Compares a pair that changed with the best of its group.
    fn compare(&mut self, token: u32, index: u32, pairs: &mut PairTable, arena: &Arena) {
        let candidate = self.candidate(index, pairs);
        match (self.groups[token as usize].best, candidate) {
            (Some(best), Some(candidate)) if best.pair == index => {
                // A pair whose score stays may have lost its first place, so only a higher score keeps it the best.
                if self.by_score(candidate, best) == Ordering::Greater {
                    self.set_best(token, Some(candidate), pairs, arena);
                } else {
                    self.look_through(token, pairs, arena);
                }
            }
            (Some(best), None) if best.pair == index => self.look_through(token, pairs, arena),
            (Some(best), Some(candidate)) if !self.is_better(candidate, best, pairs, arena) => {}
            (_, Some(candidate)) => self.set_best(token, Some(candidate), pairs, arena),
            (_, None) => {}
        }
    }

    /// Finds the best of a group; forgets the pairs that are gone.
    fn look_through(&mut self, token: u32, pairs: &mut PairTable, arena: &Arena) {
        let mut listed = std::mem::take(&mut self.groups[token as usize].pairs);
        let mut best = None;
        listed.retain(|&index| {
            let Some(candidate) = self.candidate(index, pairs) else { return false };
            if best.is_none_or(|best| self.is_better(candidate, best, pairs, arena)) {
                best = Some(candidate);
            }
            true
        });
        self.groups[token as usize].pairs = listed;
        self.set_best(token, best, pairs, arena);
    }

    fn set_best(&mut self, token: u32, best: Option<Candidate>, pairs: &mut PairTable, arena: &Arena) {
        if best.is_none() && self.groups[token as usize].best.is_none() {
            return;
        }
        self.groups[token as usize].best = best;
        let mut tournament = std::mem::take(&mut self.tournament);
        tournament.update(token, best.is_some(), |one, other| {
            let best = |token: u32| self.groups[token as usize].best;
            match (best(one), best(other)) {
                (Some(one), Some(other)) => self.is_better(one, other, pairs, arena),
                (one, _) => one.is_some(),
            }
        });
        self.tournament = tournament;
    }

    /// A pair with its score, if it is still to be had.
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "an estimate, see `UNCERTAINTY`")]
    fn candidate(&self, index: u32, pairs: &PairTable) -> Option<Candidate> {
        let numerator = pairs.live_count(index);
        if numerator == 0 {
            return None;
        }
        let pair = pairs.get(index);
        let (left, right) = (self.counts[pair.left as usize], self.counts[pair.right as usize]);
        let score = Fraction { numerator, denominator: u128::from(left) * u128::from(right) };
        let estimate = match self.precision {
            Precision::Exact => numerator as f64 / (left as f64 * right as f64),
            Precision::Float64 => score.rounded(),
        };
        Some(Candidate { pair: index, estimate, score })
    }

    #[inline]
    fn by_score(&self, one: Candidate, other: Candidate) -> Ordering {
        let difference = one.estimate - other.estimate;
        let is_certain = match self.precision {
            Precision::Exact => difference.abs() > UNCERTAINTY * one.estimate,
            Precision::Float64 => true,
        };
        if is_certain { difference.total_cmp(&0.0) } else { one.score.compare(other.score) }
    }

    #[inline]
    fn is_better(&self, one: Candidate, other: Candidate, pairs: &mut PairTable, arena: &Arena) -> bool {
        match self.by_score(one, other) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => {
                self.rule.rank(one.pair, pairs, arena) < self.rule.rank(other.pair, pairs, arena)
            }
        }
    }
}
