//! RoBERTa's arrangement of special tokens.

use super::trim_all;
use crate::Result;
use crate::encoding::{Encoding, Symbol};

/// RoBERTa's `<s> A </s>` and `<s> A </s></s> B </s>`, all of type 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roberta {
    /// The separator.
    pub sep: Symbol,
    /// The token that opens the text.
    pub cls: Symbol,
    /// Trims spaces from offsets.
    pub trim_offsets: bool,
    /// The pre-tokenizer added the space of the first token, so it stays in the token's offsets.
    pub add_prefix_space: bool,
}

impl Roberta {
    pub(super) fn apply(
        &self,
        mut encodings: Vec<Encoding>,
        add_special_tokens: bool,
    ) -> Result<Vec<Encoding>> {
        for encoding in &mut encodings {
            if self.trim_offsets {
                trim_all(encoding, self.add_prefix_space);
            }
            encoding.set_type_id(0);
        }
        if !add_special_tokens {
            return Ok(encodings);
        }
        encodings.into_iter().enumerate().map(|(index, encoding)| self.wrap(encoding, index)).collect()
    }

    fn wrap(&self, mut encoding: Encoding, index: usize) -> Result<Encoding> {
        let overflowing = std::mem::take(&mut encoding.overflowing);
        encoding.set_type_id(0);
        encoding.count_as_text();
        encoding.sequences.clear();
        encoding.set_sequence(index);
        let opening = if index == 0 { &self.cls } else { &self.sep };
        let special = |symbol: &Symbol| Encoding::special(std::slice::from_ref(symbol), 0);
        let mut wrapped = Encoding::merge([special(opening), encoding, special(&self.sep)], false)?;
        wrapped.overflowing =
            overflowing.into_iter().map(|part| self.wrap(part, index)).collect::<Result<_>>()?;
        Ok(wrapped)
    }
}
