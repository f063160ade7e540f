//! Bytes after which a pre-token may be cut before a space without changing its ids.

use super::Bpe;
use super::spelled::Spelled;
use crate::byte_level::BYTE_TO_CHAR;

impl Bpe {
    /// For each byte: true if a pre-token may be cut between the byte and a space after it, and both parts keep their ids. None if
    /// nothing is known. Pre-tokens are made of mapped bytes.
    ///
    /// A merge makes a token. So no merge crosses the cut if no token holds the two bytes side by side. With `ignore_merges`, a
    /// pre-token that is a token is taken whole. The whole pre-token is no token, since it holds both bytes. A part may be a token only
    /// if merges make that token too. Each part ends with the byte or begins with the space.
    pub fn apart_from_space(&self) -> Option<[bool; 256]> {
        self.apart_from_space_of(|_| true)
    }

    /// The same for merges of which `is_made` tells the ids that they make.
    pub(super) fn apart_from_space_of(&self, is_made: impl Fn(u32) -> bool) -> Option<[bool; 256]> {
        let has_token = |c: &char| self.vocab.id(c.encode_utf8(&mut [0; 4])).is_some();
        let is_spelled = self.has_plain_symbols() && self.pieces.is_none() && !self.vocab.shares_ids();
        if !is_spelled || !self.is_deterministic() || !BYTE_TO_CHAR.iter().all(has_token) {
            return None;
        }
        let derivations = if self.depends_on_context() { Some(self.derivations()?.0) } else { None };
        let mut are_apart = [true; 256];
        for (token, id) in Spelled::new(&self.vocab).iter().filter(|&(_, id)| is_made(id)) {
            for (&left, &right) in token.iter().zip(&token[1..]) {
                if right == b' ' {
                    are_apart[usize::from(left)] = false;
                }
            }
            if derivations.as_ref().is_some_and(|derivations| !derivations.is_made(id)) {
                if token[0] == b' ' {
                    return None;
                }
                are_apart[usize::from(token[token.len() - 1])] = false;
            }
        }
        Some(are_apart)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::{BpeOptions, Scratch};
    use super::*;
    use crate::byte_level::push_mapped;
    use crate::models::Tokens;
    use crate::vocab::Vocab;

    /// All bytes, random merges of a few, and words that no merge makes.
    fn any_bpe() -> impl Strategy<Value = Bpe> {
        let choices = prop::collection::vec((any::<usize>(), any::<usize>()), 0..12);
        let words = prop::collection::vec("Ġ?[ab.]{2,3}", 0..2);
        (choices, words, any::<bool>()).prop_map(|(choices, words, ignore_merges)| {
            let mut tokens: Vec<String> = BYTE_TO_CHAR.iter().map(char::to_string).collect();
            let mut known: Vec<usize> = b" ab.".iter().map(|&byte| usize::from(byte)).collect();
            let mut pairs = Vec::new();
            for (left, right) in choices {
                let (left, right) = (known[left % known.len()], known[right % known.len()]);
                let made = tokens[left].clone() + &tokens[right];
                if !tokens.contains(&made) {
                    pairs.push(((left as u32, right as u32), tokens.len() as u32));
                    known.push(tokens.len());
                    tokens.push(made);
                }
            }
            for word in words {
                if !tokens.contains(&word) {
                    tokens.push(word);
                }
            }
            let options = BpeOptions { ignore_merges, ..BpeOptions::default() };
            Bpe::from_pairs(Arc::new(Vocab::from_tokens(&tokens)), &pairs, options).expect("valid")
        })
    }

    fn encode(bpe: &Bpe, text: &str) -> Vec<u32> {
        let (mut mapped, mut tokens) = (String::new(), Tokens::default());
        push_mapped(text.as_bytes(), &mut mapped);
        bpe.encode_word(&mapped, &mut Scratch::default(), &mut tokens).expect("all bytes are known");
        tokens.ids
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn parts_before_spaces_are_encoded_apart(
            bpe in any_bpe(),
            texts in prop::collection::vec("[ab. ]{1,16}", 1..8),
        ) {
            let Some(are_apart) = bpe.apart_from_space() else { return Ok(()) };
            for text in &texts {
                let (mut parts, mut start) = (Vec::new(), 0);
                for at in 1..text.len() {
                    if text.as_bytes()[at] == b' ' && are_apart[usize::from(text.as_bytes()[at - 1])] {
                        parts.extend(encode(&bpe, &text[start..at]));
                        start = at;
                    }
                }
                parts.extend(encode(&bpe, &text[start..]));
                prop_assert_eq!(parts, encode(&bpe, text), "{:?}", text);
            }
        }
    }
}
