//! The ids of single characters, with their prefix or suffix: the initial symbols of text.

use super::BpeOptions;
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

/// Where a character stands in its pre-token. The first character has no prefix; only the last one has the suffix.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharPlace {
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

impl CharPlace {
    /// Neither first nor last.
    pub(super) const INNER: Self = Self { is_first: false, is_last: false };

    pub(super) const ALL: [Self; 4] = [
        Self::INNER,
        Self { is_first: true, is_last: false },
        Self { is_first: false, is_last: true },
        Self { is_first: true, is_last: true },
    ];

    /// The index in [`Self::ALL`].
    pub(super) fn index(self) -> usize {
        usize::from(self.is_first) | usize::from(self.is_last) << 1
    }

    /// The prefix and the suffix of a character at this place.
    pub(super) fn affixes(self, options: &BpeOptions) -> [&str; 2] {
        let [prefix, suffix] = options.affixes();
        [if self.is_first { "" } else { prefix }, if self.is_last { suffix } else { "" }]
    }
}

/// The ids of characters by place: one table if there are no affixes, else one for each of [`CharPlace::ALL`].
#[derive(Clone, Debug)]
pub(super) struct SymbolIds(Vec<CharIds>);

impl SymbolIds {
    /// Characters without affixes.
    pub(super) fn plain(ids: CharIds) -> Self {
        Self(vec![ids])
    }

    /// Characters with the affixes of `options`.
    pub(super) fn affixed(vocab: &Vocab, options: &BpeOptions) -> Self {
        let [prefix, suffix] = options.affixes();
        let longest = prefix.len() + char::MAX.len_utf8() + suffix.len();
        let short: Vec<_> = vocab.iter().filter(|(token, _)| token.len() <= longest).collect();
        let table = |place: CharPlace| CharIds::with_affixes(&short, place.affixes(options));
        Self(CharPlace::ALL.map(table).into())
    }

    #[inline]
    pub(super) fn get(&self, c: char, place: CharPlace) -> Option<u32> {
        // One table or four: with one, the mask leaves nothing of the place.
        self.0[place.index() & (self.0.len() - 1)].get(c)
    }
}

impl CharIds {
    pub(super) fn new(vocab: &Vocab) -> Self {
        Self::of(vocab.iter())
    }

    /// The ids of the tokens that are `prefix`, one character and `suffix`, by that character.
    fn with_affixes(tokens: &[(&str, u32)], [prefix, suffix]: [&str; 2]) -> Self {
        Self::of(tokens.iter().filter_map(|&(token, id)| {
            // An empty text may lie at an address that is not mapped: there `memcmp` of AVX-512 takes 41 ns instead of 2.5.
            let token = if prefix.is_empty() { token } else { token.strip_prefix(prefix)? };
            let text = if suffix.is_empty() { token } else { token.strip_suffix(suffix)? };
            Some((text, id))
        }))
    }

    fn of<'t>(texts: impl Iterator<Item = (&'t str, u32)>) -> Self {
        let mut ids = Self { ascii: [NONE; 128], others: FlatMap::with_capacity(0) };
        for (text, id) in texts {
            let mut chars = text.chars();
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
        fn char_ids_matches_naive(
            tokens in prop::collection::vec("[a-d~\0é日🙂]{1,4}", 0..40),
            ids in prop::collection::vec(prop_oneof![0..99u32, Just(NONE)], 40),
            (prefix, suffix) in ("a?", "[bé]?"),
        ) {
            let mut vocab = Vocab::new();
            for (token, &id) in tokens.iter().zip(&ids) {
                vocab.insert(token, id);
            }
            let options = BpeOptions {
                continuing_subword_prefix: Some(prefix),
                end_of_word_suffix: Some(suffix),
                ..BpeOptions::default()
            };
            let (plain, affixed) = (SymbolIds::plain(CharIds::new(&vocab)), SymbolIds::affixed(&vocab, &options));
            for c in "abcde~\0éè日本🙂".chars() {
                for place in CharPlace::ALL {
                    prop_assert_eq!(plain.get(c, place), vocab.id(&c.to_string()));
                    let [prefix, suffix] = place.affixes(&options);
                    prop_assert_eq!(affixed.get(c, place), vocab.id(&format!("{prefix}{c}{suffix}")));
                }
            }
        }
    }
}
