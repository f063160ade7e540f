//! Prefetching: asks the processor for a cache line before it is needed.

/// Prefetches `entries[place]`, if that exists, without waiting for it.
#[inline]
#[expect(unsafe_code, reason = "a hint to the processor; safe Rust has none")]
pub fn prefetch<E>(entries: &[E], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = entries.get(place) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault; besides, its address belongs to a live entry.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (entries, place);
}
