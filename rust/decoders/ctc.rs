//! From the labels of connectionist temporal classification to text (Graves et al. 2006).

use super::Pieces;

/// What stands for a gap and for a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ctc {
    /// The label of a gap, between two of the same letter too.
    pub pad_token: String,
    /// The label between words.
    pub word_delimiter_token: String,
    /// Whether spaces before punctuation and in English contractions go, and words are parted by spaces.
    pub cleanup: bool,
}

impl Default for Ctc {
    fn default() -> Self {
        Self { pad_token: "<pad>".to_owned(), word_delimiter_token: "|".to_owned(), cleanup: true }
    }
}

impl Ctc {
    /// Labels that are repeated count once; gaps go.
    pub(super) fn decode(&self, tokens: &Pieces) -> Pieces {
        let mut decoded = tokens.empty();
        let mut last = None;
        for token in tokens.iter().filter(|&token| last.replace(token) != Some(token)) {
            let mut text = token.replace(&self.pad_token, "");
            if self.cleanup {
                text = super::cleanup::cleanup(&text).replace(&self.word_delimiter_token, " ");
            }
            if !text.is_empty() {
                decoded.push_with(|out| out.push_str(&text));
            }
        }
        decoded
    }
}
