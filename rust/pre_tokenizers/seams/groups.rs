//! Groups: sets of characters that no stage tells apart.

use std::collections::HashMap;

use super::Stage;
use crate::byte_level::BYTE_TO_CHAR;
use crate::scan::classes::{Class, SPACE, page_number};
use crate::scan::seams::Kinds;
use crate::structures::char_table::{CharTable, PAGE, PAGES};
use crate::structures::regex::AtomSet;

/// Groups, at most. Characters of rarer groups have none.
const MOST_GROUPS: usize = 128;

/// In place of a group: the character has none.
const NO_GROUP: u16 = u16::MAX;

/// Pages whose characters are weighed: the Basic Multilingual Plane.
const WEIGHED: usize = 0x1_0000 / PAGE;

/// The atoms by which a stage knows the characters of a group: as characters, or as mapped bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// The atoms of the first and of the last byte, or of the character.
    pub(super) first: u8,
    pub(super) last: u8,
    /// The atoms of all bytes.
    pub(super) all: AtomSet,
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    /// By stage.
    pub(super) seen: Vec<Seen>,
    /// How often its characters are met, about.
    pub(super) weight: f64,
    pub(super) is_space: bool,
    /// Whether its characters are ink.
    pub(super) is_ink: bool,
}

/// All characters.
pub(super) struct Characters {
    pub(super) groups: Vec<Group>,
    /// The number of the group of the space.
    space: usize,
    /// By stage, the atoms of all characters.
    pub(super) atoms: Vec<AtomSet>,
    /// By page, the place of its groups in `pages`.
    places: Vec<u16>,
    pages: Vec<[u16; PAGE]>,
}

impl Characters {
    pub(super) fn new(stages: &[Stage]) -> Self {
        let places = Vec::with_capacity(PAGES);
        let mut made = Self { groups: Vec::new(), space: 0, atoms: Vec::new(), places, pages: Vec::new() };
        let (mut known, mut key, mut maker) = (HashMap::<Vec<u16>, u16>::new(), Vec::new(), Maker::default());
        for page in 0..PAGES {
            // Where bytes are mapped, pages of one lead byte are alike.
            key.clear();
            key.extend([u16::from(encode(page * PAGE).1[0]), page_number(page)]);
            key.extend(stages.iter().map(|stage| stage.search.page_number(page)));
            let place = known.get(&key).copied().unwrap_or_else(|| {
                made.pages.push(std::array::from_fn(|at| maker.group_of(stages, page * PAGE + at)));
                let place = (made.pages.len() - 1) as u16;
                known.insert(key.clone(), place);
                place
            });
            made.places.push(place);
            if page < WEIGHED {
                for (at, &group) in made.pages[usize::from(place)].iter().enumerate() {
                    maker.groups[usize::from(group)].weight += weight(page * PAGE + at);
                }
            }
        }
        made.groups = maker.groups;
        let seen = |stage: usize| made.groups.iter().fold(0, |all, group| all | group.seen[stage].all);
        made.atoms = (0..stages.len()).map(seen).collect();
        made.drop_rare();
        made.space = made.groups.iter().position(|group| group.is_space).unwrap_or_default();
        made
    }

    /// The group of the space. It has the largest weight of all, so it is never dropped.
    pub(super) fn space(&self) -> &Group {
        &self.groups[self.space]
    }

    /// A table with the byte that `of_group` gives for the group of a character; zero for a character without one.
    pub(super) fn table(&self, of_group: impl Fn(usize) -> Kinds) -> CharTable {
        let by_group: Vec<Kinds> = (0..self.groups.len()).map(of_group).collect();
        let of = |group: u16| by_group.get(usize::from(group)).copied().unwrap_or(0);
        CharTable::new(self.places.clone(), self.pages.iter().map(|page| page.map(of)).collect())
    }

    /// Leaves the groups that are met most.
    fn drop_rare(&mut self) {
        if self.groups.len() <= MOST_GROUPS {
            return;
        }
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|&one, &other| self.groups[other].weight.total_cmp(&self.groups[one].weight));
        order.truncate(MOST_GROUPS);
        let mut numbers = vec![NO_GROUP; self.groups.len()];
        for (&group, number) in order.iter().zip(0..) {
            numbers[group] = number;
        }
        self.groups = order.iter().map(|&group| self.groups[group].clone()).collect();
        self.pages.iter_mut().flatten().for_each(|group| *group = numbers[usize::from(*group)]);
    }
}

/// Makes groups as their first characters are met.
#[derive(Default)]
struct Maker {
    groups: Vec<Group>,
    known: HashMap<Vec<u8>, u16>,
    /// Memory for one character.
    key: Vec<u8>,
    seen: Vec<Seen>,
}

impl Maker {
    /// The group of a character.
    fn group_of(&mut self, stages: &[Stage], code: usize) -> u16 {
        let Self { groups, known, key, seen } = self;
        let (len, bytes) = encode(code);
        let (is_space, is_ink) = (code == usize::from(b' '), !Class::of_code(code).is(SPACE));
        seen.clear();
        seen.extend(stages.iter().map(|stage| see(stage, code, &bytes[..len])));
        key.clear();
        // Middle bytes would add atoms to a group with shorter characters.
        let has_middle = len > 2 && stages.iter().any(|stage| stage.is_mapped);
        key.extend([u8::from(is_space), u8::from(is_ink), u8::from(has_middle)]);
        key.extend(seen.iter().flat_map(|seen| [seen.first, seen.last]));
        let number = known.get(key).copied().unwrap_or_else(|| {
            groups.push(Group { seen: seen.clone(), weight: 0.0, is_space, is_ink });
            let number = (groups.len() - 1) as u16;
            known.insert(key.clone(), number);
            number
        });
        for (all, seen) in groups[usize::from(number)].seen.iter_mut().zip(seen) {
            all.all |= seen.all;
        }
        number
    }
}

fn see(stage: &Stage, code: usize, bytes: &[u8]) -> Seen {
    let atom = |byte: u8| stage.search.atom(BYTE_TO_CHAR[usize::from(byte)] as usize);
    if stage.is_mapped {
        // Characters of a page that was seen before may have other bytes in the middle.
        let middle = if bytes.len() > 2 { 0x80..0xc0 } else { 0..0 };
        let all = bytes.iter().copied().chain(middle).fold(0, |all, byte| all | 1 << atom(byte));
        return Seen { first: atom(bytes[0]), last: atom(bytes[bytes.len() - 1]), all };
    }
    let atom = stage.search.atom(code);
    Seen { first: atom, last: atom, all: 1 << atom }
}

/// Length and bytes of a code point in UTF-8.
fn encode(code: usize) -> (usize, [u8; 4]) {
    let mut bytes = [0; 4];
    // Surrogates are not in any text.
    let c = char::from_u32(code as u32).unwrap_or('\u{d7ff}');
    (c.encode_utf8(&mut bytes).len(), bytes)
}

/// Rough frequency of a character. It decides which groups are dropped, which share a kind, and which are tried for words; never whether a
/// seam is right.
fn weight(code: usize) -> f64 {
    let weight: u32 = match code {
        0x20 | 0x61..=0x7a => 1 << 20,
        0x2c | 0x2e => 1 << 18,
        0x0a | 0x30..=0x39 | 0x41..=0x5a => 1 << 17,
        0x21 | 0x22 | 0x27..=0x29 | 0x2d | 0x3a | 0x3b | 0x3f => 1 << 16,
        0x00..=0x7f | 0x2010..=0x2026 | 0x3000..=0x3002 | 0xff01..=0xff1f => 1 << 12,
        0xc0..=0x52f | 0x3040..=0x30ff => 1 << 10,
        0x530..=0x11ff => 1 << 8,
        0x4e00..=0x9fff | 0xac00..=0xd7ff => 1 << 5,
        _ => 1,
    };
    f64::from(weight)
}
