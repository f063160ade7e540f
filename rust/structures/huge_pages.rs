//! Large memory on huge pages, where the system gives them when asked.
//!
//! First touches of ordinary pages are what new memory costs, and tables that are read at random spend as long on
//! looking up addresses as on reading. The request has to come before the first touch.

/// Smaller memory is left alone: a huge page has 2 MiB.
const WORTHWHILE: usize = 4 << 20;

/// An empty vector for `capacity` items.
pub fn vec_with_capacity<T>(capacity: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(capacity);
    if capacity * size_of::<T>() >= WORTHWHILE {
        advise(items.spare_capacity_mut());
    }
    items
}

/// A vector of `len` times `value`.
pub fn vec_filled<T: Clone>(value: T, len: usize) -> Vec<T> {
    let mut items = vec_with_capacity(len);
    items.resize(len, value);
    items
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "there is no safe call for this request")]
fn advise<T>(memory: &mut [T]) {
    const PAGE: usize = 4096;
    let range = memory.as_mut_ptr_range();
    let start = (range.start as usize).next_multiple_of(PAGE);
    let len = (range.end as usize).saturating_sub(start);
    // SAFETY: the request is a hint for pages that lie wholly in memory of ours; it changes no content. A system that
    // refuses it leaves everything as it was, so the answer does not matter.
    unsafe {
        libc::madvise(std::ptr::with_exposed_provenance_mut(start), len, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_vectors_hold_what_they_are_filled_with() {
        for len in [0, 1, 1000, WORTHWHILE / 8, WORTHWHILE] {
            let items = vec_filled(7u64, len);
            assert_eq!((items.len(), items.iter().sum::<u64>()), (len, 7 * len as u64));
        }
    }
}
