//! SentencePiece's decoding in one stage.
//!
//! The stages of Hugging Face come close to it, but for three things:
//!
//! * The unknown piece has a text of its own, the surface.
//! * Of the bytes between two other tokens, only bytes that are not UTF-8 become U+FFFD, one each.
//! * A U+2581 goes from the first token with text; with `remove_extra_whitespaces` one goes from each token before that.
//!
//! After all, the text may be rewritten by rules (denormalized). Source: experiments with sentencepiece 0.2.3.

use super::Pieces;
use super::kept::{INSIDE, Kept, push_complete};
use crate::Result;
use crate::growth::Growth;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::Normalized;
use crate::sentencepiece::SentencePiece;

/// The options of the decoder.
#[derive(Clone, Debug)]
pub struct SentencePieceDecoder {
    /// The unknown piece, if there is one. It is shown even where special tokens are left out.
    pub unk_token: Option<String>,
    /// The text of the unknown piece.
    pub unk_surface: String,
    /// Tokens `<0xNN>` stand for bytes.
    pub byte_fallback: bool,
    /// The text was encoded with a space before it.
    pub add_dummy_prefix: bool,
    /// The text was encoded without spaces at its ends.
    pub remove_extra_whitespaces: bool,
    /// Rewrites the text in the end.
    pub denormalizer: Option<SentencePiece>,
}

impl SentencePieceDecoder {
    /// The surface of models that name none.
    pub const UNK_SURFACE: &str = " \u{2047} ";

    /// The text of `tokens`. An empty token stands for one that is left out, such as a control piece.
    ///
    /// # Errors
    /// [`crate::Error::TextGrown`].
    pub(super) fn decode(&self, tokens: &Pieces, growth: Growth) -> Result<Pieces> {
        let (mut text, mut kept) = (String::with_capacity(tokens.bytes()), Kept::default());
        for token in tokens.iter() {
            self.push(&mut kept, token, &mut text);
            growth.check(text.len())?;
        }
        text.extend(kept.bytes.iter().map(|_| char::REPLACEMENT_CHARACTER));
        growth.check(text.len())?;
        match &self.denormalizer {
            Some(rules) => {
                let made = rules.normalize(&Normalized::new(&text, 0, true), growth)?;
                Ok(Pieces::one(made.text().to_owned()))
            }
            None => Ok(Pieces::one(text)),
        }
    }

    /// Appends the text of `token`, but for bytes of an unfinished character, which are kept. The count tells the place: at the
    /// beginning, there after a lost space, or past it.
    pub(super) fn push(&self, kept: &mut Kept, token: &str, out: &mut String) {
        let before = out.len();
        if let Some(byte) = self.byte(token) {
            kept.bytes.push(byte);
            push_complete(&mut kept.bytes, out, |bytes| bytes);
        } else {
            out.extend(kept.bytes.drain(..).map(|_| char::REPLACEMENT_CHARACTER));
            if kept.count == LOST_SPACE || out.len() > before {
                kept.count = PAST;
            }
            let is_beginning = kept.count == BEGINNING;
            if self.unk_token.as_deref() == Some(token) {
                out.push_str(&self.unk_surface);
            } else if is_beginning
                && (self.add_dummy_prefix || self.remove_extra_whitespaces)
                && let Some(rest) = token.strip_prefix(VISIBLE_SPACE)
            {
                kept.count = if self.remove_extra_whitespaces { BEGINNING } else { LOST_SPACE };
                push_spaced(rest, out);
            } else {
                push_spaced(token, out);
            }
        }
        if out.len() > before {
            kept.count = PAST;
        }
    }

    /// Appends the bytes of `token`. Of `kept`, the count alone is used, as by [`Self::push`].
    pub(super) fn push_bytes(&self, kept: &mut Kept, token: &str, out: &mut Vec<u8>) {
        if let Some(byte) = self.byte(token) {
            out.push(byte);
            kept.count = PAST;
        } else {
            let mut text = String::with_capacity(token.len());
            self.push(kept, token, &mut text);
            out.extend_from_slice(text.as_bytes());
        }
    }

    /// The byte that a token stands for, if it does.
    fn byte(&self, token: &str) -> Option<u8> {
        if self.byte_fallback { byte(token) } else { None }
    }
}

/// No text yet, and no space is lost.
const BEGINNING: usize = 0;

/// The token before lost its space and had no other text.
const LOST_SPACE: usize = 1;

/// No token loses its space any more.
const PAST: usize = INSIDE;

/// Appends `token` with plain spaces.
fn push_spaced(token: &str, out: &mut String) {
    out.extend(token.chars().map(|c| if c == VISIBLE_SPACE { ' ' } else { c }));
}

/// The byte of a token `<0xNN>`, with digits as SentencePiece writes them.
fn byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    let is_byte = digits.len() == 2 && digits.bytes().all(is_digit);
    if is_byte { u8::from_str_radix(digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(options: &SentencePieceDecoder, tokens: &[&str]) -> String {
        let tokens: Pieces = tokens.iter().copied().collect();
        options.decode(&tokens, Growth::of(tokens.bytes())).expect("it hardly grows").into_text()
    }

    fn plain() -> SentencePieceDecoder {
        SentencePieceDecoder {
            unk_token: Some("<unk>".to_owned()),
            unk_surface: SentencePieceDecoder::UNK_SURFACE.to_owned(),
            byte_fallback: true,
            add_dummy_prefix: true,
            remove_extra_whitespaces: false,
            denormalizer: None,
        }
    }

    #[test]
    fn the_first_space_goes() {
        assert_eq!(decode(&plain(), &["▁▁a", "▁b"]), " a b");
        assert_eq!(decode(&plain(), &["▁", "▁", "▁b"]), "  b");
        assert_eq!(decode(&plain(), &["", "▁b"]), "b");
        let strips = SentencePieceDecoder { remove_extra_whitespaces: true, ..plain() };
        assert_eq!(decode(&strips, &["▁", "▁", "▁▁b", "▁"]), " b ");
        let keeps = SentencePieceDecoder { add_dummy_prefix: false, ..plain() };
        assert_eq!(decode(&keeps, &["▁", "▁b"]), "  b");
    }

    #[test]
    fn the_unknown_piece_has_its_surface() {
        assert_eq!(decode(&plain(), &["<unk>", "▁a"]), " ⁇  a");
    }

    #[test]
    fn only_bytes_that_are_no_text_are_replaced() {
        let tokens = ["<0x61>", "<0xE2>", "<0x96>", "<0xC3>", "<0xA9>", "<0x4a>", "<0xC3>", "", "<0xA9>"];
        assert_eq!(decode(&plain(), &tokens), "a\u{FFFD}\u{FFFD}é<0x4a>\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn a_long_surface_cannot_fill_the_memory() {
        let surface = SentencePieceDecoder { unk_surface: "?".repeat(1 << 20), ..plain() };
        let tokens: Pieces = std::iter::repeat_n("<unk>", 1 << 10).collect();
        assert!(surface.decode(&tokens, Growth::of(tokens.bytes())).is_err());
    }
}
