//! Rows of ids in one array, put together from what several workers made.

use std::ops::Range;

use crate::engine::sink::Id;
use crate::structures::threads::share;

/// Ids of unused room that a result may keep.
const ROOM_LEFT: usize = 1 << 12;

/// Ids that are worth a thread to copy them.
const WORTH_A_THREAD: usize = 1 << 19;

/// Ids of many texts end to end; text `i` has those from `row_splits[i]` to `row_splits[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ragged<T> {
    /// The ids.
    pub ids: Vec<T>,
    /// One more than there are texts, from 0, ascending.
    pub row_splits: Vec<i64>,
}

/// What one worker made of one run of pieces.
#[derive(Debug)]
pub(super) struct Run {
    /// The worker.
    pub(super) part: usize,
    /// Where in the worker's vector.
    pub(super) ids: Range<usize>,
    /// Ends of rows, counted from the beginning of the run.
    pub(super) row_ends: Vec<usize>,
}

impl<T: Id> Ragged<T> {
    /// Puts the runs of several workers in order; the ids of a single worker are in order already and stay in place.
    pub(super) fn join(mut parts: Vec<Vec<T>>, runs: &[Run], threads: usize) -> Self {
        let mut row_splits = Vec::with_capacity(1 + runs.iter().map(|run| run.row_ends.len()).sum::<usize>());
        row_splits.push(0);
        let mut base = 0;
        for run in runs {
            row_splits.extend(run.row_ends.iter().map(|end| (base + end) as i64));
            base += run.ids.len();
        }
        let ids = match parts.pop() {
            Some(mut only) if parts.is_empty() => {
                if only.capacity() > ROOM_LEFT + only.len() {
                    only.shrink_to_fit();
                }
                only
            }
            Some(last) => {
                parts.push(last);
                let pieces: Vec<&[T]> = runs.iter().map(|run| &parts[run.part][run.ids.clone()]).collect();
                concat(&pieces, base, threads.min(base / WORTH_A_THREAD))
            }
            None => Vec::new(),
        };
        Self { ids, row_splits }
    }
}

/// The pieces one after the other, `len` ids in all.
fn concat<T: Id>(pieces: &[&[T]], len: usize, threads: usize) -> Vec<T> {
    let mut ids = vec![T::default(); len];
    let share_len = len.div_ceil(threads.max(1)).max(1);
    let (mut pieces, mut free, mut shares) = (pieces, ids.as_mut_slice(), Vec::new());
    while !pieces.is_empty() {
        let ends = pieces.iter().scan(0, |end, piece| {
            *end += piece.len();
            Some(*end)
        });
        let count = 1 + ends.take_while(|&end| end < share_len).count();
        let (own, rest) = pieces.split_at(count.min(pieces.len()));
        let (room, others) = free.split_at_mut(own.iter().map(|piece| piece.len()).sum());
        shares.push((own, room));
        (pieces, free) = (rest, others);
    }
    share(shares, |(own, room)| copy(own, room));
    ids
}

fn copy<T: Copy>(pieces: &[&[T]], mut room: &mut [T]) {
    for piece in pieces {
        let (place, rest) = room.split_at_mut(piece.len());
        place.copy_from_slice(piece);
        room = rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn concat_matches_naive(pieces in prop::collection::vec(prop::collection::vec(0..9u16, 0..20), 0..20), threads in 0..9usize) {
            let naive = pieces.concat();
            let pieces: Vec<&[u16]> = pieces.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(concat(&pieces, naive.len(), threads), naive);
        }
    }
}
