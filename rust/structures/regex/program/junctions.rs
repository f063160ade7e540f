//! Characters that need no step of the automaton, because their classes alone decide.
//!
//! After a letter, a search mostly stands in one row of the chain, whatever came before; after a space in another. As long as the
//! search stands in the row of the last character's class, two neighbours decide whether a span begins between them. So masks answer for
//! all characters of a block at once, as in the scanners of published patterns (`scan::simd`), and only the others take
//! steps (`blocks`).
//!
//! Everything here is found by asking the chain. A class whose characters lead to different rows has no row, so all of its characters
//! take steps.

#![expect(clippy::inline_always, reason = "only inlined code is compiled for its caller's processor")]

use std::collections::HashSet;

use super::atoms::Atoms;
use super::chain::Chain;
use crate::scan::classes::{Class, LETTER, LOWER, NUMBER, SPACE, UPPER, page_number};
use crate::scan::simd::masks::Masks;

/// Number of classes: small letters, capitals, letters without case, digits, the space, and symbols of ASCII.
const CLASSES: usize = 8;
const SMALL: usize = 0;
const UNCASED: usize = 4;
const DIGIT: usize = 5;
const BLANK: usize = 6;
const SYMBOL: usize = 7;

/// One mask for each group.
pub(super) type GroupMasks = [u64; CLASSES];

/// In place of a group.
pub(super) const NONE: u8 = u8::MAX;

/// The row after a row and an atom, and whether a span begins; see [`Chain::next`].
type Step = (u16, bool);

/// Classes in groups: all classes of a group lead to the same row, and have the same neighbours without a step.
#[derive(Clone, Debug)]
pub(super) struct Junctions {
    /// The group of each class, or [`NONE`].
    group_of_class: [u8; CLASSES],
    /// The group of each row of the chain, or [`NONE`].
    group_of_row: Vec<u8>,
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    /// The row after a character of the group.
    row: u16,
    /// Groups whose characters take no step after this one, a bit each.
    known: u8,
    /// The known groups whose characters then begin a span.
    begins: u8,
}

/// The class of a code point, which [`class_masks`] finds.
fn class_of(code: usize) -> Option<usize> {
    let (class, is_wide) = (Class::of_code(code), code >= 0x80);
    match (class.is(UPPER), class.is(LOWER)) {
        (false, true) => Some(SMALL + usize::from(is_wide)),
        (true, false) => Some(SMALL + 2 + usize::from(is_wide)),
        (true, true) => class.is(LETTER).then_some(UNCASED),
        _ if is_wide => None,
        _ if class.is(NUMBER) => Some(DIGIT),
        _ if code == usize::from(b' ') => Some(BLANK),
        _ => (!class.is(SPACE) && code != usize::from(b'\'')).then_some(SYMBOL),
    }
}

/// The mask of each class.
#[inline(always)]
fn class_masks(masks: &Masks) -> [u64; CLASSES] {
    let Masks { upper, lower, letter, number, space, blank, apostrophe, wide, .. } = *masks;
    let (small, capital) = (lower & !upper, upper & !lower);
    let symbol = !(upper | lower | number | space | apostrophe | wide);
    [
        small & !wide,
        small & wide,
        capital & !wide,
        capital & wide,
        letter & upper & lower,
        number & !wide,
        blank,
        symbol,
    ]
}

impl Junctions {
    /// The junctions of a chain whose texts begin in the row `start`.
    pub(super) fn new(chain: &Chain, atoms: &Atoms, start: u16) -> Self {
        let rows = Rows { chain, members: members(atoms) };
        let word = rows.after(start, &[BLANK, SMALL, SMALL]);
        let rows_of: [Option<u16>; CLASSES] = std::array::from_fn(|class| match class {
            // Text in scripts without case mostly has no spaces.
            UNCASED => rows.after(start, &[class, class]),
            SMALL..UNCASED => rows.after(start, &[BLANK, class, class]),
            _ => rows.after(word?, &[class]),
        });
        let mut made = Self {
            group_of_class: [NONE; CLASSES],
            group_of_row: vec![NONE; chain.row_count()],
            groups: Vec::new(),
        };
        // Classes with equal columns and rows of this table are one group.
        let table: [[Option<bool>; CLASSES]; CLASSES] = std::array::from_fn(|class| {
            std::array::from_fn(|next| {
                let (to, begins) = rows.step(rows_of[class]?, next)?;
                (rows_of[next] == Some(to)).then_some(begins)
            })
        });
        let is_same = |one: usize, other: usize| {
            let is_same_before = |row: &[Option<bool>; CLASSES]| row[one] == row[other];
            rows_of[one] == rows_of[other] && table[one] == table[other] && table.iter().all(is_same_before)
        };
        let mut firsts: Vec<usize> = Vec::new();
        for class in (0..CLASSES).filter(|&class| rows_of[class].is_some()) {
            let known = firsts.iter().position(|&first| is_same(first, class));
            made.group_of_class[class] = known.unwrap_or(firsts.len()) as u8;
            if known.is_none() {
                firsts.push(class);
            }
        }
        for (&first, number) in firsts.iter().zip(0..) {
            let groups = |is_in: fn(Option<bool>) -> bool| {
                (0..firsts.len())
                    .filter(|&to| is_in(table[first][firsts[to]]))
                    .fold(0, |groups, to| groups | 1 << to)
            };
            let row = rows_of[first].unwrap_or(start);
            made.group_of_row[chain.row_number(row)] = number;
            made.groups.push(Group {
                row,
                known: groups(|step| step.is_some()),
                begins: groups(|step| step == Some(true)),
            });
        }
        made
    }

    /// The masks of the groups.
    #[inline(always)]
    pub(super) fn group_masks(&self, masks: &Masks) -> GroupMasks {
        let mut groups = [0; CLASSES];
        for (mask, &group) in class_masks(masks).iter().zip(&self.group_of_class) {
            if let Some(group) = groups.get_mut(usize::from(group)) {
                *group |= mask;
            }
        }
        groups
    }

    /// Two masks: characters that take no step, and such characters that begin a span. `before` is the group of the character before
    /// the block, if the search stands in its row.
    #[inline(always)]
    pub(super) fn ask(&self, masks: &GroupMasks, before: u8) -> (u64, u64) {
        let (mut known, mut begins) = (0, 0);
        for (number, group) in self.groups.iter().enumerate() {
            let after = masks[number] << 1 | u64::from(usize::from(before) == number);
            let (mut next, mut first) = (0, 0);
            for (to, mask) in masks[..self.groups.len()].iter().enumerate() {
                let all_if = |groups: u8| u64::from(groups >> to & 1).wrapping_neg();
                next |= mask & all_if(group.known);
                first |= mask & all_if(group.begins);
            }
            known |= after & next;
            begins |= after & first;
        }
        (known, begins)
    }

    /// The group of the character at bit `at`, if it has one.
    #[inline(always)]
    pub(super) fn group_at(&self, masks: &GroupMasks, at: usize) -> Option<u8> {
        (0..self.groups.len()).find(|&group| masks[group] >> at & 1 == 1).map(|group| group as u8)
    }

    /// The row after a character of a group.
    #[inline(always)]
    pub(super) fn row(&self, group: u8) -> u16 {
        self.groups[usize::from(group)].row
    }

    /// The group whose row this is, or [`NONE`].
    #[inline(always)]
    pub(super) fn group_of_row(&self, number: usize) -> u8 {
        self.group_of_row[number]
    }
}

/// A chain, asked for whole classes.
struct Rows<'a> {
    chain: &'a Chain,
    /// The atoms of each class, a bit each.
    members: [u128; CLASSES],
}

impl Rows<'_> {
    /// The step that all characters of a class take; none if they differ.
    fn step(&self, row: u16, class: usize) -> Option<Step> {
        let mut atoms = (0..128_u8).filter(|atom| self.members[class] >> atom & 1 == 1);
        let first = self.chain.next(row, atoms.next()?)?;
        atoms.all(|atom| self.chain.next(row, atom) == Some(first)).then_some(first)
    }

    fn after(&self, row: u16, classes: &[usize]) -> Option<u16> {
        classes.iter().try_fold(row, |row, &class| self.step(row, class).map(|(row, _)| row))
    }
}

/// The atoms of each class.
fn members(atoms: &Atoms) -> [u128; CLASSES] {
    let (mut members, mut seen) = ([0; CLASSES], HashSet::new());
    for block in 0..0x11_0000 / 64 {
        // Most blocks are like another one; the two blocks of ASCII are not, even where their pages are.
        if block < 2 || seen.insert((atoms.page_number(block), page_number(block))) {
            for code in block * 64..(block + 1) * 64 {
                if let Some(class) = class_of(code) {
                    members[class] |= 1 << atoms.of_code(code);
                }
            }
        }
    }
    members
}
