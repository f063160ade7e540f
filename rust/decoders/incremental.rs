//! Decoding token by token: the text that a token settles, in time that does not depend on the tokens before it.
//!
//! Each stage keeps the text that later tokens may still change, and nothing else: the bytes of an unfinished character, the last label of
//! CTC, the end of a word. A chain of stages is decoded in this way as long as no stage searches text that is still growing;
//! [`Steps::of`] gives `None` for others, and for stages of a caller's own.
//!
//! The texts of all tokens and of the end are the text that [`Decoder::decode`] gives for all of them, with one exception.
//! `ByteFallback` replaces a whole run of bytes if one of them is wrong. Characters of a run that are complete are settled here, so
//! that bytes after them count as a run of their own.

use super::kept::{Kept, push_complete, push_unknown};
use super::{Ctc, Decoder, SentencePieceDecoder, Strip, byte_fallback, metaspace, replace, wordpiece};
use crate::growth::Growth;
use crate::metaspace::Metaspace;
use crate::structures::finder::Replacement;
use crate::{Result, byte_level};

/// One stage of a chain.
pub(super) enum Step<'a> {
    /// No decoder: a space between tokens.
    Spaced,
    Replace(&'a Replacement),
    Strip(Strip),
    Metaspace(Metaspace),
    Bpe(&'a str),
    Ctc(&'a Ctc),
    WordPiece {
        prefix: &'a str,
        cleanup: bool,
    },
    ByteLevel,
    ByteFallback,
    SentencePiece(&'a SentencePieceDecoder),
    /// [`Step::Strip`] of one text that grows.
    StripText(Strip),
    /// [`Step::Metaspace`] of one text that grows.
    MetaspaceText(Metaspace),
}

/// A token, or text, on its way from one stage to the next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// A text for each token.
    Tokens,
    /// Parts of texts, whose ends are not known.
    Parts,
    /// Parts of one text.
    Text,
}

/// The stages of a decoder that decodes token by token.
pub struct Steps<'a>(pub(super) Vec<Step<'a>>);

impl<'a> Steps<'a> {
    /// The stages of `decoder`; without one, tokens are joined by spaces. `None` if it cannot decode token by token.
    pub fn of(decoder: Option<&'a Decoder>) -> Option<Self> {
        let Some(decoder) = decoder else { return Some(Self(vec![Step::Spaced])) };
        let mut steps = Vec::new();
        add(decoder, &mut steps, Flow::Tokens).map(|_| Self(steps))
    }

    /// Appends the text that `token` settles to `out`.
    ///
    /// # Errors
    /// The errors of [`Decoder::decode`].
    pub fn push(&self, token: &str, kept: &mut Vec<Kept>, out: &mut String) -> Result<()> {
        kept.resize_with(self.0.len(), Kept::default);
        push(&self.0, kept, token, out).map(drop)
    }

    /// True if the last tokens are the beginning of a character.
    pub fn are_inside_character(&self, kept: &[Kept]) -> bool {
        self.0.iter().zip(kept).any(|(step, kept)| step.makes_bytes() && !kept.bytes.is_empty())
    }

    /// Appends the text that the end settles to `out`; `kept` is as before the first token then.
    ///
    /// # Errors
    /// The errors of [`Decoder::decode`].
    pub fn finish(&self, kept: &mut Vec<Kept>, out: &mut String) -> Result<()> {
        kept.resize_with(self.0.len(), Kept::default);
        for (at, step) in self.0.iter().enumerate() {
            let mut made = String::new();
            step.end(&kept[at], &mut made);
            if !made.is_empty() {
                push(&self.0[at + 1..], &mut kept[at + 1..], &made, out)?;
            }
        }
        kept.clear();
        Ok(())
    }
}

/// Adds the stages of `decoder`, and gives the kind of its output.
fn add<'a>(decoder: &'a Decoder, steps: &mut Vec<Step<'a>>, flow: Flow) -> Option<Flow> {
    let (step, flow) = match (decoder, flow) {
        (Decoder::Sequence(stages), _) => {
            return stages.iter().try_fold(flow, |flow, stage| add(stage, steps, flow));
        }
        // One text is a first token for `WordPiece`, which keeps its prefix.
        (Decoder::Fuse, _) | (Decoder::WordPiece { cleanup: false, .. }, Flow::Text) => {
            return Some(Flow::Text);
        }
        (Decoder::Strip(strip), Flow::Text) => (Step::StripText(*strip), Flow::Text),
        (Decoder::Metaspace(options), Flow::Text) => (Step::MetaspaceText(*options), Flow::Text),
        (_, Flow::Parts | Flow::Text) | (Decoder::Custom(_), _) => return None,
        (Decoder::Replace(replacement), _) => (Step::Replace(replacement), Flow::Tokens),
        (Decoder::Strip(strip), _) => (Step::Strip(*strip), Flow::Tokens),
        (Decoder::Metaspace(options), _) => (Step::Metaspace(*options), Flow::Tokens),
        (Decoder::Ctc(ctc), _) => (Step::Ctc(ctc), Flow::Tokens),
        (Decoder::WordPiece { prefix, cleanup }, _) => {
            (Step::WordPiece { prefix, cleanup: *cleanup }, Flow::Tokens)
        }
        (Decoder::Bpe { suffix }, _) => (Step::Bpe(suffix), Flow::Parts),
        (Decoder::ByteFallback, _) => (Step::ByteFallback, Flow::Parts),
        (Decoder::ByteLevel { .. }, _) => (Step::ByteLevel, Flow::Text),
        (Decoder::SentencePiece(stage), _) if stage.denormalizer.is_none() => {
            (Step::SentencePiece(stage), Flow::Text)
        }
        (Decoder::SentencePiece(_), _) => return None,
    };
    steps.push(step);
    Some(flow)
}

/// Sends a text through stages and appends the result to `out`; false if the token is none for the stages after these.
pub(super) fn push(steps: &[Step<'_>], kept: &mut [Kept], token: &str, out: &mut String) -> Result<bool> {
    let growth = Growth::of(token.len());
    let (mut text, mut made) = (token.to_owned(), String::new());
    for (step, kept) in steps.iter().zip(kept) {
        made.clear();
        if !step.push(kept, &text, growth, &mut made)? {
            return Ok(false);
        }
        growth.check(made.len())?;
        std::mem::swap(&mut text, &mut made);
    }
    out.push_str(&text);
    Ok(true)
}

impl Step<'_> {
    /// True if the tokens of the stage stand for bytes.
    pub(super) fn makes_bytes(&self) -> bool {
        matches!(self, Self::ByteLevel | Self::ByteFallback | Self::SentencePiece(_))
    }

    /// Appends the text that `token` settles to `out`; false if the token is none for the stages after this one.
    pub(super) fn push(
        &self,
        kept: &mut Kept,
        token: &str,
        growth: Growth,
        out: &mut String,
    ) -> Result<bool> {
        // Tokens before this one, as far as stages ask for them.
        let index = kept.count;
        match self {
            Self::Spaced => {
                out.push_str(if index == 0 { "" } else { " " });
                out.push_str(token);
                kept.count = 1;
            }
            Self::Replace(replacement) => replace(replacement, token, growth, out)?,
            Self::Strip(strip) => out.push_str(strip.decode(token)),
            Self::Metaspace(options) => {
                metaspace(*options, index, token, out);
                kept.count = 1;
            }
            Self::MetaspaceText(options) => metaspace(*options, 0, token, out),
            Self::WordPiece { prefix, cleanup } => {
                wordpiece::decode(prefix, *cleanup, index, token, out);
                kept.count = 1;
            }
            Self::Bpe(suffix) => {
                let before = std::str::from_utf8(&kept.bytes).unwrap_or_default();
                if let Some(given) = kept.count.checked_sub(1) {
                    out.push_str(&before.replace(suffix, " ")[given..]);
                }
                let (inside, last) = (token.replace(suffix, " "), token.replace(suffix, ""));
                let same = inside.chars().zip(last.chars()).take_while(|(inside, last)| inside == last);
                let given = same.map(|(c, _)| c.len_utf8()).sum();
                out.push_str(&last[..given]);
                *kept = Kept { count: given + 1, bytes: token.into() };
            }
            Self::Ctc(ctc) => {
                if kept.count == 1 && kept.bytes == token.as_bytes() {
                    return Ok(false);
                }
                *kept = Kept { count: 1, bytes: token.into() };
                out.push_str(&ctc.text(token));
                return Ok(!out.is_empty());
            }
            Self::ByteLevel => {
                byte_level::push_unmapped(token, &mut kept.bytes);
                push_complete(&mut kept.bytes, out, |_| 1);
            }
            Self::ByteFallback => {
                if let Some(byte) = byte_fallback::byte(token) {
                    push_byte(kept, byte, out);
                } else {
                    self.end(kept, out);
                    *kept = Kept::default();
                    out.push_str(token);
                }
            }
            Self::SentencePiece(stage) => stage.push(kept, token, out),
            Self::StripText(strip) => strip_text(*strip, kept, token, out),
        }
        Ok(true)
    }

    /// Appends the text that the end of all tokens settles to `out`.
    fn end(&self, kept: &Kept, out: &mut String) {
        match self {
            Self::Bpe(suffix) => {
                let before = std::str::from_utf8(&kept.bytes).unwrap_or_default();
                if let Some(given) = kept.count.checked_sub(1) {
                    out.push_str(&before.replace(suffix, "")[given..]);
                }
            }
            Self::ByteLevel => out.push_str(&String::from_utf8_lossy(&kept.bytes)),
            Self::ByteFallback | Self::SentencePiece(_) => push_unknown(kept.bytes.len(), out),
            Self::Spaced
            | Self::Replace(_)
            | Self::Strip(_)
            | Self::Metaspace(_)
            | Self::Ctc(_)
            | Self::WordPiece { .. }
            | Self::StripText(_)
            | Self::MetaspaceText(_) => {}
        }
    }
}

/// Takes a byte of a run; the count is 1 once the run is known not to be UTF-8.
fn push_byte(kept: &mut Kept, byte: u8, out: &mut String) {
    kept.bytes.push(byte);
    match std::str::from_utf8(&kept.bytes) {
        Ok(text) if kept.count == 0 => out.push_str(text),
        Err(error) if kept.count == 0 && error.error_len().is_none() => return,
        _ => {
            kept.count = 1;
            push_unknown(kept.bytes.len(), out);
        }
    }
    kept.bytes.clear();
}

/// Strips a text that grows. The count is the number of characters stripped from the beginning, or `usize::MAX` once other text has
/// followed. The bytes are characters that are stripped if the text ends here.
fn strip_text(strip: Strip, kept: &mut Kept, part: &str, out: &mut String) {
    let mut rest = part;
    while kept.count < strip.start && !rest.is_empty() {
        let Some(stripped) = rest.strip_prefix(strip.content) else {
            kept.count = usize::MAX;
            break;
        };
        rest = stripped;
        kept.count += 1;
    }
    if rest.is_empty() {
        return;
    }
    kept.count = usize::MAX;
    let width = strip.content.len_utf8();
    let most = strip.stop.saturating_mul(width);
    let inner = rest.trim_end_matches(strip.content);
    let trailing = rest.len() - inner.len();
    if !inner.is_empty() {
        out.push_str(std::str::from_utf8(&kept.bytes).unwrap_or_default());
        out.push_str(inner);
        kept.bytes.clear();
    }
    let excess = (kept.bytes.len() + trailing).saturating_sub(most);
    out.extend(std::iter::repeat_n(strip.content, excess / width));
    let content = strip.content.to_string();
    for _ in 0..(kept.bytes.len() + trailing - excess).saturating_sub(kept.bytes.len()) / width {
        kept.bytes.extend_from_slice(content.as_bytes());
    }
}
