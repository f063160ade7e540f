//! The score of a pair: count(ab) / (count(a) count(b)).

use std::cmp::Ordering;

use super::TieBreak;
use super::arena::Arena;
use super::pairs::PairTable;
use crate::structures::fraction::Fraction;

/// How far an estimate may be from the fraction that it stands for, in proportion: four roundings and some room.
pub(super) const UNCERTAINTY: f64 = 1e-14;

/// How scores are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::trainers) enum Precision {
    /// As fractions.
    Exact,
    /// As numbers of 64 bits, to which the fractions are rounded.
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

/// What scores depend on beside the pairs.
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

    /// The score: rounded once if that is how scores are compared, else a little off.
    #[inline]
    pub(super) fn estimate(&self, candidate: Candidate) -> f64 {
        match self.precision {
            Precision::Exact => {
                let count = |token: u32| estimate(self.counts[token as usize]);
                estimate(candidate.count) / (count(candidate.left) * count(candidate.right))
            }
            Precision::Float64 => self.fraction(candidate).rounded(),
        }
    }

    /// The order of two scores as far as their estimates tell it.
    #[inline]
    pub(super) fn by_estimate(&self, one: f64, other: f64) -> Option<Ordering> {
        let difference = one - other;
        let is_certain = match self.precision {
            Precision::Exact => difference.abs() > UNCERTAINTY * one,
            Precision::Float64 => difference != 0.0,
        };
        is_certain.then(|| difference.total_cmp(&0.0))
    }

    /// Whether the first pair has the higher score, or the same and the earlier place among equals.
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

/// A number, a little off where it has more than 53 bits.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "an estimate, see `UNCERTAINTY`")]
pub(super) fn estimate(number: u64) -> f64 {
    number as f64
}
