//! Places: whether a text may be cut between two characters without any match changing.
//!
//! The matches of a text are found one after the other. A search that comes to a place may end there with a match, or may fail there, so
//! that another search, which began elsewhere, is the one that counts. So a place changes nothing if two things hold in every state to
//! which a search may have come there: the search ends or fails before the next character as it does at the end of a text, and a
//! search begins after it as it does at the start of a text. States that are possible after some text are more than those of
//! any one text, so a place that passes is safe.

use std::collections::BTreeSet;

use super::states::{DEAD, States};
use super::{Program, Tables};

/// A set of atoms, one bit each.
pub type AtomSet = u128;

/// The texts on both sides of a place where a text may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// True if a match certainly begins or ends there, so that the two texts are not one gap.
    pub is_border: bool,
    /// Whether the text before is part of a match.
    pub after_match: bool,
    /// Whether the text after is part of a match; none if only later text decides.
    pub before_match: Option<bool>,
}

/// Where a search for matches stands between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    /// Within a match.
    Match(u16),
    /// In a gap, after a character of a kind.
    Gap(u16),
}

impl Program {
    /// The places of texts where a character of `before`, or nothing, stands before the two characters beside the place; none if a match
    /// may be empty.
    pub(in crate::structures::regex) fn places(&self, before: AtomSet) -> Option<Places<'_>> {
        let Tables { atoms, states, .. } = &*self.0;
        if states.may_be_empty() {
            return None;
        }
        let mut made =
            Places { states, end: atoms.len(), may_fail: states.may_fail(), rows: BTreeSet::new() };
        let (matches, gaps) = (1..states.len() as u16, 0..states.kinds() as u16);
        let all = matches.map(Row::Match).chain(gaps.map(Row::Gap)).collect();
        made.rows = made.step(&all, before);
        // A search may also begin after the character.
        made.rows.extend(members(before).chain([made.end]).map(|atom| Row::Gap(states.kind(atom))));
        Some(made)
    }
}

impl Program {
    /// Whether each text of one character of each of `sets`, but any number of the last, is one match or one gap: whether some are
    /// matches, and whether some are gaps. None if a text may be more than one.
    pub(in crate::structures::regex) fn whole(&self, sets: &[AtomSet]) -> Option<Whole> {
        let places = self.places(0)?;
        let begin = |atom| places.begin(places.states.kind(places.end), atom);
        let within = |row: Row, atom| match row {
            Row::Gap(kind) => Some(places.begin(kind, atom)).filter(|row| matches!(row, Row::Gap(_))),
            Row::Match(state) => {
                let next = places.states.step(state, atom).next;
                (next != DEAD).then_some(Row::Match(next))
            }
        };
        let after = |rows: &BTreeSet<Row>, set| -> Option<BTreeSet<Row>> {
            rows.iter().flat_map(|&row| members(set).map(move |atom| within(row, atom))).collect()
        };
        let (last, fixed) = sets.split_last()?;
        let (first, rest) = fixed.split_first()?;
        let mut rows: BTreeSet<Row> = members(*first).map(begin).collect();
        for (number, &set) in (0..).zip(rest) {
            let step = |&row: &Row| members(set).map(move |atom| (row, atom));
            // Where the first search fails, its first character is a gap.
            let row_after = |(row, atom)| match row {
                Row::Match(state) if number == 0 && places.fails(row, atom) => {
                    within(Row::Gap(places.states.kind_before(state)), atom)
                }
                _ => within(row, atom),
            };
            rows = rows.iter().flat_map(step).map(row_after).collect::<Option<_>>()?;
        }
        let mut new = rows.clone();
        while !new.is_empty() {
            new = after(&new, *last)?.difference(&rows).copied().collect();
            rows.extend(&new);
        }
        let mut whole = Whole::default();
        for row in rows {
            match row {
                Row::Match(state) if places.states.step(state, places.end).is_match => whole.is_match = true,
                Row::Match(_) => return None,
                Row::Gap(_) => whole.is_gap = true,
            }
        }
        Some(whole)
    }
}

/// What texts of a kind are to a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole {
    /// Some texts are one match.
    pub is_match: bool,
    /// Some texts are one gap.
    pub is_gap: bool,
}

/// The places of one pattern.
pub struct Places<'a> {
    states: &'a States,
    /// In place of an atom: the end of the text.
    end: usize,
    /// By state, as [`States::may_fail`].
    may_fail: Vec<bool>,
    /// Rows before the character to the left of a place.
    rows: BTreeSet<Row>,
}

impl Places<'_> {
    /// All that a place between characters of `left` and `right` may be; none if cutting there may change a match.
    pub fn between(&self, left: AtomSet, right: AtomSet) -> Option<BTreeSet<Place>> {
        let mut places = BTreeSet::new();
        for atom in members(left) {
            let mut rows: BTreeSet<Row> = self.rows.iter().map(|&row| self.after(row, atom)).collect();
            let begun = |row: &Row| matches!(row, Row::Gap(_)).then(|| self.after(*row, atom));
            let begun: Vec<Row> = self.rows.iter().filter_map(begun).collect();
            for next in members(right) {
                // Where a search that begins with the character fails, the character may be in a gap.
                if begun.iter().any(|&row| self.fails(row, next)) {
                    rows.insert(Row::Gap(self.states.kind(atom)));
                }
                if !rows.iter().all(|&row| self.add_place(row, next, &mut places)) {
                    return None;
                }
            }
        }
        Some(places)
    }

    /// Whether the search of a row fails before `atom`.
    fn fails(&self, row: Row, atom: usize) -> bool {
        let Row::Match(state) = row else { return false };
        let step = self.states.step(state, atom);
        step.next == DEAD && !step.is_match
    }

    /// The rows after characters of `atoms`.
    fn step(&self, rows: &BTreeSet<Row>, atoms: AtomSet) -> BTreeSet<Row> {
        let after = |atom| rows.iter().map(move |&row| self.after(row, atom));
        members(atoms).flat_map(after).collect()
    }

    /// The row after `atom`, if a search begins before it, after a character of `kind`.
    fn begin(&self, kind: u16, atom: usize) -> Row {
        match self.states.step(self.states.start(kind), atom).next {
            DEAD => Row::Gap(self.states.kind(atom)),
            next => Row::Match(next),
        }
    }

    /// The rows after `atom`. A search whose match has failed, or ended before, begins after some character.
    fn after(&self, row: Row, atom: usize) -> Row {
        match row {
            Row::Gap(kind) => self.begin(kind, atom),
            Row::Match(state) => match self.states.step(state, atom).next {
                DEAD => self.begin(self.states.kind_before(state), atom),
                next => Row::Match(next),
            },
        }
    }

    /// Adds the place between a row and `atom`, unless the search of the row fails there; false if cutting there may change a match.
    fn add_place(&self, row: Row, atom: usize, places: &mut BTreeSet<Place>) -> bool {
        let kind = match row {
            Row::Gap(kind) => kind,
            Row::Match(state) => {
                let step = self.states.step(state, atom);
                if step.next != DEAD || step.is_match != self.states.step(state, self.end).is_match {
                    return false;
                }
                if !step.is_match {
                    return true;
                }
                self.states.kind_before(state)
            }
        };
        let begun = self.begin(kind, atom);
        if begun != self.begin(self.states.kind(self.end), atom) {
            return false;
        }
        let after_match = matches!(row, Row::Match(_));
        let may_fail = matches!(begun, Row::Match(state) if self.may_fail[usize::from(state)]);
        let before_match = matches!(begun, Row::Match(_));
        places.insert(Place {
            // A gap goes on where a match fails that has begun in it.
            is_border: after_match || before_match && !may_fail,
            after_match,
            before_match: (!may_fail).then_some(before_match),
        });
        true
    }
}

/// The atoms of a set.
fn members(set: AtomSet) -> impl Iterator<Item = usize> {
    (0..AtomSet::BITS as usize).filter(move |atom| set >> atom & 1 == 1)
}
