//! The reach of a pattern: the characters that it can read, where it looks at more than the neighbours of a position.
//!
//! Between two characters beyond the reach a text may be cut without changing a match, if each match *needs a character*: one within the reach
//! must stand beside the position where the match begins. A search reads on, or back, through characters within the reach alone. It looks at the
//! first character beyond, but does not pass it. So a search from the left sees nothing after the left character of such a place, a search
//! from the right sees nothing before the right character, and no match begins at the place itself.
//!
//! A sequence needs a character if any of its nodes does: the nodes before that one either read a character, which then is beside the position,
//! or leave the position where it is.
//!
//! So a text is searched only around its characters within the reach ([`Reach::regions`]).

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

use super::atoms::Atoms;
use super::expression::{Expression, Node};
use super::places::AtomSet;

/// The characters within the reach of a pattern.
#[derive(Clone, Debug)]
pub(in crate::structures::regex) struct Reach {
    /// Two atoms at most.
    atoms: Atoms,
    /// True if common characters are beyond the reach, so that regions pay.
    is_narrow: bool,
    sees_neighbours: bool,
}

impl Reach {
    /// The reach of a pattern; none if a match may need no character.
    pub(in crate::structures::regex) fn new(expression: &Expression) -> Option<Self> {
        if !needs_char(&expression.root) {
            return None;
        }
        let read = sets_read(&expression.root);
        let mut all = ClassUnicode::empty();
        for (set, class) in expression.sets.iter().enumerate() {
            if read >> set & 1 == 1 {
                all.union(class);
            }
        }
        let (atoms, sees_neighbours) = (Atoms::new(&[all])?, sees_neighbours(&expression.root));
        let mut made = Self { atoms, is_narrow: false, sees_neighbours };
        made.is_narrow = !(' '..='~').any(|c| (c == ' ' || c.is_ascii_alphabetic()) && made.holds(c));
        Some(made)
    }

    /// True if a character is within the reach.
    pub(in crate::structures::regex) fn holds(&self, c: char) -> bool {
        self.holds_atom(self.atoms.of_code(c as usize))
    }

    /// True if common characters are beyond the reach, so that [`Self::regions`] pay.
    pub(in crate::structures::regex) fn is_narrow(&self) -> bool {
        self.is_narrow
    }

    /// True if the expression has look-around: of the pattern, for an anchor, or in place of a possessive repeat.
    pub(in crate::structures::regex) fn sees_neighbours(&self) -> bool {
        self.sees_neighbours
    }

    /// The atoms beyond the reach.
    pub(in crate::structures::regex) fn beyond(&self) -> AtomSet {
        let is_beyond = |&atom: &usize| self.atoms.sets(atom) == 0;
        (0..self.atoms.len()).filter(is_beyond).fold(0, |all, atom| all | 1 << atom)
    }

    /// The atoms: characters within the reach, and beyond.
    pub(in crate::structures::regex) fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn holds_atom(&self, atom: u8) -> bool {
        self.atoms.sets(usize::from(atom)) & 1 == 1
    }

    /// The parts of a text outside which there is no match, and which can be searched each for itself: the characters within the reach, and their
    /// neighbours.
    pub(in crate::structures::regex) fn regions(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        let (bytes, mut done) = (text.as_bytes(), 0);
        std::iter::from_fn(move || {
            let (mut start, mut pos) = (done, done);
            loop {
                let (is_held, width) = self.at(bytes, pos)?;
                if is_held {
                    break;
                }
                (start, pos) = (pos, pos + width);
            }
            let mut beyond = 0;
            while beyond < 2 {
                let Some((is_held, width)) = self.at(bytes, pos) else {
                    done = bytes.len();
                    return Some(start..done);
                };
                beyond = if is_held { 0 } else { beyond + 1 };
                done = pos;
                pos += width;
            }
            Some(start..done)
        })
    }

    /// For the character at a position: true if it is within the reach, and its length in bytes.
    #[inline]
    fn at(&self, bytes: &[u8], pos: usize) -> Option<(bool, usize)> {
        (pos < bytes.len())
            .then(|| self.atoms.at(bytes, pos))
            .map(|(atom, width)| (self.holds_atom(atom), width))
    }
}

/// The sets whose characters a node reads, one bit each, but for the neighbours of a position.
fn sets_read(node: &Node) -> u64 {
    match node {
        Node::Empty | Node::Before(_) | Node::After(_) => 0,
        Node::Set(set) => 1 << set,
        Node::Concat(nodes) | Node::Alt(nodes) => nodes.iter().fold(0, |all, node| all | sets_read(node)),
        Node::Repeat { node, .. } | Node::Look { node, .. } | Node::Atomic(node) => sets_read(node),
    }
}

fn sees_neighbours(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Set(_) => false,
        Node::Before(_) | Node::After(_) | Node::Look { .. } => true,
        Node::Concat(nodes) | Node::Alt(nodes) => nodes.iter().any(sees_neighbours),
        Node::Repeat { node, .. } | Node::Atomic(node) => sees_neighbours(node),
    }
}

/// True if a match of a node needs a character beside the position where the match begins.
fn needs_char(node: &Node) -> bool {
    match node {
        Node::Empty | Node::Before(_) | Node::After(_) | Node::Look { is_negated: true, .. } => false,
        Node::Set(_) => true,
        Node::Concat(nodes) => nodes.iter().any(needs_char),
        Node::Alt(nodes) => nodes.iter().all(needs_char),
        Node::Repeat { node, least, .. } => *least > 0 && needs_char(node),
        Node::Look { node, is_negated: false, .. } | Node::Atomic(node) => needs_char(node),
    }
}
