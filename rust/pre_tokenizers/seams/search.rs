//! Stages as searches for matches.

use std::collections::BTreeSet;

use crate::scan::classes::{Class, page_number};
use crate::structures::char_table::PAGE;
use crate::structures::regex::{AtomSet, Next, Pattern, Place, Places, PlacesAfter, Whole};

/// A stage, as a search for matches.
pub(super) enum Search {
    Pattern(Pattern),
    /// Matches are the characters of a class.
    Class(Class),
    /// Matches are single characters, each one of the two.
    Chars([char; 2]),
}

impl Search {
    /// The atom of a code point: the number of the class of characters that the search does not tell apart.
    pub(super) fn atom(&self, code: usize) -> u8 {
        match self {
            Self::Pattern(pattern) => pattern.atom(code),
            Self::Class(class) => u8::from(Class::of_code(code).is(*class)),
            Self::Chars(chars) => u8::from(chars.iter().any(|&c| code == c as usize)),
        }
    }

    /// Pages of code points with the same number have the same atoms. The converse need not hold.
    pub(super) fn page_number(&self, page: usize) -> u16 {
        match self {
            Self::Pattern(pattern) => pattern.page_number(page),
            Self::Class(_) => page_number(page),
            Self::Chars(chars) => {
                let is_there = |c: char| u16::from(page == c as usize / PAGE);
                is_there(chars[0]) | is_there(chars[1]) << 1
            }
        }
    }

    /// As [`Pattern::whole`], which is none too for texts of which some are more than one match.
    pub(super) fn whole(&self, sets: &[AtomSet]) -> Option<Whole> {
        let all = sets.iter().fold(0, |all, set| all | set);
        let only_if = |is_gap: bool| is_gap.then_some(Whole { is_match: false, is_gap });
        match self {
            Self::Pattern(pattern) => match pattern.beyond_reach() {
                Some(beyond) => only_if(all & !beyond == 0),
                None => pattern.whole(sets),
            },
            // Each character of a class is a match of its own.
            Self::Class(_) | Self::Chars(_) if sets.len() == 1 => {
                Some(Whole { is_match: all & !1 != 0, is_gap: all & 1 != 0 })
            }
            Self::Class(_) | Self::Chars(_) => only_if(all & !1 == 0),
        }
    }

    /// The places after a character of `before`, or nothing, and one more; none if the search cannot tell. With `cuts_matches`, a place may
    /// cut a match into two.
    pub(super) fn places(&self, before: AtomSet, cuts_matches: bool) -> Option<SearchPlaces<'_>> {
        match self {
            Self::Pattern(pattern) => match pattern.beyond_reach() {
                Some(beyond) => Some(SearchPlaces::BeyondReach(beyond)),
                None => pattern.places(before, cuts_matches).map(SearchPlaces::OfPattern),
            },
            Self::Class(_) | Self::Chars(_) => Some(SearchPlaces::OfChars),
        }
    }
}

/// The places of a search.
pub(super) enum SearchPlaces<'a> {
    OfPattern(Places<'a>),
    /// These atoms are beyond the reach of the pattern.
    BeyondReach(AtomSet),
    /// Every character is a match, or not, by itself.
    OfChars,
}

/// The places of a search after a character of one atom.
pub(super) enum SearchPlacesAfter<'a> {
    OfPattern(PlacesAfter<'a>),
    /// The atoms beyond the reach of the pattern; none if the character is within.
    BeyondReach(AtomSet),
    /// True if the character is a match.
    OfChars(bool),
}

impl<'a> SearchPlaces<'a> {
    /// As [`Places::after_char`].
    pub(super) fn after_char(&self, atom: u8) -> SearchPlacesAfter<'a> {
        match self {
            Self::OfPattern(places) => SearchPlacesAfter::OfPattern(places.after_char(atom)),
            Self::BeyondReach(beyond) => {
                SearchPlacesAfter::BeyondReach(if beyond >> atom & 1 == 1 { *beyond } else { 0 })
            }
            Self::OfChars => SearchPlacesAfter::OfChars(atom == 1),
        }
    }
}

impl SearchPlacesAfter<'_> {
    /// As [`PlacesAfter::before_char`].
    pub(super) fn before_char(&self, atom: u8, next: Option<Next>) -> Option<BTreeSet<Place>> {
        let place = match self {
            Self::OfPattern(places) => return places.before_char(atom, next),
            Self::BeyondReach(beyond) if beyond >> atom & 1 == 0 => return None,
            Self::BeyondReach(_) => {
                Place { is_border: false, after_match: false, before_match: Some(false), is_within: false }
            }
            &Self::OfChars(after_match) => {
                let before_match = atom == 1;
                Place {
                    is_border: after_match || before_match,
                    after_match,
                    before_match: Some(before_match),
                    is_within: false,
                }
            }
        };
        Some(BTreeSet::from([place]))
    }
}
