//! Rows of tokens, column by column, and the plain way to them: from encodings.

use super::rows::Ragged;
use super::{EncodeInput, Sequence, Tokenizer};
use crate::Result;
use crate::cache::Id;
use crate::encoding::Encoding;
use crate::structures::parallel::Parallelism;

/// Which columns there shall be beside ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "columns are asked for independently of each other")]
pub struct Wanted {
    /// Start and end of each token.
    pub offsets: bool,
    /// Number of the pre-token that each token belongs to.
    pub word_ids: bool,
    /// Which sequence of the input a token counts to, by the post-processor's rule.
    pub type_ids: bool,
    /// What is not padding.
    pub attention_mask: bool,
    /// Special tokens and padding.
    pub special_tokens_mask: bool,
    /// Not a column: a row for each window that truncation cuts off, and the number of the input of each row.
    pub overflowing: bool,
}

/// Rows of tokens, column by column. Columns that were not asked for are absent; each other one has a value a token.
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
    /// The number of the input that each row comes from, if rows of what was cut off were asked for.
    pub sample_mapping: Option<Vec<i64>>,
}

impl Tokenizer {
    /// As [`Self::encode_columns`], from encodings: the slow twin, for any post-processor.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn columns_by_encodings<'a, T: Id>(
        &self,
        texts: &[&str],
        pairs: Option<&[&str]>,
        wanted: Wanted,
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<TokenColumns<T>> {
        let second = |at: usize| pairs.and_then(|pairs| pairs.get(at)).map(|text| Sequence::Text(text));
        let inputs: Vec<EncodeInput<'_>> = (0..texts.len())
            .map(|at| EncodeInput { first: Sequence::Text(texts[at]), second: second(at) })
            .collect();
        let encodings = self.encode_batch(&inputs, add_special_tokens, parallelism)?;
        let mut columns = TokenColumns::empty(wanted);
        for (number, encoding) in encodings.iter().enumerate() {
            columns.push(encoding, number);
            if wanted.overflowing {
                encoding.overflowing().iter().for_each(|part| columns.push(part, number));
            }
        }
        Ok(columns)
    }
}

impl<T: Id> TokenColumns<T> {
    /// No rows.
    pub(super) fn empty(wanted: Wanted) -> Self {
        Self {
            rows: Ragged::default(),
            offsets: wanted.offsets.then(Vec::new),
            word_ids: wanted.word_ids.then(Vec::new),
            type_ids: wanted.type_ids.then(Vec::new),
            attention_mask: wanted.attention_mask.then(Vec::new),
            special_tokens_mask: wanted.special_tokens_mask.then(Vec::new),
            sample_mapping: wanted.overflowing.then(Vec::new),
        }
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
