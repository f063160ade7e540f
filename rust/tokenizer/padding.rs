//! Padding of rows, and the columns that follow from their layout: type ids and masks.

use super::limits::PaddingRule;
use super::rows::{Ragged, vec_for_rows};
use super::{ColumnOptions, TokenColumns};
use crate::Result;
use crate::cache::Id;
use crate::encoding::{Direction, RowLayout, RowPart};

/// Number of tokens of the first and the second text of a row; 0 without a pair.
pub(super) type TextLens = [usize; 2];

/// The layout of rows and the lengths of their texts, which give the columns that the texts do not give.
pub(super) struct LayoutColumns<'a> {
    pub(super) layout: &'a RowLayout,
    /// Tokens of the texts of each row.
    pub(super) lens: &'a [TextLens],
    pub(super) options: ColumnOptions,
}

/// Padding of one row: how many tokens go before it, and how many after.
type Pads = [usize; 2];

impl LayoutColumns<'_> {
    /// Pads the columns that texts gave, and adds the others.
    ///
    /// # Errors
    /// The errors of [`PaddingRule::length_for`] and [`vec_for_rows`].
    pub(super) fn finish<T: Id>(
        &self,
        mut columns: TokenColumns<T>,
        rule: Option<&PaddingRule>,
    ) -> Result<TokenColumns<T>> {
        let lens: Vec<usize> = columns.rows.rows().map(<[T]>::len).collect();
        let length = rule.map_or(Ok(0), |rule| rule.length_for(&lens))?;
        let is_left = rule.is_some_and(|rule| rule.padding.direction == Direction::Left);
        let pads_of = |len: usize| {
            let missing = length.saturating_sub(len);
            if is_left { [missing, 0] } else { [0, missing] }
        };
        let is_padded = lens.iter().any(|&len| len < length);
        let pads: Vec<Pads> = lens.into_iter().map(pads_of).collect();
        let (id, type_id) = rule.map_or((0, 0), |rule| (rule.padding.symbol.id, rule.padding.type_id));
        if is_padded {
            pad(&mut columns, T::narrow(id), &pads)?;
        }
        self.derive(&mut columns, type_id, &pads)?;
        Ok(columns)
    }

    /// Adds the columns that the layout gives; `type_id` is the type id of padding.
    fn derive<T>(&self, columns: &mut TokenColumns<T>, type_id: u32, pads: &[Pads]) -> Result<()> {
        let is_marked = |part: &RowPart| matches!(part, RowPart::Special { is_marked: true, .. });
        if self.options.type_ids {
            columns.type_ids = Some(self.column(pads, type_id, type_id_of)?);
        }
        if self.options.attention_mask {
            columns.attention_mask = Some(self.column(pads, 0, |_| 1)?);
        }
        if self.options.special_tokens_mask {
            columns.special_tokens_mask = Some(self.column(pads, 1, |part| is_marked(part).into())?);
        }
        Ok(())
    }

    /// A column with `pad` for padding and one value for each other part of the rows.
    fn column<V: Copy>(&self, pads: &[Pads], pad: V, value_of: impl Fn(&RowPart) -> V) -> Result<Vec<V>> {
        let parts: Vec<(bool, V)> = self
            .layout
            .parts
            .iter()
            .map(|part| (matches!(part, RowPart::Text { .. }), value_of(part)))
            .collect();
        let special = parts.iter().filter(|(is_text, _)| !is_text).count();
        let rows = self.lens.iter().zip(pads);
        let total = |(lens, pads): (&TextLens, &Pads)| lens[0] + lens[1] + special + pads[0] + pads[1];
        let mut column = vec_for_rows(rows.clone().map(total))?;
        for (lens, [before, after]) in rows {
            column.extend(std::iter::repeat_n(pad, *before));
            let mut lens = lens.iter();
            for &(is_text, value) in &parts {
                let len = if is_text { lens.next().copied().unwrap_or(0) } else { 1 };
                column.extend(std::iter::repeat_n(value, len));
            }
            column.extend(std::iter::repeat_n(pad, *after));
        }
        Ok(column)
    }
}

fn type_id_of(part: &RowPart) -> u32 {
    match part {
        RowPart::Special { type_id, .. } | RowPart::Text { type_id, .. } => *type_id,
    }
}

/// Pads the columns that texts gave, ids with `id`.
fn pad<T: Id>(columns: &mut TokenColumns<T>, id: T, pads: &[Pads]) -> Result<()> {
    let TokenColumns { rows: Ragged { ids, row_splits }, offsets, word_ids, .. } = columns;
    if let Some(offsets) = offsets {
        *offsets = padded(offsets, row_splits, pads, [0, 0])?;
    }
    if let Some(words) = word_ids {
        *words = padded(words, row_splits, pads, -1)?;
    }
    *ids = padded(ids, row_splits, pads, id)?;
    let mut moved = 0;
    for (split, [before, after]) in row_splits[1..].iter_mut().zip(pads) {
        moved += (before + after) as i64;
        *split += moved;
    }
    Ok(())
}

/// `column` with each row padded by `pads`.
fn padded<V: Copy>(column: &[V], row_splits: &[i64], pads: &[Pads], pad: V) -> Result<Vec<V>> {
    let rows = row_splits.windows(2).zip(pads);
    let total = |(row, pads): (&[i64], &Pads)| (row[1] - row[0]) as usize + pads[0] + pads[1];
    let mut filled = vec_for_rows(rows.clone().map(total))?;
    for (row, [before, after]) in rows {
        filled.extend(std::iter::repeat_n(pad, *before));
        filled.extend_from_slice(&column[row[0] as usize..row[1] as usize]);
        filled.extend(std::iter::repeat_n(pad, *after));
    }
    Ok(filled)
}
