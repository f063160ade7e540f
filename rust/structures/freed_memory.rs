//! Memory that was freed but that the C library keeps for later allocations.

/// Returns freed memory to the system.
///
/// Memory that threads freed stays in the arenas of the C library, except for large allocations, which have their own
/// mapping (see [`super::huge_pages`]).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "there is no safe call for this request")]
pub fn give_back() {
    // SAFETY: this touches only memory that nobody uses, under the locks of its owner.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing: this platform's C library has no such call.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_in_use_stays() {
        let used = vec![7u8; 3 << 20];
        drop(vec![1u8; 3 << 20]);
        super::give_back();
        assert!(used.iter().all(|&byte| byte == 7));
    }
}
