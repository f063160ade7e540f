//! Atoms: the classes of characters that no set of a pattern tells apart.

use regex_syntax::hir::ClassUnicode;

/// Characters of a block; the last byte of a character has just these six bits.
const BLOCK: usize = 64;

/// Code points.
const CODES: usize = 0x11_0000;

/// Atoms of one pattern, at most.
const MOST_ATOMS: usize = 128;

/// The atom of every character, in two stages: the block of a code point, then the atom in the block.
#[derive(Clone, Debug)]
pub(in crate::structures::regex) struct Atoms {
    /// Atoms of ASCII.
    ascii: [u8; 128],
    /// Where the atoms of a block begin in `by_block`, divided by [`BLOCK`].
    blocks: Vec<u16>,
    by_block: Vec<u8>,
    /// The sets that hold the characters of an atom, one bit a set.
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
        let mut made =
            Self { ascii: [0; 128], blocks: Vec::new(), by_block: Vec::new(), members: Vec::new() };
        // Uniform blocks, by their atom.
        let mut uniform: Vec<Option<u16>> = Vec::new();
        let (mut next, mut sets_here, mut atom) = (0, 0, made.atom(0)?);
        uniform.resize(MOST_ATOMS, None);
        for start in (0..CODES).step_by(BLOCK) {
            if changes.get(next).is_none_or(|change| change.0 >= start + BLOCK) {
                let block = *uniform[usize::from(atom)].get_or_insert_with(|| {
                    made.by_block.extend([atom; BLOCK]);
                    (made.by_block.len() / BLOCK - 1) as u16
                });
                made.blocks.push(block);
                continue;
            }
            for code in start..start + BLOCK {
                if changes.get(next).is_some_and(|change| change.0 == code) {
                    while let Some(&(_, bit)) = changes.get(next).filter(|change| change.0 == code) {
                        sets_here ^= bit;
                        next += 1;
                    }
                    atom = made.atom(sets_here)?;
                }
                made.by_block.push(atom);
            }
            made.blocks.push((made.by_block.len() / BLOCK - 1) as u16);
        }
        for code in 0..128 {
            made.ascii[code] = made.of_code(code);
        }
        Some(made)
    }

    /// The atom of characters in these sets, a new one if there is none.
    fn atom(&mut self, sets: u64) -> Option<u8> {
        let atom = self.members.iter().position(|&members| members == sets).unwrap_or_else(|| {
            self.members.push(sets);
            self.members.len() - 1
        });
        (atom < MOST_ATOMS).then_some(atom as u8)
    }

    /// The number of the page that holds the atoms of a block of 64 code points; equal blocks may share one.
    pub(in crate::structures::regex) fn page_number(&self, block: usize) -> u16 {
        self.blocks[block]
    }

    /// The atom of a code point.
    #[inline]
    pub(in crate::structures::regex) fn of_code(&self, code: usize) -> u8 {
        self.by_block[usize::from(self.blocks[code / BLOCK]) * BLOCK + code % BLOCK]
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
        let first = bytes[pos];
        if first < 0x80 { (self.ascii[usize::from(first)], 1) } else { self.wide_at(bytes, pos) }
    }

    /// [`Self::at`] for a character of two to four bytes.
    #[inline]
    fn wide_at(&self, bytes: &[u8], pos: usize) -> (u8, usize) {
        let low = |at: usize| usize::from(bytes[pos + at] & 0x3f);
        let first = usize::from(bytes[pos]);
        if first < 0xe0 {
            (self.of_code((first & 0x1f) << 6 | low(1)), 2)
        } else if first < 0xf0 {
            (self.of_code((first & 0x0f) << 12 | low(1) << 6 | low(2)), 3)
        } else {
            (self.of_code((first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3)), 4)
        }
    }
}
