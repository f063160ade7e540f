//! Tokens that are cut out of the text before any other stage sees it.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};

use crate::scan::is_word;
use crate::vocab::Vocab;
use crate::{Error, Result};

/// A token outside the model's own; the names are Hugging Face's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "five independent options of the file format")]
pub struct AddedToken {
    /// The text to find.
    pub content: String,
    /// Only between characters that are not word characters.
    pub single_word: bool,
    /// Takes the white space before it.
    pub lstrip: bool,
    /// Takes the white space after it.
    pub rstrip: bool,
    /// Looked for in normalized text rather than in the original.
    pub normalized: bool,
    /// Left out when decoding with `skip_special_tokens`.
    pub special: bool,
}

impl AddedToken {
    /// A token with all options off but `normalized`, which is on unless the token is special.
    pub fn new(content: impl Into<String>, special: bool) -> Self {
        Self {
            content: content.into(),
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: !special,
            special,
        }
    }
}

/// The added tokens of one tokenizer.
#[derive(Clone, Debug, Default)]
pub struct AddedTokens {
    by_content: HashMap<String, u32>,
    by_id: HashMap<u32, AddedToken>,
    /// In the order in which they were added.
    ids: Vec<u32>,
}

impl AddedTokens {
    /// Adds tokens; returns how many are new.
    ///
    /// A token that model or added tokens know already keeps its id; others take the next one after all.
    pub fn add(&mut self, tokens: &[AddedToken], vocab: &Vocab) -> usize {
        let mut added = 0;
        for token in tokens {
            let known = self.by_content.get(&token.content).and_then(|id| self.by_id.get(id));
            if token.content.is_empty() || known == Some(token) {
                continue;
            }
            if known.is_none() {
                added += 1;
            }
            let id = self.id(&token.content).or_else(|| vocab.id(&token.content));
            let id = id.unwrap_or_else(|| self.next_id(vocab));
            self.insert(token.clone(), id);
        }
        added
    }

    fn next_id(&self, vocab: &Vocab) -> u32 {
        let bound = vocab.len() as u32;
        match self.by_content.values().max() {
            Some(&max) if max >= bound || bound == 0 => max + 1,
            _ => bound,
        }
    }

    fn insert(&mut self, token: AddedToken, id: u32) {
        self.by_content.insert(token.content.clone(), id);
        if self.by_id.insert(id, token).is_none() {
            self.ids.push(id);
        }
    }

    /// The id of the added token with this content.
    pub fn id(&self, content: &str) -> Option<u32> {
        self.by_content.get(content).copied()
    }

    /// The added token with this id.
    pub fn get(&self, id: u32) -> Option<&AddedToken> {
        self.by_id.get(&id)
    }

    /// Number of added tokens, those that the model's vocabulary holds too included.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Tokens with their ids by ascending id.
    pub fn sorted(&self) -> Vec<(u32, &AddedToken)> {
        let mut ids = self.ids.clone();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.by_id.get(&id).map(|token| (id, token))).collect()
    }

    /// Whether a special token has this content.
    pub fn is_special(&self, content: &str) -> bool {
        self.id(content).and_then(|id| self.get(id)).is_some_and(|token| token.special)
    }

    /// Compiles the search for these tokens.
    ///
    /// `normalize` gives the form in which a token with `normalized` is looked for.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the tokens are too many or too long for one automaton.
    pub fn matchers(&self, skip_special: bool, normalize: impl Fn(&str) -> Result<String>) -> Result<Matchers> {
        let mut original = Vec::new();
        let mut normalized = Vec::new();
        for (id, token) in self.sorted() {
            if skip_special && token.special {
                continue;
            }
            if token.normalized {
                normalized.push((normalize(&token.content)?, id, token.clone()));
            } else {
                original.push((token.content.clone(), id, token.clone()));
            }
        }
        Ok(Matchers { original: Matcher::new(original)?, normalized: Matcher::new(normalized)? })
    }
}

/// The two searches of a tokenizer: on the original text, then on what normalization made of the rest.
#[derive(Clone, Debug, Default)]
pub struct Matchers {
    /// Tokens with `normalized` off.
    pub original: Matcher,
    /// Tokens with `normalized` on.
    pub normalized: Matcher,
}

/// Finds added tokens in text: leftmost first, of these the longest.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    automaton: Option<AhoCorasick>,
    tokens: Vec<(u32, AddedToken)>,
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
    fn new(tokens: Vec<(String, u32, AddedToken)>) -> Result<Self> {
        let tokens: Vec<_> = tokens.into_iter().filter(|(content, ..)| !content.is_empty()).collect();
        if tokens.is_empty() {
            return Ok(Self::default());
        }
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens.iter().map(|(content, ..)| content))
            .map_err(|error| Error::InvalidOption {
                name: "added tokens",
                value: format!("{} tokens", tokens.len()),
                expected: format!("searchable by one automaton ({error})"),
            })?;
        let tokens = tokens.into_iter().map(|(_, id, token)| (id, token)).collect();
        Ok(Self { automaton: Some(automaton), tokens })
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    /// Calls `each` for every segment of `text`, left to right.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn segments<E>(
        &self,
        text: &str,
        mut each: impl FnMut(Segment) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut done = 0;
        if let Some(automaton) = &self.automaton {
            for found in automaton.find_iter(text) {
                let (id, token) = &self.tokens[found.pattern().as_usize()];
                let (mut start, mut end) = (found.start(), found.end());
                if token.single_word && touches_word(text, start, end) {
                    continue;
                }
                if token.lstrip {
                    // White space that the token before has taken stays with it.
                    start = text[..start].trim_end().len().max(done);
                }
                if token.rstrip {
                    end += text[end..].len() - text[end..].trim_start().len();
                }
                if done < start {
                    each(Segment { start: done, end: start, token: None })?;
                }
                each(Segment { start, end, token: Some(*id) })?;
                done = end;
            }
        }
        if done < text.len() {
            each(Segment { start: done, end: text.len(), token: None })?;
        }
        Ok(())
    }
}

fn touches_word(text: &str, start: usize, end: usize) -> bool {
    text[..start].chars().next_back().is_some_and(is_word) || text[end..].chars().next().is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(tokens: &[AddedToken], text: &str) -> Vec<(String, Option<u32>)> {
        let mut added = AddedTokens::default();
        added.add(tokens, &Vocab::new());
        let matchers = added.matchers(false, |content| Ok(content.to_owned())).expect("a few tokens");
        let mut found = Vec::new();
        let each = |segment: Segment| {
            found.push((text[segment.start..segment.end].to_owned(), segment.token));
            Ok::<(), ()>(())
        };
        matchers.original.segments(text, each).expect("never fails");
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
}
