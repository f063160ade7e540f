//! The memory that the process takes.

/// Bytes of the process that lie in memory, shared libraries and mapped files included; `None` where the system does not tell.
pub fn resident_bytes() -> Option<u64> {
    memory_stats::memory_stats().map(|stats| stats.physical_mem as u64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_that_is_written_is_resident() {
        let bytes = 32 << 20;
        let written = vec![7u8; bytes];
        if let Some(resident) = super::resident_bytes() {
            assert!(resident > bytes as u64, "{resident}");
        }
        assert!(written.iter().all(|&byte| byte == 7));
    }
}
