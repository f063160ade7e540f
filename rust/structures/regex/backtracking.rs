//! Patterns with look-around, run by backtracking within a limit that grows with the text.

use std::sync::{Arc, OnceLock};

use fancy_regex::{Error as EngineError, Regex, RegexBuilder, RuntimeError};

/// Steps that any search may take; they last one or two tenths of a second.
const LEAST_STEPS: usize = 1 << 22;

/// Cap of the quadratic bound: a search may take half the square of the text's length, up to this. `\w+(?=:)` takes that
/// many in a run of word characters without a colon.
const MOST_QUADRATIC: usize = 1 << 26;

/// Steps per byte of a longer text. A search for a rare match takes one or two.
const STEPS_PER_BYTE: usize = 16;

/// Number of limits: 2^22, 2^24, … 2^36; the last allows 16 steps per byte of 4 GiB.
const LIMITS: usize = 8;

/// The engine remembers at most this many choices; the limit is its own and cannot be changed.
const MOST_CHOICES: usize = 1_000_000;

/// A pattern run by fancy-regex's backtracking engine; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Backtracking {
    translated: Arc<str>,
    /// The same expression once for each limit, compiled for the first text that needs it: the engine takes the limit
    /// when it compiles.
    by_limit: Arc<[OnceLock<Regex>; LIMITS]>,
}

/// The steps that a search may take, by index of the limit.
fn limit(index: usize) -> usize {
    LEAST_STEPS << (2 * index)
}

/// The index of the least limit that is enough for a text of `bytes` bytes.
fn index_for(bytes: usize) -> usize {
    let quadratic = (bytes.saturating_mul(bytes) / 2).min(MOST_QUADRATIC);
    let needed = bytes.saturating_mul(STEPS_PER_BYTE).max(quadratic);
    (0..LIMITS - 1).find(|&index| needed <= limit(index)).unwrap_or(LIMITS - 1)
}

impl Backtracking {
    /// Compiles a pattern in the language of the engine.
    ///
    /// # Errors
    /// The engine's complaint.
    pub(super) fn new(translated: &str) -> Result<Self, String> {
        let made = Self { translated: translated.into(), by_limit: Arc::default() };
        made.regex(0).map(|_| ())?;
        Ok(made)
    }

    fn regex(&self, index: usize) -> Result<&Regex, String> {
        let slot = &self.by_limit[index];
        if let Some(regex) = slot.get() {
            return Ok(regex);
        }
        let regex = RegexBuilder::new(&self.translated).backtrack_limit(limit(index)).build();
        let regex = regex.map_err(|error| error.to_string())?;
        Ok(slot.get_or_init(|| regex))
    }

    /// The first match at or after byte `from` of `text`, in as many steps as a text of `whole` bytes may take.
    ///
    /// # Errors
    /// Which limit was exceeded, and its value.
    pub(super) fn find(
        &self,
        text: &str,
        from: usize,
        whole: usize,
    ) -> Result<Option<(usize, usize)>, String> {
        let index = index_for(whole);
        match self.regex(index)?.find_from_pos(text, from) {
            Ok(found) => Ok(found.map(|found| (found.start(), found.end()))),
            Err(EngineError::RuntimeError(RuntimeError::BacktrackLimitExceeded)) => Err(format!(
                "a search in {} bytes backtracks more often than {} times",
                text.len(),
                limit(index)
            )),
            Err(EngineError::RuntimeError(RuntimeError::StackOverflow)) => Err(format!(
                "a search in {} bytes has more than {MOST_CHOICES} choices to come back to",
                text.len()
            )),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &Backtracking, text: &str) -> Result<Option<(usize, usize)>, String> {
        pattern.find(text, 0, text.len())
    }

    #[test]
    fn a_search_without_end_is_an_error_that_names_the_limit() {
        let pattern = Backtracking::new("(?:a(?!x)|a(?!y))+b(?=c)").expect("it compiles");
        let error = find(&pattern, &("a".repeat(40) + "bd")).expect_err("2^40 ways");
        assert_eq!(error, "a search in 42 bytes backtracks more often than 4194304 times");
    }

    #[test]
    fn too_many_choices_are_an_error_that_names_the_limit() {
        let pattern = Backtracking::new("(?:a(?!x))*(?=c)").expect("it compiles");
        let error = find(&pattern, &"a".repeat(1_200_000)).expect_err("a choice for each character");
        assert_eq!(error, "a search in 1200000 bytes has more than 1000000 choices to come back to");
    }

    #[test]
    fn a_long_text_may_take_more_steps() {
        let pattern = Backtracking::new("(?<=b)c").expect("it compiles");
        assert_eq!(find(&pattern, &("c".repeat(2_000_000) + "bc")), Ok(Some((2_000_001, 2_000_002))));
        assert!(pattern.by_limit[0].get().is_some() && pattern.by_limit[2].get().is_some());
        assert_eq!(limit(LIMITS - 1), STEPS_PER_BYTE << 32);
        assert_eq!([2000, 5000, 50_000, 1 << 22, 5 << 20].map(index_for), [0, 1, 2, 2, 3]);
    }

    #[test]
    fn a_run_may_be_searched_from_each_of_its_characters() {
        let pattern = Backtracking::new(r"\w+(?=:)").expect("it compiles");
        for len in [2800, 5700, 11_000] {
            assert_eq!(find(&pattern, &"a".repeat(len)), Ok(None));
        }
    }
}
