//! Decoding ids as a model makes them, a few at a time.
//!
//! What a token stands for may depend on the tokens before it, and a character may need several tokens. So each step
//! decodes the ids of the last piece of text again, with all ids after it, and gives what is new.

use super::Tokenizer;
use crate::decoders::Decoder;
use crate::{Error, Result};

/// What stands at the end of a text whose last character is not complete.
const INCOMPLETE: char = char::REPLACEMENT_CHARACTER;

/// The state of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeStream {
    /// Ids of the last piece, which say how the next one is decoded.
    pub context: Vec<u32>,
    /// Ids after those, which are no piece yet.
    pub pending: Vec<u32>,
    /// The text of `context`.
    pub prefix: String,
    /// Leaves special tokens out.
    pub skip_special_tokens: bool,
}

impl DecodeStream {
    /// A stream after `ids`, whose text is not given again.
    pub fn new(ids: Vec<u32>, skip_special_tokens: bool) -> Self {
        Self { pending: ids, skip_special_tokens, ..Self::default() }
    }

    /// Takes further ids and gives the text that is new; none as long as the last character is not complete, or the ids
    /// have no text.
    ///
    /// # Errors
    /// Those of the decoder, and [`Error::UnstableText`] if the decoder changes text that it has given already.
    pub fn step(&mut self, tokenizer: &Tokenizer, ids: &[u32]) -> Result<Option<String>> {
        let decode = |ids: &[u32]| tokenizer.decode(ids, self.skip_special_tokens);
        if self.prefix.is_empty() && !(self.context.is_empty() && self.pending.is_empty()) {
            self.context.append(&mut self.pending);
            self.prefix = decode(&self.context)?;
            if self.prefix.ends_with(INCOMPLETE) {
                self.prefix.clear();
                std::mem::swap(&mut self.context, &mut self.pending);
            }
        }
        self.pending.extend_from_slice(ids);
        let text = decode(&[self.context.as_slice(), &self.pending].concat())?;
        if text.len() <= self.prefix.len() || text.ends_with(INCOMPLETE) {
            return Ok(None);
        }
        let Some(piece) = text.strip_prefix(self.prefix.as_str()) else {
            let id = ids.last().copied().unwrap_or_default();
            return Err(Error::UnstableText { id, prefix: self.prefix.clone(), text });
        };
        let prefix = decode(&self.pending)?;
        let piece = piece.to_owned();
        if prefix.is_empty() && matches!(tokenizer.parts.decoder, Some(Decoder::SentencePiece(_))) {
            // At the beginning of a text these ids lose their space, and so may those after them: they stay where they are.
            self.context.append(&mut self.pending);
            self.prefix = text;
        } else {
            self.context = std::mem::take(&mut self.pending);
            self.prefix = prefix;
        }
        Ok(Some(piece))
    }
}
