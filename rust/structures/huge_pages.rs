//! Large memory on huge pages, where the system gives them when asked.
//!
//! First touches of ordinary pages are what new memory costs, and tables that are read at random spend as long on
//! looking up addresses as on reading. The request has to come before the first touch. What lies before the first
//! and behind the last whole huge page stays on ordinary pages; these are asked for together, not one by one as they are met.

use std::ops::Range;

/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// Smaller memory is left alone.
const WORTHWHILE: usize = 2 << 20;

/// What of some memory will be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// All of it.
    Whole,
    /// Its beginning, and perhaps the rest.
    Front,
}

/// An empty vector for `capacity` items, of which some at least will come.
pub fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(capacity);
    prepare(items.spare_capacity_mut(), Use::Front);
    items
}

/// A vector of `len` times `value`.
pub fn vec_filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(len);
    prepare(items.spare_capacity_mut(), Use::Whole);
    items.resize(len, value);
    items
}

/// A vector of `len` times the default of a type of integers, which comes from the system untouched.
pub fn vec_zeroed<T: Copy + Default>(len: usize) -> Vec<T> {
    let mut items = vec![T::default(); len];
    prepare(&mut items, Use::Whole);
    items
}

fn prepare<T>(memory: &mut [T], will_be_used: Use) {
    if size_of_val(memory) >= WORTHWHILE {
        advise(memory, will_be_used);
    }
}

/// Addresses that lie on ordinary pages although the memory is on huge ones, and are used for certain.
fn ordinary(memory: Range<usize>, will_be_used: Use) -> [Range<usize>; 2] {
    let front = memory.start.next_multiple_of(HUGE_PAGE).min(memory.end);
    let back = (memory.end / HUGE_PAGE * HUGE_PAGE).max(front);
    match will_be_used {
        Use::Whole => [memory.start..front, back..memory.end],
        Use::Front => [memory.start..front, 0..0],
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there are no safe calls for these requests")]
fn advise<T>(memory: &mut [T], will_be_used: Use) {
    const PAGE: usize = 4096;
    let ask = |range: Range<usize>, request| {
        if !range.is_empty() {
            let start = std::ptr::with_exposed_provenance_mut(range.start);
            // SAFETY: both requests are made for pages that lie wholly in memory of ours, and change no content. A system
            // that refuses one leaves everything as it was, so the answer does not matter.
            unsafe { libc::madvise(start, range.len(), request) };
        }
    };
    let range = memory.as_mut_ptr_range();
    let (start, end) = ((range.start as usize).next_multiple_of(PAGE), range.end as usize / PAGE * PAGE);
    if start >= end {
        return;
    }
    ask(start..end, libc::MADV_HUGEPAGE);
    for range in ordinary(start..end, will_be_used) {
        ask(range, libc::MADV_POPULATE_WRITE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &mut [T], _: Use) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_vectors_hold_what_they_are_filled_with() {
        for len in [0, 1, 1000, WORTHWHILE / 8, WORTHWHILE] {
            let items = vec_filled(7u64, len);
            assert_eq!((items.len(), items.iter().sum::<u64>()), (len, 7 * len as u64));
            assert_eq!(vec_zeroed::<u16>(len), vec![0; len]);
            assert!(vec_with_capacity::<u8>(len).capacity() >= len);
        }
    }

    #[test]
    fn ordinary_pages_are_those_around_the_huge_ones() {
        let mib = |ranges: [Range<usize>; 2]| ranges.map(|range| range.start >> 20..range.end >> 20);
        assert_eq!(mib(ordinary(3 << 20..9 << 20, Use::Whole)), [3..4, 8..9]);
        assert_eq!(mib(ordinary(3 << 20..9 << 20, Use::Front)), [3..4, 0..0]);
        assert_eq!(mib(ordinary(4 << 20..8 << 20, Use::Whole)), [4..4, 8..8]);
        assert_eq!(mib(ordinary(3 << 20..5 << 20, Use::Whole)), [3..4, 4..5]);
    }
}
