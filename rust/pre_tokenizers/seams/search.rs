//! Stages as searches for matches, and the characters that a search sees on both sides of a place.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use crate::byte_level::BYTE_TO_CHAR;
use crate::scan::classes::{Class, page_number};
use crate::scan::seams::{KINDS, is_ink, kind_of};
use crate::structures::regex::{AtomSet, Pattern, Place, Places, Whole};

/// Code points of a block, and blocks.
const BLOCK: usize = 64;
const BLOCKS: usize = 0x11_0000 / BLOCK;

/// A stage, as a search for matches.
pub(super) enum Search {
    Pattern(Pattern),
    /// Matches are the characters of a class.
    Class(Class),
    /// Matches are one character.
    Char(char),
}

impl Search {
    fn atom(&self, code: usize) -> u8 {
        match self {
            Self::Pattern(pattern) => pattern.atom(code),
            Self::Class(class) => u8::from(Class::of_code(code).is(*class)),
            Self::Char(c) => u8::from(code == *c as usize),
        }
    }

    /// Equal for blocks of code points whose atoms are equal, most often.
    fn page_number(&self, block: usize) -> u16 {
        match self {
            Self::Pattern(pattern) => pattern.page_number(block),
            Self::Class(_) => 0,
            Self::Char(c) => u16::from(block == *c as usize / BLOCK),
        }
    }

    /// As [`Pattern::whole`], which is none too for texts of which some are more than one match.
    pub(super) fn whole(&self, sets: &[AtomSet]) -> Option<Whole> {
        // Each character of a class is a match of its own.
        let mut atoms_of_gaps = 1;
        if let Self::Pattern(pattern) = self {
            match pattern.beyond_reach() {
                Some(beyond) => atoms_of_gaps = beyond,
                None => return pattern.whole(sets),
            }
        }
        let is_gap = sets.iter().all(|set| set & !atoms_of_gaps == 0);
        is_gap.then_some(Whole { is_match: false, is_gap })
    }

    /// The places after a character of `before`, or nothing, and one more; none if the search cannot tell.
    pub(super) fn places(&self, before: AtomSet) -> Option<SearchPlaces<'_>> {
        match self {
            Self::Pattern(pattern) => match pattern.beyond_reach() {
                Some(beyond) => Some(SearchPlaces::BeyondReach(beyond)),
                None => pattern.places(before).map(SearchPlaces::OfPattern),
            },
            Self::Class(_) | Self::Char(_) => Some(SearchPlaces::OfChars),
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

impl SearchPlaces<'_> {
    /// As [`Places::between`].
    pub(super) fn between(&self, left: AtomSet, right: AtomSet) -> Option<BTreeSet<Place>> {
        let beyond = match self {
            Self::OfPattern(places) => return places.between(left, right),
            Self::BeyondReach(beyond) => Some(beyond),
            Self::OfChars => None,
        };
        if let Some(beyond) = beyond {
            let gap = Place { is_border: false, after_match: false, before_match: Some(false) };
            return ((left | right) & !beyond == 0).then(|| BTreeSet::from([gap]));
        }
        let pairs = [(false, false), (false, true), (true, false), (true, true)];
        let is_in = |atoms: AtomSet, is_match: bool| atoms >> u8::from(is_match) & 1 == 1;
        let place = |(a, b)| Place { is_border: a || b, after_match: a, before_match: Some(b) };
        Some(pairs.into_iter().filter(|&(a, b)| is_in(left, a) && is_in(right, b)).map(place).collect())
    }
}

/// The atoms that a search sees on both sides of a place, by the kinds of the characters there.
pub(super) struct Sets {
    /// Before these: any character, and ink.
    pub(super) before: [AtomSet; 2],
    pub(super) left: [AtomSet; KINDS],
    pub(super) right: [AtomSet; KINDS],
}

impl Sets {
    pub(super) fn of_chars(search: &Search) -> Self {
        let (mut members, mut any, mut seen) = ([0; KINDS], 0, HashSet::new());
        for block in 0..BLOCKS {
            // Most blocks are like another one; the two blocks of ASCII are not, even where their pages are.
            if block < 2 || seen.insert((search.page_number(block), page_number(block))) {
                for code in block * BLOCK..(block + 1) * BLOCK {
                    let atom = 1 << search.atom(code);
                    any |= atom;
                    if let Some(kind) = kind_of(code) {
                        members[kind] |= atom;
                    }
                }
            }
        }
        Self { before: Self::before(any, &members), left: members, right: members }
    }

    /// The same where the search sees mapped bytes.
    pub(super) fn of_bytes(search: &Search) -> Self {
        let atoms = |bytes: &[bool; 256]| {
            let mapped = BYTE_TO_CHAR.iter().zip(bytes).filter(|&(_, &is_in)| is_in);
            mapped.fold(0, |all, (&c, _)| all | 1 << search.atom(c as usize))
        };
        let left = KIND_BYTES.each_ref().map(|kind| atoms(&kind.last));
        let right = KIND_BYTES.each_ref().map(|kind| atoms(&kind.first));
        // Before the last byte of a character is another byte of it, or the last byte of the character before.
        let all = KIND_BYTES.each_ref().map(|kind| atoms(&kind.all));
        Self { before: Self::before(atoms(&[true; 256]), &all), left, right }
    }

    /// Any atom, and the atoms of ink.
    fn before(any: AtomSet, of_kinds: &[AtomSet; KINDS]) -> [AtomSet; 2] {
        let ink = of_kinds.iter().enumerate().filter(|&(kind, _)| is_ink(kind));
        [any, ink.fold(0, |all, (_, atoms)| all | atoms)]
    }
}

/// The bytes of the characters of one kind.
#[derive(Clone, Copy)]
struct KindBytes {
    first: [bool; 256],
    last: [bool; 256],
    all: [bool; 256],
}

static KIND_BYTES: LazyLock<[KindBytes; KINDS]> = LazyLock::new(|| {
    let mut kinds = [KindBytes { first: [false; 256], last: [false; 256], all: [false; 256] }; KINDS];
    for c in '\0'..=char::MAX {
        let Some(kind) = kind_of(c as usize) else { continue };
        let mut buffer = [0; 4];
        let bytes = c.encode_utf8(&mut buffer).as_bytes();
        for &byte in bytes {
            kinds[kind].all[usize::from(byte)] = true;
        }
        kinds[kind].first[usize::from(bytes[0])] = true;
        kinds[kind].last[usize::from(bytes[bytes.len() - 1])] = true;
    }
    kinds
});
