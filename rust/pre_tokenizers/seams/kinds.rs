//! From groups of characters to kinds: groups with the same seams are one kind, and so are others where there are too many.

use crate::scan::kinds::Kinds;
use crate::scan::seams::{Beside, MOST_KINDS, Rule};

/// Between which groups there are seams, by the numbers of the two.
#[derive(Clone)]
pub(super) struct SeamTables {
    /// Always; after ink; and before a space that stands between the two.
    pub(super) tables: [Vec<Vec<bool>>; 3],
    pub(super) weights: Vec<f64>,
    pub(super) is_ink: Vec<bool>,
}

impl SeamTables {
    /// The number of the kind of each group, where there is one, in tables that have one row for each kind. Two groups share a kind
    /// only if they have the same seams, unless there are too many.
    pub(super) fn into_kinds(mut self) -> (Vec<Option<usize>>, Self) {
        // The last row is that of characters without a kind.
        let none = self.weights.len();
        self.push_none();
        let mut kind_of: Vec<usize> = (0..none).collect();
        // By row, whether it stands for its own groups still.
        let mut is_kind = vec![true; none + 1];
        for one in 0..none {
            let same = (0..one).chain([none]).find(|&other| is_kind[other] && self.are_same(one, other));
            if let Some(same) = same {
                self.merge((one, same), &mut kind_of, &mut is_kind);
            }
        }
        while is_kind[..none].iter().filter(|&&is_kind| is_kind).count() > MOST_KINDS {
            let rows: Vec<usize> = (0..=none).filter(|&row| is_kind[row]).collect();
            let pairs = rows.iter().flat_map(|&one| rows.iter().map(move |&other| (one, other)));
            let loss = |&(one, other): &(usize, usize)| self.loss(one, other, &rows);
            let pairs = pairs.filter(|(one, other)| one < other);
            let least = pairs.min_by(|one, other| loss(one).total_cmp(&loss(other)));
            let Some(pair) = least else { break };
            self.merge(pair, &mut kind_of, &mut is_kind);
        }
        let rows: Vec<usize> = (0..none).filter(|&row| is_kind[row]).collect();
        let number = |row: &usize| rows.iter().position(|kind| kind == row);
        let numbers = kind_of.iter().map(number).collect();
        let pick = |table: &Vec<Vec<bool>>| {
            rows.iter().map(|&row| rows.iter().map(|&column| table[row][column]).collect()).collect()
        };
        let tables = self.tables.each_ref().map(pick);
        let weights = rows.iter().map(|&row| self.weights[row]).collect();
        let is_ink = rows.iter().map(|&row| self.is_ink[row]).collect();
        (numbers, Self { tables, weights, is_ink })
    }

    /// Appends a row without seams.
    fn push_none(&mut self) {
        for table in &mut self.tables {
            for row in &mut *table {
                row.push(false);
            }
            table.push(vec![false; table.len() + 1]);
        }
        self.weights.push(0.0);
        self.is_ink.push(false);
    }

    fn are_same(&self, one: usize, other: usize) -> bool {
        self.is_ink[one] == self.is_ink[other]
            && self
                .tables
                .iter()
                .all(|table| table[one] == table[other] && table.iter().all(|row| row[one] == row[other]))
    }

    /// How often a seam is lost where two rows become one, about.
    fn loss(&self, one: usize, other: usize, rows: &[usize]) -> f64 {
        let weight = |row: usize| self.weights[row] + 1.0;
        let lost = |of_one: bool, of_other: bool| match (of_one, of_other) {
            (true, false) => weight(one),
            (false, true) => weight(other),
            _ => 0.0,
        };
        let mut sum = 0.0;
        for table in &self.tables {
            for &row in rows {
                sum += weight(row) * lost(table[one][row], table[other][row]);
                sum += weight(row) * lost(table[row][one], table[row][other]);
            }
        }
        sum + lost(self.is_ink[one], self.is_ink[other])
    }

    /// Makes the second row stand for both: with the seams that both have.
    fn merge(&mut self, (from, to): (usize, usize), kind_of: &mut [usize], is_kind: &mut [bool]) {
        for table in &mut self.tables {
            let own = table[from].clone();
            for (both, of_own) in table[to].iter_mut().zip(own) {
                *both &= of_own;
            }
            for row in table {
                row[to] &= row[from];
            }
        }
        self.weights[to] += self.weights[from];
        self.is_ink[to] &= self.is_ink[from];
        is_kind[from] = false;
        kind_of.iter_mut().filter(|kind| **kind == from).for_each(|kind| *kind = to);
    }

    /// The rules that say the same.
    pub(super) fn rules(&self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::new();
        let [always, after_ink, around_space] = &self.tables;
        for left in 0..self.weights.len() {
            let set = |row: &[bool]| {
                row.iter().zip(0..).fold(0, |set: Kinds, (&is_in, kind)| set | Kinds::from(is_in) << kind)
            };
            let right = set(&always[left]);
            add(&mut rules, Rule { left: 1 << left, right, beside: Beside::Any });
            let more = set(&after_ink[left]) & !right;
            add(&mut rules, Rule { left: 1 << left, right: more, beside: Beside::Ink });
            add(&mut rules, Rule { left: 1 << left, right: set(&around_space[left]), beside: Beside::Space });
        }
        rules
    }
}

/// Adds a rule, unless it has no seams; rules with the same right side become one.
fn add(rules: &mut Vec<Rule>, new: Rule) {
    if new.right == 0 {
        return;
    }
    match rules.iter_mut().find(|rule| (rule.right, rule.beside) == (new.right, new.beside)) {
        Some(rule) => rule.left |= new.left,
        None => rules.push(new),
    }
}
