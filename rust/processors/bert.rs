//! BERT's arrangement of special tokens.

use crate::Result;
use crate::encoding::{Encoding, Symbol};

/// BERT's `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, the second text of type 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bert {
    /// The separator.
    pub sep: Symbol,
    /// The token that opens the text.
    pub cls: Symbol,
}

impl Bert {
    pub(super) fn apply(&self, encodings: Vec<Encoding>, add_special_tokens: bool) -> Result<Vec<Encoding>> {
        if !add_special_tokens {
            return Ok(encodings);
        }
        encodings.into_iter().enumerate().map(|(index, encoding)| self.wrap(encoding, index)).collect()
    }

    fn wrap(&self, mut encoding: Encoding, index: usize) -> Result<Encoding> {
        let overflowing = std::mem::take(&mut encoding.overflowing);
        encoding.count_as_text();
        encoding.sequences.clear();
        encoding.set_sequence(index);
        // After a template there may be more than two encodings: separators from the second on are of type 1.
        let type_id = index.min(1) as u32;
        let special = |symbol: &Symbol| Encoding::special(std::slice::from_ref(symbol), type_id);
        let opening = (index == 0).then(|| special(&self.cls));
        let parts = opening.into_iter().chain([encoding, special(&self.sep)]);
        let mut wrapped = Encoding::merge(parts, false)?;
        wrapped.overflowing =
            overflowing.into_iter().map(|part| self.wrap(part, index)).collect::<Result<_>>()?;
        Ok(wrapped)
    }
}
