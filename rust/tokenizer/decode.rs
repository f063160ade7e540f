//! From ids back to text.

use super::Tokenizer;
use crate::decoders::Decoder;
use crate::processors::PostProcessor;
use crate::{Error, Result};

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
    /// Those of [`Decoder::decode`].
    pub fn decode(&self, ids: &[u32], skip_special_tokens: bool) -> Result<String> {
        let added = self.pipeline.added();
        let tokens = ids.iter().filter_map(|&id| self.id_to_token(id));
        let is_shown = |token: &str| !skip_special_tokens || !added.is_special(token);
        if let Some(decoder @ Decoder::SentencePiece(stage)) = &self.parts.decoder {
            // The unknown piece has a text, and bytes on both sides of a control piece do not join to a character.
            let unknown = stage.unk_token.as_deref();
            let shown = |token| if is_shown(token) || unknown == Some(token) { token } else { "" };
            return decoder.decode(tokens.map(shown));
        }
        let tokens = tokens.filter(|token| is_shown(token));
        match &self.parts.decoder {
            Some(decoder) => decoder.decode(tokens),
            None => Ok(tokens.collect::<Vec<_>>().join(" ")),
        }
    }

    /// One more than the largest id that encoding can give.
    pub fn id_bound(&self) -> usize {
        let special = self.parts.post_processor.iter().flat_map(PostProcessor::special_ids);
        let padding = self.parts.padding.iter().map(|rule| rule.padding.symbol.id);
        let largest = special.chain(padding).max().map_or(0, |id| id as usize + 1);
        self.pipeline.id_bound().max(self.pipeline.added().id_bound()).max(largest)
    }

    /// Whether all ids fit into 16 bits.
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
