//! SentencePiece's decoding in one stage.
//!
//! The stages of Hugging Face come close to it, but for three things:
//!
//! * The unknown piece has a text of its own, the surface.
//! * Of the bytes between two other tokens, only those that are not UTF-8 become U+FFFD, one each.
//! * A U+2581 goes from the first token with text; with `remove_extra_whitespaces` one goes from each token before that.
//!
//! After all, the text may be rewritten by rules (denormalized). Source: experiments with sentencepiece 0.2.3.

use super::Pieces;
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
        let mut text = String::with_capacity(tokens.bytes());
        let mut bytes = Vec::new();
        let (mut is_beginning, mut has_lost_space) = (true, false);
        for token in tokens.iter() {
            if self.byte_fallback
                && let Some(byte) = byte(token)
            {
                bytes.push(byte);
                continue;
            }
            push_bytes(&bytes, &mut text);
            bytes.clear();
            is_beginning &= !has_lost_space && text.is_empty();
            has_lost_space = false;
            let mut rest = token;
            if self.unk_token.as_deref() == Some(token) {
                rest = &self.unk_surface;
                text.push_str(rest);
                growth.check(text.len())?;
                continue;
            }
            if is_beginning
                && (self.add_dummy_prefix || self.remove_extra_whitespaces)
                && let Some(stripped) = token.strip_prefix(VISIBLE_SPACE)
            {
                (rest, has_lost_space) = (stripped, !self.remove_extra_whitespaces);
            }
            text.extend(rest.chars().map(|c| if c == VISIBLE_SPACE { ' ' } else { c }));
        }
        push_bytes(&bytes, &mut text);
        growth.check(text.len())?;
        match &self.denormalizer {
            Some(rules) => {
                let made = rules.normalize(&Normalized::new(&text, 0, true), growth)?;
                Ok(Pieces::one(made.text().to_owned()))
            }
            None => Ok(Pieces::one(text)),
        }
    }
}

/// The byte of a token `<0xNN>`, with digits as SentencePiece writes them.
fn byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    let is_byte = digits.len() == 2 && digits.bytes().all(is_digit);
    if is_byte { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// Appends the characters that the bytes spell; each byte of what is not UTF-8 becomes U+FFFD.
fn push_bytes(bytes: &[u8], text: &mut String) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
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
