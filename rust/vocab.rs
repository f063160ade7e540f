//! Tokens and their ids. This is the only module that assigns ids.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// In place of a slot in the dense table: the id has no token.
const NO_SLOT: u32 = u32::MAX;

/// A map between tokens and ids, both ways, with the text of all tokens in one arena.
///
/// Ids need not be contiguous. Two tokens may share an id, as in some published files: both are found by text, and the
/// one added last is found by id.
#[derive(Clone, Debug, Default)]
pub struct Vocab {
    text: String,
    slots: Vec<Slot>,
    by_token: HashTable<u32>,
    by_id: ById,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    start: u32,
    len: u32,
    id: u32,
}

/// Slots by id. Published vocabularies are dense, but a stray large id must not cost memory in proportion to itself.
#[derive(Clone, Debug)]
enum ById {
    Dense(Vec<u32>),
    Sparse(HashMap<u32, u32>),
}

impl Default for ById {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

fn hash(token: &str) -> u64 {
    FixedState::default().hash_one(token.as_bytes())
}

impl Vocab {
    /// An empty vocabulary.
    pub fn new() -> Self {
        Self::default()
    }

    /// A vocabulary whose ids are the positions in `tokens`; a repeated token keeps its first id.
    pub fn from_tokens<T: AsRef<str>>(tokens: impl IntoIterator<Item = T>) -> Self {
        let mut vocab = Self::new();
        for token in tokens {
            if vocab.id(token.as_ref()).is_none() {
                vocab.insert(token.as_ref(), vocab.len() as u32);
            }
        }
        vocab
    }

    /// Adds `token` with `id`. If the vocabulary has `token` already, the token moves to the new id.
    pub fn insert(&mut self, token: &str, id: u32) {
        let slot = if let Some(slot) = self.slot_of(token) {
            self.forget_id(self.slots[slot as usize].id, slot);
            slot
        } else {
            self.push_slot(token)
        };
        self.slots[slot as usize].id = id;
        self.set_by_id(id, slot);
    }

    /// Adds `token` with `id`. If the vocabulary has `token` already, the token counts once more: it moves to the new
    /// id, but the old id still finds it.
    pub fn list(&mut self, token: &str, id: u32) {
        let slot = if let Some(before) = self.slot_of(token) {
            let slot = self.slots.len() as u32;
            self.slots.push(self.slots[before as usize]);
            if let Some(newest) = self.by_token.find_mut(hash(token), |&newest| newest == before) {
                *newest = slot;
            }
            slot
        } else {
            self.push_slot(token)
        };
        self.slots[slot as usize].id = id;
        self.set_by_id(id, slot);
    }

    fn push_slot(&mut self, token: &str) -> u32 {
        let slot = self.slots.len() as u32;
        self.slots.push(Slot { start: self.text.len() as u32, len: token.len() as u32, id: 0 });
        self.text.push_str(token);
        let (text, slots) = (&self.text, &self.slots);
        self.by_token.insert_unique(hash(token), slot, |&slot| hash(slot_text(text, slots, slot)));
        slot
    }

    fn forget_id(&mut self, id: u32, slot: u32) {
        match &mut self.by_id {
            ById::Dense(table) => {
                if let Some(known) = table.get_mut(id as usize).filter(|known| **known == slot) {
                    *known = NO_SLOT;
                }
            }
            ById::Sparse(table) => {
                if table.get(&id) == Some(&slot) {
                    table.remove(&id);
                }
            }
        }
    }

    fn set_by_id(&mut self, id: u32, slot: u32) {
        let dense_limit = 4 * self.slots.len() + (1 << 20);
        match &mut self.by_id {
            ById::Dense(table) if (id as usize) < dense_limit => {
                if table.len() <= id as usize {
                    table.resize(id as usize + 1, NO_SLOT);
                }
                table[id as usize] = slot;
            }
            ById::Dense(table) => {
                let entries = (0u32..).zip(table.iter().copied());
                let mut sparse: HashMap<u32, u32> = entries.filter(|&(_, slot)| slot != NO_SLOT).collect();
                sparse.insert(id, slot);
                self.by_id = ById::Sparse(sparse);
            }
            ById::Sparse(table) => {
                table.insert(id, slot);
            }
        }
    }

    fn slot_of(&self, token: &str) -> Option<u32> {
        let matches = |&slot: &u32| slot_text(&self.text, &self.slots, slot) == token;
        self.by_token.find(hash(token), matches).copied()
    }

    /// The id of `token`.
    pub fn id(&self, token: &str) -> Option<u32> {
        self.slot_of(token).map(|slot| self.slots[slot as usize].id)
    }

    /// The token with `id`.
    pub fn token(&self, id: u32) -> Option<&str> {
        self.slot_by_id(id).map(|slot| slot_text(&self.text, &self.slots, slot))
    }

    fn slot_by_id(&self, id: u32) -> Option<u32> {
        match &self.by_id {
            ById::Dense(table) => table.get(id as usize).copied().filter(|&slot| slot != NO_SLOT),
            ById::Sparse(table) => table.get(&id).copied(),
        }
    }

    /// Number of tokens; a token that is listed twice counts twice.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True if two tokens have one id.
    pub fn shares_ids(&self) -> bool {
        (0u32..).zip(&self.slots).any(|(index, slot)| self.slot_by_id(slot.id) != Some(index))
    }

    /// True if there is no token.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// One more than the largest id; 0 if there is no token.
    pub fn id_bound(&self) -> usize {
        self.slots.iter().map(|slot| slot.id as usize + 1).max().unwrap_or(0)
    }

    /// Tokens and ids in the order of insertion; the last entry of a token that is listed twice has its current id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> + '_ {
        (0u32..).zip(&self.slots).map(|(index, slot)| (slot_text(&self.text, &self.slots, index), slot.id))
    }

    /// Tokens and ids by ascending id; equal ids keep the order of insertion.
    pub fn sorted_by_id(&self) -> Vec<(&str, u32)> {
        let mut entries: Vec<(&str, u32)> = self.iter().collect();
        entries.sort_by_key(|&(_, id)| id);
        entries
    }

    /// The first `most` entries of [`Self::sorted_by_id`]; linear in the number of tokens.
    pub fn first_by_id(&self, most: usize) -> Vec<(&str, u32)> {
        if most >= self.len() {
            return self.sorted_by_id();
        }
        let mut first: Vec<(u32, u32)> = (0u32..).zip(&self.slots).map(|(at, slot)| (slot.id, at)).collect();
        first.select_nth_unstable(most);
        first.truncate(most);
        first.sort_unstable();
        first.into_iter().map(|(id, slot)| (slot_text(&self.text, &self.slots, slot), id)).collect()
    }
}

fn slot_text<'a>(text: &'a str, slots: &[Slot], slot: u32) -> &'a str {
    let Slot { start, len, .. } = slots[slot as usize];
    &text[start as usize..(start + len) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_ids_invert_each_other() {
        let vocab = Vocab::from_tokens(["a", "b", "ab", "a"]);
        assert_eq!(vocab.len(), 3);
        assert_eq!(vocab.id("ab"), Some(2));
        assert_eq!(vocab.token(2), Some("ab"));
        assert_eq!((vocab.id("x"), vocab.token(3)), (None, None));
    }

    #[test]
    fn a_stray_large_id_does_not_cost_its_own_size() {
        let mut vocab = Vocab::from_tokens(["a"]);
        vocab.insert("far", u32::MAX);
        assert_eq!(vocab.token(u32::MAX), Some("far"));
        assert_eq!(vocab.token(0), Some("a"));
        assert!(matches!(vocab.by_id, ById::Sparse(_)));
    }

    #[test]
    fn a_token_that_is_listed_again_is_found_by_both_ids() {
        let mut vocab = Vocab::new();
        for (token, id) in [("a", 0), ("b", 1), ("a", 2), ("a", 3)] {
            vocab.list(token, id);
        }
        assert_eq!((vocab.len(), vocab.id("a"), vocab.id_bound()), (4, Some(3), 4));
        assert_eq!([0, 1, 2, 3].map(|id| vocab.token(id)), ["a", "b", "a", "a"].map(Some));
        assert_eq!(vocab.sorted_by_id(), [("a", 0), ("b", 1), ("a", 2), ("a", 3)]);
    }

    #[test]
    fn the_first_entries_are_those_of_all_entries() {
        let mut vocab = Vocab::new();
        for (token, id) in [("d", 9), ("a", 4), ("b", 4), ("c", 0), ("a", 2), ("e", 9)] {
            vocab.list(token, id);
        }
        for most in 0..8 {
            let expected = vocab.sorted_by_id().into_iter().take(most).collect::<Vec<_>>();
            assert_eq!(vocab.first_by_id(most), expected);
        }
    }

    #[test]
    fn inserting_again_moves_the_token() {
        let mut vocab = Vocab::from_tokens(["a", "b"]);
        vocab.insert("a", 7);
        assert_eq!((vocab.id("a"), vocab.token(7), vocab.token(0)), (Some(7), Some("a"), None));
        assert_eq!(vocab.sorted_by_id(), [("b", 1), ("a", 7)]);
    }
}
