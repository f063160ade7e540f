//! From groups of characters to kinds: groups with the same seams are one kind, and so are others where there are too many.

use super::weights::Weight;
use crate::scan::classes::{Class, SPACE};
use crate::scan::seams::Kinds;
use crate::scan::seams::{Context, MOST_KINDS, Rule};

/// Values by the numbers of the left and the right character's groups; by default, true if there is a seam.
pub(super) type Table<T = bool> = Vec<Vec<T>>;

/// Facts about the characters of a group, each of which makes more places seams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// No stage sees or makes white space.
    pub(super) is_ink: bool,
    /// No search of the normalizer matches a character together with the one before it, and none together with the one after it.
    pub(super) begins_alone: bool,
    pub(super) ends_alone: bool,
}

impl Facts {
    /// The facts of a character that no normalizer changes.
    pub(super) fn of_unchanged(c: char) -> Self {
        Self { is_ink: !Class::of_code(c as usize).is(SPACE), begins_alone: true, ends_alone: true }
    }

    pub(super) fn all(self) -> [bool; 3] {
        [self.is_ink, self.begins_alone, self.ends_alone]
    }

    fn of_both(self, other: Self) -> Self {
        Self {
            is_ink: self.is_ink && other.is_ink,
            begins_alone: self.begins_alone && other.begins_alone,
            ends_alone: self.ends_alone && other.ends_alone,
        }
    }
}

/// How often a seam of one row and not of the other is met.
fn lost((of_one, of_other): (bool, bool), (one, other): (f64, f64)) -> f64 {
    match (of_one, of_other) {
        (true, false) => one,
        (false, true) => other,
        _ => 0.0,
    }
}

/// The pairs of groups, or of kinds, with a seam between them.
#[derive(Clone)]
pub(super) struct SeamTables {
    pub(super) always: Table,
    pub(super) after_ink: Table,
    /// Before a space that stands between the two characters.
    pub(super) across_space: Table,
    /// Characters before and after a space that is in one pre-token with both.
    pub(super) joined: Table,
    pub(super) weights: Vec<Weight>,
    pub(super) facts: Vec<Facts>,
}

impl SeamTables {
    /// Turns groups into kinds. Groups with the same seams become one kind; while more than [`MOST_KINDS`] are left, the two that lose the
    /// fewest seams by weight are merged. Returns the kind of each group, if it has one.
    pub(super) fn into_kinds(mut self) -> (Vec<Option<usize>>, Self) {
        // The last row stands for characters without a kind.
        let none = self.weights.len();
        self.push_none();
        let mut merged = Merged { kind_of: (0..none).collect(), rows: (0..=none).collect() };
        self.merge_equal(&mut merged);
        while merged.rows.len() > MOST_KINDS + 1 {
            self.merge_cheapest(&mut merged);
        }
        let kinds: Vec<usize> = merged.rows.into_iter().filter(|&row| row != none).collect();
        let number = |row: &usize| kinds.iter().position(|kind| kind == row);
        (merged.kind_of.iter().map(number).collect(), self.of_rows(&kinds))
    }

    fn tables(&self) -> [&Table; 4] {
        [&self.always, &self.after_ink, &self.across_space, &self.joined]
    }

    fn tables_mut(&mut self) -> [&mut Table; 4] {
        [&mut self.always, &mut self.after_ink, &mut self.across_space, &mut self.joined]
    }

    /// Appends a row without seams.
    fn push_none(&mut self) {
        for table in self.tables_mut() {
            for row in &mut *table {
                row.push(false);
            }
            table.push(vec![false; table.len() + 1]);
        }
        self.weights.push(Weight::default());
        self.facts.push(Facts::default());
    }

    /// Some rows, with their columns alone.
    fn of_rows(&self, rows: &[usize]) -> Self {
        let pick = |table: &Table| -> Table {
            rows.iter().map(|&row| rows.iter().map(|&column| table[row][column]).collect()).collect()
        };
        Self {
            always: pick(&self.always),
            after_ink: pick(&self.after_ink),
            across_space: pick(&self.across_space),
            joined: pick(&self.joined),
            weights: rows.iter().map(|&row| self.weights[row]).collect(),
            facts: rows.iter().map(|&row| self.facts[row]).collect(),
        }
    }

    /// Merges rows with the same seams.
    fn merge_equal(&mut self, merged: &mut Merged) {
        for one in merged.rows.clone() {
            let same = merged.rows.iter().find(|&&other| other != one && self.are_same(one, other));
            // The last row stays.
            if let Some(&same) = same.filter(|_| one + 1 < self.weights.len()) {
                self.merge(one, same, merged);
            }
        }
    }

    fn are_same(&self, one: usize, other: usize) -> bool {
        self.facts[one] == self.facts[other]
            && self
                .tables()
                .iter()
                .all(|table| table[one] == table[other] && table.iter().all(|row| row[one] == row[other]))
    }

    /// Merges the two rows that lose the least.
    fn merge_cheapest(&mut self, merged: &mut Merged) {
        let rows = &merged.rows;
        let count = self.weights.len();
        let together: Table<f64> = (0..count)
            .map(|left| (0..count).map(|right| self.weights[left].before(self.weights[right])).collect())
            .collect();
        let pairs = rows.iter().flat_map(|&one| rows.iter().map(move |&other| (one, other)));
        let losses = pairs
            .filter(|(one, other)| one < other)
            .map(|(one, other)| (self.loss(one, other, rows, &together), one, other));
        if let Some((_, one, other)) = losses.min_by(|(one, ..), (other, ..)| one.total_cmp(other)) {
            self.merge(one, other, merged);
        }
    }

    /// How often a seam, or a fact, is lost where two rows become one, about. `together` tells how often characters of two rows are neighbours.
    fn loss(&self, one: usize, other: usize, rows: &[usize], together: &Table<f64>) -> f64 {
        let mut sum = 0.0;
        for &row in rows {
            let before = (together[one][row], together[other][row]);
            let after = (together[row][one], together[row][other]);
            for table in self.tables() {
                sum += lost((table[one][row], table[other][row]), before);
                sum += lost((table[row][one], table[row][other]), after);
            }
            for facts in self.facts[one].all().into_iter().zip(self.facts[other].all()) {
                sum += lost(facts, before);
            }
        }
        sum
    }

    /// Takes away the seams before a space with a character of some rows after it.
    pub(super) fn forget_across_space(&mut self, rows: &[bool]) {
        for row in &mut self.across_space {
            for (is_seam, _) in row.iter_mut().zip(rows).filter(|&(_, &is_chosen)| is_chosen) {
                *is_seam = false;
            }
        }
    }

    /// Makes the second row stand for both: with the seams that both have.
    fn merge(&mut self, from: usize, to: usize, merged: &mut Merged) {
        for table in self.tables_mut() {
            let own = table[from].clone();
            for (both, of_own) in table[to].iter_mut().zip(own) {
                *both &= of_own;
            }
            for row in table {
                row[to] &= row[from];
            }
        }
        let added = self.weights[from];
        self.weights[to] += added;
        self.facts[to] = self.facts[to].of_both(self.facts[from]);
        merged.rows.retain(|&row| row != from);
        merged.kind_of.iter_mut().filter(|kind| **kind == from).for_each(|kind| *kind = to);
    }

    /// The kinds of which a fact is true.
    pub(super) fn kinds_with(&self, fact: impl Fn(&Facts) -> bool) -> Kinds {
        set(self.facts.iter().map(fact))
    }

    /// By kind, the kinds after a space that is in one pre-token with both.
    pub(super) fn joined_kinds(&self) -> [Kinds; MOST_KINDS] {
        let of = |row: &Vec<bool>| set(row.iter().copied());
        std::array::from_fn(|left| self.joined.get(left).map_or(0, of))
    }

    /// The rules that say the same as the tables of kinds.
    pub(super) fn rules(&self) -> Vec<Rule> {
        let mut rules: Vec<Rule> = Vec::new();
        for left in 0..self.weights.len() {
            let of = |table: &Table| set(table[left].iter().copied());
            let right = of(&self.always);
            let after_ink = of(&self.after_ink) & !right;
            let across_space = of(&self.across_space);
            for (right, context) in
                [(right, Context::Any), (after_ink, Context::AfterInk), (across_space, Context::AcrossSpace)]
            {
                add(&mut rules, Rule { left: 1 << left, right, context });
            }
        }
        rules
    }
}

/// Groups merged into rows, which become the kinds.
struct Merged {
    /// By group, its row.
    kind_of: Vec<usize>,
    /// The rows that are left, ascending.
    rows: Vec<usize>,
}

/// The indices of true items, as a set.
fn set(row: impl IntoIterator<Item = bool>) -> Kinds {
    row.into_iter().zip(0..).fold(0, |set, (is_in, kind)| set | Kinds::from(is_in) << kind)
}

/// Adds a rule, unless it has no seams; rules with the same right side become one.
fn add(rules: &mut Vec<Rule>, new: Rule) {
    if new.right == 0 {
        return;
    }
    match rules.iter_mut().find(|rule| (rule.right, rule.context) == (new.right, new.context)) {
        Some(rule) => rule.left |= new.left,
        None => rules.push(new),
    }
}
