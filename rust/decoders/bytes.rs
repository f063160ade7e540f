//! Decoding to bytes: the bytes of a text before they are read as UTF-8, and the bytes that one token adds to a text.
//!
//! At most one stage of a decoder that decodes token by token makes bytes: `ByteLevel`, `ByteFallback` or `SentencePiece`. Stages before it
//! see one token at a time. The only stage after it that can change bytes strips a character from the ends of the text. So bytes need no
//! state but the place in the text. Other decoders make text, whose bytes are its UTF-8.

use super::incremental::{Step, push};
use super::kept::{INSIDE, Kept};
use super::{Decoder, Pieces, Steps, Strip, byte_fallback};
use crate::growth::Growth;
use crate::{Result, byte_level};

impl Decoder {
    /// The bytes of the text of a list of tokens. If a stage of the decoder looks at several tokens together, they are the UTF-8 of
    /// [`Self::decode`].
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decode_bytes<'a>(&self, tokens: impl Iterator<Item = &'a str>) -> Result<Vec<u8>> {
        let steps = Steps::of(Some(self));
        let Some(chain) = steps.as_ref().and_then(ByteChain::of) else {
            return self.decode(tokens).map(String::into_bytes);
        };
        let tokens: Pieces = tokens.collect();
        let growth = Growth::of(tokens.bytes());
        let mut kept = vec![Kept::default(); chain.before.len() + 1];
        let (mut text, mut bytes) = (String::new(), Vec::with_capacity(tokens.bytes()));
        for token in tokens.iter() {
            text.clear();
            let [before @ .., place] = &mut kept[..] else { break };
            if push(chain.before, before, token, &mut text)? {
                chain.maker.push_bytes(place, &text, &mut bytes);
            }
            growth.check(bytes.len())?;
        }
        let inner = chain.strips().fold(&bytes[..], |rest, strip| &rest[strip.range(rest)]);
        Ok(inner.to_vec())
    }
}

impl Steps<'_> {
    /// The bytes that `token` adds to a text that it neither begins nor ends; none if they depend on other tokens.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub fn token_bytes(&self, token: &str) -> Result<Option<Vec<u8>>> {
        let makes_bytes = self.0.iter().any(Step::makes_bytes);
        let is_split = makes_bytes && ByteChain::of(self).is_none();
        if is_split || self.0.iter().any(|step| matches!(step, Step::Ctc(_))) {
            return Ok(None);
        }
        let growth = Growth::of(token.len());
        let (mut text, mut made) = (token.to_owned(), String::new());
        for step in &self.0 {
            let mut kept = Kept { count: INSIDE, bytes: Vec::new() };
            made.clear();
            match step {
                // Only the ends of the text are stripped.
                Step::StripText(_) => continue,
                // The suffix of a token is a space until the text ends.
                Step::Bpe(suffix) => made.push_str(&text.replace(suffix, " ")),
                step if step.makes_bytes() => {
                    let mut bytes = Vec::with_capacity(text.len());
                    step.push_bytes(&mut kept, &text, &mut bytes);
                    return Ok(Some(bytes));
                }
                step => {
                    step.push(&mut kept, &text, growth, &mut made)?;
                }
            }
            growth.check(made.len())?;
            std::mem::swap(&mut text, &mut made);
        }
        Ok(Some(text.into_bytes()))
    }
}

/// The stages of a decoder around the stage that makes bytes.
struct ByteChain<'a, 'd> {
    before: &'a [Step<'d>],
    maker: &'a Step<'d>,
    after: &'a [Step<'d>],
}

impl<'a, 'd> ByteChain<'a, 'd> {
    /// None if no stage makes bytes, or if a stage after it may look into characters whose bytes are of several tokens.
    fn of(steps: &'a Steps<'d>) -> Option<Self> {
        let at = steps.0.iter().position(Step::makes_bytes)?;
        let (before, [maker, after @ ..]) = steps.0.split_at(at) else { return None };
        // U+FFFD stands for bytes that are no text.
        let strips = |step: &Step<'_>| matches!(step, Step::StripText(strip) if strip.content != char::REPLACEMENT_CHARACTER);
        after.iter().all(strips).then_some(Self { before, maker, after })
    }

    fn strips(&self) -> impl Iterator<Item = Strip> {
        self.after.iter().filter_map(|step| match step {
            Step::StripText(strip) => Some(*strip),
            _ => None,
        })
    }
}

impl Step<'_> {
    /// Appends the bytes of `token`, which may be a part of a character.
    fn push_bytes(&self, kept: &mut Kept, token: &str, out: &mut Vec<u8>) {
        match self {
            Self::ByteLevel => byte_level::push_unmapped(token, out),
            Self::SentencePiece(stage) => stage.push_bytes(kept, token, out),
            Self::ByteFallback => match byte_fallback::byte(token) {
                Some(byte) => out.push(byte),
                None => out.extend_from_slice(token.as_bytes()),
            },
            _ => out.extend_from_slice(token.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::{Ctc, SentencePieceDecoder};
    use super::*;
    use crate::metaspace::Metaspace;
    use crate::structures::finder::{Replacement, TextPattern};
    use crate::testing::cases;

    fn any_stage() -> impl Strategy<Value = Decoder> {
        let replacement = Replacement::new(TextPattern::Literal("▁".to_owned()), " ".to_owned());
        let sentencepiece = |add_dummy_prefix, remove_extra_whitespaces| {
            Decoder::SentencePiece(SentencePieceDecoder {
                unk_token: Some("?".to_owned()),
                unk_surface: SentencePieceDecoder::UNK_SURFACE.to_owned(),
                byte_fallback: true,
                add_dummy_prefix,
                remove_extra_whitespaces,
                denormalizer: None,
            })
        };
        prop::sample::select(vec![
            Decoder::ByteLevel { add_prefix_space: false, trim_offsets: false, use_regex: false },
            Decoder::Replace(Arc::new(replacement.expect("a literal"))),
            Decoder::ByteFallback,
            Decoder::Fuse,
            Decoder::Fuse,
            Decoder::Strip(Strip { content: ' ', start: 1, stop: 0 }),
            Decoder::Strip(Strip { content: 'é', start: 1, stop: 2 }),
            Decoder::Strip(Strip { content: '\u{FFFD}', start: 1, stop: 1 }),
            Decoder::Metaspace(Metaspace::default()),
            Decoder::Bpe { suffix: "</w>".to_owned() },
            Decoder::Ctc(Ctc::default()),
            Decoder::WordPiece { prefix: "##".to_owned(), cleanup: true },
            Decoder::WordPiece { prefix: "##".to_owned(), cleanup: false },
            sentencepiece(true, false),
            sentencepiece(false, true),
        ])
    }

    fn any_tokens(max: usize) -> impl Strategy<Value = Vec<String>> {
        let token = prop::sample::select(vec![
            "", "▁", "▁a", "##b", "b</w>", "c", "?", " ", ".", "n't", "é", "Ã", "©", "Ġx", "<0xC3>",
            "<0xA9>", "<0xE2>", "<0x96>", "<0x81>", "<0x61>", "âĸģ",
        ]);
        prop::collection::vec(token.prop_map(str::to_owned), 0..max)
    }

    /// True if a decoder's text has one U+FFFD for each byte of a sequence that is not UTF-8, or for each byte of its run.
    fn marks_each_byte(decoder: &Decoder) -> bool {
        match decoder {
            Decoder::Sequence(stages) => stages.iter().any(marks_each_byte),
            decoder => matches!(decoder, Decoder::ByteFallback | Decoder::SentencePiece(_)),
        }
    }

    proptest! {
        #![proptest_config(cases(20_000))]

        #[test]
        fn decoded_bytes_match_the_text(stages in prop::collection::vec(any_stage(), 1..5), tokens in any_tokens(12)) {
            let decoder = Decoder::Sequence(stages);
            let tokens = || tokens.iter().map(String::as_str);
            let (bytes, text) = (decoder.decode_bytes(tokens()).expect("short"), decoder.decode(tokens()).expect("short"));
            // A token that is left without characters ends a character in SentencePiece's text, and adds no byte.
            let may_vanish = |token: &str| ["", " ", "é", "▁"].contains(&token);
            let is_mark = text.contains(char::REPLACEMENT_CHARACTER);
            if marks_each_byte(&decoder) && is_mark && tokens().any(may_vanish) {
                return Ok(());
            }
            if String::from_utf8(bytes.clone()).is_ok() || !marks_each_byte(&decoder) {
                prop_assert_eq!(String::from_utf8_lossy(&bytes), text);
            } else {
                prop_assert!(is_mark);
            }
        }

        #[test]
        fn token_bytes_matches_naive(
            stages in prop::collection::vec(any_stage(), 1..5),
            before in any_tokens(6),
            token in any_tokens(2),
            after in any_tokens(6),
        ) {
            let decoder = Decoder::Sequence(stages);
            let Some(steps) = Steps::of(Some(&decoder)) else { return Ok(()) };
            let token = token.first().map_or("c", String::as_str);
            let Some(adds) = steps.token_bytes(token).expect("short") else { return Ok(()) };
            // Text on both sides that no stage strips.
            let before = || before.iter().map(String::as_str).chain(["c"]);
            let after = || ["c"].into_iter().chain(after.iter().map(String::as_str));
            let bytes = |tokens: Vec<&str>| decoder.decode_bytes(tokens.into_iter()).expect("short");
            let whole = bytes(before().chain([token]).chain(after()).collect());
            let head = bytes(before().collect());
            let tail = bytes(before().chain(after()).collect());
            prop_assert!(tail.starts_with(&head));
            prop_assert!([&head[..], &adds].concat() == whole[..head.len() + adds.len()], "{:?}", decoder);
            prop_assert_eq!(&tail[head.len()..], &whole[head.len() + adds.len()..]);
        }
    }

    #[test]
    fn labels_of_ctc_have_no_bytes_of_their_own() {
        let decoder = Decoder::Ctc(Ctc::default());
        let steps = Steps::of(Some(&decoder)).expect("token by token");
        assert_eq!(steps.token_bytes("a").expect("short"), None);
        assert_eq!(decoder.decode_bytes(["a", "a", "<pad>", "a"].into_iter()).expect("short"), b"aa");
    }
}
