//! Decoding ids as a model makes them, a few at a time.
//!
//! Most decoders decode token by token ([`Steps`]): a step looks at new ids alone, and gives all text that no later id can change.
//! Other decoders may look at tokens together, so they decode a [`Window`] of the last ids at each step.

use super::Tokenizer;
use crate::decoders::{Kept, Steps};
use crate::{Error, Result};

/// Bytes of text that wait for a character: if there are more, the text comes without it.
const MOST_WAITING: usize = 64;

/// The state of one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeStream {
    /// Ids before the first step, until it has read them.
    pub prompt: Vec<u32>,
    /// Leaves special tokens out.
    pub skip_special_tokens: bool,
    /// The state of the stages, if the decoder decodes token by token.
    pub kept: Vec<Kept>,
    /// Text before a character that is not complete, which comes with that character, as in Hugging Face.
    pub waiting: String,
    /// Text at the end of the decoded prompt that its stages have not settled: U+FFFD for the bytes of a character that is not complete.
    pub unsettled: String,
    /// The last ids, for other decoders.
    pub window: Window,
}

impl DecodeStream {
    /// A stream after `ids`, whose text is not given again.
    pub fn new(ids: Vec<u32>, skip_special_tokens: bool) -> Self {
        Self { prompt: ids, skip_special_tokens, ..Self::default() }
    }

    /// Takes further ids and gives the text that is new; none as long as the last character is not complete, or the ids
    /// have no text.
    ///
    /// # Errors
    /// The errors of the decoder, and [`Error::UnstableText`] if a decoder that is asked for a window changes text that it has given
    /// already. The stream is of no use then.
    pub fn step(&mut self, tokenizer: &Tokenizer, ids: &[u32]) -> Result<Option<String>> {
        let Some(steps) = Steps::of(tokenizer.decoder()) else {
            let skips = self.skip_special_tokens;
            let decode = |ids: &[u32]| tokenizer.decode(ids, skips);
            let has_token = |id: &u32| tokenizer.decoder_token(*id, skips).is_some();
            let prompt = std::mem::take(&mut self.prompt);
            let prompt: Vec<u32> = prompt.into_iter().filter(has_token).collect();
            if !prompt.is_empty() {
                self.window = Window::after(prompt, decode)?;
            }
            return self.window.step(ids.iter().copied().filter(has_token), decode);
        };
        self.read_prompt(tokenizer, &steps)?;
        let mut text = String::new();
        self.push(tokenizer, &steps, ids, &mut text)?;
        let text = self.take_new(text);
        let is_full = self.waiting.len() > MOST_WAITING;
        self.waiting += &text;
        if self.waiting.is_empty() || (steps.are_inside_character(&self.kept) && !is_full) {
            return Ok(None);
        }
        Ok(Some(std::mem::take(&mut self.waiting)))
    }

    /// Ends the text and gives the rest: mostly U+FFFD for the bytes of a character that is not complete. The stream
    /// is as a new one without ids then.
    ///
    /// # Errors
    /// The errors of [`Self::step`].
    pub fn finish(&mut self, tokenizer: &Tokenizer) -> Result<String> {
        let skips = self.skip_special_tokens;
        let mut text = self.step(tokenizer, &[])?.unwrap_or_default();
        if let Some(steps) = Steps::of(tokenizer.decoder()) {
            let mut rest = String::new();
            steps.finish(&mut self.kept, &mut rest)?;
            text += &std::mem::take(&mut self.waiting);
            text += &self.take_new(rest);
        } else {
            text += &self.window.rest(|ids| tokenizer.decode(ids, skips))?;
        }
        *self = Self::new(Vec::new(), skips);
        Ok(text)
    }

    /// Brings the stages to the end of the prompt.
    fn read_prompt(&mut self, tokenizer: &Tokenizer, steps: &Steps<'_>) -> Result<()> {
        if self.prompt.is_empty() {
            return Ok(());
        }
        let prompt = std::mem::take(&mut self.prompt);
        self.push(tokenizer, steps, &prompt, &mut String::new())?;
        steps.finish(&mut self.kept.clone(), &mut self.unsettled)
    }

    fn push(
        &mut self,
        tokenizer: &Tokenizer,
        steps: &Steps<'_>,
        ids: &[u32],
        out: &mut String,
    ) -> Result<()> {
        let tokens = ids.iter().filter_map(|&id| tokenizer.decoder_token(id, self.skip_special_tokens));
        for token in tokens {
            steps.push(token, &mut self.kept, out)?;
        }
        Ok(())
    }

    /// `text` without its beginning that the prompt has shown already.
    fn take_new(&mut self, text: String) -> String {
        if text.is_empty() || self.unsettled.is_empty() {
            return text;
        }
        let shown = std::mem::take(&mut self.unsettled);
        text.strip_prefix(shown.as_str()).map_or(text.clone(), str::to_owned)
    }
}

/// The end of a text whose last character is not complete.
const INCOMPLETE: char = char::REPLACEMENT_CHARACTER;

/// Ids that wait for text, at most: the text of more ids is taken as it is.
const MOST_PENDING: usize = 64;

/// The last ids of a stream. The text of a token may depend on the tokens before it, so each step decodes the ids of the last
/// piece of text again, with all ids after it, and gives the new text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Ids of the last piece, which say how the next one is decoded.
    pub context: Vec<u32>,
    /// The ids after these, which are no piece yet.
    pub pending: Vec<u32>,
    /// The text of `context`.
    pub prefix: String,
}

impl Window {
    /// The window after a prompt.
    fn after(prompt: Vec<u32>, decode: impl Fn(&[u32]) -> Result<String>) -> Result<Self> {
        let prefix = decode(&prompt)?;
        Ok(Self { context: prompt, pending: Vec::new(), prefix })
    }

    fn step(
        &mut self,
        ids: impl Iterator<Item = u32>,
        decode: impl Fn(&[u32]) -> Result<String>,
    ) -> Result<Option<String>> {
        let before = self.pending.len();
        self.pending.extend(ids);
        if self.pending.len() == before {
            return Ok(None);
        }
        let text = decode(&[self.context.as_slice(), &self.pending].concat())?;
        let is_full = self.pending.len() > MOST_PENDING;
        if text.ends_with(INCOMPLETE) && !is_full {
            return Ok(None);
        }
        let is_new = text.len() > self.complete_prefix().len();
        if !is_new && (!is_full || text == self.prefix) {
            if is_full {
                self.move_on(text, &decode)?;
            }
            return Ok(None);
        }
        let piece = self.new_part(&text)?.to_owned();
        if piece.is_empty() && !is_full {
            return Ok(None);
        }
        self.move_on(text, decode)?;
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    }

    /// Makes the pending ids the context, unless they have no text by themselves, as spaces at the beginning have none.
    fn move_on(&mut self, text: String, decode: impl Fn(&[u32]) -> Result<String>) -> Result<()> {
        let prefix = decode(&self.pending)?;
        if prefix.is_empty() && self.context.len() + self.pending.len() <= MOST_PENDING {
            self.context.append(&mut self.pending);
            self.prefix = text;
        } else {
            self.context = std::mem::take(&mut self.pending);
            self.prefix = prefix;
        }
        Ok(())
    }

    /// The text that no step has given.
    fn rest(&self, decode: impl Fn(&[u32]) -> Result<String>) -> Result<String> {
        let text = decode(&[self.context.as_slice(), &self.pending].concat())?;
        self.new_part(&text).map(str::to_owned)
    }

    /// The text of `context` without a character at its end that is not complete.
    fn complete_prefix(&self) -> &str {
        self.prefix.trim_end_matches(INCOMPLETE)
    }

    fn new_part<'a>(&self, text: &'a str) -> Result<&'a str> {
        let after = |prefix: &str| text.strip_prefix(prefix);
        after(&self.prefix).or_else(|| after(self.complete_prefix())).ok_or_else(|| {
            let id = self.pending.last().copied().unwrap_or_default();
            Error::UnstableText { id, prefix: self.prefix.clone(), text: text.to_owned() }
        })
    }
}
