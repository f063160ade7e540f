//! Tokens that are cut out of the text before any other stage sees it.

use std::collections::{HashMap, HashSet};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Anchored, Input, MatchKind, StartKind};

use crate::scan::classes::{Class, WORD};
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
    /// Tokens whose id another one has taken since, by content; they are not looked for.
    shadowed: HashMap<String, AddedToken>,
    /// Contents that were ever added as special; adding them again as plain tokens does not take them out.
    special: HashSet<String>,
}

impl AddedTokens {
    /// Adds tokens; returns how many were new or changed.
    ///
    /// A token that added tokens or model know already keeps its id; others are numbered from the next id that
    /// was free before the call. Empty contents and exact repetitions are passed over.
    pub fn add(&mut self, tokens: &[AddedToken], vocab: &Vocab) -> usize {
        let mut added = 0;
        let mut next = self.next_id(vocab);
        for token in tokens {
            let known = self.by_content.get(&token.content).and_then(|id| self.by_id.get(id));
            if token.content.is_empty() || known == Some(token) {
                continue;
            }
            added += 1;
            let id = self.id(&token.content).or_else(|| vocab.id(&token.content));
            let id = id.unwrap_or_else(|| {
                next = next.saturating_add(1);
                next - 1
            });
            if token.special {
                self.special.insert(token.content.clone());
            }
            self.by_content.insert(token.content.clone(), id);
            self.shadowed.remove(&token.content);
            let before = self.by_id.insert(id, token.clone());
            if let Some(before) = before.filter(|before| before.content != token.content) {
                self.shadowed.insert(before.content.clone(), before);
            }
        }
        added
    }

    /// Hugging Face's rule: after the largest added id, unless the model has more tokens than that.
    ///
    /// A vocabulary with holes may hold the id already; then the added token is what the id means.
    fn next_id(&self, vocab: &Vocab) -> u32 {
        let size = vocab.len() as u32;
        match self.by_id.keys().max() {
            Some(&largest) if largest >= size || size == 0 => largest.saturating_add(1),
            _ => size,
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
        self.by_id.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Contents with their ids, by ascending id.
    pub fn contents(&self) -> Vec<(&str, u32)> {
        let mut contents: Vec<(&str, u32)> = Vec::with_capacity(self.by_content.len());
        contents.extend(self.by_content.iter().map(|(content, &id)| (content.as_str(), id)));
        contents.sort_unstable_by_key(|&(content, id)| (id, content));
        contents
    }

    /// Tokens with their ids, by ascending id.
    pub fn sorted(&self) -> Vec<(u32, &AddedToken)> {
        let mut tokens: Vec<_> = Vec::with_capacity(self.by_id.len());
        tokens.extend(self.by_id.iter().map(|(&id, token)| (id, token)));
        tokens.sort_unstable_by_key(|&(id, _)| id);
        tokens
    }

    /// Tokens with their ids in the order of files: those that are found, by ascending id.
    ///
    /// A token that is not found since another one has its id is listed before that one where it has to be: without it the tokens
    /// after it would be numbered otherwise when all are added to a model of `vocab` again.
    pub fn listed(&self, vocab: &Vocab) -> Vec<(u32, &AddedToken)> {
        let found = self.sorted();
        if self.shadowed.is_empty() || self.is_made_by(&found, vocab) {
            return found;
        }
        let mut all = found.clone();
        all.extend(self.shadowed.values().map(|token| (self.by_content[&token.content], token)));
        let is_shadowed = |token: &AddedToken| self.shadowed.contains_key(&token.content);
        all.sort_by_key(|&(id, token)| (id, !is_shadowed(token), &token.content));
        if self.is_made_by(&all, vocab) { all } else { found }
    }

    /// Whether each content has its id again when `tokens` alone are added to a model of `vocab`.
    fn is_made_by(&self, tokens: &[(u32, &AddedToken)], vocab: &Vocab) -> bool {
        let tokens: Vec<AddedToken> = tokens.iter().map(|&(_, token)| token.clone()).collect();
        let mut made = Self::default();
        made.add(&tokens, vocab);
        let id = |content: &str| made.id(content).or_else(|| vocab.id(content));
        self.by_content.iter().all(|(content, &known)| id(content) == Some(known))
    }

    /// Whether every token, wherever found, is spelled by the byte-level characters of its own bytes.
    pub fn are_own_bytes(&self) -> bool {
        let is_own = |token: &AddedToken| {
            !token.lstrip && !token.rstrip && token.content.bytes().all(|byte| byte.is_ascii_graphic())
        };
        self.by_id.values().all(is_own)
    }

    /// Whether a special token has this content.
    pub fn is_special(&self, content: &str) -> bool {
        self.special.contains(content)
    }

    /// Compiles the search for these tokens.
    ///
    /// With `encode_special`, special tokens found in text are left to the model.
    /// `normalize` gives the form in which a token with `normalized` is looked for.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the tokens are too many or too long for one automaton.
    pub fn matchers(
        &self,
        encode_special: bool,
        normalize: impl Fn(&str) -> Result<String>,
    ) -> Result<Matchers> {
        let mut original = Vec::new();
        let mut normalized = Vec::new();
        let mut spellings = HashMap::new();
        for (id, token) in self.sorted() {
            let is_skipped = encode_special && self.is_special(&token.content);
            let pattern = Pattern { id, is_skipped, token: token.clone() };
            if token.normalized {
                let text = normalize(&token.content)?;
                if text != token.content {
                    spellings.insert(id, text.clone());
                }
                normalized.push((text, pattern));
            } else {
                original.push((token.content.clone(), pattern));
            }
        }
        Ok(Matchers { original: Matcher::new(original)?, normalized: Matcher::new(normalized)?, spellings })
    }
}

/// The two searches of a tokenizer: on the original text, then on what normalization made of the rest.
#[derive(Clone, Debug, Default)]
pub struct Matchers {
    /// Tokens with `normalized` off.
    pub original: Matcher,
    /// Tokens with `normalized` on.
    pub normalized: Matcher,
    /// Normalized contents, where they differ from the contents: so Hugging Face spells these ids.
    pub spellings: HashMap<u32, String>,
}

impl Matchers {
    /// Whether a token that stands somewhere in `text` may lie across `boundary`, begin or end there.
    pub fn touch(&self, text: &str, boundary: usize) -> bool {
        self.original.touches(text, boundary) || self.normalized.touches(text, boundary)
    }
}

/// Finds added tokens in text: leftmost first, of these the longest.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    automaton: Option<AhoCorasick>,
    patterns: Vec<Pattern>,
    /// Length in bytes of the longest text looked for.
    longest: usize,
}

#[derive(Clone, Debug)]
struct Pattern {
    id: u32,
    /// It is found, so that nothing else is in its place, and then left alone.
    is_skipped: bool,
    token: AddedToken,
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
    /// Of patterns that look for the same text the first one counts.
    fn new(patterns: Vec<(String, Pattern)>) -> Result<Self> {
        let mut seen = HashSet::new();
        let is_new = |(text, _): &(String, Pattern)| !text.is_empty() && seen.insert(text.clone());
        let (texts, patterns): (Vec<_>, Vec<_>) = patterns.into_iter().filter(is_new).unzip();
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(StartKind::Both)
            .build(&texts)
            .map_err(|error| Error::InvalidOption {
                name: "added tokens",
                value: format!("{} tokens", patterns.len()),
                expected: format!("searchable by one automaton ({error})"),
            })?;
        let longest = texts.iter().map(String::len).max().unwrap_or_default();
        Ok(Self { automaton: Some(automaton), patterns, longest })
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    /// Length in bytes of the longest text looked for, if there is any.
    pub fn longest(&self) -> Option<usize> {
        self.automaton.as_ref().map(|_| self.longest)
    }

    fn touches(&self, text: &str, boundary: usize) -> bool {
        let Some(automaton) = &self.automaton else { return false };
        (boundary.saturating_sub(self.longest)..=boundary).filter(|&at| text.is_char_boundary(at)).any(
            |start| {
                // Of the tokens that begin here the longest reaches furthest.
                let here = Input::new(text).range(start..).anchored(Anchored::Yes);
                automaton.find(here).is_some_and(|found| found.end() >= boundary)
            },
        )
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
                let Pattern { id, is_skipped, token } = &self.patterns[found.pattern().as_usize()];
                let (mut start, mut end) = (found.start(), found.end());
                if *is_skipped || (token.single_word && touches_word(text, start, end)) {
                    continue;
                }
                if token.lstrip {
                    // White space that the token before has taken stays with it.
                    start = text[..start].trim_end().len().max(done);
                }
                if token.rstrip {
                    end += text[end..].len() - text[end..].trim_start().len();
                }
                if start >= end {
                    // All of it went to the token before.
                    continue;
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
    let is_word = |c| Class::of(c).is(WORD);
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
