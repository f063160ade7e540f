//! What the pieces have to do with a character: whether any begins with it, and whether it is *lone*, in no piece of
//! several characters, so that every path goes through it by itself.

use crate::structures::byte_trie::{ByteTrie, Node};

/// Characters from here on are rare: none of them is told to be lone, and the trie is asked for each.
const TOLD: usize = 0x2_0000;

/// The lowest bit of an entry: the character is in a piece with others.
const IS_JOINED: u32 = 1;

/// How a character stands among the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is in no piece at all.
    Unknown,
    /// It is a piece, and in no other.
    Piece,
    /// It may be in a piece with others.
    Joined,
}

/// Places of characters, and their nodes in a trie. Four bytes a character.
#[derive(Clone, Debug)]
pub(super) struct Chars {
    /// Twice the number of the node, or nothing where no piece begins with the character, and [`IS_JOINED`].
    entries: Vec<u32>,
    /// Those of ASCII that are not lone, a bit each.
    joined: u128,
}

fn node_of(trie: &ByteTrie, c: char) -> Option<Node> {
    c.encode_utf8(&mut [0; 4]).bytes().try_fold(ByteTrie::ROOT, |node, byte| trie.step(node, byte))
}

impl Chars {
    /// The characters of the `pieces` that a trie holds.
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
    pub(super) fn is_lone(&self, c: char) -> bool {
        self.place(c) != Place::Joined
    }

    /// The node of `c` in the trie that this was made of.
    #[inline]
    pub(super) fn node(&self, c: char, trie: &ByteTrie) -> Option<Node> {
        match self.entries.get(c as usize) {
            Some(&entry) => (entry > IS_JOINED).then(|| Node::from_index(entry >> 1)),
            None => node_of(trie, c),
        }
    }

    /// Bytes of `text` before its first lone character.
    #[inline]
    pub(super) fn joined_len(&self, text: &str) -> usize {
        let is_joined = |byte: &u8| byte.is_ascii() && self.joined >> byte & 1 == 1;
        let start = text.bytes().take_while(is_joined).count();
        let mut rest = text[start..].char_indices();
        rest.find(|&(_, c)| self.is_lone(c)).map_or(text.len(), |(at, _)| start + at)
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
    fn a_character_is_lone_if_no_piece_has_it_beside_another() {
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
