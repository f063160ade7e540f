//! The tokens of a byte-level vocabulary as raw bytes.

use crate::byte_level::char_to_byte_of;
use crate::vocab::Vocab;

/// Tokens spelled in the byte-level alphabet; all bytes lie in one arena.
#[derive(Clone, Debug, Default)]
pub(super) struct Spelled {
    bytes: Vec<u8>,
    tokens: Vec<Place>,
}

/// Byte strings of tokens, with the tokens' ids.
pub(super) type Tokens<'a> = Vec<(&'a [u8], u32)>;

#[derive(Clone, Copy, Debug)]
struct Place {
    /// The first eight bytes, big-endian: most comparisons need no more.
    head: u64,
    start: u32,
    end: u32,
    id: u32,
}

impl Spelled {
    /// The tokens of `vocab` whose characters all stand for bytes, in the order of `vocab`.
    pub(super) fn new(vocab: &Vocab) -> Self {
        let mut spelled = Self::default();
        for (token, id) in vocab.iter() {
            let start = spelled.bytes.len();
            for c in token.chars() {
                match char_to_byte_of(c) {
                    Some(byte) => spelled.bytes.push(byte),
                    None => break,
                }
            }
            let end = spelled.bytes.len();
            if end == start || token.chars().nth(end - start).is_some() {
                spelled.bytes.truncate(start);
                continue;
            }
            let mut head = [0; 8];
            let len = (end - start).min(8);
            head[..len].copy_from_slice(&spelled.bytes[start..start + len]);
            let head = u64::from_be_bytes(head);
            spelled.tokens.push(Place { head, start: start as u32, end: end as u32, id });
        }
        spelled
    }

    /// Byte strings and ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.tokens.iter().map(|place| (self.text(place), place.id))
    }

    fn text(&self, place: &Place) -> &[u8] {
        &self.bytes[place.start as usize..place.end as usize]
    }

    /// Partitions the tokens by id into wanted ones and others; the wanted ones are sorted by their bytes.
    pub(super) fn sorted_if(&self, is_wanted: impl Fn(u32) -> bool) -> (Tokens<'_>, Tokens<'_>) {
        let (mut wanted, others): (Vec<Place>, Vec<Place>) =
            self.tokens.iter().partition(|place| is_wanted(place.id));
        wanted.sort_unstable_by(|a, b| a.head.cmp(&b.head).then_with(|| self.text(a).cmp(self.text(b))));
        let pairs = |places: Vec<Place>| places.iter().map(|place| (self.text(place), place.id)).collect();
        (pairs(wanted), pairs(others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_of_the_alphabet_are_spelled() {
        let vocab = Vocab::from_tokens(["Ġa", "日", "", "b", "Ġ日", "abcdefghij", "abcdefghi"]);
        let spelled = Spelled::new(&vocab);
        assert_eq!(spelled.iter().map(|(_, id)| id).collect::<Vec<_>>(), [0, 3, 5, 6]);
        let (wanted, others) = spelled.sorted_if(|id| id != 3);
        let expected: [(&[u8], u32); 3] = [(b" a", 0), (b"abcdefghi", 6), (b"abcdefghij", 5)];
        assert_eq!(wanted, expected);
        assert_eq!(others, [(b"b".as_slice(), 3)]);
    }
}
