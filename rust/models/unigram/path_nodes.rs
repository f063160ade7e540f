//! The nodes of a search, the path through them, and how close its comparisons were.

use super::Edge;
use super::sums::Sums;

/// Start of a node that no path reaches yet.
pub(super) const NOWHERE: u32 = u32::MAX;

/// End of the best path to a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) score: f64,
    /// Where the last piece of the path starts.
    pub(super) start: u32,
    pub(super) id: u32,
}

/// Follows the best path back through the nodes: calls `each` with its edges, from right to left.
pub(super) fn trace(nodes: &[Node], mut each: impl FnMut(Edge)) {
    let mut end = nodes.len() - 1;
    while end > 0 {
        let Node { start, id, .. } = nodes[end];
        each(Edge { start, end: end as u32, id });
        end = start as usize;
    }
}

/// How close the comparisons of a search were.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margin {
    /// The least difference between two sums that were compared.
    pub(super) least: f64,
    /// The largest magnitude of a sum.
    pub(super) largest: f64,
}

impl Default for Margin {
    fn default() -> Self {
        Self { least: f64::INFINITY, largest: 0.0 }
    }
}

impl Margin {
    #[inline]
    pub(super) fn note(&mut self, sum: f64, difference: f64) {
        self.largest = self.largest.max(sum.abs());
        // The difference of two equal infinities is NaN: the margin is then 0.
        if difference < self.least || difference.is_nan() {
            self.least = difference.max(0.0);
        }
    }

    /// True only if a fragment of `len` bytes has the same best path after the sum `base`, and no sum in it is rebased.
    ///
    /// Two sums are compared, once in the search from 0 and once after `base`. Each takes at most `len` additions, and each
    /// addition is off by at most half of `epsilon` times its result. The bound allows for twice that error.
    pub(super) fn holds_at<S: Sums>(&self, base: f64, len: usize) -> bool {
        let additions = u32::try_from(len).map_or(f64::INFINITY, f64::from) + 2.0;
        let (error, most) = (additions * S::EPSILON, base.abs() + self.largest);
        self.least > 4.0 * error * most && most * (1.0 + 4.0 * error) < S::LARGEST
    }
}
