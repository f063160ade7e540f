//! Patterns compiled to a deterministic automaton over classes of characters.
//!
//! | step | from | to |
//! |---|---|---|
//! | `expression` | the pattern | sets of characters in sequences, ordered choices, repeats, look-around and atomic groups |
//! | `atoms` | the sets | the classes of characters that no set tells apart, and a table of them |
//! | `threads` | the expression | instructions, where a choice lists its ways in the order of preference |
//! | `states` | threads | a table: for a list of threads and an atom, the list after the atom, and true if the pattern matches before it |
//! | `places` | states | where a text may be cut without any match changing |
//! | `reach` | the expression | the characters that a match can read: outside them no text need be searched |
//! | `chain` | states | the same table for matches one after the other, which reads each character once |
//!
//! A state remembers the order of its threads, so the match equals the match of a backtracking engine: the first way that leads to a
//! match, not the longest. Pike's virtual machine has such lists of threads; RE2 makes
//! them states of an automaton (Cox, "Regular Expression Matching in the Wild", 2010). Look-ahead of one character costs nothing here,
//! since a step sees the character before it decides.
//!
//! A pattern with more than that (longer look-around, most atomic groups), or with more states than the limits allow, has no
//! program. Building takes some hundred microseconds for published patterns, and some milliseconds at most.

pub(super) mod atoms;
mod chain;
pub(super) mod expression;
pub(super) mod places;
pub(super) mod reach;
mod states;
mod threads;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use atoms::Atoms;
use chain::{Border, Chain};
use expression::Expression;
use states::{DEAD, States};
use threads::Threads;

/// Borders that are found at a time.
const ROOM: usize = 128;

/// A shorter text has few borders.
const SHORT: usize = 32;

/// Bytes between the positions of a search that are remembered if the search was in vain.
const MARK: usize = 64;

/// A compiled pattern; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Program(Arc<Tables>);

#[derive(Debug)]
struct Tables {
    atoms: Atoms,
    states: States,
    chain: Chain,
    /// Atoms before which a match may begin, one bit an atom.
    first_atoms: u128,
    /// As [`States::may_fail`]; made when it is needed.
    may_fail: OnceLock<Vec<bool>>,
}

/// States, each with its position, from which no match was found.
///
/// A search may read far beyond the match that it finds, as `a*b|a` does in a run of `a`. A search that comes to the same state
/// at the same position gives up, so all searches of a text together take linear time. (Reps, "Maximal-munch tokenization in
/// linear time", 1998.)
#[derive(Debug, Default)]
struct DeadEnds {
    known: HashSet<(u16, usize)>,
    /// Where the search under way has been.
    passed: Vec<(u16, usize)>,
}

impl Program {
    /// Compiles a pattern; `None` if a program cannot run it, or would be too large.
    pub(super) fn new(expression: &Expression) -> Option<Self> {
        let atoms = Atoms::new(&expression.sets)?;
        let states = States::new(&Threads::new(expression)?, &atoms)?;
        let chain = Chain::new(&states, atoms.len())?;
        let begins =
            |&atom: &usize| (0..states.kinds() as u16).any(|kind| states.begins(states.start(kind), atom));
        let first_atoms = (0..atoms.len()).filter(begins).fold(0, |bits, atom| bits | 1 << atom);
        Some(Self(Arc::new(Tables { atoms, states, chain, first_atoms, may_fail: OnceLock::new() })))
    }

    /// Calls `each` with the matches in `text`, from left to right and without overlap, until it breaks; an empty match is
    /// left out right after another match.
    #[inline]
    pub(super) fn for_each(
        &self,
        text: &str,
        each: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // Room takes time to clear.
        if text.len() < SHORT {
            self.for_each_by::<16>(text, each)
        } else {
            self.for_each_by::<ROOM>(text, each)
        }
    }

    #[inline]
    fn for_each_by<const ROOM: usize>(
        &self,
        text: &str,
        each: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Tables { atoms, states, chain, .. } = &*self.0;
        let bytes = text.as_bytes();
        let (mut borders, mut dead_ends) = ([Border::default(); ROOM], DeadEnds::default());
        let (mut from, mut last_end, mut kind) = (0, None, states.kind(atoms.len()));
        // Bytes that chains have read beyond the match in which they got stuck: less than the text has, or chains are given up.
        let mut wasted = 0;
        while from < bytes.len() {
            let mut read = from;
            if wasted <= from + ROOM {
                let (count, reached, row) = chain.fill(atoms, bytes, from, kind, &mut borders);
                let mut is_gap = true;
                for border in &borders[..count] {
                    if !is_gap {
                        each(from, border.at)?;
                        last_end = Some(border.at);
                    }
                    (from, is_gap) = (border.at, border.is_gap);
                }
                if reached.is_gap {
                    from = reached.at;
                }
                kind = self.kind_before(text, from);
                if count == ROOM {
                    continue;
                }
                read = reached.at;
                let is_last = read == bytes.len() && !reached.is_gap;
                if is_last && states.step(chain.state(row), atoms.len()).is_match {
                    return each(from, read);
                }
            }
            let Some((start, end)) = self.find(bytes, (from, kind), last_end, &mut dead_ends) else { break };
            wasted += read.saturating_sub(end);
            each(start, end)?;
            (from, last_end, kind) = (end, Some(end), self.kind_before(text, end));
        }
        ControlFlow::Continue(())
    }

    /// The atoms of the pattern.
    pub(super) fn atoms(&self) -> &Atoms {
        &self.0.atoms
    }

    /// True if a match may begin with `c`, or be empty before it.
    pub(super) fn may_begin(&self, c: char) -> bool {
        self.0.first_atoms >> self.0.atoms.of_code(c as usize) & 1 == 1
    }

    /// The kind of the character before a position, or of the start of the text.
    fn kind_before(&self, text: &str, pos: usize) -> u16 {
        let Tables { atoms, states, .. } = &*self.0;
        let start = text[..pos].char_indices().next_back().map(|(start, _)| start);
        states.kind(start.map_or(atoms.len(), |start| usize::from(atoms.at(text.as_bytes(), start).0)))
    }

    /// The first match at or after a position with the kind of the character before it, but none that is empty at `last_end`.
    fn find(
        &self,
        bytes: &[u8],
        (mut pos, mut kind): (usize, u16),
        last_end: Option<usize>,
        dead_ends: &mut DeadEnds,
    ) -> Option<(usize, usize)> {
        let Tables { atoms, states, first_atoms, .. } = &*self.0;
        while pos < bytes.len() {
            let (atom, width) = atoms.at(bytes, pos);
            if first_atoms >> atom & 1 == 1 {
                let end = self.end(bytes, pos, states.start(kind), dead_ends);
                if let Some(end) = end.filter(|&end| end > pos || last_end != Some(pos)) {
                    return Some((pos, end));
                }
            }
            kind = states.kind(usize::from(atom));
            pos += width;
        }
        let is_match = states.step(states.start(kind), atoms.len()).is_match;
        (is_match && last_end != Some(pos)).then_some((pos, pos))
    }

    /// The end of the match that starts at `start`.
    fn end(&self, bytes: &[u8], start: usize, mut state: u16, dead_ends: &mut DeadEnds) -> Option<usize> {
        let Tables { atoms, states, .. } = &*self.0;
        let (mut pos, mut last) = (start, None);
        let next_mark = |pos: usize| (pos / MARK + 1) * MARK;
        let mut mark = next_mark(start);
        loop {
            let (atom, width) = if pos < bytes.len() {
                let (atom, width) = atoms.at(bytes, pos);
                (usize::from(atom), width)
            } else {
                (atoms.len(), 0)
            };
            let step = states.step(state, atom);
            if step.is_match {
                last = Some(pos);
            }
            (state, pos) = (step.next, pos + width);
            if state == DEAD {
                break;
            }
            if pos >= mark {
                if dead_ends.known.contains(&(state, pos)) {
                    break;
                }
                dead_ends.passed.push((state, pos));
                mark = next_mark(pos);
            }
        }
        let in_vain = dead_ends.passed.drain(..).filter(|&(_, pos)| last.is_none_or(|last| pos > last));
        dead_ends.known.extend(in_vain);
        last
    }
}

#[cfg(test)]
mod naive;
#[cfg(test)]
mod tests;
