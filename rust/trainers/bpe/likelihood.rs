//! The choice by likelihood: the pair with the highest score count(ab) / (count(a) count(b)).
//!
//! When a merge makes a token rarer, the scores of all other pairs that hold the token rise, so a queue of old scores is
//! useless. Two levels of grouping keep updates small:
//!
//! * All pairs with the same left token form a *group*. A merge of `a` and `b` into `c` changes the scores of the pairs in
//!   the groups of these three, which are scanned again, and of the pairs whose right token is one of the three, each of
//!   which is only compared with the best pair of its group.
//! * Groups whose best pairs have the same right token form a *class*, ordered by count(ab) / count(a). When the right
//!   token becomes rarer, which changes the best score of thousands of groups, the order within the class stays.
//!
//! A tournament of the best pairs of all classes finds the best pair of all.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::TieBreak;
use super::arena::Arena;
use super::pairs::{Pair, PairTable};
use super::scores::{Candidate, Precision, Scores, UNCERTAINTY, nearest_f64};
use crate::structures::tournament::Tournament;

/// A merge that has been applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merged {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) joined: u32,
    /// How often it was applied, weighted by the words' counts.
    pub(super) weight: u64,
    /// Pairs from this index on are new.
    pub(super) first_new: u32,
}

/// A pair in the list of one of its tokens.
#[derive(Clone, Copy, Debug)]
struct Listed {
    pair: u32,
    /// The other token.
    other: u32,
}

/// The best pair of a group.
#[derive(Clone, Copy, Debug)]
struct Best {
    /// A lower bound of count(ab) / count(b), which is the score times the group's own count. Pairs below it cannot be better,
    /// and most are.
    bar: f64,
    count: u64,
    /// The pair, or [`NOTHING`].
    pair: u32,
    right: u32,
}

const NOTHING: u32 = u32::MAX;

const NO_BEST: Best = Best { bar: 0.0, count: 0, pair: NOTHING, right: NOTHING };

/// An entry of a class: a group, with its best pair when the entry was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member {
    /// Occurrences of the pair.
    count: u64,
    /// Occurrences of the group's token.
    left_count: u64,
    /// The tie-break rank of the pair; it holds as long as the pair's count does.
    rank: u64,
    group: u32,
    /// The entry is out of date if the group's version is another one.
    version: u32,
}

impl Ord for Member {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |one: &Self, other: &Self| u128::from(one.count) * u128::from(other.left_count);
        let by_score = product(self, other).cmp(&product(other, self));
        let key = |member: &Self| (member.rank, member.group, member.version);
        by_score.then_with(|| key(other).cmp(&key(self)))
    }
}

impl PartialOrd for Member {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Groups whose best pairs have the same right token.
#[derive(Clone, Debug, Default)]
struct Class {
    /// The best first; entries out of date are removed late.
    members: BinaryHeap<Member>,
    /// At this number of entries, entries that are out of date are removed.
    limit: usize,
}

/// The state of the choice.
#[derive(Debug)]
pub(super) struct Likelihood {
    scores: Scores,
    /// The pairs of each group, by left token.
    by_left: Vec<Vec<Listed>>,
    /// The pairs by right token.
    by_right: Vec<Vec<Listed>>,
    /// By group.
    best: Vec<Best>,
    /// By group: how often its best pair, or that pair's position in its class, has changed.
    versions: Vec<u32>,
    classes: Vec<Class>,
    /// Classes whose best pair may have changed.
    changed: Vec<u32>,
    tournament: Tournament,
}

impl Likelihood {
    /// A choice without pairs; `counts` are the occurrences of each token.
    pub(super) fn new(precision: Precision, rule: TieBreak, counts: Vec<u64>) -> Self {
        Self {
            scores: Scores { precision, rule, counts },
            by_left: Vec::new(),
            by_right: Vec::new(),
            best: Vec::new(),
            versions: Vec::new(),
            classes: Vec::new(),
            changed: Vec::new(),
            tournament: Tournament::default(),
        }
    }

    /// Restarts with a new table of pairs.
    pub(super) fn start(&mut self, pairs: &mut PairTable, arena: &Arena) {
        let Scores { precision, rule, ref mut counts } = self.scores;
        *self = Self::new(precision, rule, std::mem::take(counts));
        self.make_room();
        self.list(0, pairs);
        for token in 0..self.best.len() as u32 {
            self.look_through(token, pairs, arena);
        }
        self.play(pairs, arena);
    }

    fn make_room(&mut self) {
        let size = self.scores.counts.len();
        self.by_left.resize_with(size, Vec::new);
        self.by_right.resize_with(size, Vec::new);
        self.best.resize(size, NO_BEST);
        self.versions.resize(size, 0);
        self.classes.resize_with(size, Class::default);
        self.tournament.make_room(size);
    }

    fn list(&mut self, first: u32, pairs: &PairTable) {
        for pair in first..pairs.len() as u32 {
            let Pair { left, right, .. } = pairs.get(pair);
            self.by_left[left as usize].push(Listed { pair, other: right });
            self.by_right[right as usize].push(Listed { pair, other: left });
        }
    }

    /// The best pair.
    pub(super) fn next(&self) -> Option<u32> {
        self.champion(self.tournament.winner()?).map(|best| best.pair)
    }

    /// Updates the counts of the tokens after a merge.
    pub(super) fn recount(&mut self, Merged { left, right, joined, weight, .. }: Merged) {
        let counts = &mut self.scores.counts;
        if counts.len() <= joined as usize {
            counts.resize(joined as usize + 1, 0);
        }
        counts[left as usize] -= weight;
        counts[right as usize] -= weight;
        counts[joined as usize] += weight;
    }

    /// Updates all scores after a merge.
    pub(super) fn update(&mut self, merged: Merged, pairs: &mut PairTable, arena: &Arena) {
        self.recount(merged);
        self.make_room();
        self.list(merged.first_new, pairs);
        let Merged { left, right, joined, .. } = merged;
        let merged = [left, right, joined];
        for token in merged {
            let mut listed = std::mem::take(&mut self.by_right[token as usize]);
            let token_count = nearest_f64(self.scores.counts[token as usize]);
            listed.retain(|&Listed { pair, other: group }| {
                let count = pairs.live_count(pair);
                let best = self.best[group as usize];
                if merged.contains(&group) {
                    // Scanned below.
                } else if best.pair == pair {
                    self.renew(group, count, token_count, pairs, arena);
                } else if nearest_f64(count) >= best.bar * token_count && count > 0 {
                    let candidate = Candidate { pair, left: group, right: token, count };
                    if self
                        .best_of(group)
                        .is_none_or(|best| self.scores.is_better(candidate, best, pairs, arena))
                    {
                        self.set_best(group, Some(candidate), pairs, arena);
                    }
                }
                count > 0
            });
            self.by_right[token as usize] = listed;
        }
        for token in merged {
            self.look_through(token, pairs, arena);
        }
        self.changed.extend(merged);
        self.play(pairs, arena);
    }

    /// Updates a group after the right token of its best pair has become rarer; `count` are the occurrences of the pair now.
    fn renew(&mut self, group: u32, count: u64, right_count: f64, pairs: &mut PairTable, arena: &Arena) {
        let best = &mut self.best[group as usize];
        let bar = bar(count, right_count);
        if count == best.count {
            best.bar = bar;
            if self.scores.precision == Precision::Float64 {
                self.changed.push(group);
            }
        } else if bar * (1.0 - 4.0 * UNCERTAINTY) > best.bar {
            // The score has certainly risen, so the pair stays the best. At an equal score it might have lost a tie.
            let candidate = self.best_of(group).map(|best| Candidate { count, ..best });
            self.set_best(group, candidate, pairs, arena);
        } else {
            self.look_through(group, pairs, arena);
        }
    }

    /// Finds the best pair of a group by scanning it; removes pairs without occurrences.
    fn look_through(&mut self, token: u32, pairs: &mut PairTable, arena: &Arena) {
        let mut group = std::mem::take(&mut self.by_left[token as usize]);
        let (mut best, mut least) = (None, 0.0);
        group.retain(|&Listed { pair, other: right }| {
            let count = pairs.live_count(pair);
            let right_count = nearest_f64(self.scores.counts[right as usize]);
            // One product rejects most pairs.
            if count > 0 && nearest_f64(count) >= least * right_count {
                let candidate = Candidate { pair, left: token, right, count };
                if best.is_none_or(|best| self.scores.is_better(candidate, best, pairs, arena)) {
                    (best, least) = (Some(candidate), bar(count, right_count));
                }
            }
            count > 0
        });
        self.by_left[token as usize] = group;
        self.set_best(token, best, pairs, arena);
    }

    /// The best pair of a group.
    fn best_of(&self, group: u32) -> Option<Candidate> {
        let Best { pair, right, count, .. } = self.best[group as usize];
        (pair != NOTHING).then_some(Candidate { pair, left: group, right, count })
    }

    /// The class of a group. Rounded scores may be equal although count(ab) / count(a) differs, so with rounded scores each
    /// group is a class of its own.
    fn class(&self, group: u32, right: u32) -> u32 {
        if self.scores.precision == Precision::Float64 { group } else { right }
    }

    fn set_best(&mut self, group: u32, best: Option<Candidate>, pairs: &mut PairTable, arena: &Arena) {
        let before = self.best[group as usize];
        if before.pair != NOTHING {
            self.changed.push(self.class(group, before.right));
        }
        self.versions[group as usize] = self.versions[group as usize].wrapping_add(1);
        let Some(Candidate { pair, right, count, .. }) = best else {
            self.best[group as usize] = NO_BEST;
            return;
        };
        let counts = &self.scores.counts;
        let bar = bar(count, nearest_f64(counts[right as usize]));
        self.best[group as usize] = Best { bar, count, pair, right };
        let left_count = counts[group as usize];
        let rank = self.scores.rule.rank(pair, pairs, arena);
        let member = Member { count, left_count, rank, group, version: self.versions[group as usize] };
        let class = self.class(group, right);
        let Class { members, limit } = &mut self.classes[class as usize];
        members.push(member);
        if members.len() > *limit {
            members.retain(|member| self.versions[member.group as usize] == member.version);
            *limit = 16 + 2 * members.len();
        }
        self.changed.push(class);
    }

    /// The best pair of a class.
    fn champion(&self, class: u32) -> Option<Candidate> {
        self.classes[class as usize].members.peek().and_then(|member| self.best_of(member.group))
    }

    /// Updates the tournament for the classes that have changed.
    fn play(&mut self, pairs: &mut PairTable, arena: &Arena) {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        for &class in &changed {
            let members = &mut self.classes[class as usize].members;
            while members.peek().is_some_and(|member| self.versions[member.group as usize] != member.version)
            {
                members.pop();
            }
        }
        let mut tournament = std::mem::take(&mut self.tournament);
        for &class in &changed {
            let strength = self.champion(class).map(|best| self.scores.estimate(best));
            tournament.update(class, strength, |one, other| {
                if let Some(order) = self.scores.by_estimate(one.strength, other.strength) {
                    return order == Ordering::Greater;
                }
                match (self.champion(one.player), self.champion(other.player)) {
                    (Some(one), Some(other)) => self.scores.is_better(one, other, pairs, arena),
                    (one, _) => one.is_some(),
                }
            });
        }
        self.tournament = tournament;
        changed.clear();
        self.changed = changed;
    }
}

/// See [`Best::bar`].
fn bar(count: u64, right_count: f64) -> f64 {
    nearest_f64(count) / right_count * (1.0 - 4.0 * UNCERTAINTY)
}
