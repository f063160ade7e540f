//! The specification: tries one way after the other.

use super::expression::{Expression, Node};

/// A text as the sets that hold each of its characters.
pub(super) struct Naive<'a> {
    expression: &'a Expression,
    /// Byte positions of the characters, and the length of the text.
    places: Vec<usize>,
    sets: Vec<u64>,
}

impl<'a> Naive<'a> {
    pub(super) fn new(expression: &'a Expression, text: &str) -> Self {
        let holds = |class: &regex_syntax::hir::ClassUnicode, c: char| {
            class.iter().any(|range| range.start() <= c && c <= range.end())
        };
        let sets_of = |c| {
            let sets = expression.sets.iter().enumerate();
            sets.map(|(index, class)| u64::from(holds(class, c)) << index).sum()
        };
        let places = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        Self { expression, places, sets: text.chars().map(sets_of).collect() }
    }

    /// The first match at or after byte `from`.
    pub(super) fn find(&self, from: usize) -> Option<(usize, usize)> {
        (0..self.places.len()).filter(|&at| self.places[at] >= from).find_map(|at| {
            let mut end = None;
            self.matches(&self.expression.root, at, &mut |at| {
                end = Some(self.places[at]);
                true
            });
            Some((self.places[at], end?))
        })
    }

    /// Calls `rest` with each end of `node` from `at` on, the preferred first, until it answers true.
    fn matches(&self, node: &Node, at: usize, rest: &mut dyn FnMut(usize) -> bool) -> bool {
        match node {
            Node::Empty => rest(at),
            Node::Set(set) => self.sets.get(at).is_some_and(|sets| sets >> set & 1 == 1) && rest(at + 1),
            Node::Concat(nodes) => self.all(nodes, at, rest),
            Node::Alt(nodes) => nodes.iter().any(|node| self.matches(node, at, rest)),
            Node::Before(neighbours) => neighbours.allow(self.sets.get(at).copied()) && rest(at),
            Node::After(neighbours) => {
                neighbours.allow(at.checked_sub(1).map(|before| self.sets[before])) && rest(at)
            }
            Node::Look { .. } | Node::Atomic(_) => unreachable!("no program runs it"),
            Node::Repeat { node, least, most, is_greedy } => {
                self.rounds(node, (*least, *most, *is_greedy), at, rest)
            }
        }
    }

    fn all(&self, nodes: &[Node], at: usize, rest: &mut dyn FnMut(usize) -> bool) -> bool {
        match nodes.split_first() {
            None => rest(at),
            Some((first, nodes)) => self.matches(first, at, &mut |at| self.all(nodes, at, rest)),
        }
    }

    fn rounds(
        &self,
        node: &Node,
        (least, most, is_greedy): (usize, Option<usize>, bool),
        at: usize,
        rest: &mut dyn FnMut(usize) -> bool,
    ) -> bool {
        let left = (least.saturating_sub(1), most.map(|most| most.saturating_sub(1)), is_greedy);
        let more = |rest: &mut dyn FnMut(usize) -> bool| {
            most != Some(0) && self.matches(node, at, &mut |at| self.rounds(node, left, at, rest))
        };
        if least > 0 {
            more(rest)
        } else {
            (is_greedy && more(rest)) || rest(at) || (!is_greedy && more(rest))
        }
    }
}
