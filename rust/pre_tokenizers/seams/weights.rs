//! Rough frequencies of characters and of their neighbours. They decide which groups are dropped, which share a kind, and which are tried for
//! words. The seams are right with any weights.

use std::ops::AddAssign;

use crate::scan::classes::{Class, LOWER, UPPER};

/// Sorts of characters: lower-case letters, upper-case letters, marks and letters without case, and all others.
const SORTS: usize = 4;

/// How much more often characters of two sorts are neighbours than the product of their frequencies says. Text seldom changes its script within a
/// word, and few words have an upper-case letter in their middle.
const TOGETHER: [[f64; SORTS]; SORTS] = [
    [1.0, 1.0 / 256.0, 1.0 / 4096.0, 1.0],
    [1.0, 1.0 / 4.0, 1.0 / 4096.0, 1.0 / 4.0],
    [1.0 / 4096.0, 1.0 / 4096.0, 16.0, 4.0],
    [1.0, 1.0, 4.0, 1.0 / 4.0],
];

/// The frequency of a set of characters, by sort.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight([f64; SORTS]);

impl Weight {
    /// Adds a character.
    pub(super) fn add(&mut self, code: usize) {
        let class = Class::of_code(code);
        let sort = match (class.is(LOWER), class.is(UPPER)) {
            (true, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (false, false) => 3,
        };
        self.0[sort] += weight(code);
    }

    /// The frequency of all characters together.
    pub(super) fn sum(self) -> f64 {
        self.0.iter().sum()
    }

    /// The frequency of letters and marks.
    pub(super) fn letters(self) -> f64 {
        self.0[..SORTS - 1].iter().sum()
    }

    /// How often a character of this set stands before one of `right`.
    pub(super) fn before(self, right: Self) -> f64 {
        let of_left = |(left, together): (&f64, &[f64; SORTS])| {
            left * together.iter().zip(right.0).map(|(factor, right)| factor * right).sum::<f64>()
        };
        self.0.iter().zip(&TOGETHER).map(of_left).sum()
    }
}

impl AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
    }
}

/// The frequency of a character.
pub(super) fn weight(code: usize) -> f64 {
    let weight: u32 = match code {
        0x20 | 0x61..=0x7a => 1 << 20,
        0x2c | 0x2e => 1 << 18,
        0x0a | 0x30..=0x39 | 0x41..=0x5a => 1 << 17,
        0x21 | 0x22 | 0x27..=0x29 | 0x2d | 0x3a | 0x3b | 0x3f => 1 << 16,
        0x00..=0x7f | 0x2010..=0x2026 | 0x3000..=0x3002 | 0xff01..=0xff1f => 1 << 12,
        0xc0..=0x52f | 0x3040..=0x30ff => 1 << 10,
        0x530..=0x11ff => 1 << 8,
        0x4e00..=0x9fff | 0xac00..=0xd7ff => 1 << 5,
        _ => 1,
    };
    f64::from(weight)
}
