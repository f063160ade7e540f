//! Characters that stand in no piece of several: every path goes through each of them by itself.

/// Characters from here on are rare; none of them is told to be lone.
const TOLD: usize = 0x2_0000;

const IN_PIECES: u8 = 1;
const IS_PIECE: u8 = 2;

/// What the pieces have to do with a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is in no piece at all.
    Unknown,
    /// It is a piece, and in no other.
    Piece,
    /// It may be in a piece with others.
    Joined,
}

/// Tells lone characters from others. A byte a character.
#[derive(Clone, Debug)]
pub(super) struct LoneChars(Vec<u8>);

impl LoneChars {
    /// The lone characters beside `pieces`.
    pub(super) fn new<'a>(pieces: impl Iterator<Item = &'a str>) -> Self {
        let mut places = vec![0; TOLD];
        for piece in pieces {
            let is_single = piece.chars().nth(1).is_none();
            for c in piece.chars() {
                if let Some(place) = places.get_mut(c as usize) {
                    *place |= if is_single { IS_PIECE } else { IN_PIECES };
                }
            }
        }
        Self(places)
    }

    #[inline]
    pub(super) fn place(&self, c: char) -> Place {
        match self.0.get(c as usize) {
            Some(0) => Place::Unknown,
            Some(&IS_PIECE) => Place::Piece,
            _ => Place::Joined,
        }
    }

    #[inline]
    pub(super) fn is_lone(&self, c: char) -> bool {
        self.place(c) != Place::Joined
    }

    /// Bytes of `text` before its first lone character.
    #[inline]
    pub(super) fn joined_len(&self, text: &str) -> usize {
        text.char_indices().find(|&(_, c)| self.is_lone(c)).map_or(text.len(), |(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::Place::{Joined, Piece, Unknown};
    use super::*;

    #[test]
    fn a_character_is_lone_if_no_piece_has_it_beside_another() {
        let chars = LoneChars::new(["日本", "語", "本", "é", "𠀀"].into_iter());
        let expected = [Joined, Joined, Piece, Piece, Unknown, Joined, Joined];
        let places = ['日', '本', '語', 'é', 'x', '𠀀', '\u{10ffff}'].map(|c| chars.place(c));
        assert_eq!(places, expected);
        assert_eq!(["日本語", "x日", "日本"].map(|text| chars.joined_len(text)), [6, 0, 6]);
    }
}
