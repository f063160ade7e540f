//! Regular expressions as users of tokenizers write them: Oniguruma's language, run by pure Rust engines.
//!
//! A `tokenizer.json` carries its patterns as text in Oniguruma's language, with the default syntax. This language looks like the
//! language of Rust's engines, but differs:
//!
//! * `^` and `$` match at every line, `(?m)` lets a dot match newlines, and `(?s)` does not exist;
//! * `{1,3}+` is not a possessive repeat but a repeat of a repeat, and `a(?i)b|c` is `a(?i:b|c)`;
//! * `\w` matches superscript digits outside brackets but not inside, `\h` is a hexadecimal digit;
//! * `(?i:ss)` matches `ß`.
//!
//! So a pattern is parsed by Oniguruma's rules and rewritten in the language of `fancy_regex` (`translate`, `class`,
//! `escape`, `fold`, `quantifier`). A pattern that cannot be rewritten, such as one with back references, is an error
//! when it is built. Patterns whose look-around asks for one character at most, as published splitters do, are compiled to a
//! program (`program`), which reads each character once. All others run by backtracking (`backtracking`): a search that goes
//! beyond its limit, such as a long look-ahead after a run of a million characters, is an error when it runs.
//!
//! Three differences remain. Oniguruma tries a pattern that begins with `\b.+` or `\b.*` at the starts of lines only, so
//! it misses `-ac` for `\b.+c`; this is a bug in Oniguruma and is not repeated here. Where a group that can match
//! the empty text is repeated, such as `(?:.|\O?\B){2}` or `(?:a+|b*?)+`, the two engines may count its empty rounds differently.
//! And in a pattern that runs by backtracking, a lazy choice between two repeats of one set, such as `b*a??b*`, may match more than it should.

mod backtracking;
mod class;
mod escape;
mod fold;
mod program;
mod quantifier;
mod translate;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use backtracking::Backtracking;
use program::Program;
use program::atoms::Atoms;
use program::expression::Expression;
pub(crate) use program::places::{AtomSet, Next, Place, Places, PlacesAfter, Whole};
use program::reach::Reach;

use crate::{Error, Result};

/// A compiled pattern; cheap to clone.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    engine: Engine,
    /// None if the pattern has no reach that could be told.
    reach: Option<Arc<Reach>>,
}

#[derive(Clone, Debug)]
enum Engine {
    /// Takes time linear in the text.
    Program(Program),
    /// Tries one alternative after the other.
    Backtracking(Backtracking),
}

impl Pattern {
    /// Compiles a pattern in Oniguruma's default syntax.
    ///
    /// # Errors
    /// [`Error::Regex`] if the pattern is malformed, too large, or uses a construct without an equivalent here: back
    /// references, calls, conditions, callouts, absent operators, `\G`, `\K`, `\X`, ASCII-only flags, bytes above 7F.
    pub fn new(pattern: &str) -> Result<Self> {
        let refused = |message: String| Error::Regex { pattern: pattern.to_owned(), message };
        let translated = translate::translate(pattern).map_err(|error| refused(error.0))?;
        Self::compile(pattern, &translated)
    }

    /// Compiles a pattern that matches `text` alone.
    ///
    /// # Errors
    /// [`Error::Regex`] if the text is too long.
    pub fn literal(text: &str) -> Result<Self> {
        let translated = regex_syntax::escape(text);
        Self::compile(&translated, &translated)
    }

    fn compile(source: &str, translated: &str) -> Result<Self> {
        let expression = Expression::parse(translated);
        let reach = expression.as_ref().and_then(Reach::new).map(Arc::new);
        let source = source.to_owned();
        match expression.as_ref().and_then(Program::new) {
            Some(program) => Ok(Self { source, engine: Engine::Program(program), reach }),
            None => Self::backtracking(source, translated).map(|pattern| Self { reach, ..pattern }),
        }
    }

    fn backtracking(source: String, translated: &str) -> Result<Self> {
        match Backtracking::new(translated) {
            Ok(engine) => Ok(Self { source, engine: Engine::Backtracking(engine), reach: None }),
            Err(message) => Err(Error::Regex { pattern: source, message }),
        }
    }

    /// As [`Self::new`], but never by a program, nor by regions.
    #[cfg(test)]
    fn by_backtracking(pattern: &str) -> Result<Self> {
        let refused =
            |error: translate::Refused| Error::Regex { pattern: pattern.to_owned(), message: error.0 };
        Self::backtracking(pattern.to_owned(), &translate::translate(pattern).map_err(refused)?)
    }

    /// The atom of a code point: the number of the class of characters that the pattern does not tell apart. A pattern without a program has
    /// one atom for characters within its reach, and one for others.
    pub(crate) fn atom(&self, code: usize) -> u8 {
        self.atoms().map_or(0, |atoms| atoms.of_code(code))
    }

    /// Number of a page of atoms: two blocks of 64 code points with the same number have the same atoms. The converse need not hold.
    pub(crate) fn page_number(&self, block: usize) -> u16 {
        self.atoms().map_or(0, |atoms| atoms.page_number(block))
    }

    fn atoms(&self) -> Option<&Atoms> {
        match self.program() {
            Some(program) => Some(program.atoms()),
            None => Some(self.reach.as_ref()?.atoms()),
        }
    }

    /// The atoms beyond the reach of a pattern without a program: between two of them a text may be cut, and no match holds one.
    pub(crate) fn beyond_reach(&self) -> Option<AtomSet> {
        let reach = self.reach.as_ref().filter(|_| self.program().is_none())?;
        Some(reach.beyond())
    }

    /// The places of texts at which they may be cut, where a character of `before`, or nothing, stands before the two characters beside
    /// the place; none if the pattern cannot tell. With `cuts_matches`, a place may cut a match into two.
    pub(crate) fn places(&self, before: AtomSet, cuts_matches: bool) -> Option<Places<'_>> {
        self.program()?.places(before, cuts_matches)
    }

    /// As [`Program::whole`].
    pub(crate) fn whole(&self, sets: &[AtomSet]) -> Option<Whole> {
        self.program()?.whole(sets)
    }

    fn program(&self) -> Option<&Program> {
        match &self.engine {
            Engine::Program(program) => Some(program),
            Engine::Backtracking(_) => None,
        }
    }

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The matches in `text` as byte offsets, from left to right and without overlap.
    ///
    /// A match may be empty, but not right after the previous match, and no pattern matches in an empty text: these are
    /// the rules of Hugging Face tokenizers.
    ///
    /// ```
    /// # fn main() -> lexmill::Result<()> {
    /// use lexmill::structures::regex::Pattern;
    ///
    /// let digits = Pattern::new(r"\p{N}{1,3}")?;
    /// assert_eq!(digits.find_iter("no 12345")?, [(3, 6), (6, 8)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Regex`] if a search exceeds the limit of backtracking steps or of memory for them.
    pub fn find_iter(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        let mut matches = Vec::new();
        let _ = self.for_each(text, &mut |start, end| {
            matches.push((start, end));
            ControlFlow::Continue(())
        })?;
        Ok(matches)
    }

    /// True if each match needs a character, and no match depends on the characters beside it.
    pub(crate) fn sees_matches_alone(&self) -> bool {
        self.reach.as_ref().is_some_and(|reach| !reach.sees_neighbours())
    }

    /// True if the pattern may read a character.
    pub(crate) fn may_read(&self, c: char) -> bool {
        self.reach.as_ref().is_none_or(|reach| reach.holds(c))
    }

    /// False only if a text of such characters alone has no match, but for an empty one at its end.
    pub fn may_match(&self, c: char) -> bool {
        self.may_read(c) && self.program().is_none_or(|program| program.may_begin(c))
    }

    /// Calls `each` with the matches that [`Self::find_iter`] lists, until it breaks.
    ///
    /// # Errors
    /// As [`Self::find_iter`].
    pub fn for_each(
        &self,
        text: &str,
        each: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let Some(reach) = self.reach.as_ref().filter(|reach| reach.is_narrow()) else {
            return self.search(text, text.len(), each);
        };
        for Range { start, end } in reach.regions(text) {
            let mut found = |from, to| each(start + from, start + to);
            if self.search(&text[start..end], text.len(), &mut found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// [`Self::for_each`] for a part of a text of `whole` bytes, whose length sets the limit of steps.
    fn search(
        &self,
        text: &str,
        whole: usize,
        each: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let engine = match &self.engine {
            Engine::Program(program) => return Ok(program.for_each(text, each)),
            Engine::Backtracking(engine) => engine,
        };
        let refused = |message| Error::Regex { pattern: self.source.clone(), message };
        let (mut from, mut last_end) = (0, None);
        while from <= text.len() && !text.is_empty() {
            let Some((start, end)) = engine.find(text, from, whole).map_err(refused)? else { break };
            if start == end && last_end == Some(end) {
                from += text[from..].chars().next().map_or(1, char::len_utf8);
            } else {
                if each(start, end).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                from = end;
                last_end = Some(from);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests;
