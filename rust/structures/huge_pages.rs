//! Memory on huge pages, where the system grants them: for large tables that are read at random, and for large results.
//!
//! A read outside the reach of the processor's TLB takes as long to translate its address as to load the data; huge
//! pages extend that reach. A result that is written from front to back gains because a new huge page costs a third of
//! the ordinary pages in its place. Small tables and results stay on ordinary pages: where free memory is fragmented,
//! the system has to compact it before it can give out a huge page. The request has to come before the first touch.
//! Ordinary pages of tables are populated in one call, which costs two thirds of faulting them in one by one.

use std::ops::Range;

/// An allocation of this many bytes always gets its own mapping: glibc's largest mmap threshold, and a little more.
const ALWAYS_MAPPED: usize = if cfg!(all(target_os = "linux", target_env = "gnu")) { 33 << 20 } else { 0 };

/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes that the TLB of a current processor covers with ordinary pages.
const REACH: usize = 8 << 20;

/// Smaller allocations get no advice.
const MIN_HUGE_BYTES: usize = 1 << 20;

/// An empty vector with capacity for `capacity` items or more, whose memory returns to the system when the vector is
/// dropped.
///
/// The C library keeps memory that a thread frees for later allocations, except for allocations large enough to
/// always get their own mapping. So a vector of 1 MiB or more claims at least that many addresses. Addresses that
/// nobody touches cost no memory.
pub fn vec_mapped<T>(capacity: usize) -> Vec<T> {
    let size = size_of::<T>().max(1);
    let claimed = if capacity.saturating_mul(size) < MIN_HUGE_BYTES {
        capacity
    } else {
        capacity.max(ALWAYS_MAPPED / size)
    };
    let mut items = Vec::with_capacity(claimed);
    populate(&mut items.spare_capacity_mut()[..capacity]);
    items
}

/// An empty vector with capacity for `capacity` items, or for as many as the system has addresses for, to be written from front
/// to back; from 8 MiB on it asks for huge pages and populates none.
pub fn vec_streamed<T>(mut capacity: usize) -> Vec<T> {
    let mut items = Vec::new();
    while items.try_reserve_exact(capacity).is_err() {
        capacity /= 2;
    }
    let memory: &mut [_] = items.spare_capacity_mut();
    if size_of_val(memory) >= REACH {
        request_huge_pages(memory);
    }
    items
}

/// As [`vec_mapped`], filled with `len` copies of `value`.
pub fn vec_mapped_filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut items = vec_mapped(len);
    items.resize(len, value);
    items
}

/// A vector of `len` zeros, or other defaults that are zeros; pages that nobody writes to take no memory.
pub fn vec_zeroed<T: Copy + Default>(len: usize) -> Vec<T> {
    let mut items = vec![T::default(); len];
    if size_of_val(&items[..]) >= REACH {
        request_huge_pages(&mut items[..]);
    }
    items
}

/// A vector of `len` copies of `value`.
pub fn vec_filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(len);
    populate(items.spare_capacity_mut());
    items.resize(len, value);
    items
}

/// A copy of `source`.
pub fn vec_copied<T: Copy>(source: &[T]) -> Vec<T> {
    let mut items = Vec::with_capacity(source.len());
    populate(items.spare_capacity_mut());
    items.extend_from_slice(source);
    items
}

/// The two ranges of `memory` that lie on ordinary pages: before the first huge page and after the last.
fn ordinary(memory: Range<usize>) -> [Range<usize>; 2] {
    if memory.len() < REACH {
        return [memory, 0..0];
    }
    let front = memory.start.next_multiple_of(HUGE_PAGE).min(memory.end);
    let back = (memory.end / HUGE_PAGE * HUGE_PAGE).max(front);
    [memory.start..front, back..memory.end]
}

/// The addresses of the pages that lie wholly in `memory`.
#[cfg(target_os = "linux")]
fn whole_pages<T>(memory: &mut [T]) -> Range<usize> {
    const PAGE: usize = 4096;
    let range = memory.as_mut_ptr_range();
    (range.start as usize).next_multiple_of(PAGE)..range.end as usize / PAGE * PAGE
}

/// Makes a request to the system about pages that [`whole_pages`] found.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there are no safe calls for these requests")]
fn ask(pages: Range<usize>, request: i32) {
    if !pages.is_empty() {
        let start = std::ptr::with_exposed_provenance_mut(pages.start);
        // SAFETY: the requests made here cover only pages that lie wholly in memory of ours, and change no content. A system
        // that refuses a request changes nothing, so the answer does not matter.
        unsafe { libc::madvise(start, pages.len(), request) };
    }
}

#[cfg(target_os = "linux")]
fn request_huge_pages<T>(memory: &mut [T]) {
    ask(whole_pages(memory), libc::MADV_HUGEPAGE);
}

#[cfg(not(target_os = "linux"))]
fn request_huge_pages<T>(_: &mut [T]) {}

/// Populates the pages of a table of 1 MiB or more. From 8 MiB on it asks for huge pages and populates only the ordinary pages
/// around them.
#[cfg(target_os = "linux")]
fn populate<T>(memory: &mut [T]) {
    if size_of_val(memory) < MIN_HUGE_BYTES {
        return;
    }
    let pages = whole_pages(memory);
    if pages.len() >= REACH {
        request_huge_pages(memory);
    }
    for range in ordinary(pages) {
        ask(range, libc::MADV_POPULATE_WRITE);
    }
}

#[cfg(not(target_os = "linux"))]
fn populate<T>(_: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_vectors_hold_what_they_are_filled_with() {
        for len in [0, 1, 1000, MIN_HUGE_BYTES / 8, REACH / 8, REACH] {
            let items = vec_filled(7u64, len);
            assert_eq!((items.len(), items.iter().sum::<u64>()), (len, 7 * len as u64));
            assert_eq!(vec_copied(&items), items);
            assert_eq!(vec_mapped_filled(7u64, len), items);
        }
    }

    #[test]
    fn ordinary_pages_are_those_around_the_huge_ones() {
        let mib = |memory: Range<usize>| {
            ordinary(memory.start << 20..memory.end << 20).map(|range| range.start >> 20..range.end >> 20)
        };
        assert_eq!(mib(3..6), [3..6, 0..0]);
        assert_eq!(mib(3..13), [3..4, 12..13]);
        assert_eq!(mib(4..12), [4..4, 12..12]);
    }
}
