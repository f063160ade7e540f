//! Added tokens that are looked for in normalized text, kept whole: no seam lies within one, so each is found in one chunk.

use std::collections::BTreeSet;

use super::answers::Answers;
use super::kinds::SeamTables;
use super::weights::weight;

/// A symbol of at most this weight may lose its seams for a token.
const RARE: f64 = (1 << 16) as f64;

/// The texts of the tokens, as far as seams are concerned.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Their first characters.
    firsts: BTreeSet<char>,
    /// Neighbours, and the character after these.
    neighbours: BTreeSet<(char, char, Option<char>)>,
}

impl Tokens {
    pub(super) fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut made = Self::default();
        for text in texts {
            let next = text.chars().skip(2).map(Some).chain([None]);
            let neighbours = text.chars().zip(text.chars().skip(1)).zip(next);
            made.firsts.extend(text.chars().next());
            made.neighbours.extend(neighbours.map(|((left, right), next)| (left, right, next)));
        }
        made
    }

    /// The symbols that may lose their seams.
    pub(super) fn symbols(&self) -> BTreeSet<char> {
        let neighbours = self.neighbours.iter().flat_map(|&(left, right, _)| [left, right]);
        let may_lose = |c: &char| !c.is_alphanumeric() && !c.is_whitespace() && weight(*c as usize) <= RARE;
        self.firsts.iter().copied().chain(neighbours).filter(may_lose).collect()
    }

    /// Takes away the seams before a space that depend on the first character of a token. Returns the symbols that have to lose their seams;
    /// none if a token would still be cut.
    pub(super) fn keep_whole(
        &self,
        answers: &Answers<'_>,
        tables: &mut SeamTables,
    ) -> Option<BTreeSet<char>> {
        let (symbols, mut lost) = (self.symbols(), BTreeSet::new());
        let group = |c| answers.group_of(c);
        for &(left, right, next) in &self.neighbours {
            if !answers.may_cut(&group(left), &group(right), next.map(group).as_ref()) {
                continue;
            }
            let candidates = [left, right].into_iter().filter(|c| symbols.contains(c));
            lost.insert(candidates.min_by_key(|&c| weight(c as usize) as u64)?);
        }
        // The pre-tokenizer sees no token: text before one ends at the space.
        for &first in &self.firsts {
            if symbols.contains(&first) {
                lost.insert(first);
            } else {
                tables.forget_across_space(&answers.begin_as(&group(first)));
            }
        }
        Some(lost)
    }
}
