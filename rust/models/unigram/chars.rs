//! Table of single characters: the trie node of each, and a bit that is set unless the character is *isolated*.
//!
//! An isolated character occurs in the vocabulary only as a piece of its own, or not at all. No piece spans it, so every
//! path breaks on both sides of it.

use crate::structures::byte_trie::{ByteTrie, Node};

/// Size of the table. Characters beyond it are rare: none of them counts as isolated, and the trie is asked for each.
const TOLD: usize = 0x2_0000;

/// The lowest bit of an entry: some piece holds the character beside others.
const IS_JOINED: u32 = 1;

/// How a character occurs among the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In no piece; isolated.
    Unknown,
    /// It is a piece, and occurs in no other; isolated.
    Piece,
    /// A piece may hold it beside other characters.
    Joined,
}

/// The table, by code point; four bytes a character.
#[derive(Clone, Debug)]
pub(super) struct Chars {
    /// The number of the trie node, shifted left by one (0 where no piece begins with the character), and [`IS_JOINED`].
    entries: Vec<u32>,
    /// A bit for each ASCII character that is not isolated.
    joined: u128,
}

fn node_of(trie: &ByteTrie, c: char) -> Option<Node> {
    c.encode_utf8(&mut [0; 4]).bytes().try_fold(ByteTrie::ROOT, |node, byte| trie.step(node, byte))
}

impl Chars {
    /// The table of the characters in `pieces`; `trie` holds the same pieces.
    pub(super) fn new<'a>(pieces: impl Iterator<Item = &'a str>, trie: &ByteTrie) -> Self {
        let mut entries = vec![0; TOLD];
        for piece in pieces {
            let is_joined = if piece.chars().nth(1).is_some() { IS_JOINED } else { 0 };
            for c in piece.chars() {
                let Some(entry) = entries.get_mut(c as usize) else { continue };
                if *entry == 0 {
                    *entry = node_of(trie, c).map_or(0, |node| (node.index() as u32) << 1);
                }
                *entry |= is_joined;
            }
        }
        let is_joined = |&code: &usize| entries[code] & IS_JOINED != 0;
        let joined = (0..128).filter(is_joined).fold(0, |joined, code| joined | 1 << code);
        Self { entries, joined }
    }

    #[inline]
    pub(super) fn place(&self, c: char) -> Place {
        match self.entries.get(c as usize) {
            Some(0) => Place::Unknown,
            Some(&entry) if entry & IS_JOINED == 0 => Place::Piece,
            _ => Place::Joined,
        }
    }

    #[inline]
    pub(super) fn is_isolated(&self, c: char) -> bool {
        self.place(c) != Place::Joined
    }

    /// The node of `c` in `trie`, from which this table was built.
    #[inline]
    pub(super) fn node(&self, c: char, trie: &ByteTrie) -> Option<Node> {
        match self.entries.get(c as usize) {
            Some(&entry) => (entry > IS_JOINED).then(|| Node::from_index(entry >> 1)),
            None => node_of(trie, c),
        }
    }

    /// Number of bytes of `text` before its first isolated character.
    #[inline]
    pub(super) fn joined_len(&self, text: &str) -> usize {
        let is_joined = |byte: &u8| byte.is_ascii() && self.joined >> byte & 1 == 1;
        let start = text.bytes().take_while(is_joined).count();
        let mut rest = text[start..].char_indices();
        rest.find(|&(_, c)| self.is_isolated(c)).map_or(text.len(), |(at, _)| start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::Place::{Joined, Piece, Unknown};
    use super::*;

    const PIECES: [&str; 6] = ["aa", "é", "日本", "本", "語", "𠀀"];

    fn trie() -> ByteTrie {
        let keys: Vec<(&[u8], u32)> = PIECES.iter().map(|piece| piece.as_bytes()).zip(0..).collect();
        ByteTrie::new(&keys).expect("few pieces")
    }

    #[test]
    fn a_character_is_isolated_if_no_piece_has_it_beside_another() {
        let chars = Chars::new(PIECES.into_iter(), &trie());
        let expected = [Joined, Joined, Piece, Piece, Unknown, Joined, Joined];
        assert_eq!(['日', '本', '語', 'é', 'x', '𠀀', '\u{10ffff}'].map(|c| chars.place(c)), expected);
        assert_eq!(
            ["日本語", "x日", "日本", "a日aé", "aa", ""].map(|text| chars.joined_len(text)),
            [6, 0, 6, 5, 2, 0]
        );
    }

    #[test]
    fn node_matches_naive() {
        let trie = trie();
        let chars = Chars::new(PIECES.into_iter(), &trie);
        for c in '\0'..=char::MAX {
            assert_eq!(chars.node(c, &trie), node_of(&trie, c), "U+{:04X}", c as u32);
        }
    }
}
