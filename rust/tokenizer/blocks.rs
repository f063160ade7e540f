//! Blocks of text that are encoded while others are read.

use crate::Result;
use crate::pipeline::Shard;

/// What a source hands out at a time.
#[derive(Debug, Default)]
pub struct Block {
    /// Text of some rows, one after the other, perhaps with something between them.
    pub text: String,
    /// The rows, or shards of rows, in order.
    pub shards: Vec<Shard>,
}

/// Where blocks come from. One thread at a time asks, and all of them wait for it.
pub trait BlockSource: Send {
    /// Bytes of text that will come, as far as that is known.
    fn bytes(&self) -> usize;

    /// Replaces the contents of `block`, which is used again, by what comes next; false at the end.
    ///
    /// # Errors
    /// Those of reading.
    fn next(&mut self, block: &mut Block) -> Result<bool>;
}
