//! Places between two characters at which a text may be cut without any match changing.
//!
//! The matches of a text are found one after the other. A search that reaches a place may end there with a match, or fail there; then a
//! search that began elsewhere decides. So cutting at a place changes no match if two things hold in every state that a search may have
//! there: the search ends or fails before the next character as it does at the end of a text, and a search begins after the place as it
//! does at the start of a text.
//!
//! Where matches may be cut in two, a match may also go on across the place. Then the text before the place must be a match. If the longer
//! match fails, the match ends at the place. Otherwise a search that begins at the place must end where the longer match ends, for every text
//! that may follow.
//!
//! All states to which some text leads are checked, more of them than any one text leads to. So a place that passes is safe.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use foldhash::fast::FixedState;

use super::states::{DEAD, States};
use super::{Program, Tables};

/// Steps of the comparisons of searches for one stage and one set of characters before a place, at most: some tens of milliseconds.
const MOST_STEPS: usize = 1 << 20;

/// A set of atoms, one bit each.
pub(crate) type AtomSet = u128;

/// The texts on both sides of a place where a text may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// True if a match certainly begins or ends there, so that the two texts are not one gap.
    pub is_border: bool,
    /// True if the text before is part of a match.
    pub after_match: bool,
    /// True if the text after is part of a match; none if only later text decides.
    pub before_match: Option<bool>,
    /// True if a match certainly goes on from the text before to the text after.
    pub is_within: bool,
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
    /// The places of texts in which a character of `before`, or the start of the text, comes before the two characters beside the place;
    /// none if a match may be empty. With `cuts_matches`, a place may lie within a match if the place cuts it into two matches.
    pub(in crate::structures::regex) fn places(
        &self,
        before: AtomSet,
        cuts_matches: bool,
    ) -> Option<Places<'_>> {
        let Tables { atoms, states, may_fail, .. } = &*self.0;
        if states.may_be_empty() {
            return None;
        }
        let may_fail = may_fail.get_or_init(|| states.may_fail());
        let comparisons = cuts_matches.then(Rc::default);
        let mut made = Places { states, end: atoms.len(), may_fail, comparisons, rows: BTreeSet::new() };
        let (matches, gaps) = (1..states.len() as u16, 0..states.kinds() as u16);
        let all = matches.map(Row::Match).chain(gaps.map(Row::Gap)).collect();
        made.rows = made.step(&all, before);
        // A search may also begin after the character.
        made.rows.extend(members(before).chain([made.end]).map(|atom| Row::Gap(states.kind(atom))));
        Some(made)
    }

    /// Looks at all texts with one character of each of `sets` in turn; if there are several sets, with any number of characters of the last.
    /// Answers if some texts are one match, and if some hold no match; none if a text may be more than one span.
    pub(in crate::structures::regex) fn whole(&self, sets: &[AtomSet]) -> Option<Whole> {
        let places = self.places(0, false)?;
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
        let (first, others) = sets.split_first()?;
        let (last, middle) = others.split_last().map_or((0, others), |(&last, middle)| (last, middle));
        let mut rows: BTreeSet<Row> = members(*first).map(begin).collect();
        for (number, &set) in (0..).zip(middle) {
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
            new = after(&new, last)?.difference(&rows).copied().collect();
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

/// How a pattern treats texts of one form ([`Program::whole`]): each is one match, or has none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whole {
    /// Some texts are one match.
    pub is_match: bool,
    /// Some texts are one gap.
    pub is_gap: bool,
}

/// The text after the two characters beside a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Next {
    /// A character of this atom.
    pub atom: u8,
    /// Or the end of the text.
    pub or_end: bool,
}

/// The last matches of two searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Matches {
    /// The first search has found none.
    None,
    /// Both end at the same place.
    Same,
    Differ,
}

impl Matches {
    /// The last matches, updated after a place: `first` and `second` tell if each search matches there.
    fn then(self, first: bool, second: bool) -> Self {
        match (self, first, second) {
            (_, true, true) => Self::Same,
            (_, true, false) | (Self::Same, false, true) => Self::Differ,
            (matches, false, _) => matches,
        }
    }
}

/// Comparisons of two searches: one goes on with a match, and one begins there.
#[derive(Debug, Default)]
struct Comparisons {
    /// By their states: true if, in every text in which the first search matches, the second one ends at the same place.
    known: HashMap<(u16, u16), bool, FixedState>,
    steps: usize,
}

/// The places of one pattern.
#[derive(Clone)]
pub(crate) struct Places<'a> {
    states: &'a States,
    /// In place of an atom: the end of the text.
    end: usize,
    /// By state, as [`States::may_fail`].
    may_fail: &'a [bool],
    /// The comparisons that are known; none if no match may be cut.
    comparisons: Option<Rc<RefCell<Comparisons>>>,
    /// Rows before the character to the left of a place.
    rows: BTreeSet<Row>,
}

/// The places after a character of one atom.
pub(crate) struct PlacesAfter<'a> {
    places: Places<'a>,
    /// Rows after the character, and the kind of the character.
    rows: BTreeSet<Row>,
    kind: u16,
    /// Rows of searches that begin with the character.
    begun: BTreeSet<Row>,
}

impl<'a> Places<'a> {
    /// The places after a character of an atom.
    pub(crate) fn after_char(&self, atom: u8) -> PlacesAfter<'a> {
        let atom = usize::from(atom);
        let rows = self.rows.iter().map(|&row| self.after(row, atom)).collect();
        let begun = |row: &Row| matches!(row, Row::Gap(_)).then(|| self.after(*row, atom));
        let begun = self.rows.iter().filter_map(begun).collect();
        PlacesAfter { places: self.clone(), rows, kind: self.states.kind(atom), begun }
    }
}

impl PlacesAfter<'_> {
    /// The kinds of place that may lie before a character of an atom; `next` is the text after the character, if known. None if cutting
    /// there may change a match.
    pub(crate) fn before_char(&self, atom: u8, next: Option<Next>) -> Option<BTreeSet<Place>> {
        let (mut found, atom) = (BTreeSet::new(), usize::from(atom));
        // If a search that begins with the left character fails here, that character may belong to a gap.
        let fails = self.begun.iter().any(|&row| self.places.fails(row, atom));
        let gap = fails.then_some(Row::Gap(self.kind));
        let rows = self.rows.iter().copied().chain(gap);
        let is_kept = rows.into_iter().all(|row| self.places.add_place(row, (atom, next), &mut found));
        is_kept.then_some(found)
    }
}

impl Places<'_> {
    /// True if the search of a row fails before `atom`.
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
    fn add_place(&self, row: Row, (atom, next): (usize, Option<Next>), found: &mut BTreeSet<Place>) -> bool {
        let (kind, longer) = match row {
            Row::Gap(kind) => (kind, None),
            Row::Match(state) => {
                let step = self.states.step(state, atom);
                if step.is_match != self.states.step(state, self.end).is_match {
                    return false;
                }
                if !step.is_match {
                    return step.next == DEAD;
                }
                (self.states.kind_before(state), Some(step.next).filter(|&next| next != DEAD))
            }
        };
        let begun = self.begin(kind, atom);
        if begun != self.begin(self.states.kind(self.end), atom) {
            return false;
        }
        if longer.is_some_and(|next| !self.ends_alike(next, begun)) {
            return false;
        }
        let after_match = matches!(row, Row::Match(_));
        let before_match = self.matches_on(begun, next);
        // A gap goes on where a match fails that has begun in it.
        let is_border = longer.is_none() && (after_match || before_match == Some(true));
        let is_match_ahead = |state| self.matches_on(Row::Match(state), next) == Some(true);
        found.insert(Place {
            is_border,
            after_match,
            before_match,
            is_within: longer.is_some_and(is_match_ahead),
        });
        true
    }

    /// True if, in every text in which a search in `state` matches, a search in `begun` ends at the same place.
    fn ends_alike(&self, state: u16, begun: Row) -> bool {
        let (Row::Match(other), Some(comparisons)) = (begun, &self.comparisons) else { return false };
        let mut comparisons = comparisons.borrow_mut();
        if let Some(&known) = comparisons.known.get(&(state, other)) {
            return known;
        }
        let are_alike = self.compare((state, other), &mut comparisons.steps);
        comparisons.known.insert((state, other), are_alike);
        are_alike
    }

    /// Compares two searches in all texts; false if `steps` come to [`MOST_STEPS`].
    fn compare(&self, states: (u16, u16), steps: &mut usize) -> bool {
        let first = (states, Matches::None);
        let (mut known, mut new) = (BTreeSet::from([first]), vec![first]);
        while let Some(((one, other), matches)) = new.pop() {
            *steps += self.end + 1;
            if *steps > MOST_STEPS {
                return false;
            }
            for atom in 0..=self.end {
                let (step, other) = (self.states.step(one, atom), self.states.step(other, atom));
                let matches = matches.then(step.is_match, other.is_match);
                let is_over = step.next == DEAD && other.next == DEAD;
                if is_over && matches == Matches::Differ {
                    return false;
                }
                let pair = ((step.next, other.next), matches);
                let may_differ = step.next != DEAD || matches != Matches::None;
                if !is_over && may_differ && known.insert(pair) {
                    new.push(pair);
                }
            }
        }
        true
    }

    /// True if the search of a row comes to a match, false if it does not; none if neither is certain.
    fn matches_on(&self, row: Row, next: Option<Next>) -> Option<bool> {
        let Row::Match(state) = row else { return Some(false) };
        if !self.may_fail[usize::from(state)] {
            return Some(true);
        }
        let next = next?;
        let before = |atom: usize| {
            let step = self.states.step(state, atom);
            let is_certain = step.is_match || step.next != DEAD && !self.may_fail[usize::from(step.next)];
            (is_certain || step.next == DEAD).then_some(is_certain)
        };
        let matches = before(usize::from(next.atom));
        matches.filter(|_| !next.or_end || before(self.end) == matches)
    }
}

/// The atoms of a set.
fn members(set: AtomSet) -> impl Iterator<Item = usize> {
    (0..AtomSet::BITS as usize).filter(move |atom| set >> atom & 1 == 1)
}
