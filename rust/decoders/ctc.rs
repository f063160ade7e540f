//! From the labels of connectionist temporal classification to text (Graves et al. 2006).

use super::Pieces;

/// The labels with a meaning of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ctc {
    /// The blank label, which also separates two equal letters.
    pub pad_token: String,
    /// The label between words.
    pub word_delimiter_token: String,
    /// True to remove spaces before punctuation and in English contractions, and to put spaces between words.
    pub cleanup: bool,
}

impl Default for Ctc {
    fn default() -> Self {
        Self { pad_token: "<pad>".to_owned(), word_delimiter_token: "|".to_owned(), cleanup: true }
    }
}

impl Ctc {
    /// Collapses repeated labels and removes blank labels.
    pub(super) fn decode(&self, tokens: &Pieces) -> Pieces {
        let mut decoded = tokens.empty();
        let mut last = None;
        for token in tokens.iter().filter(|&token| last.replace(token) != Some(token)) {
            let text = self.text(token);
            if !text.is_empty() {
                decoded.push_with(|out| out.push_str(&text));
            }
        }
        decoded
    }

    /// The text of one label.
    pub(super) fn text(&self, token: &str) -> String {
        let text = token.replace(&self.pad_token, "");
        if !self.cleanup {
            return text;
        }
        super::cleanup::cleanup(&text).replace(&self.word_delimiter_token, " ")
    }
}
