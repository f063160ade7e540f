//! Tokens that are cut out of the text before any other stage sees it.
//!
//! Ids follow one rule. A token that the model's vocabulary has keeps that id. The others are numbered in the order in which they
//! are added, from the size of the vocabulary on, with the ids that no token of the vocabulary has. So ids depend on the vocabulary
//! and on that order alone, and a file that lists the tokens by id gives each of them its id again. Where another model takes the
//! place of the first, [`AddedTokens::renumber`] numbers all of them again.
//!
//! Tokens are kept in layers, as in a log-structured merge tree. Copies of [`AddedTokens`] share layers, and [`Matchers`] has an
//! automaton for each. A token that is added once a layer is shared begins a new layer, which merges with the one before as soon as
//! it has half its size. So there are O(log n) layers of n tokens, and each token is compiled O(log n) times, however it was added.

mod automaton;
mod contents;
mod layer;
mod matcher;
mod token;

use std::collections::HashMap;
use std::sync::Arc;

pub use contents::Contents;
use layer::{Entry, Layer};
pub use matcher::{Matcher, Matchers, Segment};
pub use token::AddedToken;

use crate::Result;
use crate::vocab::Vocab;

/// Layers of together at most this many tokens are merged: compiling them again takes less than a millisecond. In tests a few tokens make
/// several layers.
const FEW_TOKENS: usize = if cfg!(test) { 1 } else { 512 };

/// The added tokens of one tokenizer.
#[derive(Clone, Debug, Default)]
pub struct AddedTokens {
    /// Oldest first. Each content and each id is in one layer only.
    layers: Vec<Arc<Layer>>,
    /// No id from the vocabulary's size up to this one is free.
    next: u32,
    /// One more than the largest id.
    id_bound: usize,
    /// Tokens that the vocabulary lacks.
    new: usize,
}

impl AddedTokens {
    /// Adds tokens; returns how many were new or changed.
    ///
    /// A token that added tokens or model know already keeps its id. Empty contents and exact repetitions are passed over. Where two
    /// tokens of the vocabulary share an id and both are added, the later one takes the place of the first.
    pub fn add(&mut self, tokens: &[AddedToken], vocab: &Vocab) -> usize {
        let mut added = 0;
        for token in tokens.iter().filter(|token| !token.content.is_empty()) {
            if !self.has(token) {
                added += 1;
                self.put(Entry { is_special: token.special, token: token.clone() }, vocab);
            }
        }
        self.merge_layers();
        added
    }

    /// True if a token with the same content and options was added.
    pub fn has(&self, token: &AddedToken) -> bool {
        self.entry(&token.content).is_some_and(|(_, entry)| entry.token == *token)
    }

    fn put(&mut self, mut entry: Entry, vocab: &Vocab) {
        if let Some((id, known)) = self.entry(&entry.token.content) {
            entry.is_special |= known.is_special;
            self.change_layer_of(id, |layer| layer.set(id, entry));
            return;
        }
        let id = vocab.id(&entry.token.content).unwrap_or_else(|| self.free_id(vocab));
        // Only where the vocabulary has two tokens with this id.
        self.change_layer_of(id, |layer| layer.remove(id));
        self.id_bound = self.id_bound.max(id as usize + 1);
        let is_open = self.layers.last_mut().is_some_and(|layer| Arc::get_mut(layer).is_some());
        if !is_open {
            self.layers.push(Arc::default());
        }
        if let Some(layer) = self.layers.last_mut() {
            Arc::make_mut(layer).set(id, entry);
        }
    }

    /// The next id that neither the vocabulary nor an added token has.
    fn free_id(&mut self, vocab: &Vocab) -> u32 {
        self.new += 1;
        let mut id = self.next.max(vocab.len() as u32);
        while vocab.token(id).is_some() || self.get(id).is_some() {
            id = id.saturating_add(1);
        }
        self.next = id.saturating_add(1);
        id
    }

    /// Changes the layer that has `id`, if one has; a layer that is shared is copied before.
    fn change_layer_of(&mut self, id: u32, change: impl FnOnce(&mut Layer)) {
        if let Some(layer) = self.layers.iter_mut().find(|layer| layer.get(id).is_some()) {
            change(Arc::make_mut(layer));
        }
    }

    fn merge_layers(&mut self) {
        while let [.., before, last] = &self.layers[..]
            && (before.len() <= 2 * last.len() || before.len() + last.len() <= FEW_TOKENS)
        {
            let last = self.layers.pop().map_or_else(Layer::default, Arc::unwrap_or_clone);
            if let Some(before) = self.layers.last_mut() {
                Arc::make_mut(before).extend(last);
            }
        }
    }

    /// Numbers the tokens for another vocabulary, in the order of their ids, as a file of them would be read beside it. Returns the
    /// tokens with another id than before: from which id, to which.
    pub fn renumber(&mut self, vocab: &Vocab) -> HashMap<String, (u32, u32)> {
        let before = std::mem::take(self);
        for (_, entry) in before.entries() {
            self.put(entry.clone(), vocab);
        }
        let moved = before.entries().into_iter().filter_map(|(from, entry)| {
            let content = &entry.token.content;
            let to = self.id(content).or_else(|| vocab.id(content)).filter(|&to| to != from)?;
            Some((content.clone(), (from, to)))
        });
        moved.collect()
    }

    fn entry(&self, content: &str) -> Option<(u32, &Entry)> {
        self.layers.iter().rev().find_map(|layer| {
            let id = layer.id(content)?;
            Some((id, layer.get(id)?))
        })
    }

    fn entries(&self) -> Vec<(u32, &Entry)> {
        let mut entries: Vec<_> = self.layers.iter().flat_map(|layer| layer.iter()).collect();
        entries.sort_unstable_by_key(|&(id, _)| id);
        entries
    }

    /// The id of the added token with this content.
    pub fn id(&self, content: &str) -> Option<u32> {
        self.layers.iter().rev().find_map(|layer| layer.id(content))
    }

    /// The added token with this id.
    pub fn get(&self, id: u32) -> Option<&AddedToken> {
        self.layers.iter().rev().find_map(|layer| layer.get(id)).map(|entry| &entry.token)
    }

    /// Number of added tokens, including tokens that the model's vocabulary has too.
    pub fn len(&self) -> usize {
        self.layers.iter().map(|layer| layer.len()).sum()
    }

    /// True if there are no added tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of added tokens that the model's vocabulary lacks.
    pub fn new_tokens(&self) -> usize {
        self.new
    }

    /// One more than the largest id; 0 if there is no token.
    pub fn id_bound(&self) -> usize {
        self.id_bound
    }

    /// Tokens with their ids, by ascending id.
    pub fn sorted(&self) -> Vec<(u32, &AddedToken)> {
        self.entries().into_iter().map(|(id, entry)| (id, &entry.token)).collect()
    }

    /// True if every token, wherever found, is spelled by the byte-level characters of its own bytes.
    pub fn are_own_bytes(&self) -> bool {
        let is_own = |token: &AddedToken| {
            !token.lstrip && !token.rstrip && token.content.bytes().all(|byte| byte.is_ascii_graphic())
        };
        self.layers.iter().flat_map(|layer| layer.iter()).all(|(_, entry)| is_own(&entry.token))
    }

    /// True if a token of this content was ever added as special.
    pub fn is_special(&self, content: &str) -> bool {
        self.entry(content).is_some_and(|(_, entry)| entry.is_special)
    }

    /// The contents of tokens that are plain but were once added as special, by ascending id.
    pub fn once_special(&self) -> Vec<String> {
        let entries = self.entries().into_iter().map(|(_, entry)| entry);
        entries
            .filter(|entry| entry.is_special && !entry.token.special)
            .map(|entry| entry.token.content.clone())
            .collect()
    }

    /// Notes that the tokens with these contents were once added as special.
    pub fn set_once_special(&mut self, contents: &[String]) {
        for content in contents {
            if let Some((id, entry)) = self.entry(content) {
                let entry = Entry { is_special: true, ..entry.clone() };
                self.change_layer_of(id, |layer| layer.set(id, entry));
            }
        }
    }

    /// Compiles the search for these tokens.
    ///
    /// Compiled layers of `known` are used again; `known` must have been made with the same `normalize`. With `encode_special`, special
    /// tokens found in text are left to the model. `normalize` gives the form in which a token with `normalized` is looked for.
    ///
    /// # Errors
    /// [`InvalidOption`](crate::Error::InvalidOption) if the tokens are too many or too long for one automaton.
    pub fn matchers(
        &self,
        known: Option<&Matchers>,
        encode_special: bool,
        normalize: impl Fn(&str) -> Result<String>,
    ) -> Result<Matchers> {
        Ok(Matchers::new(self, known, normalize)?.leaving_special(encode_special))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tokens(range: std::ops::Range<u32>) -> Vec<AddedToken> {
        range.map(|number| AddedToken::new(format!("<{number}>"), true)).collect()
    }

    #[test]
    fn tokens_that_are_added_one_by_one_are_compiled_a_few_times_each() {
        let (vocab, mut added) = (Vocab::new(), AddedTokens::default());
        let (mut most_layers, mut compiled) = (0, 0);
        for number in 0..4096 {
            // A copy, as a compiled tokenizer has it.
            let copy = added.clone();
            added.add(&tokens(number..number + 1), &vocab);
            let is_known = |layer: &&Arc<Layer>| copy.layers.iter().any(|known| Arc::ptr_eq(known, layer));
            compiled +=
                added.layers.iter().filter(|layer| !is_known(layer)).map(|layer| layer.len()).sum::<usize>();
            most_layers = most_layers.max(added.layers.len());
        }
        assert_eq!((added.len(), added.id_bound()), (4096, 4096));
        assert!(most_layers <= 12, "{most_layers}");
        assert!(compiled <= 4096 * 3 * 12, "{compiled}");
    }

    #[test]
    fn a_change_of_options_leaves_other_layers_alone() {
        let (vocab, mut added) = (Vocab::new(), AddedTokens::default());
        added.add(&tokens(0..2000), &vocab);
        let copy = added.clone();
        added.add(&tokens(2000..2001), &vocab);
        let changed = AddedToken { lstrip: true, ..AddedToken::new("<2000>", true) };
        assert_eq!(added.add(std::slice::from_ref(&changed), &vocab), 1);
        assert!(Arc::ptr_eq(&added.layers[0], &copy.layers[0]));
        assert_eq!((added.get(2000), added.id("<2000>"), added.len()), (Some(&changed), Some(2000), 2001));
    }

    #[test]
    fn renumbering_is_what_a_file_does() {
        let mut before = Vocab::new();
        for (token, id) in [("a", 0), ("c", 1), ("b", 5)] {
            before.insert(token, id);
        }
        let mut added = AddedTokens::default();
        added.add(&["b", "u", "v", "w"].map(|content| AddedToken::new(content, false)), &before);
        let ids = |added: &AddedTokens| ["b", "u", "v", "w"].map(|content| added.id(content));
        assert_eq!(ids(&added), [5, 3, 4, 6].map(Some));
        assert!(added.renumber(&before).is_empty());
        assert_eq!((ids(&added), added.new_tokens()), ([5, 3, 4, 6].map(Some), 3));
        let moved = added.renumber(&Vocab::from_tokens(["v", "x"]));
        assert_eq!(ids(&added), [3, 2, 0, 4].map(Some));
        assert_eq!((moved.len(), moved["v"], moved["b"]), (4, (4, 0), (5, 3)));
    }
}
