//! Where the blocks that threads work on come from.

use crate::Result;

/// Where blocks come from.
pub trait Source<B> {
    /// Fills `block` for the thread of number `thread`, which is 0 for the calling one; answers the number of the block, and
    /// an error if the block could not be read. `None` if no block below number `below` is left; from then on the answer is `None` for
    /// every thread.
    ///
    /// `below` never grows. Every number below the least `below` is answered once, higher ones once or never. No block is kept for
    /// one thread alone: the system may have refused to start that thread.
    fn fill(&mut self, thread: usize, below: usize, block: &mut B) -> Option<(usize, Result<()>)>;
}

/// Blocks in their order; the function fills one, and returns false at the end.
pub struct InOrder<F> {
    next: Option<F>,
    filled: usize,
}

impl<F> InOrder<F> {
    /// Blocks that `next` fills.
    pub fn new(next: F) -> Self {
        Self { next: Some(next), filled: 0 }
    }
}

impl<B, F: FnMut(&mut B) -> Result<bool>> Source<B> for InOrder<F> {
    fn fill(&mut self, _: usize, below: usize, block: &mut B) -> Option<(usize, Result<()>)> {
        let next = self.next.as_mut().filter(|_| self.filled < below)?;
        let filled = next(block);
        if !matches!(filled, Ok(true)) {
            self.next = None;
        }
        if matches!(filled, Ok(false)) {
            return None;
        }
        self.filled += 1;
        Some((self.filled - 1, filled.map(drop)))
    }
}
