//! Scores of pairs by likelihood: count(ab) / (count(a) count(b)), estimated in floating point, compared exactly if need be.

use std::cmp::Ordering;

use super::TieBreak;
use super::arena::Arena;
use super::pairs::PairTable;
use crate::structures::fraction::Fraction;

/// Bound of the relative error of an estimate: four roundings and a margin.
pub(super) const UNCERTAINTY: f64 = 1e-14;

/// How scores are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trainers) enum Precision {
    /// As exact fractions.
    Exact,
    /// As fractions rounded to 64-bit floats.
    Float64,
}

/// A pair by its index and its tokens, and how often it occurs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) pair: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) count: u64,
}

/// Everything but the pairs that decides the order of scores.
#[derive(Debug)]
pub(super) struct Scores {
    pub(super) precision: Precision,
    pub(super) rule: TieBreak,
    /// Occurrences by token.
    pub(super) counts: Vec<u64>,
}

impl Scores {
    fn fraction(&self, Candidate { left, right, count, .. }: Candidate) -> Fraction {
        let denominator = u128::from(self.counts[left as usize]) * u128::from(self.counts[right as usize]);
        Fraction { numerator: count, denominator }
    }

    /// The score: correctly rounded with [`Precision::Float64`], else within [`UNCERTAINTY`].
    #[inline]
    pub(super) fn estimate(&self, candidate: Candidate) -> f64 {
        match self.precision {
            Precision::Exact => {
                let count = |token: u32| nearest_f64(self.counts[token as usize]);
                nearest_f64(candidate.count) / (count(candidate.left) * count(candidate.right))
            }
            Precision::Float64 => self.fraction(candidate).rounded(),
        }
    }

    /// The order of two scores, if their estimates decide it.
    #[inline]
    pub(super) fn by_estimate(&self, one: f64, other: f64) -> Option<Ordering> {
        let difference = one - other;
        let is_certain = match self.precision {
            Precision::Exact => difference.abs() > UNCERTAINTY * one,
            Precision::Float64 => difference != 0.0,
        };
        is_certain.then(|| difference.total_cmp(&0.0))
    }

    /// True if `one` has the higher score, or an equal score and the lower tie-break rank.
    #[inline]
    pub(super) fn is_better(
        &self,
        one: Candidate,
        other: Candidate,
        pairs: &mut PairTable,
        arena: &Arena,
    ) -> bool {
        let order = self.by_estimate(self.estimate(one), self.estimate(other)).unwrap_or_else(|| match self
            .precision
        {
            Precision::Exact => self.fraction(one).compare(self.fraction(other)),
            Precision::Float64 => Ordering::Equal,
        });
        match order {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => {
                self.rule.rank(one.pair, pairs, arena) < self.rule.rank(other.pair, pairs, arena)
            }
        }
    }
}

/// The nearest `f64`; inexact above 2^53.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "`UNCERTAINTY` bounds the error where scores are estimated")]
pub(super) fn nearest_f64(number: u64) -> f64 {
    number as f64
}
