//! Longest match in one pass: no byte is read twice, whatever the vocabulary.
//!
//! A trie holds the tokens, those that continue a word without their prefix and below a root of their own. Each node has
//! what is certain once no step leads on: the tokens that the longest match takes off the front of the node's text, and
//! the node of what is left then. Source: Song et al. 2021, "Fast WordPiece Tokenization" (`LinMaxMatch`).

use crate::models::Tokens;
use crate::structures::byte_trie::{ByteTrie, Node};
use crate::vocab::Vocab;

/// Leads from the root to that of continuations; no byte of UTF-8 has this value.
const CONTINUES: u8 = 0xFF;

/// Tokens that are certain, in order.
#[derive(Clone, Copy, Debug)]
enum Certain {
    /// One token, and how many bytes it covers.
    Token(u32, u32),
    /// Those of two places in the list, so that a token in many lists is not copied.
    Both(u32, u32),
}

/// What becomes of a node from which no step leads on.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// What is left; the root if the word cannot be cut.
    to: Node,
    /// The place of the tokens that come before.
    certain: u32,
}

const NO_LINK: Link = Link { to: ByteTrie::ROOT, certain: 0 };

/// Sorts keys of which no two are equal.
fn sort(keys: &mut [(&[u8], u32)]) {
    // Most are told apart by their first bytes, which are compared as one number.
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
    /// By place; the first ones are the values of the trie.
    certain: Vec<Certain>,
}

impl LinearMatch {
    /// Prepares a vocabulary in which `prefix` marks what continues a word; `None` if it is too large for the trie.
    pub(super) fn new(vocab: &Vocab, prefix: &str) -> Option<Self> {
        // The root of continuations is there even if nothing continues.
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
        // No token begins with the byte of continuations, so these come last.
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

    /// Links all nodes, those of shorter texts first: links lead to them.
    fn link_all(&mut self, keys: &[(&[u8], u32)]) {
        let mut ends: Vec<(Node, &[u8])> = Vec::with_capacity(keys.len());
        ends.extend(keys.iter().map(|&(key, _)| match key.split_first() {
            Some((&CONTINUES, rest)) => (self.continues, rest),
            _ => (ByteTrie::ROOT, key),
        }));
        while !ends.is_empty() {
            // Keys are sorted, so those that share a node stand side by side.
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

    /// Cuts a word into tokens; false, with some of them after, if it cannot be cut.
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
