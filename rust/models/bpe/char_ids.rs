//! The ids of single characters, which are the initial symbols of text.

use crate::structures::flat_map::FlatMap;
use crate::vocab::Vocab;

/// Marks ASCII characters without a token.
const NONE: u32 = u32::MAX;

/// Tokens of one character, by code point: an array for ASCII, a hash map for the rest.
#[derive(Clone, Debug)]
pub(super) struct CharIds {
    ascii: [u32; 128],
    others: FlatMap<u32>,
}

impl CharIds {
    pub(super) fn new(vocab: &Vocab) -> Self {
        let mut ids = Self { ascii: [NONE; 128], others: FlatMap::with_capacity(0) };
        for (token, id) in vocab.iter() {
            let mut chars = token.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) if c.is_ascii() && id != NONE => ids.ascii[c as usize] = id,
                (Some(c), None) => *ids.others.entry(u64::from(c)) = id,
                _ => {}
            }
        }
        ids
    }

    #[inline]
    pub(super) fn get(&self, c: char) -> Option<u32> {
        match self.ascii.get(c as usize) {
            Some(&id) if id != NONE => Some(id),
            _ => self.others.get(u64::from(c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn char_ids_matches_naive(tokens in prop::collection::vec("[a-d~\0é日🙂]{1,2}", 0..40), ids in prop::collection::vec(prop_oneof![0..99u32, Just(NONE)], 40)) {
            let mut vocab = Vocab::new();
            for (token, &id) in tokens.iter().zip(&ids) {
                vocab.insert(token, id);
            }
            let chars = CharIds::new(&vocab);
            for c in "abcde~\0éè日本🙂".chars() {
                prop_assert_eq!(chars.get(c), vocab.id(c.encode_utf8(&mut [0; 4])));
            }
        }
    }
}
