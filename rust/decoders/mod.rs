//! Decoders: from tokens back to text. Every variant with more than a few lines has its own file.

mod byte_fallback;
mod bytes;
mod cleanup;
mod ctc;
mod incremental;
mod kept;
mod pieces;
mod sentencepiece;
mod strip;
mod wordpiece;

use std::ops::ControlFlow;
use std::sync::Arc;

pub use ctc::Ctc;
pub use incremental::Steps;
pub use kept::Kept;
pub use pieces::Pieces;
pub use sentencepiece::SentencePieceDecoder;
pub use strip::Strip;

use crate::growth::Growth;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::structures::finder::Replacement;
use crate::{Result, byte_level};

/// A decoder; the names are Hugging Face's.
#[derive(Clone, Debug)]
pub enum Decoder {
    /// From the byte-level alphabet back to bytes; invalid UTF-8 becomes U+FFFD.
    ByteLevel {
        /// Has no effect; kept because files have it.
        add_prefix_space: bool,
        /// Has no effect; kept because files have it.
        trim_offsets: bool,
        /// Has no effect; kept because files have it.
        use_regex: bool,
    },
    /// Replaces every match of a pattern by one text, token by token.
    Replace(Arc<Replacement>),
    /// From `<0xNN>` tokens back to bytes.
    ByteFallback,
    /// Joins all tokens into one.
    Fuse,
    /// Strips characters from both ends of each token.
    Strip(Strip),
    /// Replaces visible spaces by spaces.
    Metaspace(Metaspace),
    /// Replaces the end-of-word suffix by a space, in the last token by nothing.
    Bpe {
        /// The suffix.
        suffix: String,
    },
    /// From the labels of connectionist temporal classification to text.
    Ctc(Ctc),
    /// Removes the prefix of tokens that continue a word, and puts a space before all others.
    WordPiece {
        /// The prefix.
        prefix: String,
        /// Removes spaces before punctuation and in English contractions.
        cleanup: bool,
    },
    /// All of SentencePiece's decoding at once.
    SentencePiece(SentencePieceDecoder),
    /// Several decoders, each on the output of the one before.
    Sequence(Vec<Decoder>),
    /// A decoder that a caller has made.
    Custom(Arc<dyn CustomDecoder>),
}

/// A decoder that a caller has made.
pub trait CustomDecoder: std::fmt::Debug + Send + Sync {
    /// The output for a list of tokens, before it is joined to one text.
    ///
    /// # Errors
    /// The caller's own, as [`crate::Error::Custom`].
    fn decode_chain(&self, tokens: Vec<String>) -> Result<Vec<String>>;
}

impl Decoder {
    /// The text of a list of tokens.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if a regular expression gives up on a token, [`crate::Error::TextGrown`] if the text
    /// outgrows its limit.
    pub fn decode<'a>(&self, tokens: impl Iterator<Item = &'a str>) -> Result<String> {
        if let Self::ByteLevel { .. } = self {
            return Ok(byte_level_text(tokens));
        }
        let tokens: Pieces = tokens.collect();
        self.chain(Growth::of(tokens.bytes()), tokens).map(Pieces::into_text)
    }

    /// True if a stage reads tokens in the byte-level alphabet.
    pub fn has_byte_level(&self) -> bool {
        match self {
            Self::Sequence(stages) => stages.iter().any(Self::has_byte_level),
            decoder => matches!(decoder, Self::ByteLevel { .. }),
        }
    }

    /// The output of this decoder for `tokens`, before it is joined to one text.
    fn chain(&self, growth: Growth, tokens: Pieces) -> Result<Pieces> {
        let made = match self {
            Self::ByteLevel { .. } => Pieces::one(byte_level_text(tokens.iter())),
            Self::Replace(replacement) => {
                tokens.try_map(|_, token, out| replace(replacement, token, growth, out))?
            }
            Self::ByteFallback => byte_fallback::decode(&tokens),
            Self::Fuse => Pieces::one(tokens.into_text()),
            Self::Strip(strip) => tokens.map(|_, token, out| out.push_str(strip.decode(token))),
            Self::Metaspace(options) => {
                tokens.map(|index, token, out| metaspace(*options, index, token, out))
            }
            Self::Bpe { suffix } => {
                let last = tokens.len().wrapping_sub(1);
                tokens.map(|index, token, out| {
                    out.push_str(&token.replace(suffix, if index == last { "" } else { " " }));
                })
            }
            Self::Ctc(ctc) => ctc.decode(&tokens),
            Self::WordPiece { prefix, cleanup } => {
                tokens.map(|index, token, out| wordpiece::decode(prefix, *cleanup, index, token, out))
            }
            Self::SentencePiece(stage) => stage.decode(&tokens, growth)?,
            Self::Sequence(stages) => {
                stages.iter().try_fold(tokens, |tokens, stage| stage.chain(growth, tokens))?
            }
            Self::Custom(stage) => {
                let made = stage.decode_chain(tokens.iter().map(str::to_owned).collect())?;
                made.iter().map(String::as_str).collect()
            }
        };
        growth.check(made.bytes())?;
        Ok(made)
    }
}

fn replace(replacement: &Replacement, token: &str, growth: Growth, out: &mut String) -> Result<()> {
    let (mut done, mut checked) = (0, Ok(()));
    let _ = replacement.finder().for_each(token, &mut |found| {
        out.push_str(&token[done..found.start]);
        out.push_str(replacement.content());
        done = found.end;
        checked = growth.check(out.len());
        if checked.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    checked?;
    out.push_str(&token[done..]);
    Ok(())
}

/// Appends the token at `index` with plain spaces; the first token loses them, unless none is put before text.
fn metaspace(options: Metaspace, index: usize, token: &str, out: &mut String) {
    let drops = index == 0 && options.prepend_scheme != PrependScheme::Never;
    for c in token.chars() {
        match c == options.replacement {
            true if drops => {}
            true => out.push(' '),
            false => out.push(c),
        }
    }
}

fn byte_level_text<'a>(tokens: impl Iterator<Item = &'a str>) -> String {
    let mut bytes = Vec::new();
    tokens.for_each(|token| byte_level::push_unmapped(token, &mut bytes));
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structures::finder::TextPattern;

    fn decode(decoder: &Decoder, tokens: &[&str]) -> String {
        decoder.decode(tokens.iter().copied()).expect("no pattern to give up")
    }

    fn replace(from: &str, to: &str) -> Decoder {
        let replacement = Replacement::new(TextPattern::Literal(from.to_owned()), to.to_owned());
        Decoder::Replace(Arc::new(replacement.expect("a literal")))
    }

    #[test]
    fn sentencepiece_decodes_in_four_steps() {
        let strip = Strip { content: ' ', start: 1, stop: 0 };
        let steps = [replace("▁", " "), Decoder::ByteFallback, Decoder::Fuse, Decoder::Strip(strip)];
        let decoder = Decoder::Sequence(steps.to_vec());
        assert_eq!(decode(&decoder, &["▁▁a", "▁b", "<0xC3>", "<0xA9>"]), " a bé");
    }

    #[test]
    fn tokens_do_not_run_together_before_they_are_fused() {
        assert_eq!(decode(&replace("ab", "x"), &["a", "b", "ab"]), "abx");
        let fused = Decoder::Sequence(vec![Decoder::Fuse, replace("ab", "x")]);
        assert_eq!(decode(&fused, &["a", "b", "ab"]), "xx");
    }

    #[test]
    fn metaspace_drops_what_stands_in_the_first_token() {
        let options = Metaspace::default();
        assert_eq!(decode(&Decoder::Metaspace(options), &["▁a▁", "▁b"]), "a b");
        let never = Metaspace { prepend_scheme: PrependScheme::Never, ..options };
        assert_eq!(decode(&Decoder::Metaspace(never), &["▁a▁", "▁b"]), " a  b");
    }

    #[test]
    fn the_last_word_has_no_space_after_it() {
        let decoder = Decoder::Bpe { suffix: "</w>".to_owned() };
        assert_eq!(decode(&decoder, &["a", "b</w>", "c</w>"]), "ab c");
        assert_eq!(decode(&decoder, &[]), "");
    }
}
