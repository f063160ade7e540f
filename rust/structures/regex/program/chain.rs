//! Chains: matches one after the other, with and without gaps between them, found in one pass.
//!
//! Where a match ends for certain, the same character begins the next match, or a gap. So both steps are one: the table of a
//! chain leads from the last state of a match to the second state of the next. A row that is entered at a border, where a match
//! or a gap begins, has a number above a bound. So no branch depends on where the borders are, and a step waits for nothing but
//! the step before it.
//!
//! | rows | of | entered |
//! |---|---|---|
//! | first | each state | within a match |
//! | second | each kind of the character before | within a gap |
//! | third | each state | at the start of a match |
//! | last | each kind | at the start of a gap |
//!
//! A character after which neither holds is left to a single search: the match may have ended some characters before, or may be
//! empty.

use super::atoms::Atoms;
use super::states::{DEAD, States};

/// Entries of the table: all numbers of 16 bits, so that an index needs no check.
const ENTRIES: usize = 1 << 16;

/// In place of a row: the character is left to a single search.
const STUCK: u16 = u16::MAX;

/// The steps of a chain.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The first entry of the next row, by the first entry of a row plus an atom.
    rows: Box<[u16]>,
    /// Entries of a row.
    width: usize,
    /// The first entries of the second, third and last rows.
    gaps: usize,
    borders: usize,
    gap_borders: usize,
}

/// Where a match or a gap begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Border {
    pub(super) at: usize,
    pub(super) is_gap: bool,
}

impl Chain {
    /// The chain of `states`; `None` if its table has more than [`ENTRIES`] entries.
    pub(super) fn new(states: &States, atoms: usize) -> Option<Self> {
        let width = atoms.next_power_of_two();
        let gaps = states.len() * width;
        let borders = gaps + states.kinds() * width;
        let gap_borders = borders + gaps;
        if gap_borders + states.kinds() * width >= ENTRIES {
            return None;
        }
        let rows = vec![STUCK; ENTRIES].into_boxed_slice();
        let mut made = Self { rows, width, gaps, borders, gap_borders };
        for atom in 0..atoms {
            for state in 0..states.len() as u16 {
                let step = states.step(state, atom);
                let next = if step.next != DEAD {
                    usize::from(step.next) * width
                } else if step.is_match {
                    let inside = usize::from(states.kind(atom)) * width;
                    made.begin(states, states.kind_before(state), atom).unwrap_or(gap_borders + inside)
                } else {
                    continue;
                };
                made.set(usize::from(state) * width, borders + usize::from(state) * width, atom, next);
            }
            for kind in 0..states.kinds() as u16 {
                let inside = gaps + usize::from(states.kind(atom)) * width;
                let next = made.begin(states, kind, atom).unwrap_or(inside);
                let row = usize::from(kind) * width;
                made.set(gaps + row, gap_borders + row, atom, next);
            }
        }
        Some(made)
    }

    /// The row of a match that begins with `atom` after a character of `kind`, [`STUCK`] if the match may be empty, or `None` if no
    /// match begins.
    fn begin(&self, states: &States, kind: u16, atom: usize) -> Option<usize> {
        let step = states.step(states.start(kind), atom);
        if step.is_match {
            return Some(usize::from(STUCK));
        }
        (step.next != DEAD).then(|| self.borders + usize::from(step.next) * self.width)
    }

    /// Sets the row that `atom` leads to from two rows.
    fn set(&mut self, row: usize, same: usize, atom: usize, next: usize) {
        self.rows[row + atom] = next as u16;
        self.rows[same + atom] = next as u16;
    }

    /// The state of a row within a match.
    pub(super) fn state(&self, row: u16) -> u16 {
        row / self.width as u16
    }

    /// Writes the borders of matches and gaps from `start` on, as many as there is room for; `start` is after a character of `kind`.
    /// Answers the number of borders, the position up to which the text was read, with `is_gap` if a gap reaches up to it, and the row at
    /// this position.
    #[inline]
    pub(super) fn fill(
        &self,
        atoms: &Atoms,
        bytes: &[u8],
        start: usize,
        kind: u16,
        out: &mut [Border],
    ) -> (usize, Border, u16) {
        let mut row = (self.gaps + usize::from(kind) * self.width) as u16;
        let begin = Border { at: start, is_gap: true };
        let Some(rows) = self.rows.first_chunk::<ENTRIES>() else { return (0, begin, row) };
        let (borders, gap_borders) = (self.borders as u16, self.gap_borders as u16);
        let (mut pos, mut count) = (start, 0);
        while pos < bytes.len() && count < out.len() {
            let (atom, width) = atoms.at(bytes, pos);
            let next = rows[usize::from(row.wrapping_add(u16::from(atom)))];
            if next == STUCK {
                break;
            }
            row = next;
            out[count] = Border { at: pos, is_gap: row >= gap_borders };
            count += usize::from(row >= borders);
            pos += width;
        }
        let is_gap = (self.gaps..self.borders).contains(&usize::from(row)) || row >= gap_borders;
        let row = if row >= borders { row - borders } else { row };
        (count, Border { at: pos, is_gap }, row)
    }
}
