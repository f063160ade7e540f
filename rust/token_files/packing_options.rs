//! The options of packed rows.

use crate::{Error, Result};

/// Tokens of a packed row at most.
pub const LONGEST_ROW: usize = 1 << 24;

/// How documents are divided among rows of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackingMethod {
    /// End to end.
    Concat,
    /// Whole if they fit, each into the fullest row with room for it.
    BestFit,
    /// The same, longer ones first.
    BestFitDecreasing,
}

impl PackingMethod {
    /// The method of this name.
    ///
    /// # Errors
    /// [`Error::InvalidOption`].
    pub fn named(name: &str) -> Result<Self> {
        let all = [Self::Concat, Self::BestFit, Self::BestFitDecreasing];
        let found = all.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| Error::InvalidOption {
            name: "packing",
            value: name.to_owned(),
            expected: "concat, best-fit, best-fit-decreasing or index".to_owned(),
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Concat => "concat",
            Self::BestFit => "best-fit",
            Self::BestFitDecreasing => "best-fit-decreasing",
        }
    }
}

/// Documents in rows of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Tokens of a row.
    pub length: usize,
    /// The id that fills up rows; without it, the last row of a part is left out end to end.
    pub pad_id: Option<u32>,
    /// How documents are divided among rows.
    pub method: PackingMethod,
}

impl Packing {
    /// Refuses lengths out of bounds, and rows that cannot be filled up.
    ///
    /// # Errors
    /// [`Error::InvalidOption`].
    pub(super) fn check(self) -> Result<()> {
        check_row_length("pack", self.length)?;
        if self.method != PackingMethod::Concat && self.pad_id.is_none() {
            let expected = format!("given with packing {}, which fills up rows", self.method.name());
            return Err(Error::InvalidOption { name: "pad_token", value: "absent".to_owned(), expected });
        }
        Ok(())
    }
}

/// Refuses a length of rows out of bounds.
///
/// # Errors
/// [`Error::InvalidOption`].
pub(super) fn check_row_length(name: &'static str, length: usize) -> Result<()> {
    if (1..=LONGEST_ROW).contains(&length) {
        return Ok(());
    }
    let (value, expected) = (length.to_string(), format!("from 1 to {LONGEST_ROW}"));
    Err(Error::InvalidOption { name, value, expected })
}
