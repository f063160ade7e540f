//! Linked lists of the seeds that start at each position of the corpus.

use super::seeds::{Seed, Suffixes};
use crate::structures::parallel::sort_in_runs;

/// Sorts numbers with their places and lengths by place, then by length.
pub(super) fn by_place(
    numbers: impl Iterator<Item = (usize, u16, u32)>,
    threads: usize,
) -> impl Iterator<Item = (usize, u16, u32)> {
    // Packed, because integers are compared faster than tuples.
    let pack = |(start, len, number): (usize, u16, u32)| {
        (start as u128) << 48 | u128::from(len) << 32 | u128::from(number)
    };
    let mut packed: Vec<u128> = numbers.map(pack).collect();
    sort_in_runs(&mut packed, threads, Ord::cmp);
    packed.into_iter().map(|packed| ((packed >> 48) as usize, (packed >> 32) as u16, packed as u32))
}

/// In place of a seed: there is none.
const NONE: u32 = u32::MAX;

/// A seed in a chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The longest other seed that it begins with.
    shorter: u32,
    len: u16,
}

/// Linked lists of the seeds at each position: the longest one, and from each seed the next shorter one.
#[derive(Debug)]
pub(super) struct Chains {
    longest_at: Vec<u32>,
    links: Vec<Link>,
    longest: usize,
}

impl Chains {
    /// The chains of `seeds`.
    pub(super) fn new(suffixes: &Suffixes, seeds: &[Seed], threads: usize) -> Self {
        // Outer intervals come before inner ones.
        let order = (0..).zip(seeds).map(|(seed, &Seed { first, len, .. })| (first, len, seed));
        let mut order = by_place(order, threads).peekable();
        let mut links = vec![Link { shorter: NONE, len: 0 }; seeds.len()];
        let mut longest_at = vec![NONE; suffixes.len()];
        let mut open: Vec<u32> = Vec::new();
        for index in 0..suffixes.len() {
            while open.pop_if(|seed| seeds[*seed as usize].end <= index).is_some() {}
            while let Some((_, len, seed)) = order.next_if(|&(first, ..)| first == index) {
                let shorter = open.last().copied().unwrap_or(NONE);
                links[seed as usize] = Link { shorter, len };
                open.push(seed);
            }
            longest_at[suffixes.position(index)] = open.last().copied().unwrap_or(NONE);
        }
        let longest = seeds.iter().map(|seed| usize::from(seed.len)).max().unwrap_or(1);
        Self { longest_at, links, longest }
    }

    /// The seeds that start at `position`, with their lengths, longer ones first.
    pub(super) fn at(&self, position: usize) -> impl Iterator<Item = (u32, u16)> + '_ {
        let mut seed = self.longest_at[position];
        std::iter::from_fn(move || {
            let Link { shorter, len } = *self.links.get(seed as usize)?;
            Some((std::mem::replace(&mut seed, shorter), len))
        })
    }

    /// Length of the longest seed.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }
}
