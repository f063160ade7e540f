//! Rows of ids in one array.

/// Ids of many texts end to end; text `i` has those from `row_splits[i]` to `row_splits[i + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ragged<T> {
    /// The ids.
    pub ids: Vec<T>,
    /// One more than there are texts, from 0, ascending.
    pub row_splits: Vec<i64>,
}

/// What is known of the rows in one run of ids, which may begin and end within one.
#[derive(Debug)]
pub(super) struct RunRows {
    /// Ids in the run.
    pub(super) ids: usize,
    /// Ends of rows, counted from the beginning of the run.
    pub(super) ends: Vec<usize>,
}

/// Where rows begin and end, from what is known of the runs in order.
pub(super) fn row_splits(runs: &[RunRows]) -> Vec<i64> {
    let mut row_splits = Vec::with_capacity(1 + runs.iter().map(|run| run.ends.len()).sum::<usize>());
    row_splits.push(0);
    let mut start = 0;
    for run in runs {
        row_splits.extend(run.ends.iter().map(|end| (start + end) as i64));
        start += run.ids;
    }
    row_splits
}
