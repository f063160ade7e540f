//! One layer of added tokens: maps that copies of a tokenizer share.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::token::AddedToken;

/// A token, with the state that its options do not hold.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) token: AddedToken,
    /// It was once added as special; adding it again as a plain token does not change that.
    pub(super) is_special: bool,
}

/// Tokens by content and by id; both are distinct.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    by_content: HashMap<String, u32, FixedState>,
    by_id: HashMap<u32, Entry, FixedState>,
}

impl Layer {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn id(&self, content: &str) -> Option<u32> {
        self.by_content.get(content).copied()
    }

    pub(super) fn get(&self, id: u32) -> Option<&Entry> {
        self.by_id.get(&id)
    }

    /// Adds a token, or gives the token with this content other options.
    pub(super) fn set(&mut self, id: u32, entry: Entry) {
        self.by_content.insert(entry.token.content.clone(), id);
        self.by_id.insert(id, entry);
    }

    pub(super) fn remove(&mut self, id: u32) {
        if let Some(entry) = self.by_id.remove(&id) {
            self.by_content.remove(&entry.token.content);
        }
    }

    /// Takes all tokens of `other`, which has no content or id in common.
    pub(super) fn extend(&mut self, other: Self) {
        self.by_content.extend(other.by_content);
        self.by_id.extend(other.by_id);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Entry)> {
        self.by_id.iter().map(|(&id, entry)| (id, entry))
    }

    /// Tokens by ascending id.
    pub(super) fn sorted(&self) -> Vec<(u32, &Entry)> {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_unstable_by_key(|&(id, _)| id);
        entries
    }
}
