//! Rows of tokens, column by column, and the plain way to them: from encodings.

use super::rows::{Ragged, vec_for_rows};
use super::{EncodeInput, Sequence, Tokenizer};
use crate::cache::Id;
use crate::encoding::Encoding;
use crate::structures::parallel::Parallelism;
use crate::{Error, Result};

/// The columns that [`Tokenizer::encode_columns`] gives beside ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "columns are asked for independently of each other")]
pub struct ColumnOptions {
    /// Start and end of each token.
    pub offsets: bool,
    /// Number of the pre-token that each token belongs to.
    pub word_ids: bool,
    /// Which sequence of the input a token counts to, by the post-processor's rule.
    pub type_ids: bool,
    /// A mask of all tokens but padding.
    pub attention_mask: bool,
    /// A mask of special tokens and padding.
    pub special_tokens_mask: bool,
    /// Adds a row for each window that truncation cuts off, and the column `sample_mapping`.
    pub overflowing: bool,
}

impl ColumnOptions {
    /// True if bare ids of single texts are wanted, so that several threads may share a long text.
    pub fn is_ids_alone(self, is_pair: bool) -> bool {
        !is_pair && self == Self::default()
    }
}

/// Rows of tokens, column by column. Columns that were not asked for are absent; each other one has one value per token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenColumns<T> {
    /// The ids, and where rows begin.
    pub rows: Ragged<T>,
    /// Half-open character ranges of the original text; `[0, 0]` for special tokens and padding.
    pub offsets: Option<Vec<[u32; 2]>>,
    /// Word ids; -1 for special tokens and padding.
    pub word_ids: Option<Vec<i32>>,
    /// Type ids.
    pub type_ids: Option<Vec<u32>>,
    /// 0 for padding, 1 for everything else.
    pub attention_mask: Option<Vec<u8>>,
    /// 1 for special tokens and padding, 0 for text.
    pub special_tokens_mask: Option<Vec<u8>>,
    /// The number of the input that each row comes from, if rows of windows that truncation cuts off were asked for.
    pub sample_mapping: Option<Vec<i64>>,
}

/// Refuses another number of pairs than of texts.
pub(super) fn check_pairs(texts: &[&str], pairs: Option<&[&str]>) -> Result<()> {
    match pairs.map(<[_]>::len) {
        Some(pairs) if pairs != texts.len() => Err(Error::InvalidOption {
            name: "number of pairs",
            value: pairs.to_string(),
            expected: format!("{}, the number of texts", texts.len()),
        }),
        _ => Ok(()),
    }
}

impl Tokenizer {
    /// As [`Self::encode_columns`], from encodings: the slow twin, for any post-processor.
    ///
    /// # Errors
    /// As [`Self::encode_columns`].
    pub fn columns_by_encodings<'a, T: Id>(
        &self,
        texts: &[&str],
        pairs: Option<&[&str]>,
        options: ColumnOptions,
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<TokenColumns<T>> {
        check_pairs(texts, pairs)?;
        let second = |row: usize| pairs.map(|pairs| Sequence::Text(pairs[row]));
        let inputs: Vec<EncodeInput<'_>> = (0..texts.len())
            .map(|row| EncodeInput { first: Sequence::Text(texts[row]), second: second(row) })
            .collect();
        let encodings = self.encode_batch(&inputs, add_special_tokens, parallelism)?;
        let rows = encodings.iter().enumerate().flat_map(|(number, encoding)| {
            let windows: &[Encoding] = if options.overflowing { encoding.overflowing() } else { &[] };
            std::iter::once(encoding).chain(windows).map(move |row| (number, row))
        });
        let mut columns = TokenColumns::for_rows(options, rows.clone().map(|(_, row)| row.len()))?;
        rows.for_each(|(number, row)| columns.push(row, number));
        Ok(columns)
    }
}

impl<T: Id> From<Ragged<T>> for TokenColumns<T> {
    /// Ids alone.
    fn from(rows: Ragged<T>) -> Self {
        Self { rows, ..Self::default() }
    }
}

impl<T: Id> TokenColumns<T> {
    /// No rows, with capacity for rows of these lengths.
    ///
    /// # Errors
    /// The errors of [`vec_for_rows`].
    fn for_rows(options: ColumnOptions, lens: impl Iterator<Item = usize> + Clone) -> Result<Self> {
        fn column<V>(is_wanted: bool, lens: impl Iterator<Item = usize> + Clone) -> Result<Option<Vec<V>>> {
            is_wanted.then(|| vec_for_rows(lens)).transpose()
        }
        Ok(Self {
            rows: Ragged::for_rows(lens.clone())?,
            offsets: column(options.offsets, lens.clone())?,
            word_ids: column(options.word_ids, lens.clone())?,
            type_ids: column(options.type_ids, lens.clone())?,
            attention_mask: column(options.attention_mask, lens.clone())?,
            special_tokens_mask: column(options.special_tokens_mask, lens)?,
            sample_mapping: options.overflowing.then(Vec::new),
        })
    }

    fn push(&mut self, encoding: &Encoding, input: usize) {
        fn extend<V>(column: &mut Option<Vec<V>>, values: impl Iterator<Item = V>) {
            if let Some(column) = column {
                column.extend(values);
            }
        }
        self.rows.ids.extend(encoding.ids().map(T::narrow));
        extend(&mut self.offsets, encoding.offsets().map(|(start, end)| [start, end]));
        extend(&mut self.word_ids, encoding.word_ids().map(|word| word.map_or(-1, |word| word as i32)));
        extend(&mut self.type_ids, encoding.type_ids());
        extend(&mut self.attention_mask, encoding.attention_mask().map(|mask| mask as u8));
        extend(&mut self.special_tokens_mask, encoding.special_tokens_mask().map(|mask| mask as u8));
        extend(&mut self.sample_mapping, std::iter::once(input as i64));
        self.rows.end_row();
    }
}
