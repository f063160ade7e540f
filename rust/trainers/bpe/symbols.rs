//! The ids of characters: plain, and with the prefix or suffix of their places in a word.

use std::collections::BTreeSet;

use super::BpeTrainer;
use super::token_words::char_of;
use super::tokens::Tokens;
use crate::Result;
use crate::trainers::word_counts::{WordSource, read_all};
use crate::vocab::Vocab;

/// In place of an id: the character is not in the alphabet.
const ABSENT: u32 = u32::MAX;

/// Characters, by code point.
pub(super) struct Alphabet {
    /// All characters with a count.
    pub(super) present: Vec<char>,
    /// The characters that the limit of the alphabet keeps.
    pub(super) kept: Vec<char>,
}

/// The symbols of each character, in four tables: plain, with prefix, with suffix, with both.
pub(super) struct Symbols<'a> {
    by_place: [Vec<u32>; 4],
    prefix: &'a str,
    suffix: &'a str,
}

impl<'s> Symbols<'s> {
    pub(super) fn of(trainer: &'s BpeTrainer) -> Self {
        Self {
            by_place: Default::default(),
            prefix: trainer.continuing_subword_prefix.as_deref().unwrap_or_default(),
            suffix: trainer.end_of_word_suffix.as_deref().unwrap_or_default(),
        }
    }

    /// The tokens of one character, without affixes.
    pub(super) fn of_tokens(vocab: &Vocab) -> Symbols<'static> {
        let mut plain = Vec::new();
        for (token, id) in vocab.iter() {
            let mut characters = token.chars();
            if let (Some(character), None) = (characters.next(), characters.next()) {
                let at = character as usize;
                plain.resize(plain.len().max(at + 1), ABSENT);
                plain[at] = id;
            }
        }
        // Words may have any character.
        plain.resize(char::MAX as usize + 1, ABSENT);
        Symbols { by_place: [plain, Vec::new(), Vec::new(), Vec::new()], prefix: "", suffix: "" }
    }

    /// Interns the alphabet, then the affixed characters of each corpus.
    pub(super) fn add_alphabet(
        &mut self,
        alphabet: &Alphabet,
        corpora: &[&dyn WordSource],
        tokens: &mut Tokens,
    ) -> Result<()> {
        for character in &alphabet.kept {
            tokens.intern(character.encode_utf8(&mut [0; 4]));
        }
        self.add_plain(&alphabet.present, tokens);
        corpora.iter().try_for_each(|&words| self.add_affixed(words, tokens))
    }

    /// Fills the table of plain characters, and clears the others.
    fn add_plain(&mut self, present: &[char], tokens: &mut Tokens) {
        let size = present.last().map_or(0, |&character| character as usize + 1);
        let mut plain = vec![ABSENT; size];
        if self.have_affixes() {
            self.by_place[1..].fill(vec![ABSENT; size]);
        }
        for &character in present {
            // A special token of one character stands for that character even if the alphabet drops it.
            if let Some(id) = tokens.get(character.encode_utf8(&mut [0; 4])) {
                plain[character as usize] = id;
                tokens.mark_in_use(id);
            }
        }
        self.by_place[0] = plain;
    }

    /// Reads words as [token words](super::token_words::char_of): each character stands for the token of its id, below `ids`.
    pub(super) fn add_tokens(&mut self, ids: usize) {
        let characters = (0..ids as u32).map_while(char_of);
        let size = characters.clone().last().map_or(0, |last| last as usize + 1);
        let mut plain = vec![ABSENT; size];
        for (character, id) in characters.zip(0..) {
            plain[character as usize] = id;
        }
        self.by_place = [plain, Vec::new(), Vec::new(), Vec::new()];
    }

    /// Finds the affixed characters that are tokens already.
    pub(super) fn find_affixed(&mut self, words: &dyn WordSource, tokens: &Tokens) -> Result<()> {
        if !self.have_affixes() {
            return Ok(());
        }
        read_all(words, |word, count| {
            for (place, character) in self.places(word).filter(|_| count > 0) {
                if let Some(id) = tokens.get(&self.spelling(place, character)) {
                    self.by_place[place][character as usize] = id;
                }
            }
        })
    }

    /// True if each character of a word has an id in its place.
    pub(super) fn has_all(&self, word: &str) -> bool {
        self.of_word(word).count() == word.chars().count()
    }

    /// Interns the affixed characters in order of first appearance.
    fn add_affixed(&mut self, words: &dyn WordSource, tokens: &mut Tokens) -> Result<()> {
        if !self.have_affixes() {
            return Ok(());
        }
        read_all(words, |word, count| {
            for (place, character) in self.places(word).filter(|_| count > 0) {
                if self.by_place[0][character as usize] == ABSENT
                    || self.by_place[place][character as usize] != ABSENT
                {
                    continue;
                }
                let id = tokens.intern(&self.spelling(place, character));
                tokens.mark_in_use(id);
                self.by_place[place][character as usize] = id;
            }
        })
    }

    /// Interns the symbols of the words and the initial alphabet, sorted as strings.
    pub(super) fn add_sorted(
        &mut self,
        trainer: &BpeTrainer,
        alphabet: &Alphabet,
        words: &dyn WordSource,
        tokens: &mut Tokens,
    ) -> Result<()> {
        let Alphabet { present, kept } = alphabet;
        let size = present.last().map_or(0, |&character| character as usize + 1);
        self.by_place.fill(vec![ABSENT; size]);
        // As with `Numbering::Alphabet`, a special token of one character keeps that character.
        let is_kept = |character: &char| {
            kept.binary_search(character).is_ok() || tokens.get(character.encode_utf8(&mut [0; 4])).is_some()
        };
        let initial =
            trainer.initial_alphabet.iter().filter(|character| kept.binary_search(character).is_ok());
        let mut texts: BTreeSet<String> = initial.map(char::to_string).collect();
        let mut seen = vec![0_u8; size];
        let mut found = Vec::new();
        read_all(words, |word, count| {
            let places = self.places(word).filter(|(_, character)| count > 0 && is_kept(character));
            for (place, character) in places {
                let seen = &mut seen[character as usize];
                if *seen >> place & 1 == 0 {
                    *seen |= 1 << place;
                    found.push((place, character, self.spelling(place, character)));
                }
            }
        })?;
        texts.extend(found.iter().map(|(.., text)| text.clone()));
        for text in &texts {
            tokens.intern(text);
        }
        for (place, character, text) in found {
            let id = tokens.intern(&text);
            tokens.mark_in_use(id);
            self.by_place[place][character as usize] = id;
        }
        Ok(())
    }

    fn spelling(&self, place: usize, character: char) -> String {
        let mut text = if place & 1 == 0 { String::new() } else { self.prefix.to_owned() };
        text.push(character);
        if place & 2 != 0 {
            text.push_str(self.suffix);
        }
        text
    }

    /// The characters of a word, each with the index of its table.
    #[inline]
    fn places<'a>(&self, word: &'a str) -> impl Iterator<Item = (usize, char)> + use<'a> {
        let (prefixed, suffixed) =
            (usize::from(!self.prefix.is_empty()), 2 * usize::from(!self.suffix.is_empty()));
        word.char_indices().map(move |(at, character)| {
            let continues = if at == 0 { 0 } else { prefixed };
            let ends = if at + character.len_utf8() == word.len() { suffixed } else { 0 };
            (continues | ends, character)
        })
    }

    /// The symbol of a character without affixes; none if the character is not in the alphabet.
    pub(super) fn plain(&self, character: char) -> Option<u32> {
        self.by_place[0].get(character as usize).copied().filter(|&id| id != ABSENT)
    }

    /// The characters of a word, each with its place and its symbol without affixes.
    #[inline]
    pub(super) fn of_places<'a>(
        &'a self,
        word: &'a str,
    ) -> impl Iterator<Item = (usize, Option<u32>)> + use<'a, 's> {
        word.char_indices().map(|(at, character)| (at, self.plain(character)))
    }

    pub(super) fn have_affixes(&self) -> bool {
        !self.prefix.is_empty() || !self.suffix.is_empty()
    }

    /// As [`Self::of_word`], for options without affixes.
    #[inline]
    pub(super) fn of_plain_word<'a>(&'a self, word: &'a str) -> impl Iterator<Item = u32> + use<'a, 's> {
        let plain = &self.by_place[0];
        word.chars().map(|character| plain[character as usize]).filter(|&id| id != ABSENT)
    }

    /// The symbols of a word, without characters outside the alphabet.
    #[inline]
    pub(super) fn of_word<'a>(&'a self, word: &'a str) -> impl Iterator<Item = u32> + use<'a, 's> {
        self.places(word)
            .map(|(place, character)| self.by_place[place][character as usize])
            .filter(|&id| id != ABSENT)
    }
}
