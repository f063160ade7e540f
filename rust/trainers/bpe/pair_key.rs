//! A pair of ids as one integer.

/// The key of two ids.
#[inline]
pub(super) fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The ids of a key.
#[inline]
pub(super) fn ids(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}
