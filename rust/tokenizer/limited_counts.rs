//! How limits of length change the counts of tokens.

use super::Tokenizer;

/// Numbers of texts whose counts a limit has changed, and of the tokens of all texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedCounts {
    /// Texts that truncation has cut.
    pub cut: usize,
    /// Texts whose counts include padding.
    pub padded: usize,
    /// Tokens of all texts without limits; 0 if no limit can have changed a count.
    pub tokens: u64,
}

impl Tokenizer {
    /// How the limits of length have changed `counts`. `recount` counts the same texts with the tokenizer it is given; it is called
    /// only where a limit may have changed a count.
    ///
    /// # Errors
    /// The errors of `recount`.
    pub fn limited_counts<E>(
        &self,
        counts: &[u64],
        recount: impl FnOnce(&Self) -> Result<Vec<u64>, E>,
    ) -> Result<LimitedCounts, E> {
        let is_cut = |rule: &super::Truncation| counts.iter().any(|&count| count >= rule.max_length as u64);
        if self.padding().is_none() && !self.truncation().is_some_and(is_cut) {
            return Ok(LimitedCounts::default());
        }
        let whole = recount(&self.with_limits(None, None))?;
        let pairs = || counts.iter().zip(&whole);
        Ok(LimitedCounts {
            cut: pairs().filter(|(count, whole)| count < whole).count(),
            padded: pairs().filter(|(count, whole)| count > whole).count(),
            tokens: whole.iter().sum(),
        })
    }
}
