//! The columns of rows that follow from their layout: padding, type ids and masks.

use super::columns::TextLens;
use super::limits::PaddingRule;
use super::rows::{Ragged, vec_for_rows};
use super::{TokenColumns, Wanted};
use crate::Result;
use crate::cache::Id;
use crate::encoding::{Direction, RowLayout, RowPart};

/// Rows of one layout.
pub(super) struct Framed<'a> {
    pub(super) layout: &'a RowLayout,
    /// Tokens of the texts of each row.
    pub(super) lens: &'a [TextLens],
    pub(super) wanted: Wanted,
}

/// Padding of one row: how many tokens go before it, and how many after.
type Pads = [usize; 2];

impl Framed<'_> {
    /// Pads the columns that texts gave, and adds the others.
    ///
    /// # Errors
    /// Those of [`PaddingRule::length_for`] and [`vec_for_rows`].
    pub(super) fn finish<T: Id>(
        &self,
        columns: TokenColumns<T>,
        rule: Option<&PaddingRule>,
    ) -> Result<TokenColumns<T>> {
        let lens: Vec<usize> = columns.rows.rows().map(<[T]>::len).collect();
        let length = rule.map_or(Ok(0), |rule| rule.length_for(&lens))?;
        let is_left = rule.is_some_and(|rule| rule.padding.direction == Direction::Left);
        let pads_of = |len: usize| {
            let missing = length.saturating_sub(len);
            if is_left { [missing, 0] } else { [0, missing] }
        };
        let (id, type_id) = rule.map_or((0, 0), |rule| (rule.padding.symbol.id, rule.padding.type_id));
        let is_padded = lens.iter().any(|&len| len < length);
        let pads: Vec<Pads> = lens.into_iter().map(pads_of).collect();
        let mut framed = columns;
        if is_padded {
            let splits = &framed.rows.row_splits;
            if let Some(offsets) = &mut framed.offsets {
                *offsets = padded(offsets, splits, &pads, [0, 0])?;
            }
            if let Some(words) = &mut framed.word_ids {
                *words = padded(words, splits, &pads, -1)?;
            }
            let ids = padded(&framed.rows.ids, splits, &pads, T::narrow(id))?;
            let mut end = 0;
            let ends = splits.windows(2).zip(&pads).map(|(row, [before, after])| {
                end += row[1] - row[0] + (before + after) as i64;
                end
            });
            let row_splits = std::iter::once(0).chain(ends).collect();
            framed.rows = Ragged { ids, row_splits };
        }
        let Wanted { type_ids, attention_mask, special_tokens_mask, .. } = self.wanted;
        let special = |part: &RowPart| matches!(part, RowPart::Special { is_marked: true, .. });
        if type_ids {
            framed.type_ids = Some(self.column(&pads, type_id, type_id_of)?);
        }
        if attention_mask {
            framed.attention_mask = Some(self.column(&pads, 0, |_| 1)?);
        }
        if special_tokens_mask {
            framed.special_tokens_mask = Some(self.column(&pads, 1, |part| special(part).into())?);
        }
        Ok(framed)
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
        let row_lens =
            self.lens.iter().zip(pads).map(|(lens, pads)| lens[0] + lens[1] + special + pads[0] + pads[1]);
        let mut column = vec_for_rows(row_lens)?;
        for (lens, [before, after]) in self.lens.iter().zip(pads) {
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

fn padded<V: Copy>(column: &[V], row_splits: &[i64], pads: &[Pads], pad: V) -> Result<Vec<V>> {
    let rows = row_splits.windows(2).zip(pads);
    let mut filled =
        vec_for_rows(rows.clone().map(|(row, pads)| (row[1] - row[0]) as usize + pads[0] + pads[1]))?;
    for (row, [before, after]) in rows {
        filled.extend(std::iter::repeat_n(pad, *before));
        filled.extend_from_slice(&column[row[0] as usize..row[1] as usize]);
        filled.extend(std::iter::repeat_n(pad, *after));
    }
    Ok(filled)
}
