//! The most frequent pair of a corpus; of equally frequent ones that with the larger texts.

use super::super::pairs::PairTable;
use super::super::tokens::Tokens;
use crate::structures::bucket_queue::BucketQueue;

/// The queue of pairs, and the pairs of its highest count as a binary heap.
#[derive(Debug, Default)]
pub(super) struct MostFrequent {
    queue: BucketQueue,
    group: Vec<u32>,
    heap: Vec<u32>,
    queued: u32,
}

impl MostFrequent {
    /// Restarts with a new table of pairs.
    pub(super) fn start(&mut self, pairs: &PairTable) {
        *self = Self::default();
        for index in 0..pairs.len() as u32 {
            self.queue.push(index, pairs.count(index));
        }
        self.queued = pairs.len() as u32;
    }

    /// Queues the pairs that have become tracked since.
    pub(super) fn queue_new(&mut self, pairs: &PairTable, tokens: &Tokens) {
        for new in self.queued..pairs.len() as u32 {
            let count = pairs.count(new);
            if count == self.queue.level() {
                self.push(new, pairs, tokens);
            } else if count > 0 {
                self.queue.push(new, count);
            }
        }
        self.queued = pairs.len() as u32;
    }

    /// Takes the best pair out.
    pub(super) fn pop(&mut self, pairs: &PairTable, tokens: &Tokens) -> Option<u32> {
        loop {
            while let Some(index) = self.pop_tied(pairs, tokens) {
                let count = pairs.count(index);
                if count == self.queue.level() {
                    return Some(index);
                }
                if count > 0 {
                    self.queue.push(index, count);
                }
            }
            let mut group = std::mem::take(&mut self.group);
            let level = self.queue.pop_group(|index| pairs.count(index), &mut group);
            for index in group.drain(..) {
                self.push(index, pairs, tokens);
            }
            self.group = group;
            level?;
        }
    }

    fn push(&mut self, index: u32, pairs: &PairTable, tokens: &Tokens) {
        let mut at = self.heap.len();
        self.heap.push(index);
        while at > 0 && is_larger(self.heap[at], self.heap[(at - 1) / 2], pairs, tokens) {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn pop_tied(&mut self, pairs: &PairTable, tokens: &Tokens) -> Option<u32> {
        if self.heap.is_empty() {
            return None;
        }
        let top = self.heap.swap_remove(0);
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let Some(&child) = self.heap.get(left) else { break };
            let larger = match self.heap.get(right) {
                Some(&other) if is_larger(other, child, pairs, tokens) => right,
                _ => left,
            };
            if !is_larger(self.heap[larger], self.heap[at], pairs, tokens) {
                break;
            }
            self.heap.swap(at, larger);
            at = larger;
        }
        Some(top)
    }
}

/// True if the left text of `one` is larger than the left text of `other`, or the left ids are equal and the right text is larger.
fn is_larger(one: u32, other: u32, pairs: &PairTable, tokens: &Tokens) -> bool {
    let (one, other) = (pairs.get(one), pairs.get(other));
    if one.left == other.left {
        one.right != other.right && tokens.text(one.right) > tokens.text(other.right)
    } else {
        tokens.text(one.left) > tokens.text(other.left)
    }
}
