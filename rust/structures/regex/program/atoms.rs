//! Atoms: the classes of characters that no set of a pattern tells apart.

use regex_syntax::hir::ClassUnicode;

use crate::structures::char_table::{CharTable, PAGE, PAGES};

/// Atoms of one pattern, at most.
const MOST_ATOMS: usize = 128;

/// The atom of every character.
#[derive(Clone, Debug)]
pub(in crate::structures::regex) struct Atoms {
    table: CharTable,
    /// The sets that hold the characters of an atom, one bit each.
    members: Vec<u64>,
}

impl Atoms {
    /// Divides all characters by `sets`; `None` if there are more than [`MOST_ATOMS`] atoms.
    pub(super) fn new(sets: &[ClassUnicode]) -> Option<Self> {
        // Where a set begins or ends, its bit changes.
        let mut changes: Vec<(usize, u64)> = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            for range in set.iter() {
                changes.push((range.start() as usize, 1 << index));
                changes.push((range.end() as usize + 1, 1 << index));
            }
        }
        changes.sort_unstable();
        let (mut members, mut pages, mut places) = (Vec::new(), Vec::new(), Vec::with_capacity(PAGES));
        // Uniform pages, by their atom.
        let mut uniform: Vec<Option<u16>> = vec![None; MOST_ATOMS];
        let (mut next, mut sets_here, mut atom) = (0, 0, atom_of(0, &mut members)?);
        for start in (0..PAGES).map(|page| page * PAGE) {
            if changes.get(next).is_none_or(|change| change.0 >= start + PAGE) {
                places.push(*uniform[usize::from(atom)].get_or_insert_with(|| {
                    pages.push([atom; PAGE]);
                    (pages.len() - 1) as u16
                }));
                continue;
            }
            let mut page = [0; PAGE];
            for (code, place) in (start..).zip(&mut page) {
                if changes.get(next).is_some_and(|change| change.0 == code) {
                    while let Some(&(_, bit)) = changes.get(next).filter(|change| change.0 == code) {
                        sets_here ^= bit;
                        next += 1;
                    }
                    atom = atom_of(sets_here, &mut members)?;
                }
                *place = atom;
            }
            pages.push(page);
            places.push((pages.len() - 1) as u16);
        }
        Some(Self { table: CharTable::new(places, pages), members })
    }

    /// Number of a page: pages with the same number have the same atoms.
    pub(in crate::structures::regex) fn page_number(&self, page: usize) -> u16 {
        self.table.place(page)
    }

    /// The atom of a code point.
    #[inline]
    pub(in crate::structures::regex) fn of_code(&self, code: usize) -> u8 {
        self.table.of_code(code)
    }

    /// Number of atoms.
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The sets that hold the characters of an atom.
    pub(super) fn sets(&self, atom: usize) -> u64 {
        self.members[atom]
    }

    /// Atom and length in bytes of the character at `pos`, a character boundary less than the length.
    #[inline]
    pub(super) fn at(&self, bytes: &[u8], pos: usize) -> (u8, usize) {
        self.table.at(bytes, pos)
    }
}

/// The atom of characters in these sets, a new one if there is none.
fn atom_of(sets: u64, members: &mut Vec<u64>) -> Option<u8> {
    let atom = members.iter().position(|&known| known == sets).unwrap_or_else(|| {
        members.push(sets);
        members.len() - 1
    });
    (atom < MOST_ATOMS).then_some(atom as u8)
}
