//! The answers of all stages together, for the places between characters of two groups.

use std::cell::RefCell;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::groups::{Characters, Group, Seen};
use super::kinds::{SeamTables, Table};
use super::search::{SearchPlaces, SearchPlacesAfter};
use super::stage::Stage;
use crate::byte_level::BYTE_TO_CHAR;
use crate::pre_tokenizers::Behavior;
use crate::scan::classes::{Class, SPACE};
use crate::structures::regex::{AtomSet, Next, Place};

/// The effect of a stage on a place between two characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// Cutting there may change other spans.
    #[default]
    Changes,
    Keeps,
    Cuts,
}

/// All that is known about a stage and a place.
#[derive(Clone, Copy, Default)]
struct Known {
    answer: Answer,
    /// True if the two characters certainly lie in one gap: text between two matches.
    are_gap: bool,
    /// True if the stage certainly has one span with both.
    are_joined: bool,
}

/// The atoms of two neighbours, and the text after these.
type Neighbours = (u8, u8, Option<Next>);

/// The characters that may stand before the left one of a place.
#[derive(Clone, Copy, Debug)]
enum Before {
    Any,
    Ink,
}

/// The answers of all stages. Each is asked once for each two atoms.
pub(super) struct Answers<'a> {
    stages: &'a [Stage],
    characters: &'a Characters<'a>,
    after_any: Vec<StageAnswers<'a>>,
    after_ink: Vec<StageAnswers<'a>>,
}

/// The answers of one stage.
struct StageAnswers<'a> {
    /// None if the stage cannot tell.
    places: Option<SearchPlaces<'a>>,
    after: RefCell<HashMap<u8, SearchPlacesAfter<'a>>>,
    known: RefCell<HashMap<Neighbours, Known, FixedState>>,
}

impl<'a> Answers<'a> {
    pub(super) fn new(stages: &'a [Stage], characters: &'a Characters<'a>) -> Self {
        let answers = |stage: &'a Stage, before: AtomSet| StageAnswers {
            places: stage.search.places(before, characters.are_apart.is_some()),
            after: RefCell::default(),
            known: RefCell::default(),
        };
        let numbered = || stages.iter().zip(0..);
        Self {
            stages,
            characters,
            after_any: numbered().map(|(stage, number)| answers(stage, characters.atoms[number])).collect(),
            after_ink: numbered()
                .map(|(stage, number)| answers(stage, ink(stage, number, characters)))
                .collect(),
        }
    }

    /// The pairs of groups with a seam between them. With `asks_for_joins`, also the pairs between which no stage has a border.
    pub(super) fn seams(&self, asks_for_joins: bool) -> SeamTables {
        let (groups, space) = (&self.characters.groups, self.characters.space());
        let table = |is_seam: &dyn Fn(&Group, &Group) -> bool| -> Table {
            groups.iter().map(|left| groups.iter().map(|right| is_seam(left, right)).collect()).collect()
        };
        let begins_words =
            space.is_some_and(|space| groups.iter().any(|left| self.cuts(Before::Ink, left, space)));
        // A space stays with the word after it, or every word would be two chunks.
        let is_kept = |left: &Group| left.is_space && begins_words;
        // If the image of the left character has several characters, the one before its last is its own.
        let is_after_ink = |left: &Group| !left.has_several || left.facts.is_ink;
        SeamTables {
            always: table(&|left, right| !is_kept(left) && self.cuts(Before::Any, left, right)),
            after_ink: table(&|left, right| {
                !is_kept(left) && is_after_ink(left) && self.cuts(Before::Ink, left, right)
            }),
            across_space: table(&|left, right| {
                !is_kept(left)
                    && space.is_some_and(|space| {
                        !self.cuts(Before::Any, left, space) && self.cuts_before_space(left, space, right)
                    })
            }),
            joined: table(&|left, right| {
                asks_for_joins && space.is_some_and(|space| self.are_joined(left, space, right))
            }),
            weights: groups.iter().map(|group| group.weight).collect(),
            facts: groups.iter().map(|group| group.facts).collect(),
        }
    }

    /// The group of `c` in normalized text.
    pub(super) fn group_of(&self, c: char) -> Group {
        Group::of(self.stages, self.characters.are_apart, c)
    }

    /// True if there may be a seam between characters of two groups. `next` is the group of the character after them, if it is known.
    pub(super) fn may_cut(&self, left: &Group, right: &Group, next: Option<&Group>) -> bool {
        let across_space = || match next {
            Some(next) => self.cuts_before_space(left, right, next),
            None => self.characters.groups.iter().any(|next| self.cuts_before_space(left, right, next)),
        };
        self.cuts(Before::Any, left, right)
            || self.cuts(Before::Ink, left, right)
            || right.is_space && across_space()
    }

    /// By group, true if its images and the images of `other` begin alike.
    pub(super) fn begin_as(&self, other: &Group) -> Vec<bool> {
        let firsts = |group: &Group| group.seen.iter().map(|seen| seen.first).collect::<Vec<_>>();
        self.characters.groups.iter().map(|group| firsts(group) == firsts(other)).collect()
    }

    /// True if a stage cuts between two groups, and all stages before it keep the place. Also true if all stages keep the place, which is before a
    /// space, and the model encodes the texts on both sides apart.
    fn cuts(&self, before: Before, left: &Group, right: &Group) -> bool {
        let mut answers =
            (0..self.stages.len()).map(|stage| self.answer(before, stage, (left, right), None).answer);
        match answers.find(|&answer| answer != Answer::Keeps) {
            Some(answer) => answer == Answer::Cuts,
            None => left.is_apart && right.is_space,
        }
    }

    /// The same before a space, where the right group stands after the space.
    fn cuts_before_space(&self, left: &Group, space: &Group, right: &Group) -> bool {
        for known in self.before_space(left, space, right) {
            match known.answer {
                Answer::Changes => return false,
                Answer::Cuts => return true,
                Answer::Keeps => {}
            }
        }
        left.is_apart
    }

    /// True if a pre-token certainly goes on before a space between two groups.
    fn are_joined(&self, left: &Group, space: &Group, right: &Group) -> bool {
        self.before_space(left, space, right).all(|known| known.are_joined)
    }

    /// By stage, all that is known about the place before a space between two groups.
    fn before_space(&self, left: &Group, space: &Group, right: &Group) -> impl Iterator<Item = Known> {
        // True if the text that a stage sees may end after the space, since an earlier stage may have cut there.
        let mut or_end = false;
        (0..self.stages.len()).map(move |stage| {
            let next = Next { atom: right.seen[stage].first, or_end };
            or_end |= !self.answer(Before::Any, stage, (space, right), None).are_gap;
            self.answer(Before::Any, stage, (left, space), Some(next))
        })
    }

    fn answer(
        &self,
        before: Before,
        stage: usize,
        (left, right): (&Group, &Group),
        next: Option<Next>,
    ) -> Known {
        let (Seen { last, .. }, Seen { first, .. }) = (left.seen[stage], right.seen[stage]);
        let StageAnswers { places, after, known } = match before {
            Before::Any => &self.after_any[stage],
            Before::Ink => &self.after_ink[stage],
        };
        let Some(places) = places else { return Known::default() };
        *known.borrow_mut().entry((last, first, next)).or_insert_with(|| {
            let mut after = after.borrow_mut();
            let after = after.entry(last).or_insert_with(|| places.after_char(last));
            let Stage { behavior, invert, .. } = self.stages[stage];
            let Some(places) = after.before_char(first, next) else { return Known::default() };
            let answers = places.iter().map(|place| behavior.answer(invert, *place));
            Known {
                answer: answers.min().unwrap_or(Answer::Keeps),
                are_gap: places.iter().all(|&place| is_gap(place)),
                are_joined: places.iter().all(|place| behavior.keeps_joined(invert, *place)),
            }
        })
    }
}

/// True if both characters certainly belong to one gap.
fn is_gap(place: Place) -> bool {
    !place.after_match && place.before_match == Some(false)
}

/// Atoms that may stand before the last character, or the last mapped byte, of a character that follows ink. Other bytes of that character
/// count too.
fn ink(stage: &Stage, number: usize, characters: &Characters<'_>) -> AtomSet {
    if !stage.is_mapped {
        return characters
            .groups
            .iter()
            .filter(|group| group.facts.is_ink)
            .fold(0, |all, group| all | group.seen[number].all);
    }
    let atom = |byte: usize| stage.search.atom(BYTE_TO_CHAR[byte] as usize);
    let is_space = |byte: usize| byte < 0x80 && Class::of_code(byte).is(SPACE);
    (0..256).filter(|&byte| !is_space(byte)).fold(0, |all, byte| all | 1 << atom(byte))
}

impl Behavior {
    /// True if both characters certainly lie in one match or in one gap, which is not removed.
    fn keeps_joined(self, invert: bool, place: Place) -> bool {
        let is_kept = |is_match: bool| self != Self::Removed || is_match == invert;
        place.is_within && is_kept(true) || is_gap(place) && is_kept(false)
    }

    pub(super) fn answer(self, invert: bool, place: Place) -> Answer {
        let joins = |before_match: bool| self.joins(place.after_match != invert, before_match != invert);
        let may_join = match place.before_match {
            Some(before_match) => joins(before_match),
            None => joins(true) || joins(false),
        };
        if place.is_border && !may_join { Answer::Cuts } else { Answer::Keeps }
    }
}
