//! Literal text or a regular expression, and the search for it.

use std::ops::{ControlFlow, Range};

use super::regex::Pattern;
use crate::Result;

/// The regular expression for two spaces and more, which needs no engine.
pub const RUN_OF_SPACES: &str = " {2,}";

/// The regular expression for the beginning of a text, which needs none either: all other lines are after a line feed.
const BEGINNING: &str = r"(?<!\n)^";

/// What to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPattern {
    /// This very text.
    Literal(String),
    /// An Oniguruma-style regular expression.
    Regex(String),
}

/// A compiled search for a [`TextPattern`]; cheap to clone where the pattern is a regular expression.
#[derive(Clone, Debug)]
pub struct Finder(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Spaces, mostly: a single byte is found faster than a text of one.
    Byte(u8),
    Literal(Box<memchr::memmem::Finder<'static>>),
    /// [`RUN_OF_SPACES`].
    RunOfSpaces,
    /// [`BEGINNING`].
    Beginning,
    Regex(Pattern),
}

impl Finder {
    /// Compiles the search.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if the pattern does not compile.
    pub fn new(pattern: &TextPattern) -> Result<Self> {
        if let TextPattern::Regex(regex) = pattern
            && is_literal(regex)
        {
            return Self::new(&TextPattern::Literal(regex.clone()));
        }
        Ok(Self(match pattern {
            // An empty text is found between all characters, as the empty regular expression is.
            TextPattern::Literal(text) if text.is_empty() => Kind::Regex(Pattern::new("")?),
            TextPattern::Literal(text) if text.len() == 1 => Kind::Byte(text.as_bytes()[0]),
            TextPattern::Literal(text) => {
                Kind::Literal(Box::new(memchr::memmem::Finder::new(text).into_owned()))
            }
            TextPattern::Regex(regex) if regex == RUN_OF_SPACES => Kind::RunOfSpaces,
            TextPattern::Regex(regex) if regex == BEGINNING => Kind::Beginning,
            TextPattern::Regex(regex) => Kind::Regex(Pattern::new(regex)?),
        }))
    }

    /// Calls `each` with the matches in `text`, from left to right and without overlap, until it breaks.
    ///
    /// Empty matches are those of [`Pattern::for_each`].
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if the pattern gives up on the text.
    pub fn for_each(
        &self,
        text: &str,
        mut each: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        match &self.0 {
            Kind::Byte(byte) => {
                Ok(memchr::memchr_iter(*byte, text.as_bytes()).try_for_each(|start| each(start..start + 1)))
            }
            Kind::Literal(finder) => {
                let len = finder.needle().len();
                Ok(finder.find_iter(text.as_bytes()).try_for_each(|start| each(start..start + len)))
            }
            Kind::Beginning if text.is_empty() => Ok(ControlFlow::Continue(())),
            Kind::Beginning => Ok(each(0..0)),
            Kind::RunOfSpaces => Ok(runs_of_spaces(text.as_bytes()).try_for_each(each)),
            Kind::Regex(pattern) => pattern.for_each(text, |start, end| each(start..end)),
        }
    }

    /// All matches in `text`.
    ///
    /// # Errors
    /// Those of [`Self::for_each`].
    pub fn find_all(&self, text: &str) -> Result<Vec<Range<usize>>> {
        let mut matches = Vec::new();
        let _ = self.for_each(text, |found| {
            matches.push(found);
            ControlFlow::Continue(())
        })?;
        Ok(matches)
    }
}

/// Whether a regular expression certainly finds its own text and nothing else: there it needs no engine.
fn is_literal(regex: &str) -> bool {
    !regex.is_empty() && regex.chars().all(|c| c == ' ' || c.is_ascii_alphanumeric())
}

/// The runs of two spaces and more.
fn runs_of_spaces(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let start = done + memchr::memmem::find(&text[done..], b"  ")?;
        done = start + text[start..].iter().take_while(|&&byte| byte == b' ').count();
        Some(start..done)
    })
}

/// A search and the text that takes the place of what it finds.
#[derive(Clone, Debug)]
pub struct Replacement {
    pattern: TextPattern,
    content: String,
    finder: Finder,
}

impl Replacement {
    /// Compiles the search.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if the pattern does not compile.
    pub fn new(pattern: TextPattern, content: String) -> Result<Self> {
        Ok(Self { finder: Finder::new(&pattern)?, pattern, content })
    }

    /// What is looked for.
    pub fn pattern(&self) -> &TextPattern {
        &self.pattern
    }

    /// What takes its place.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The compiled search.
    pub fn finder(&self) -> &Finder {
        &self.finder
    }

    /// The same search with another content.
    #[must_use]
    pub fn with_content(&self, content: String) -> Self {
        Self { pattern: self.pattern.clone(), content, finder: self.finder.clone() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find(pattern: &TextPattern, text: &str) -> Vec<Range<usize>> {
        Finder::new(pattern).and_then(|finder| finder.find_all(text)).expect("a plain pattern")
    }

    #[test]
    fn a_literal_is_no_regular_expression() {
        assert_eq!(find(&TextPattern::Literal(".".to_owned()), ".a."), [0..1, 2..3]);
        assert_eq!(find(&TextPattern::Regex(".".to_owned()), "ab"), [0..1, 1..2]);
    }

    #[test]
    fn nothing_is_found_between_all_characters() {
        assert_eq!(find(&TextPattern::Literal(String::new()), "aé"), [0..0, 1..1, 3..3]);
        assert!(find(&TextPattern::Literal(String::new()), "").is_empty());
    }

    proptest! {
        #[test]
        fn known_patterns_matches_naive(text in "[ a\n\r\u{3000}]{0,40}") {
            for known in [RUN_OF_SPACES, BEGINNING, " ", "a", "aa", "a a"] {
                let naive = Pattern::new(known).and_then(|pattern| pattern.find_iter(&text));
                let found = find(&TextPattern::Regex(known.to_owned()), &text);
                let found: Vec<(usize, usize)> = found.into_iter().map(|range| (range.start, range.end)).collect();
                prop_assert_eq!(found, naive.expect("a plain pattern"), "{}", known);
            }
        }
    }

    #[test]
    fn a_search_ends_where_it_is_told() {
        let finder = Finder::new(&TextPattern::Literal("a".to_owned())).expect("a literal");
        let mut seen = Vec::new();
        let end = finder.for_each("aaa", |found| {
            seen.push(found.start);
            if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(end.expect("a literal").is_break());
        assert_eq!(seen, [0, 1]);
    }
}
