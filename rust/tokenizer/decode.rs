//! From ids back to text.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::Tokenizer;
use crate::decoders::{Decoder, Steps};
use crate::normalizers::Normalizer;
use crate::processors::PostProcessor;
use crate::{Error, Result, byte_level};

/// A list of all ids has room for at most this many.
const MOST_LISTED: usize = 1 << 24;

impl Tokenizer {
    /// The token with `id`: an added one, or else the model's.
    pub fn id_to_token(&self, id: u32) -> Option<&str> {
        self.pipeline.added_text(id).or_else(|| self.pipeline.model().vocab().token(id))
    }

    /// The id of `token`: an added one's, or else the model's.
    pub fn token_to_id(&self, token: &str) -> Option<u32> {
        self.pipeline.added().id(token).or_else(|| self.pipeline.model().vocab().id(token))
    }

    /// The text of `ids`; ids without a token are passed over, as in Hugging Face.
    ///
    /// # Errors
    /// The errors of [`Decoder::decode`].
    pub fn decode(&self, ids: &[u32], skip_special_tokens: bool) -> Result<String> {
        let tokens = ids.iter().filter_map(|&id| self.decoder_token(id, skip_special_tokens));
        match &self.parts.decoder {
            Some(decoder) => decoder.decode(tokens),
            None => Ok(tokens.collect::<Vec<_>>().join(" ")),
        }
    }

    /// The bytes of the text of `ids`, before they are read as UTF-8; ids without a token are passed over.
    ///
    /// # Errors
    /// The errors of [`Decoder::decode`].
    pub fn decode_bytes(&self, ids: &[u32], skip_special_tokens: bool) -> Result<Vec<u8>> {
        let Some(decoder) = self.decoder() else {
            return self.decode(ids, skip_special_tokens).map(String::into_bytes);
        };
        decoder.decode_bytes(ids.iter().filter_map(|&id| self.decoder_token(id, skip_special_tokens)))
    }

    /// The text of `ids`, provided that their bytes are UTF-8.
    ///
    /// # Errors
    /// [`Error::InvalidUtf8`], and the errors of [`Decoder::decode`].
    pub fn decode_valid(&self, ids: &[u32], skip_special_tokens: bool) -> Result<String> {
        String::from_utf8(self.decode_bytes(ids, skip_special_tokens)?).map_err(|error| Error::InvalidUtf8 {
            origin: "the text of the ids".to_owned(),
            byte: error.utf8_error().valid_up_to() as u64,
        })
    }

    /// The bytes that the token with `id` adds to a text that it neither begins nor ends.
    ///
    /// # Errors
    /// [`Error::UnknownId`]; [`Error::Unsupported`] if the bytes depend on other tokens; the errors of [`Decoder::decode`].
    pub fn token_bytes(&self, id: u32) -> Result<Vec<u8>> {
        self.check_ids(&[id])?;
        Ok(self.tokens_as_bytes([id].into_iter())?.pop().flatten().unwrap_or_default())
    }

    /// [`Self::token_bytes`] of all ids; none for an id without a token.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the largest id is beyond `MOST_LISTED`; the errors of [`Self::token_bytes`].
    pub fn vocab_bytes(&self) -> Result<Vec<Option<Vec<u8>>>> {
        let model = self.pipeline.model().vocab().id_bound();
        let bound = model.max(self.pipeline.added().id_bound());
        if bound > MOST_LISTED {
            return Err(Error::InvalidOption {
                name: "the largest id",
                value: (bound - 1).to_string(),
                expected: format!("below {MOST_LISTED} for a list of all ids; call token_bytes for each id"),
            });
        }
        self.tokens_as_bytes(0..bound as u32)
    }

    fn tokens_as_bytes(&self, ids: impl Iterator<Item = u32>) -> Result<Vec<Option<Vec<u8>>>> {
        let unsupported = || {
            let message = "the bytes of a token depend on the tokens beside it in this decoder; decode_bytes gives the bytes of a list of ids";
            Error::Unsupported(message.to_owned())
        };
        let steps = Steps::of(self.decoder()).ok_or_else(unsupported)?;
        let bytes = |token| steps.token_bytes(token)?.ok_or_else(unsupported);
        ids.map(|id| self.decoder_token(id, false).map(bytes).transpose()).collect()
    }

    /// The stage that turns tokens into text.
    pub(super) fn decoder(&self) -> Option<&Decoder> {
        self.parts.decoder.as_ref()
    }

    /// The text that the decoder gets for an id: `None` if there is no token, or a special one that is left out.
    pub(super) fn decoder_token(&self, id: u32, skip_special_tokens: bool) -> Option<&str> {
        let token = self.id_to_token(id)?;
        let is_hidden = skip_special_tokens && self.pipeline.added().is_special(token);
        match self.decoder() {
            // The unknown piece has a text, and bytes on both sides of a control piece do not join to a character.
            Some(Decoder::SentencePiece(stage)) if is_hidden && stage.unk_token.as_deref() != Some(token) => {
                Some("")
            }
            Some(Decoder::SentencePiece(_)) => Some(token),
            _ if is_hidden => None,
            _ => Some(self.spelled_added().get(&id).map_or(token, String::as_str)),
        }
    }

    /// Added tokens that a byte-level decoder would take for bytes, spelled in its alphabet, by id.
    ///
    /// `č` is the character of the alphabet for a carriage return. As an added token it is found in text as it stands, so
    /// it goes to the decoder as the characters of its own bytes. Tokens that the model makes of pre-tokens too are bytes.
    fn spelled_added(&self) -> &HashMap<u32, String, FixedState> {
        self.spelled_added.get_or_init(|| {
            if !self.decoder().is_some_and(Decoder::has_byte_level) {
                return HashMap::default();
            }
            let model = self.pipeline.model();
            // Such a normalizer has spelled the tokens that are looked for in its text.
            let is_spelled = self.parts.normalizer.as_ref().is_some_and(Normalizer::has_byte_level);
            let tokens = self.pipeline.added().sorted().into_iter();
            let tokens = tokens.filter(|(_, token)| !(is_spelled && token.normalized));
            let texts = tokens.filter_map(|(id, _)| Some((id, self.pipeline.added_text(id)?)));
            let mut texts: Vec<_> = texts.filter(|(_, text)| byte_level::is_ambiguous(text)).collect();
            let is_models = |id, text| model.vocab().token(id) == Some(text);
            if texts.iter().any(|&(id, text)| is_models(id, text)) {
                let made = model.ids_of_text();
                let is_made = |id| made.as_ref().is_none_or(|made| made.contains(&id));
                texts.retain(|&(id, text)| !(is_models(id, text) && is_made(id)));
            }
            texts.into_iter().map(|(id, text)| (id, byte_level::mapped(text))).collect()
        })
    }

    /// The id and the decoded text of the added token `content`, if a byte-level decoder reads it as other bytes.
    ///
    /// # Errors
    /// The errors of [`Decoder::decode`].
    pub fn other_bytes(&self, content: &str) -> Result<Option<(u32, String)>> {
        let Some(id) = self.pipeline.added().id(content) else { return Ok(None) };
        let text = self.pipeline.added_text(id).unwrap_or(content);
        if !self.decoder().is_some_and(Decoder::has_byte_level) || !byte_level::is_ambiguous(text) {
            return Ok(None);
        }
        let decoded = self.decode(&[id], false)?;
        Ok((decoded != content && decoded != text).then_some((id, decoded)))
    }

    /// One more than the largest id that encoding can give.
    pub fn id_bound(&self) -> usize {
        let special = self.parts.post_processor.iter().flat_map(PostProcessor::special_ids);
        let padding = self.parts.padding.iter().map(|rule| rule.padding.symbol.id);
        let largest = special.chain(padding).max().map_or(0, |id| id as usize + 1);
        self.pipeline.id_bound().max(self.pipeline.added().id_bound()).max(largest)
    }

    /// True if all ids fit into 16 bits.
    pub fn has_narrow_ids(&self) -> bool {
        self.id_bound() <= 1 << 16
    }

    /// Makes sure that every id has a token.
    ///
    /// # Errors
    /// [`Error::UnknownId`].
    pub fn check_ids(&self, ids: &[u32]) -> Result<()> {
        let Some(&id) = ids.iter().find(|&&id| self.id_to_token(id).is_none()) else { return Ok(()) };
        let vocab_size = self.pipeline.model().vocab().len() + self.pipeline.added().new_tokens();
        Err(Error::UnknownId { id, vocab_size })
    }
}
