//! Facts about the texts that a search looks for: they decide if text may be cut before the search.

use std::ops::BitOr;

use super::AddedToken;
use crate::metaspace::VISIBLE_SPACE;
use crate::scan::spaces::{SpacedWords, Spaces};
use crate::scan::{Scan, Splitter};

/// Facts about texts that are looked for; each holds if it holds of any text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that each hold or not, whatever the others")]
pub struct Contents {
    /// The text around a token decides if the token is found, and how far the token reaches: `single_word`, `lstrip`, `rstrip`.
    pub look_around: bool,
    /// A special token, which the search may have to leave alone.
    pub special: bool,
    /// White space.
    pub white_space: bool,
    /// U+2581.
    pub visible_space: bool,
    /// Text that BERT's pre-tokenizer cuts.
    pub bert_cuts: bool,
    /// A run of U+2581 after another character.
    pub inner_visible_space: bool,
    /// Such a run, or a letter beside a symbol of ASCII.
    pub word_cuts: bool,
}

impl Contents {
    /// The facts about one token, which is looked for as `text`.
    pub(super) fn of(token: &AddedToken, is_special: bool, text: &str) -> Self {
        let mut is_bert_word = false;
        Splitter::Bert.for_each_span(text, |start, end| is_bert_word |= end - start == text.len());
        Self {
            look_around: token.single_word || token.lstrip || token.rstrip,
            special: is_special,
            white_space: text.contains(char::is_whitespace),
            visible_space: text.contains(VISIBLE_SPACE),
            bert_cuts: !is_bert_word,
            inner_visible_space: !is_spaced::<Spaces>(text),
            word_cuts: !is_spaced::<SpacedWords>(text),
        }
    }
}

/// True if `text` is one span of `S`, a scanner of words that begin with spaces. U+2581 counts as a space.
fn is_spaced<S: Scan>(text: &str) -> bool {
    let spaced = text.replace(VISIBLE_SPACE, " ");
    !spaced.is_empty() && S::advance(&spaced, 0) == spaced.len()
}

impl BitOr for Contents {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self {
            look_around: self.look_around || other.look_around,
            special: self.special || other.special,
            white_space: self.white_space || other.white_space,
            visible_space: self.visible_space || other.visible_space,
            bert_cuts: self.bert_cuts || other.bert_cuts,
            inner_visible_space: self.inner_visible_space || other.inner_visible_space,
            word_cuts: self.word_cuts || other.word_cuts,
        }
    }
}
