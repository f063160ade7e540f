//! Packed rows of tokens with loss masks.
//!
//! The packer divides documents by tokens and does not look into them. So a token with a mask is packed as its id and one byte more,
//! and each row that is full is divided into ids and mask again. Padding is not learned.

use super::counts::PackedCounts;
use super::layouts::PartWriter;
use super::packing::{PackedRow, Packer};
use super::packing_options::Packing;
use super::rows::Row;
use super::width::Width;
use crate::Result;
use crate::corpus::inputs::Place;

/// Packs the documents of one split of a part.
pub(super) struct RowPacker {
    packer: Packer,
    /// Bytes of an id if tokens carry a mask byte; else `None`.
    masked: Option<usize>,
    /// The tokens of a document, and the ids and the mask of a row.
    tokens: Vec<u8>,
    row: (Vec<u8>, Vec<u8>),
}

impl RowPacker {
    pub(super) fn new(packing: Packing, width: Width, has_masks: bool) -> Self {
        let masked = has_masks.then_some(width.bytes());
        let packer = Packer::new(packing, width.bytes() + usize::from(has_masks));
        Self { packer, masked, tokens: Vec::new(), row: (Vec::new(), Vec::new()) }
    }

    /// Adds a document; `writer` gets each row that is full now.
    ///
    /// # Errors
    /// The errors of the layout.
    pub(super) fn push(&mut self, document: Row<'_>, writer: &mut dyn PartWriter) -> Result<()> {
        let Self { packer, masked, tokens, row } = self;
        let Some(width) = *masked else {
            return packer.push(document.ids, |packed| writer.push(unmasked(packed, document)));
        };
        tokens.clear();
        for (id, &is_learned) in document.ids.chunks_exact(width).zip(document.mask) {
            tokens.extend_from_slice(id);
            tokens.push(is_learned);
        }
        packer.push(tokens, |packed| writer.push(with_mask(packed, width, row, document)))
    }

    /// Writes the last rows; answers the counts of rows, and how many tokens are left out.
    ///
    /// # Errors
    /// The errors of the layout.
    pub(super) fn finish(self, place: Place, writer: &mut dyn PartWriter) -> Result<(PackedCounts, u64)> {
        let last = Row { ids: &[], starts: &[], padding: 0, place, source: "", added: &[], mask: &[] };
        let Self { packer, masked, mut row, .. } = self;
        packer.finish(|packed| match masked {
            None => writer.push(unmasked(packed, last)),
            Some(width) => writer.push(with_mask(packed, width, &mut row, last)),
        })
    }
}

fn unmasked<'a>(packed: PackedRow<'a>, document: Row<'a>) -> Row<'a> {
    let PackedRow { ids, starts, padding } = packed;
    Row { ids, starts, padding, ..document }
}

/// A row whose tokens are divided into ids and masks.
fn with_mask<'a>(
    packed: PackedRow<'a>,
    width: usize,
    (ids, mask): &'a mut (Vec<u8>, Vec<u8>),
    document: Row<'a>,
) -> Row<'a> {
    ids.clear();
    mask.clear();
    for token in packed.ids.chunks_exact(width + 1) {
        ids.extend_from_slice(&token[..width]);
        mask.push(token[width]);
    }
    Row { ids, mask, ..unmasked(packed, document) }
}
