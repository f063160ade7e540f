//! Visible spaces made by a normalizer, as files of version 2.0 have them.

use crate::Result;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::normalized::{Normalized, PreTokenized};
use crate::pre_tokenizers::PreTokenizer;

/// Makes spaces visible without cutting the text.
///
/// The result is the pre-tokens of [`Metaspace`], joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaspaceNormalizer {
    /// The character that replaces a space.
    pub replacement: char,
    /// Where a replacement is added before the text, or with `drop_whitespace` before each word.
    pub prepend_scheme: PrependScheme,
    /// Drops all white space, and joins the words.
    pub drop_whitespace: bool,
}

impl MetaspaceNormalizer {
    pub(super) fn normalize(self, text: Normalized<'_>) -> Result<Normalized<'_>> {
        let Self { replacement, prepend_scheme, drop_whitespace } = self;
        let mut words = PreTokenized::new(text);
        if drop_whitespace {
            PreTokenizer::WhitespaceSplit.pre_tokenize(&mut words)?;
        }
        PreTokenizer::Metaspace(Metaspace { replacement, prepend_scheme, split: false })
            .pre_tokenize(&mut words)?;
        Ok(words.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(prepend_scheme: PrependScheme, drop_whitespace: bool, text: &str, start: usize) -> String {
        let stage = MetaspaceNormalizer { replacement: '▁', prepend_scheme, drop_whitespace };
        stage.normalize(Normalized::new(text, start, true)).expect("no regex").into_text().into_owned()
    }

    #[test]
    fn spaces_become_visible_and_nothing_else_changes() {
        for (scheme, expected) in [
            (PrependScheme::Always, "▁a▁▁b\tc"),
            (PrependScheme::First, "▁a▁▁b\tc"),
            (PrependScheme::Never, "a▁▁b\tc"),
        ] {
            assert_eq!(made(scheme, false, "a  b\tc", 0), expected);
        }
        assert_eq!(made(PrependScheme::First, false, "a b", 3), "a▁b");
        assert_eq!(made(PrependScheme::Always, false, " a", 0), "▁a");
        assert_eq!(made(PrependScheme::Always, false, "", 0), "");
    }

    #[test]
    fn words_are_joined_without_their_white_space() {
        for (scheme, expected) in [
            (PrependScheme::Always, "▁a▁b▁c"),
            (PrependScheme::First, "▁ab▁c"),
            (PrependScheme::Never, "ab▁c"),
        ] {
            assert_eq!(made(scheme, true, "a  b\t▁c\u{A0}", 0), expected);
        }
        assert_eq!(made(PrependScheme::First, true, " a b", 0), "ab");
        assert_eq!(made(PrependScheme::Always, true, " \t", 0), "");
    }
}
