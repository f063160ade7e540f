//! The search for added tokens: one automaton for each layer of tokens, so that a new token costs no search for the old ones.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{Anchored, Input, Match};
use foldhash::fast::FixedState;

use super::AddedTokens;
use super::automaton::{Automaton, LeftmostLongest, Pattern};
use super::contents::Contents;
use super::layer::{Entry, Layer};
use crate::Result;
use crate::scan::classes::{Class, WORD};

/// The two searches of a tokenizer: on the original text, then on the normalized rest.
#[derive(Clone, Debug, Default)]
pub struct Matchers {
    /// Tokens with `normalized` off.
    pub original: Matcher,
    /// Tokens with `normalized` on.
    pub normalized: Matcher,
    layers: Vec<(Arc<Layer>, Arc<CompiledLayer>)>,
}

/// The automata of one layer of tokens.
#[derive(Debug)]
struct CompiledLayer {
    original: Option<Arc<Automaton>>,
    normalized: Option<Arc<Automaton>>,
    /// Normalized contents, where they differ from the contents.
    spellings: HashMap<u32, String, FixedState>,
    /// Facts about the normalized contents.
    contents: Contents,
}

impl Matchers {
    /// Compiles the search for `added`; layers that `known` has searched for with the same `normalize` are not compiled again.
    pub(super) fn new(
        added: &AddedTokens,
        known: Option<&Self>,
        normalize: impl Fn(&str) -> Result<String>,
    ) -> Result<Self> {
        let known = known.map_or(&[][..], |known| &known.layers);
        let mut layers = Vec::with_capacity(added.layers.len());
        for layer in &added.layers {
            let compiled = match known.iter().find(|(known, _)| Arc::ptr_eq(known, layer)) {
                Some((_, compiled)) => Arc::clone(compiled),
                None => Arc::new(CompiledLayer::new(layer, &normalize)?),
            };
            layers.push((Arc::clone(layer), compiled));
        }
        let matcher = |automaton: fn(&CompiledLayer) -> &Option<Arc<Automaton>>| {
            Matcher::new(layers.iter().filter_map(|(_, layer)| automaton(layer).clone()).collect())
        };
        Ok(Self {
            original: matcher(|layer| &layer.original),
            normalized: matcher(|layer| &layer.normalized),
            layers,
        })
    }

    /// The same search; with `encode_special`, special tokens found in text are left to the model.
    #[must_use]
    pub fn leaving_special(mut self, encode_special: bool) -> Self {
        self.original.leaves_special = encode_special;
        self.normalized.leaves_special = encode_special;
        self
    }

    /// True if special tokens found in text are left to the model.
    pub fn leaves_special(&self) -> bool {
        self.original.leaves_special
    }

    /// True if there are added tokens.
    pub fn has_tokens(&self) -> bool {
        !(self.original.is_empty() && self.normalized.is_empty())
    }

    /// The normalized content of token `id`, where it differs from the content: so Hugging Face spells the id.
    pub fn spelling(&self, id: u32) -> Option<&str> {
        self.layers.iter().find_map(|(_, layer)| layer.spellings.get(&id)).map(String::as_str)
    }

    /// Facts about the texts that are looked for in normalized text.
    pub fn normalized_contents(&self) -> Contents {
        self.layers.iter().fold(Contents::default(), |all, (_, layer)| all | layer.contents)
    }

    /// The texts that are looked for in normalized text.
    pub fn normalized_texts(&self) -> impl Iterator<Item = &str> {
        self.layers.iter().flat_map(|(layer, compiled)| {
            let tokens = layer.iter().filter(|(_, entry)| entry.token.normalized);
            tokens.map(|(id, entry)| compiled.spellings.get(&id).unwrap_or(&entry.token.content).as_str())
        })
    }

    /// True if both certainly find the same tokens in normalized text.
    pub fn find_same_normalized(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.normalized, &other.normalized);
        let leave_same = ours.leaves_special == theirs.leaves_special || !self.normalized_contents().special;
        let are_same =
            ours.automata.iter().zip(&theirs.automata).all(|(ours, theirs)| Arc::ptr_eq(ours, theirs));
        leave_same && ours.automata.len() == theirs.automata.len() && are_same
    }

    /// True if a token that stands somewhere in `text` may begin, end or have characters in `range`.
    pub fn touch(&self, text: &str, range: Range<usize>) -> bool {
        self.original.touches(text, range.clone()) || self.normalized.touches(text, range)
    }
}

impl CompiledLayer {
    fn new(layer: &Layer, normalize: impl Fn(&str) -> Result<String>) -> Result<Self> {
        let (mut original, mut normalized, mut spellings) = (Vec::new(), Vec::new(), HashMap::default());
        let mut contents = Contents::default();
        for (id, entry) in layer.sorted() {
            let Entry { token, is_special } = entry;
            let pattern = Pattern {
                id,
                is_special: *is_special,
                single_word: token.single_word,
                lstrip: token.lstrip,
                rstrip: token.rstrip,
            };
            if token.normalized {
                let text = normalize(&token.content)?;
                if text != token.content {
                    spellings.insert(id, text.clone());
                }
                contents = contents | Contents::of(token, *is_special, &text);
                normalized.push((text, pattern));
            } else {
                original.push((token.content.clone(), pattern));
            }
        }
        let (original, normalized) = (Automaton::new(original)?, Automaton::new(normalized)?);
        Ok(Self { original, normalized, spellings, contents })
    }
}

/// Finds added tokens in text: leftmost first, of these the longest, of equal texts the one with the lowest id.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    automata: Vec<Arc<Automaton>>,
    /// Length in bytes of the longest text looked for.
    longest: usize,
    /// Special tokens are found, so that nothing else is in their place, and then left alone.
    leaves_special: bool,
}

/// A piece of text: an added token, or text between such tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The added token found here.
    pub token: Option<u32>,
}

impl Matcher {
    fn new(automata: Vec<Arc<Automaton>>) -> Self {
        let longest = automata.iter().map(|automaton| automaton.longest).max().unwrap_or_default();
        Self { automata, longest, leaves_special: false }
    }

    /// True if there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.automata.is_empty()
    }

    /// True if a text that is looked for holds `c`.
    pub fn has_char(&self, c: char) -> bool {
        self.automata.iter().any(|automaton| automaton.chars.contains(&c))
    }

    /// Length in bytes of the longest text looked for, if there is any.
    pub fn longest(&self) -> Option<usize> {
        (!self.is_empty()).then_some(self.longest)
    }

    /// True if one of the tokens is in `text`.
    pub fn is_in(&self, text: &str) -> bool {
        self.automata.iter().any(|automaton| automaton.search.is_match(text))
            && self.segments(text, &mut |segment| segment.token.map_or(Ok(()), |_| Err(()))).is_err()
    }

    fn touches(&self, text: &str, range: Range<usize>) -> bool {
        (range.start.saturating_sub(self.longest)..=range.end).filter(|&at| text.is_char_boundary(at)).any(
            |start| {
                // Of the tokens that begin here the longest reaches furthest.
                let here = Input::new(text).range(start..).anchored(Anchored::Yes);
                let reaches = |automaton: &Arc<Automaton>| {
                    automaton.search.find(here.clone()).is_some_and(|found| found.end() >= range.start)
                };
                self.automata.iter().any(reaches)
            },
        )
    }

    /// Calls `each` for every segment of `text`, left to right.
    ///
    /// # Errors
    /// The errors of `each`.
    pub fn segments<E>(
        &self,
        text: &str,
        each: &mut dyn FnMut(Segment) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match &self.automata[..] {
            [] => self.cut(text, std::iter::empty(), each),
            [only] => {
                let found = only.search.find_iter(text);
                self.cut(text, found.map(|found| (found, only.pattern(&found))), each)
            }
            several => self.cut(text, LeftmostLongest::new(several, text), each),
        }
    }

    fn cut<'a, E>(
        &self,
        text: &str,
        found: impl Iterator<Item = (Match, &'a Pattern)>,
        each: &mut dyn FnMut(Segment) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut done = 0;
        for (found, pattern) in found {
            let (mut start, mut end) = (found.start(), found.end());
            if (self.leaves_special && pattern.is_special)
                || (pattern.single_word && touches_word(text, start, end))
            {
                continue;
            }
            if pattern.lstrip {
                // White space that the token before has taken stays with it.
                start = text[..start].trim_end().len().max(done);
            }
            if pattern.rstrip {
                end += text[end..].len() - text[end..].trim_start().len();
            }
            if start >= end {
                // All of it went to the token before.
                continue;
            }
            if done < start {
                each(Segment { start: done, end: start, token: None })?;
            }
            each(Segment { start, end, token: Some(pattern.id) })?;
            done = end;
        }
        if done < text.len() {
            each(Segment { start: done, end: text.len(), token: None })?;
        }
        Ok(())
    }
}

fn touches_word(text: &str, start: usize, end: usize) -> bool {
    let is_word = |c| Class::of(c).is(WORD);
    text[..start].chars().next_back().is_some_and(is_word) || text[end..].chars().next().is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::AddedToken;
    use super::*;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    fn segments(tokens: &[AddedToken], text: &str) -> Vec<(String, Option<u32>)> {
        let mut added = AddedTokens::default();
        added.add(tokens, &Vocab::new());
        let matchers = added.matchers(None, false, |content| Ok(content.to_owned())).expect("a few tokens");
        let mut found = Vec::new();
        let mut each = |segment: Segment| {
            found.push((text[segment.start..segment.end].to_owned(), segment.token));
            Ok::<(), ()>(())
        };
        matchers.original.segments(text, &mut each).expect("never fails");
        found
    }

    fn some(parts: &[(&str, Option<u32>)]) -> Vec<(String, Option<u32>)> {
        parts.iter().map(|&(text, id)| (text.to_owned(), id)).collect()
    }

    #[test]
    fn the_longest_of_the_leftmost_wins() {
        let tokens = [AddedToken::new("<a>", true), AddedToken::new("<a><b>", true)];
        assert_eq!(segments(&tokens, "x<a><b>y"), some(&[("x", None), ("<a><b>", Some(1)), ("y", None)]));
    }

    #[test]
    fn a_single_word_does_not_touch_word_characters() {
        let tokens = [AddedToken { single_word: true, ..AddedToken::new("cat", true) }];
        assert_eq!(segments(&tokens, "cats"), some(&[("cats", None)]));
        assert_eq!(segments(&tokens, "a cat"), some(&[("a ", None), ("cat", Some(0))]));
    }

    #[test]
    fn stripping_takes_white_space_once() {
        let tokens = [AddedToken { lstrip: true, rstrip: true, ..AddedToken::new("<m>", true) }];
        let expected = some(&[("a", None), (" <m>  ", Some(0)), ("<m>", Some(0)), ("b", None)]);
        assert_eq!(segments(&tokens, "a <m>  <m>b"), expected);
    }

    /// Tokens that overlap, contain and repeat one another.
    fn any_token() -> impl Strategy<Value = AddedToken> {
        ("[ab]{1,3}|[ab] |A", any::<[bool; 4]>()).prop_map(
            |(content, [single_word, lstrip, normalized, special])| AddedToken {
                single_word,
                lstrip,
                normalized,
                ..AddedToken::new(content, special)
            },
        )
    }

    fn found(matchers: &Matchers, text: &str) -> Vec<Segment> {
        let mut segments = Vec::new();
        for matcher in [&matchers.original, &matchers.normalized] {
            let mut each = |segment| {
                segments.push(segment);
                Ok::<(), ()>(())
            };
            matcher.segments(text, &mut each).expect("never fails");
        }
        segments
    }

    proptest! {
        #![proptest_config(cases(2000))]

        /// A search that is compiled again after each call finds the same tokens as a search that is compiled once, after the last call.
        #[test]
        fn layers_match_naive(
            calls in prop::collection::vec(prop::collection::vec(any_token(), 0..4), 0..6),
            texts in prop::collection::vec("[abA ]{0,12}", 1..4),
            encode_special in any::<bool>(),
            (start, len) in (0..12usize, 0..3usize),
        ) {
            let vocab = Vocab::from_tokens(["a", "bb"]);
            let lowercase = |content: &str| Ok(content.to_lowercase());
            let (mut added, mut naive) = (AddedTokens::default(), AddedTokens::default());
            let mut matchers = Matchers::default();
            for tokens in &calls {
                prop_assert_eq!(added.add(tokens, &vocab), naive.add(tokens, &vocab));
                matchers = added.matchers(Some(&matchers), false, lowercase).expect("a few tokens");
            }
            prop_assert_eq!(added.sorted(), naive.sorted());
            prop_assert_eq!(added.len(), naive.len());
            let matchers = matchers.leaving_special(encode_special);
            let naive = naive.matchers(None, encode_special, lowercase).expect("a few tokens");
            for (id, _) in added.sorted() {
                prop_assert_eq!(matchers.spelling(id), naive.spelling(id));
            }
            for text in texts {
                prop_assert_eq!(found(&matchers, &text), found(&naive, &text));
                let range = start.min(text.len())..(start + len).min(text.len());
                prop_assert_eq!(matchers.touch(&text, range.clone()), naive.touch(&text, range));
            }
        }
    }
}
