//! Patterns that no learned token may match.

use crate::Result;
use crate::byte_level::push_unmapped;
use crate::structures::regex::Pattern;

/// Regular expressions; a token is forbidden if one of them matches anywhere in its text.
#[derive(Clone, Debug, Default)]
pub struct Forbidden {
    patterns: Vec<Pattern>,
}

impl PartialEq for Forbidden {
    fn eq(&self, other: &Self) -> bool {
        self.sources().eq(other.sources())
    }
}

impl Eq for Forbidden {}

impl Forbidden {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// [`Error::Regex`](crate::Error) for a pattern that does not compile.
    pub fn new(patterns: &[impl AsRef<str>]) -> Result<Self> {
        let patterns: Result<_> = patterns.iter().map(|pattern| Pattern::new(pattern.as_ref())).collect();
        Ok(Self { patterns: patterns? })
    }

    /// The patterns as they were given.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(Pattern::as_str)
    }

    /// True if no token is forbidden.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// True if a pattern matches in `token`. With `is_byte_level` it is matched as the bytes that it spells, where bytes that are no whole
    /// character are U+FFFD.
    ///
    /// # Errors
    /// [`Error::Regex`](crate::Error) if a search exceeds the limit of its steps.
    pub fn holds(&self, token: &str, is_byte_level: bool) -> Result<bool> {
        if is_byte_level {
            let mut bytes = Vec::with_capacity(token.len());
            push_unmapped(token, &mut bytes);
            return self.matches(&String::from_utf8_lossy(&bytes));
        }
        self.matches(token)
    }

    fn matches(&self, text: &str) -> Result<bool> {
        for pattern in &self.patterns {
            let found = pattern.for_each(text, &mut |_, _| std::ops::ControlFlow::Break(()))?;
            if found.is_break() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byte_level::mapped;

    #[test]
    fn byte_level_tokens_are_matched_as_bytes() {
        let forbidden = Forbidden::new(&["  ", "\\x{FFFD}", r"\d\d"]).expect("the patterns are valid");
        let holds = |token: &str| forbidden.holds(token, true).expect("short texts");
        assert!(
            holds(&mapped("a  b"))
                && !holds(&mapped("a b"))
                && !holds(&mapped("\u{e9}"))
                && holds(&mapped("x12"))
        );
        // The first byte of a character.
        assert!(holds("\u{c3}") && !forbidden.holds("\u{c3}", false).expect("short texts"));
        assert!(!forbidden.holds(&mapped("a  b"), false).expect("short texts"));
    }
}
