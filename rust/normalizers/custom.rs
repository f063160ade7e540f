//! Normalizers that callers make, which work on a [`NormalizedString`].

use std::fmt::Debug;

use super::Normalizer;
use crate::Result;
use crate::growth::Growth;
use crate::normalized::{Normalized, NormalizedString};

/// A normalizer that a caller has made.
pub trait CustomNormalizer: Debug + Send + Sync {
    /// Changes `text`.
    ///
    /// # Errors
    /// The caller's own, as [`crate::Error::Custom`].
    fn normalize(&self, text: &mut NormalizedString) -> Result<()>;
}

impl Normalizer {
    /// True if a stage is a caller's own.
    pub fn has_custom(&self) -> bool {
        match self {
            Self::Custom(_) => true,
            Self::Sequence(stages) => stages.iter().any(Self::has_custom),
            _ => false,
        }
    }

    /// Normalizes a text that keeps its original.
    ///
    /// # Errors
    /// The errors of [`Self::normalize`] and of stages that callers have made. The changes of the stages before the failed one stay then.
    pub fn apply(&self, text: &mut NormalizedString) -> Result<()> {
        self.apply_within(Growth::of(text.normalized().len()), text)
    }

    fn apply_within(&self, growth: Growth, text: &mut NormalizedString) -> Result<()> {
        match self {
            Self::Custom(stage) => stage.normalize(text)?,
            Self::Sequence(stages) => stages.iter().try_for_each(|stage| stage.apply_within(growth, text))?,
            _ => text.change(|text| self.normalize_within(growth, text))?,
        }
        growth.check(text.normalized().len())
    }
}

/// Normalizes `text`, which is the original that `stage` sees.
pub(super) fn normalize<'a>(stage: &dyn CustomNormalizer, text: &Normalized<'_>) -> Result<Normalized<'a>> {
    let mut made = NormalizedString::new(text.text(), 0);
    stage.normalize(&mut made)?;
    let mut rewrite = text.rewrite();
    made.chars().for_each(|(c, source)| rewrite.push(c, source));
    Ok(rewrite.finish())
}
