//! The growing vocabulary.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// The tokens by id and by text.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    texts: Vec<String>,
    // Ids by the hash of their text; the texts are stored only once.
    ids: HashTable<u32>,
    hasher: FixedState,
    // Length in initial symbols.
    lengths: Vec<u32>,
    // True if the words may already hold the token.
    in_use: Vec<bool>,
}

impl Tokens {
    /// The id of `text`, if it is a token.
    pub(super) fn get(&self, text: &str) -> Option<u32> {
        self.ids.find(self.hasher.hash_one(text), |&id| self.texts[id as usize] == text).copied()
    }

    /// The id of `text`, which is added if it is missing.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(id) = self.get(text) {
            return id;
        }
        let id = self.texts.len() as u32;
        let (hasher, texts) = (&self.hasher, &self.texts);
        self.ids.insert_unique(hasher.hash_one(text), id, |&other| hasher.hash_one(&*texts[other as usize]));
        self.texts.push(text.to_owned());
        self.lengths.push(1);
        self.in_use.push(false);
        id
    }

    /// Notes that a symbol of the words has this id.
    pub(super) fn mark_in_use(&mut self, id: u32) {
        self.in_use[id as usize] = true;
    }

    /// The id of the token that joins `left` and `right`, and true if the words may already hold that token.
    pub(super) fn join(&mut self, left: u32, right: u32, prefix: Option<&str>) -> (u32, bool) {
        let tail = &self.texts[right as usize];
        let tail = prefix.and_then(|prefix| tail.strip_prefix(prefix)).unwrap_or(tail);
        let joined = [&self.texts[left as usize], tail].concat();
        let length = self.length(left).saturating_add(self.length(right));
        let id = self.intern(&joined);
        let known = std::mem::replace(&mut self.in_use[id as usize], true);
        if !known {
            self.lengths[id as usize] = length;
        }
        (id, known)
    }

    /// The text of a token.
    pub(super) fn text(&self, id: u32) -> &str {
        &self.texts[id as usize]
    }

    /// Length of a token in initial symbols.
    pub(super) fn length(&self, id: u32) -> u32 {
        self.lengths[id as usize]
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The texts, by id.
    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}
