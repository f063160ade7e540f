//! Where a post-processor puts special tokens and the tokens of the input, the same in every row.

use std::sync::Arc;

use super::{Columns, Content, Encoding};

/// The tokens of a row from left to right: special tokens, the text, and the second text of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// One text or two, in the order of the input, with special tokens around them.
    pub parts: Vec<RowPart>,
}

/// A part of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowPart {
    /// A special token.
    Special {
        /// Its id.
        id: u32,
        /// Its type id.
        type_id: u32,
        /// True if the special tokens mask marks it.
        is_marked: bool,
    },
    /// The tokens of one input sequence: of the first that no earlier part holds.
    Text {
        /// Type id of all tokens.
        type_id: u32,
        /// How spaces are trimmed from their offsets, one rule after the other.
        trims: Vec<RowTrim>,
    },
}

/// How a post-processor trims spaces from the offsets of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowTrim {
    /// The pre-tokenizer added the space of the first token, so it is not trimmed.
    pub add_prefix_space: bool,
    /// True if a token of the text counts as the first; none does after a special token.
    pub has_first: bool,
}

impl RowLayout {
    /// The layout that made `row` from empty encodings of `inputs`, each with columns of its own. `None` if a text is not there
    /// exactly once, the texts are in another order, or offsets of the second continue the offsets of the first.
    pub fn of(row: &Encoding, inputs: &[Arc<Columns>]) -> Option<Self> {
        let (mut parts, mut texts) = (Vec::new(), inputs.iter());
        for (piece, range) in row.ranges() {
            let type_id = piece.type_id;
            match &piece.content {
                Content::Text { columns, trims, .. } => {
                    let is_next = texts.next().is_some_and(|input| Arc::ptr_eq(input, columns));
                    if !is_next || piece.shift > 0 || trims.iter().any(|trim| trim.shift > 0) {
                        return None;
                    }
                    let trims = trims.iter().map(|trim| RowTrim {
                        add_prefix_space: trim.add_prefix_space,
                        has_first: trim.first.is_some(),
                    });
                    parts.push(RowPart::Text { type_id, trims: trims.collect() });
                }
                Content::Special(symbol) | Content::Pad(symbol) | Content::Counted(symbol) => {
                    let is_marked = !piece.is_text();
                    let special = RowPart::Special { id: symbol.id, type_id, is_marked };
                    parts.extend(std::iter::repeat_n(special, range.len()));
                }
            }
        }
        texts.next().is_none().then_some(Self { parts })
    }

    /// Ids of the special tokens before the first text and after the last.
    pub fn affixes(&self) -> (Vec<u32>, Vec<u32>) {
        let ids = |parts: &[RowPart]| {
            let id = |part: &RowPart| match part {
                RowPart::Special { id, .. } => Some(*id),
                RowPart::Text { .. } => None,
            };
            parts.iter().filter_map(id).collect()
        };
        let is_text = |part: &RowPart| matches!(part, RowPart::Text { .. });
        let first = self.parts.iter().position(is_text).unwrap_or(self.parts.len());
        let last = self.parts.iter().rposition(is_text).map_or(first, |last| last + 1);
        (ids(&self.parts[..first]), ids(&self.parts[last..]))
    }

    /// True if offsets are trimmed.
    pub fn has_trims(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, RowPart::Text { trims, .. } if !trims.is_empty()))
    }
}
