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
    words: Vec<WordShape>,
}

/// The words of a token, which are runs of characters other than spaces.
#[derive(Clone, Copy, Debug)]
struct WordShape {
    count: u32,
    /// True if the token begins with a character of a word.
    is_open_at_start: bool,
    /// True if the token ends with a character of a word.
    is_open_at_end: bool,
}

/// Spaces in texts, in byte-level texts and in texts of Metaspace.
const SPACES: [char; 3] = [' ', 'Ġ', '▁'];

impl WordShape {
    fn of(text: &str) -> Self {
        let is_space = |character: char| SPACES.contains(&character);
        Self {
            count: text.split(is_space).filter(|word| !word.is_empty()).count() as u32,
            is_open_at_start: !text.starts_with(is_space),
            is_open_at_end: !text.ends_with(is_space),
        }
    }
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
        self.push(text);
        id
    }

    fn push(&mut self, text: &str) {
        self.texts.push(text.to_owned());
        self.lengths.push(1);
        self.in_use.push(false);
        self.words.push(WordShape::of(text));
    }

    /// Takes ids below `end` that no token has.
    pub(super) fn skip_to(&mut self, end: u32) {
        while self.texts.len() < end as usize {
            self.push("");
        }
    }

    /// Notes a merge that was learnt before: `made` is a token of the words, as long as the two together.
    pub(super) fn note_merge(&mut self, left: u32, right: u32, made: u32) {
        let length = self.length(left).saturating_add(self.length(right));
        if !std::mem::replace(&mut self.in_use[made as usize], true) {
            self.lengths[made as usize] = length;
        }
    }

    /// Notes that a symbol of the words has this id.
    pub(super) fn mark_in_use(&mut self, id: u32) {
        self.in_use[id as usize] = true;
    }

    /// The id of the token that joins `left` and `right`, and true if the words may already hold that token.
    pub(super) fn join(&mut self, left: u32, right: u32, prefix: Option<&str>) -> (u32, bool) {
        let joined = self.joined_text(left, right, prefix);
        let length = self.length(left).saturating_add(self.length(right));
        let id = self.intern(&joined);
        let known = std::mem::replace(&mut self.in_use[id as usize], true);
        if !known {
            self.lengths[id as usize] = length;
        }
        (id, known)
    }

    /// True if the text that joins `left` and `right` is a token.
    pub(super) fn spells_token(&self, left: u32, right: u32, prefix: Option<&str>) -> bool {
        self.get(&self.joined_text(left, right, prefix)).is_some()
    }

    /// The text of the token that joins `left` and `right`.
    pub(super) fn joined_text(&self, left: u32, right: u32, prefix: Option<&str>) -> String {
        let tail = &self.texts[right as usize];
        let tail = prefix.and_then(|prefix| tail.strip_prefix(prefix)).unwrap_or(tail);
        [&self.texts[left as usize], tail].concat()
    }

    /// The text of a token.
    pub(super) fn text(&self, id: u32) -> &str {
        &self.texts[id as usize]
    }

    /// Length of a token in initial symbols.
    pub(super) fn length(&self, id: u32) -> u32 {
        self.lengths[id as usize]
    }

    /// Number of words of the token that joins `left` and `right`.
    #[inline]
    pub(super) fn joined_words(&self, left: u32, right: u32) -> usize {
        let (left, right) = (self.words[left as usize], self.words[right as usize]);
        let is_one_word = left.is_open_at_end && right.is_open_at_start;
        left.count as usize + right.count as usize - usize::from(is_one_word)
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
