//! Search for literal text or a regular expression.
//!
//! A literal, and a regular expression that is a literal or one of two common patterns, runs on `memchr`; any other
//! pattern runs on the engine of [`super::regex`].

use std::ops::{ControlFlow, Range};

use super::regex::Pattern;
use crate::Result;

/// Pattern for a run of two spaces or more. [`Finder`] finds it without a regex engine.
pub const RUN_OF_SPACES: &str = " {2,}";

/// Pattern for the beginning of a text, which needs no engine either: `^` matches at the start of every line, and every
/// line but the first follows a line feed.
const BEGINNING: &str = r"(?<!\n)^";

/// A pattern as users give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPattern {
    /// Literal text.
    Literal(String),
    /// An Oniguruma-style regular expression.
    Regex(String),
}

/// A compiled search for a [`TextPattern`]; cheap to clone if the pattern is a regular expression.
#[derive(Clone, Debug)]
pub struct Finder(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// A single byte, most often a space: `memchr` finds it faster than `memmem` does.
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
            // An empty literal matches between all characters, as the empty regular expression does.
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

    /// Calls `each` with the matches in `text`, from left to right and without overlap, until `each` breaks.
    ///
    /// Empty matches follow the rules of [`Pattern::for_each`].
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if the regex engine gives up on the text.
    pub fn for_each(
        &self,
        text: &str,
        each: &mut dyn FnMut(Range<usize>) -> ControlFlow<()>,
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
            Kind::Regex(pattern) => pattern.for_each(text, &mut |start, end| each(start..end)),
        }
    }

    /// The regular expression, if a regex engine runs it.
    pub fn compiled(&self) -> Option<&Pattern> {
        match &self.0 {
            Kind::Regex(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// False only if a text of such characters alone has no match, but for an empty one at its end.
    pub fn may_match(&self, c: char) -> bool {
        match &self.0 {
            Kind::Byte(byte) => c == char::from(*byte),
            Kind::Literal(finder) => finder.needle().starts_with(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Kind::RunOfSpaces => c == ' ',
            Kind::Beginning => true,
            Kind::Regex(pattern) => pattern.may_match(c),
        }
    }
}

/// True if the regular expression certainly matches its own source text and nothing else.
fn is_literal(regex: &str) -> bool {
    !regex.is_empty() && regex.chars().all(|c| c == ' ' || c.is_ascii_alphanumeric())
}

/// The matches of [`RUN_OF_SPACES`].
fn runs_of_spaces(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let start = done + memchr::memmem::find(&text[done..], b"  ")?;
        done = start + text[start..].iter().take_while(|&&byte| byte == b' ').count();
        Some(start..done)
    })
}

/// A pattern, and the text that replaces its matches.
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

    /// The pattern.
    pub fn pattern(&self) -> &TextPattern {
        &self.pattern
    }

    /// The text that replaces each match.
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
        let mut matches = Vec::new();
        let finder = Finder::new(pattern).expect("a plain pattern");
        let found = finder.for_each(text, &mut |found| {
            matches.push(found);
            ControlFlow::Continue(())
        });
        let _ = found.expect("a plain pattern");
        matches
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
        let end = finder.for_each("aaa", &mut |found| {
            seen.push(found.start);
            if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(end.expect("a literal").is_break());
        assert_eq!(seen, [0, 1]);
    }
}
