//! What all stages together do at the places between characters of two groups.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use super::groups::{Characters, Group, Seen};
use super::kinds::SeamTables;
use super::search::{SearchPlaces, SearchPlacesAfter};
use super::{Behavior, Stage};
use crate::byte_level::BYTE_TO_CHAR;
use crate::scan::classes::{Class, SPACE};
use crate::structures::regex::{AtomSet, Next, Place};

/// What a stage does at a place between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// Cutting there may change other spans.
    Changes,
    Keeps,
    Cuts,
}

/// The answer of a stage, and whether the two characters certainly are in one gap.
type Known = (Answer, bool);

/// The atoms of two neighbours, and what stands after these.
type Neighbours = (u8, u8, Option<Next>);

/// The answers of the stages, which are asked once for each two atoms.
pub(super) struct Answers<'a> {
    stages: &'a [Stage],
    groups: &'a [Group],
    space: &'a Group,
    /// After any character, and after ink.
    asked: [Vec<Asked<'a>>; 2],
}

/// The answers of one stage.
struct Asked<'a> {
    places: Option<SearchPlaces<'a>>,
    after: RefCell<HashMap<u8, SearchPlacesAfter<'a>>>,
    known: RefCell<HashMap<Neighbours, Known>>,
}

impl<'a> Answers<'a> {
    /// None if there is no group of the space.
    pub(super) fn new(stages: &'a [Stage], characters: &'a Characters) -> Option<Self> {
        let space = characters.groups.iter().find(|group| group.is_space)?;
        let asked = |stage: &'a Stage, before: AtomSet| Asked {
            places: stage.search.places(before),
            after: RefCell::default(),
            known: RefCell::default(),
        };
        let numbered = || stages.iter().enumerate();
        let after_any = numbered().map(|(number, stage)| asked(stage, characters.atoms[number])).collect();
        let after_ink =
            numbered().map(|(number, stage)| asked(stage, ink(stage, number, characters))).collect();
        Some(Self { stages, groups: &characters.groups, space, asked: [after_any, after_ink] })
    }

    /// Between which groups there are seams.
    pub(super) fn seams(&self) -> SeamTables {
        let table = |is_seam: &dyn Fn(&Group, &Group) -> bool| -> Vec<Vec<bool>> {
            self.groups
                .iter()
                .map(|left| self.groups.iter().map(|right| is_seam(left, right)).collect())
                .collect()
        };
        let begins_words = self.groups.iter().any(|left| self.cuts(1, left, self.space));
        // A space stays with the word after it, or every word would be two parts.
        let is_kept = |left: &Group| left.is_space && begins_words;
        let cuts =
            |after: usize| move |left: &Group, right: &Group| !is_kept(left) && self.cuts(after, left, right);
        let around_space = |left: &Group, right: &Group| {
            !is_kept(left) && !self.cuts(0, left, self.space) && self.cuts_before_space(left, right)
        };
        SeamTables {
            tables: [table(&cuts(0)), table(&cuts(1)), table(&around_space)],
            weights: self.groups.iter().map(|group| group.weight).collect(),
            is_ink: self.groups.iter().map(|group| group.is_ink).collect(),
        }
    }

    /// Whether a stage cuts between two groups, and all stages before it keep the place.
    fn cuts(&self, after: usize, left: &Group, right: &Group) -> bool {
        let answers = (0..self.stages.len()).map(|stage| self.answer(after, stage, left, right, None).0);
        answers.into_iter().find(|&answer| answer != Answer::Keeps) == Some(Answer::Cuts)
    }

    /// The same before a space, where the right group stands after the space.
    fn cuts_before_space(&self, left: &Group, right: &Group) -> bool {
        // A stage before may have cut after the space.
        let mut or_end = false;
        for stage in 0..self.stages.len() {
            let next = Next { atom: right.seen[stage].first, or_end };
            match self.answer(0, stage, left, self.space, Some(next)).0 {
                Answer::Changes => return false,
                Answer::Cuts => return true,
                Answer::Keeps => or_end |= !self.answer(0, stage, self.space, right, None).1,
            }
        }
        false
    }

    fn answer(&self, after: usize, stage: usize, left: &Group, right: &Group, next: Option<Next>) -> Known {
        let (Seen { last, .. }, Seen { first, .. }) = (left.seen[stage], right.seen[stage]);
        let Asked { places, after, known } = &self.asked[after][stage];
        let Some(places) = places else { return (Answer::Changes, false) };
        *known.borrow_mut().entry((last, first, next)).or_insert_with(|| {
            let mut after = after.borrow_mut();
            let after = after.entry(last).or_insert_with(|| places.after_char(last));
            let Stage { behavior, invert, .. } = self.stages[stage];
            after.before_char(first, next).map_or((Answer::Changes, false), |places| {
                let answers = places.iter().map(|place| behavior.answer(invert, *place));
                (answers.min().unwrap_or(Answer::Keeps), are_gaps(&places))
            })
        })
    }
}

/// Whether both characters beside a place are in one gap, whatever the place is.
fn are_gaps(places: &BTreeSet<Place>) -> bool {
    places.iter().all(|place| !place.after_match && place.before_match == Some(false))
}

/// What a stage may see of ink before the last byte of a character: ink, or other bytes of the character.
fn ink(stage: &Stage, number: usize, characters: &Characters) -> AtomSet {
    if !stage.is_mapped {
        return characters
            .groups
            .iter()
            .filter(|group| group.is_ink)
            .fold(0, |all, group| all | group.seen[number].all);
    }
    let atom = |byte: usize| stage.search.atom(BYTE_TO_CHAR[byte] as usize);
    let is_space = |byte: usize| byte < 0x80 && Class::of_code(byte).is(SPACE);
    (0..256).filter(|&byte| !is_space(byte)).fold(0, |all, byte| all | 1 << atom(byte))
}

impl Behavior {
    fn answer(self, invert: bool, place: Place) -> Answer {
        let joins = |before_match: bool| self.joins(place.after_match != invert, before_match != invert);
        let may_join = match place.before_match {
            Some(before_match) => joins(before_match),
            None => joins(true) || joins(false),
        };
        if place.is_border && !may_join { Answer::Cuts } else { Answer::Keeps }
    }
}
