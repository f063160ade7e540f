//! The counts of documents, tokens and rows of a part, or of all parts.

use serde::{Deserialize, Serialize};

/// The counts of a part, or of all parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Documents to train on and for validation, empty ones apart.
    pub(super) documents: u64,
    pub(super) tokens: u64,
    /// Documents that have no tokens and are not written.
    pub(super) empty: u64,
    /// Broken records, which are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) skipped: u64,
    /// The documents for validation, which `documents` counts, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) validation_documents: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) validation_tokens: u64,
    /// Tokens of rows that were left out since they were not full.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) dropped_tokens: u64,
    /// Of conversations, the tokens to learn, and the documents without any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) loss_tokens: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) no_loss_documents: u64,
    /// Tokens to learn that also have characters of other text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) straddling: u64,
    #[serde(flatten)]
    pub(super) packed: PackedCounts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    /// The rows and tokens of one split. Unless documents are packed into rows of one length, each is a row.
    pub(super) fn of_split(self, is_validation: bool, row_length: Option<usize>) -> (u64, u64) {
        let pick =
            |all: u64, validation| if is_validation { validation } else { all.saturating_sub(validation) };
        let Some(length) = row_length else {
            let rows = pick(self.documents, self.validation_documents);
            return (rows, pick(self.tokens, self.validation_tokens));
        };
        let rows = pick(self.packed.rows, self.packed.validation_rows);
        (rows, rows.saturating_mul(length as u64))
    }

    /// The sum, if 64 bits hold it.
    pub(super) fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            documents: self.documents.checked_add(other.documents)?,
            tokens: self.tokens.checked_add(other.tokens)?,
            empty: self.empty.checked_add(other.empty)?,
            skipped: self.skipped.checked_add(other.skipped)?,
            validation_documents: self.validation_documents.checked_add(other.validation_documents)?,
            validation_tokens: self.validation_tokens.checked_add(other.validation_tokens)?,
            dropped_tokens: self.dropped_tokens.checked_add(other.dropped_tokens)?,
            loss_tokens: self.loss_tokens.checked_add(other.loss_tokens)?,
            no_loss_documents: self.no_loss_documents.checked_add(other.no_loss_documents)?,
            straddling: self.straddling.checked_add(other.straddling)?,
            packed: self.packed.checked_add(other.packed)?,
        })
    }
}

/// The counts of packed documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PackedCounts {
    /// Rows of all splits.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) rows: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) validation_rows: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) padding_tokens: u64,
    /// Documents with tokens in more than one row, or in a row that was left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) cut_documents: u64,
    /// The same for documents end to end, if they are packed otherwise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) concat_padding_tokens: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) concat_cut_documents: u64,
}

impl PackedCounts {
    /// The sum, if 64 bits hold it.
    pub(super) fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            rows: self.rows.checked_add(other.rows)?,
            validation_rows: self.validation_rows.checked_add(other.validation_rows)?,
            padding_tokens: self.padding_tokens.checked_add(other.padding_tokens)?,
            cut_documents: self.cut_documents.checked_add(other.cut_documents)?,
            concat_padding_tokens: self.concat_padding_tokens.checked_add(other.concat_padding_tokens)?,
            concat_cut_documents: self.concat_cut_documents.checked_add(other.concat_cut_documents)?,
        })
    }
}
