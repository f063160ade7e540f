//! Longest match in one pass (`LinMaxMatch`): linear time for any vocabulary, no byte is read twice.
//!
//! A trie holds the tokens. Tokens that continue a word are stored without their prefix, below a root of their own. Each
//! node has a failure link, which is followed where the trie has no child for the next byte: it emits the tokens that
//! longest match takes off the front of the node's text, and leads to the node of the text that is left.
//!
//! Source: Song et al. 2021, "Fast WordPiece Tokenization".

use crate::models::Tokens;
use crate::structures::byte_trie::{ByteTrie, Node};
use crate::vocab::Vocab;

/// The edge from the root to the root of continuations; no byte of UTF-8 has this value.
const CONTINUES: u8 = 0xFF;

/// Tokens that a failure link emits, in order; a binary tree, so that lists share their common tokens.
#[derive(Clone, Copy, Debug)]
enum Certain {
    /// One token, and how many bytes it covers.
    Token(u32, u32),
    /// The tokens of two other entries of [`LinearMatch::certain`], one after the other.
    Both(u32, u32),
}

/// The failure link of a node.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The node of the text that is left; the root if the word cannot be cut.
    to: Node,
    /// Index in [`LinearMatch::certain`] of the tokens to emit.
    certain: u32,
}

const NO_LINK: Link = Link { to: ByteTrie::ROOT, certain: 0 };

/// Sorts keys, no two of which are equal.
fn sort(keys: &mut [(&[u8], u32)]) {
    // Most keys differ in their first eight bytes, which are compared as one number.
    let first = |key: &[u8]| match key.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            key.iter().zip((0..8).rev()).fold(0, |first, (&byte, at)| first | u64::from(byte) << (8 * at))
        }
    };
    keys.sort_by_cached_key(|&(key, _)| (first(key), key));
}

/// A vocabulary prepared for longest match. Time and memory to build are linear in the vocabulary's bytes.
#[derive(Clone, Debug)]
pub(super) struct LinearMatch {
    trie: ByteTrie,
    continues: Node,
    /// By node.
    links: Vec<Link>,
    /// The first entries are the values of the trie.
    certain: Vec<Certain>,
}

impl LinearMatch {
    /// Prepares a vocabulary in which `prefix` marks tokens that continue a word; `None` if the trie cannot hold it.
    pub(super) fn new(vocab: &Vocab, prefix: &str) -> Option<Self> {
        // The root of continuations must exist even if no token continues a word.
        let mut certain = vec![Certain::Both(0, 0)];
        let (mut whole, mut rests, mut text) = (Vec::with_capacity(vocab.len()), Vec::new(), Vec::new());
        for (token, id) in vocab.iter().filter(|(token, _)| !token.is_empty()) {
            whole.push((token.as_bytes(), certain.len() as u32));
            certain.push(Certain::Token(id, token.len() as u32));
            if let Some(rest) = token.strip_prefix(prefix).filter(|rest| !rest.is_empty()) {
                rests.push((rest.as_bytes(), certain.len() as u32));
                certain.push(Certain::Token(id, rest.len() as u32));
            }
        }
        sort(&mut whole);
        sort(&mut rests);
        text.push(CONTINUES);
        for (rest, _) in &rests {
            text.push(CONTINUES);
            text.extend_from_slice(rest);
        }
        let (continues, mut text) = text.split_at(1);
        // No token begins with the byte 0xFF, so these keys come last.
        let mut keys = whole;
        keys.push((continues, 0));
        for (rest, value) in rests {
            let (key, after) = text.split_at(1 + rest.len());
            keys.push((key, value));
            text = after;
        }
        let trie = ByteTrie::new(&keys)?;
        let continues = trie.step(ByteTrie::ROOT, CONTINUES)?;
        let links = vec![NO_LINK; trie.node_bound()];
        let mut linear = Self { trie, continues, links, certain };
        linear.link_all(&keys);
        Some(linear)
    }

    /// Links all nodes in the order of their depth: links lead to nodes of shorter text.
    fn link_all(&mut self, keys: &[(&[u8], u32)]) {
        let mut ends: Vec<(Node, &[u8])> = Vec::with_capacity(keys.len());
        ends.extend(keys.iter().map(|&(key, _)| match key.split_first() {
            Some((&CONTINUES, rest)) => (self.continues, rest),
            _ => (ByteTrie::ROOT, key),
        }));
        while !ends.is_empty() {
            // Keys are sorted, so keys that share a node are neighbours.
            let mut last = None;
            ends.retain_mut(|(node, rest)| {
                let Some((&byte, tail)) = rest.split_first() else { return false };
                let Some(next) = self.trie.step(*node, byte) else { return false };
                if last != Some(next) {
                    self.links[next.index()] = self.link(*node, byte, next);
                }
                last = Some(next);
                (*node, *rest) = (next, tail);
                true
            });
        }
    }

    fn link(&mut self, parent: Node, byte: u8, node: Node) -> Link {
        if let Some(token) = self.trie.value(node) {
            return Link { to: self.continues, certain: token };
        }
        let mut link = self.links[parent.index()];
        while link.to != ByteTrie::ROOT {
            if let Some(to) = self.trie.step(link.to, byte) {
                return Link { to, ..link };
            }
            let further = self.links[link.to.index()];
            if further.to == ByteTrie::ROOT {
                break;
            }
            self.certain.push(Certain::Both(link.certain, further.certain));
            link = Link { to: further.to, certain: self.certain.len() as u32 - 1 };
        }
        NO_LINK
    }

    /// Cuts a word into tokens; if it cannot be cut, returns false and leaves some tokens in `tokens`.
    pub(super) fn cut(&self, word: &[u8], tokens: &mut Tokens) -> bool {
        let mut node = ByteTrie::ROOT;
        for &byte in word {
            node = loop {
                if let Some(next) = self.trie.step(node, byte) {
                    break next;
                }
                let Some(next) = self.follow(node, tokens) else { return false };
                node = next;
            };
        }
        while node != self.continues {
            let Some(next) = self.follow(node, tokens) else { return false };
            node = next;
        }
        true
    }

    #[inline]
    fn follow(&self, node: Node, tokens: &mut Tokens) -> Option<Node> {
        let Link { to, certain } = self.links[node.index()];
        if to == ByteTrie::ROOT {
            return None;
        }
        match self.certain[certain as usize] {
            Certain::Token(id, len) => tokens.push(id, len),
            Certain::Both(first, second) => self.push_both(first, second, tokens),
        }
        Some(to)
    }

    #[cold]
    fn push_both(&self, first: u32, second: u32, tokens: &mut Tokens) {
        let mut open = vec![second, first];
        while let Some(place) = open.pop() {
            match self.certain[place as usize] {
                Certain::Token(id, len) => tokens.push(id, len),
                Certain::Both(first, second) => open.extend([second, first]),
            }
        }
    }
}
