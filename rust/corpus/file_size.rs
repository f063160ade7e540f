//! The size of a file of this machine or of a store.

use std::path::Path;

/// Bytes of a file as it is stored; none if it does not tell, as a pipe.
pub(super) fn file_size(path: &Path) -> Option<u64> {
    #[cfg(feature = "sources")]
    if let Some(url) = super::remote::url_of(path) {
        return super::remote::status(url, false).ok().map(|status| status.bytes);
    }
    path.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len())
}
