//! SentencePiece's rewriting of text as one stage: the normalizer of models that the stages of Hugging Face cannot express,
//! and the rules of denormalization.
//!
//! Such a model has user-defined pieces, which no rule may touch, or white space after words instead of before them.
//! For all other models the stages `Precompiled`, `Replace` and `Prepend` do the same.

use std::ops::Range;
use std::sync::Arc;

use super::Charsmap;
use crate::growth::Growth;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::Normalized;
use crate::structures::byte_trie::ByteTrie;
use crate::{Error, Result};

/// Options of [`SentencePiece`], named as in SentencePiece's model file.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of the file")]
pub struct SentencePieceOptions {
    /// The rules; the longest match wins.
    pub charsmap: Option<Charsmap>,
    /// Texts that no rule touches; the longest match wins.
    pub user_defined_symbols: Vec<String>,
    /// Adds a space before the text (or after it, see `treat_whitespace_as_suffix`).
    pub add_dummy_prefix: bool,
    /// Strips spaces from the ends and collapses runs of spaces to one.
    pub remove_extra_whitespaces: bool,
    /// Writes spaces as U+2581.
    pub escape_whitespaces: bool,
    /// Adds the space of `add_dummy_prefix` after the text instead of before it.
    pub treat_whitespace_as_suffix: bool,
}

impl Default for SentencePieceOptions {
    fn default() -> Self {
        Self {
            charsmap: None,
            user_defined_symbols: Vec::new(),
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            treat_whitespace_as_suffix: false,
        }
    }
}

/// The rules with their treatment of spaces. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SentencePiece {
    options: Arc<SentencePieceOptions>,
    user_defined: Arc<ByteTrie>,
}

/// A new character and the range of the old text that it stands for.
type Placed = (char, Range<usize>);

impl SentencePiece {
    /// Builds the normalizer.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the user-defined symbols have more than 2^23 distinct prefixes.
    pub fn new(mut options: SentencePieceOptions) -> Result<Self> {
        options.user_defined_symbols.retain(|symbol| !symbol.is_empty());
        let mut keys: Vec<(&[u8], u32)> =
            options.user_defined_symbols.iter().map(|symbol| (symbol.as_bytes(), 0)).collect();
        keys.sort_unstable();
        keys.dedup();
        let user_defined = ByteTrie::new(&keys).ok_or_else(|| {
            Error::Unsupported(format!(
                "{} user-defined symbols have more than 2^23 distinct prefixes",
                keys.len()
            ))
        })?;
        Ok(Self { user_defined: Arc::new(user_defined), options: Arc::new(options) })
    }

    /// The options.
    pub fn options(&self) -> &SentencePieceOptions {
        &self.options
    }

    /// The next step at the front of `rest`: the number of bytes that it consumes, and the text that replaces them.
    fn step<'a>(&'a self, rest: &'a str) -> (usize, &'a str) {
        if let Some((_, len)) = self.user_defined.longest(rest.as_bytes()) {
            return (len, &rest[..len]);
        }
        if let Some(charsmap) = &self.options.charsmap
            && let Some((len, replacement)) = charsmap.longest(rest)
            && len > 0
            && rest.is_char_boundary(len)
        {
            return (len, replacement);
        }
        let len = rest.chars().next().map_or(0, char::len_utf8);
        (len, &rest[..len])
    }

    /// The normalized text; its alignment maps each new character to the step that made it.
    ///
    /// # Errors
    /// [`crate::Error::TextGrown`].
    pub(crate) fn normalize<'a>(&self, text: &Normalized<'_>, growth: Growth) -> Result<Normalized<'a>> {
        let options = &*self.options;
        let old = text.text();
        let space = if options.escape_whitespaces { VISIBLE_SPACE } else { ' ' };
        let mut at = 0;
        if options.remove_extra_whitespaces {
            while let (len @ 1.., " ") = self.step(&old[at..]) {
                at += len;
            }
        }
        let (mut rewrite, mut made) = (text.rewrite(), 0);
        // A run of spaces may turn out to be at the end of the text, so spaces wait here. Everything else is written at
        // once, since a list of all characters would be far longer than the text.
        let mut spaces: Vec<Placed> = Vec::new();
        let mut place = |c: char, source: Range<usize>| {
            if options.remove_extra_whitespaces && c == space {
                spaces.push((c, source));
                return;
            }
            for (c, source) in spaces.drain(..) {
                rewrite.push(c, source);
            }
            rewrite.push(c, source);
        };
        let is_empty = at == old.len();
        if let Some(first) = old[at..].chars().next()
            && options.add_dummy_prefix
            && !options.treat_whitespace_as_suffix
        {
            place(space, at..at + first.len_utf8());
        }
        let mut is_after_space = options.remove_extra_whitespaces;
        while at < old.len() {
            let (len, mut new) = self.step(&old[at..]);
            if is_after_space {
                new = new.trim_start_matches(' ');
            }
            let visible = |c: char| if c == ' ' { space } else { c };
            made += new.len();
            growth.check(made)?;
            new.chars().for_each(|c| place(visible(c), at..at + len));
            if !new.is_empty() {
                is_after_space = options.remove_extra_whitespaces && new.ends_with(' ');
            }
            at += len;
        }
        if !is_empty && options.add_dummy_prefix && options.treat_whitespace_as_suffix {
            let last = old.chars().next_back().map_or(0, char::len_utf8);
            rewrite.push(space, old.len() - last..old.len());
        }
        Ok(rewrite.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalize(options: SentencePieceOptions, text: &str) -> String {
        let stage = SentencePiece::new(options).expect("few symbols");
        let made = stage.normalize(&Normalized::new(text, 0, true), Growth::of(text.len()));
        made.expect("it hardly grows").text().to_owned()
    }

    #[test]
    fn spaces_go_from_the_ends_and_one_is_left_of_several() {
        let options = SentencePieceOptions::default;
        let cases = [
            ("", ""),
            ("  ", ""),
            (" a  b ", "▁a▁b"),
            ("▁", ""),
            ("a▁ ", "▁a"),
            ("▁ a", "▁▁▁a"),
            (" a ▁▁ b▁ ▁ ", "▁a▁▁▁▁b"),
        ];
        for (text, expected) in cases {
            assert_eq!(normalize(options(), text), expected, "{text:?}");
        }
        let as_it_is = SentencePieceOptions { remove_extra_whitespaces: false, ..options() };
        assert_eq!(normalize(as_it_is, " a  b "), "▁▁a▁▁b▁");
        let after = SentencePieceOptions { treat_whitespace_as_suffix: true, ..options() };
        assert_eq!(normalize(after.clone(), " a  b "), "a▁b▁");
        assert_eq!(normalize(after, "  "), "");
    }

    #[test]
    fn the_longest_symbol_at_a_place_is_kept() {
        let user_defined_symbols = ["a  b", "a ", "  b"].map(str::to_owned).to_vec();
        let options = SentencePieceOptions { user_defined_symbols, ..SentencePieceOptions::default() };
        assert_eq!(normalize(options, "a  b  b a  c"), "▁a▁▁b▁▁b▁a▁c");
    }
}
