//! Rows of ids in one array, and the steps after the model: special tokens, truncation, padding.

use std::sync::OnceLock;

use super::limits::{PaddingRule, Truncation};
use crate::cache::Id;
use crate::encoding::{Direction, RowLayout};
use crate::{Error, Result};

/// Token ids of many texts, concatenated; row `i` is `ids[row_splits[i]..row_splits[i + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ragged<T> {
    /// The ids.
    pub ids: Vec<T>,
    /// One more than there are texts, from 0, ascending.
    pub row_splits: Vec<i64>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Self {
        Self { ids: Vec::new(), row_splits: vec![0] }
    }
}

impl<T: Id> Ragged<T> {
    /// Ends the row that the ids since the last split make.
    pub(super) fn end_row(&mut self) {
        self.row_splits.push(self.ids.len() as i64);
    }

    /// No rows, with capacity for rows of these lengths.
    ///
    /// # Errors
    /// The errors of [`vec_for_rows`].
    pub(super) fn for_rows(lens: impl Iterator<Item = usize> + Clone) -> Result<Self> {
        Ok(Self { ids: vec_for_rows(lens)?, ..Self::default() })
    }

    /// Number of ids of each row.
    pub fn lens(&self) -> Vec<u64> {
        self.row_splits.windows(2).map(|ends| (ends[1] - ends[0]) as u64).collect()
    }

    /// The rows, one after the other.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.row_splits.windows(2).map(|ends| &self.ids[ends[0] as usize..ends[1] as usize])
    }
}

/// An empty vector with capacity for one value per token of rows of these lengths. Padding may ask for more than memory holds.
///
/// # Errors
/// [`Error::InvalidOption`] if the system does not give the memory.
pub(super) fn vec_for_rows<V>(lens: impl Iterator<Item = usize> + Clone) -> Result<Vec<V>> {
    let (mut values, total) = (Vec::new(), lens.clone().fold(0, usize::saturating_add));
    values.try_reserve_exact(total).map_err(|_| Error::InvalidOption {
        name: "length to pad to",
        value: format!("{} tokens, {total} in {} texts", lens.clone().max().unwrap_or(0), lens.count()),
        expected: "such that memory holds all of them".to_owned(),
    })?;
    Ok(values)
}

/// The number of ids and the ends of rows that one run of shards adds; a run may begin and end within a row.
#[derive(Debug)]
pub(super) struct RunRows {
    /// Ids in the run.
    pub(super) ids: usize,
    /// Ends of rows, counted from the beginning of the run.
    pub(super) ends: Vec<usize>,
}

/// Bounds of all rows, from the runs in order; the first row begins with `start` ids of earlier runs.
pub(super) fn row_splits(mut start: usize, runs: &[RunRows]) -> Vec<i64> {
    let mut row_splits = Vec::with_capacity(1 + runs.iter().map(|run| run.ends.len()).sum::<usize>());
    row_splits.push(0);
    for run in runs {
        row_splits.extend(run.ends.iter().map(|end| (start + end) as i64));
        start += run.ids;
    }
    row_splits
}

/// Layouts and special ids of rows, which depend on the post-processor alone; each is found when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    /// Of a text and of a pair, each without special tokens and with them.
    pub(super) rows: [[OnceLock<Option<RowLayout>>; 2]; 2],
    pub(super) affixes: [OnceLock<Option<SpecialAffixes>>; 2],
}

/// Special ids before and after the ids of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct SpecialAffixes {
    pub(super) before: Vec<u32>,
    pub(super) after: Vec<u32>,
}

/// Special ids, truncation and padding of each row after the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowRules<'a> {
    pub(super) affixes: &'a SpecialAffixes,
    pub(super) truncation: Option<&'a Truncation>,
    pub(super) padding: Option<&'a PaddingRule>,
    /// Special tokens that truncation leaves room for.
    pub(super) special: usize,
}

impl RowRules<'_> {
    /// True if rows are truncated or padded. Then encoding gives rows without special tokens, and [`Self::apply`] does the rest.
    pub(super) fn has_limits(&self) -> bool {
        self.truncation.is_some() || self.padding.is_some()
    }

    /// Truncates rows of texts, adds their special tokens and pads them as one batch; no change where there are no limits.
    ///
    /// # Errors
    /// The errors of [`Truncation::kept`] and [`PaddingRule::length_for`].
    pub(super) fn apply<T: Id>(&self, rows: Ragged<T>) -> Result<Ragged<T>> {
        if !self.has_limits() {
            return Ok(rows);
        }
        let kept = |len| self.truncation.map_or(Ok(0..len), |rule| Ok(rule.kept(len, None, self.special)?.0));
        let kept = rows.rows().map(|row| kept(row.len())).collect::<Result<Vec<_>>>()?;
        let special = self.affixes.before.len() + self.affixes.after.len();
        let lens: Vec<usize> = kept.iter().map(|kept| kept.len() + special).collect();
        let length = self.padding.map_or(Ok(0), |rule| rule.length_for(&lens))?;
        let pad = |ids: &mut Vec<T>, len: usize, side: Direction| {
            if let Some(rule) = self.padding.filter(|rule| rule.padding.direction == side) {
                ids.resize(ids.len() + length.saturating_sub(len), T::narrow(rule.padding.symbol.id));
            }
        };
        let mut limited = Ragged::for_rows(lens.iter().map(|&len| len.max(length)))?;
        for ((row, kept), len) in rows.rows().zip(kept).zip(lens) {
            pad(&mut limited.ids, len, Direction::Left);
            limited.ids.extend(self.affixes.before.iter().map(|&id| T::narrow(id)));
            limited.ids.extend_from_slice(&row[kept]);
            limited.ids.extend(self.affixes.after.iter().map(|&id| T::narrow(id)));
            pad(&mut limited.ids, len, Direction::Right);
            limited.end_row();
        }
        Ok(limited)
    }
}
