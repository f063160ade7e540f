//! placeholder
use crate::{Error, Result};
/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern(fancy_regex::Regex);
impl Pattern {
    /// Compiles.
    pub fn new(pattern: &str) -> Result<Self> {
        fancy_regex::Regex::new(pattern)
            .map(Self)
            .map_err(|e| Error::Regex { pattern: pattern.to_owned(), message: e.to_string() })
    }
    /// Matches.
    pub fn find_iter(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        self.0
            .find_iter(text)
            .map(|m| {
                m.map(|m| (m.start(), m.end()))
                    .map_err(|e| Error::Regex { pattern: String::new(), message: e.to_string() })
            })
            .collect()
    }
}
