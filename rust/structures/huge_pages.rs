//! Memory on huge pages, where the system grants them: for large tables that are read at random, and for large results.
//!
//! A read outside the reach of the processor's TLB takes as long to translate its address as to load the data; huge
//! pages extend that reach. A result that is written from front to back gains because a new huge page costs a third of
//! the ordinary pages in its place. Small tables and results stay on ordinary pages: where free memory is fragmented,
//! the system has to compact it before it can give out a huge page. A virtual machine may have given the huge pages that it
//! does not use back to its host, and gets them again at fifty times the usual price; so a result goes on with ordinary
//! pages once a huge page was slow ([`PagesAhead`]). The request has to come before the first touch.
//! Ordinary pages of tables are populated in one call, which costs two thirds of faulting them in one by one.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::{Duration, Instant};

/// An allocation of this many bytes always gets its own mapping: glibc's largest mmap threshold, and a little more.
const ALWAYS_MAPPED: usize = if cfg!(all(target_os = "linux", target_env = "gnu")) { 33 << 20 } else { 0 };

/// Bytes of an ordinary page.
#[cfg(target_os = "linux")]
const PAGE: usize = 4096;

/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// Bytes that the TLB of a current processor covers with ordinary pages.
const REACH: usize = 8 << 20;

/// A huge page that takes longer than this costs more than the ordinary pages in its place: 0.1 milliseconds are usual, and 4 where
/// a host has to find the memory. The ordinary pages take 0.6 milliseconds.
const SLOW: Duration = Duration::from_millis(1);

/// Bytes for which [`PagesAhead`] asks at a time.
const BLOCK: usize = 32 << 20;

/// Smaller allocations get no advice.
const MIN_HUGE_BYTES: usize = 1 << 20;

/// An empty vector with capacity for `capacity` items or more, whose memory returns to the system when the vector is
/// dropped.
///
/// The C library keeps memory that a thread frees for later allocations, except for allocations large enough to
/// always get their own mapping. So a vector of 1 MiB or more claims at least that many addresses. Addresses that
/// nobody touches cost no memory.
pub fn vec_mapped<T>(capacity: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(claimed::<T>(capacity));
    populate(items.spare_capacity_mut(), capacity);
    items
}

/// How many items to ask for, so that `capacity` items get their own mapping if they take 1 MiB or more.
fn claimed<T>(capacity: usize) -> usize {
    let size = size_of::<T>().max(1);
    if capacity.saturating_mul(size) < MIN_HUGE_BYTES { capacity } else { capacity.max(ALWAYS_MAPPED / size) }
}

/// An empty vector with capacity for `capacity` items, or for as many as the system has addresses for; populates no pages.
pub fn vec_streamed<T>(mut capacity: usize) -> Vec<T> {
    let mut items = Vec::new();
    while items.try_reserve_exact(capacity).is_err() {
        capacity /= 2;
    }
    items
}

/// Asks for huge pages for memory that is written from front to back, block by block. The first huge page of each block is
/// populated: if it was slow, the block and all after it get ordinary pages.
#[derive(Debug)]
pub struct PagesAhead {
    /// Items from the front of the memory on for which nothing has to be asked.
    ready: usize,
    is_wanted: bool,
}

impl PagesAhead {
    /// For `memory`, of which nothing is written yet.
    pub fn new<T>(memory: &[MaybeUninit<T>]) -> Self {
        Self { ready: 0, is_wanted: size_of_val(memory) >= REACH }
    }

    /// Prepares the first `count` items of `memory`, which are written next; the next call gets the memory after them.
    pub fn prepare<T>(&mut self, memory: &mut [MaybeUninit<T>], count: usize) {
        while self.is_wanted && self.ready < count {
            let end = memory.len().min(self.ready + BLOCK / size_of::<T>().max(1));
            let block = &mut memory[self.ready..end];
            request_huge_pages(block);
            if time_of_first_huge_page(block) > SLOW {
                request_ordinary_pages(block);
                self.is_wanted = false;
            }
            self.is_wanted &= self.ready < end;
            self.ready = end;
        }
        self.ready = self.ready.saturating_sub(count);
    }
}

/// Writes to the first huge page that lies wholly in `memory`; returns how long that took.
fn time_of_first_huge_page<T>(memory: &mut [MaybeUninit<T>]) -> Duration {
    let start = memory.as_ptr().addr();
    let place = (start.next_multiple_of(HUGE_PAGE) - start).div_ceil(size_of::<T>().max(1));
    let before = Instant::now();
    if let Some(item) = memory.get_mut(place) {
        *item = MaybeUninit::zeroed();
        black_box(item);
    }
    before.elapsed()
}

/// As [`vec_mapped`], filled with `len` copies of `value`.
pub fn vec_mapped_filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut items = vec_mapped(len);
    items.resize(len, value);
    items
}

/// As [`vec_mapped`], with `len` zeros, or other defaults that are zeros; pages that nobody writes to take no memory.
pub fn vec_zeroed<T: Copy + Default>(len: usize) -> Vec<T> {
    let mut items = vec![T::default(); claimed::<T>(len)];
    if size_of_val(&items[..len]) >= REACH {
        request_huge_pages(&mut items[..]);
    }
    items.truncate(len);
    items
}

/// A vector of `len` copies of `value`.
pub fn vec_filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(len);
    populate(items.spare_capacity_mut(), len);
    items.resize(len, value);
    items
}

/// A copy of `source`.
pub fn vec_copied<T: Copy>(source: &[T]) -> Vec<T> {
    let mut items = Vec::with_capacity(source.len());
    populate(items.spare_capacity_mut(), source.len());
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
    let range = memory.as_mut_ptr_range();
    (range.start as usize).next_multiple_of(PAGE)..range.end as usize / PAGE * PAGE
}

/// The addresses of all pages of `memory`, which may begin and end with memory of others.
///
/// A mapping of one kind of pages from its first page to its last can grow without a copy.
#[cfg(target_os = "linux")]
fn all_pages<T>(memory: &mut [T]) -> Range<usize> {
    let range = memory.as_mut_ptr_range();
    range.start as usize / PAGE * PAGE..(range.end as usize).next_multiple_of(PAGE)
}

/// Makes a request to the system about pages that [`whole_pages`] or [`all_pages`] found.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there are no safe calls for these requests")]
fn ask(pages: Range<usize>, request: i32) {
    if !pages.is_empty() {
        let start = std::ptr::with_exposed_provenance_mut(pages.start);
        // SAFETY: all pages hold memory of ours, so they stay mapped, and the requests made here change no content, neither of ours
        // nor of others. A system that refuses a request changes nothing, so the answer does not matter.
        unsafe { libc::madvise(start, pages.len(), request) };
    }
}

#[cfg(target_os = "linux")]
fn request_huge_pages<T>(memory: &mut [T]) {
    ask(all_pages(memory), libc::MADV_HUGEPAGE);
}

#[cfg(target_os = "linux")]
fn request_ordinary_pages<T>(memory: &mut [T]) {
    ask(whole_pages(memory), libc::MADV_NOHUGEPAGE);
}

#[cfg(not(target_os = "linux"))]
fn request_huge_pages<T>(_: &mut [T]) {}

#[cfg(not(target_os = "linux"))]
fn request_ordinary_pages<T>(_: &mut [T]) {}

/// Populates the pages of the first `count` items of `memory`, if they take 1 MiB or more. From 8 MiB on it asks for huge pages, for
/// the rest of `memory` too, and populates only the ordinary pages around them.
#[cfg(target_os = "linux")]
fn populate<T>(memory: &mut [T], count: usize) {
    let first = &mut memory[..count];
    if size_of_val(first) < MIN_HUGE_BYTES {
        return;
    }
    let pages = whole_pages(first);
    if pages.len() >= REACH {
        request_huge_pages(memory);
    }
    for range in ordinary(pages) {
        ask(range, libc::MADV_POPULATE_WRITE);
    }
}

#[cfg(not(target_os = "linux"))]
fn populate<T>(_: &mut [T], _: usize) {}

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

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn huge_pages_do_not_divide_a_mapping() {
        let items: [Vec<u64>; 3] =
            [vec_mapped(REACH / 8), vec_zeroed(REACH / 8), vec_zeroed(ALWAYS_MAPPED / 4)];
        let maps = std::fs::read_to_string("/proc/self/maps").expect("the system lists mappings");
        let address = |hexadecimal| usize::from_str_radix(hexadecimal, 16).expect("an address");
        for items in &items {
            let memory = items.as_ptr().addr()..items.as_ptr().addr() + items.capacity() * 8;
            let mut ranges = maps.lines().filter_map(|line| line.split(' ').next()?.split_once('-'));
            assert!(ranges.any(|(start, end)| address(start) <= memory.start && memory.end <= address(end)));
        }
    }

    #[test]
    fn memory_is_prepared_in_any_steps() {
        for (len, steps) in
            [(0, vec![0]), (100, vec![7, 93]), (3 * BLOCK / 4, vec![1, BLOCK / 4, BLOCK / 2 - 1])]
        {
            let mut items = vec_streamed::<u32>(len);
            let mut free = &mut items.spare_capacity_mut()[..len];
            let mut pages = PagesAhead::new(free);
            for step in steps {
                pages.prepare(free, step);
                let (written, rest) = free.split_at_mut(step.min(free.len()));
                written.fill(MaybeUninit::new(7));
                free = rest;
            }
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
