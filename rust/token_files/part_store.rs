//! Stores for the finished parts of a run.

use std::fmt::Debug;
use std::io;

/// A store that takes finished parts, so that the folder of the run holds only the parts that are not finished. Parts that will be joined
/// stay in the folder.
pub trait PartStore: Debug + Sync {
    /// Called before the first document is read, once all options are checked and the folder has the manifest of the run.
    ///
    /// # Errors
    /// The errors of the store.
    fn begin(&self) -> io::Result<()>;

    /// Takes the files of a part, which are on the disk under their names. `part` is the line of the list of finished parts, as JSON.
    ///
    /// # Errors
    /// The errors of the store.
    fn take(&self, part: &str) -> io::Result<()>;
}
