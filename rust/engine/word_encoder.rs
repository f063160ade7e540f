//! What happens when the cache misses: the model, and the place of its tokens in the pre-token.

use std::ops::Range;
use std::sync::Arc;

use super::changes::Changes;
use super::places::{Places, Width};
use super::{GroupKinds, WordTokens};
use crate::Result;
use crate::byte_level::push_mapped;
use crate::metaspace::{VISIBLE_SPACE, push_visible};
use crate::models::bpe::{ByteSymbols, CutPoints};
use crate::models::{Model, Scratch, Tokens};
use crate::structures::worthwhile::Worthwhile;

/// What the pre-tokens of the span stream are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The text that the model sees.
    Text,
    /// Raw bytes, which the model sees in the byte-level alphabet.
    Bytes,
    /// Text in which the model sees U+2581 in place of each space.
    Spaced,
    /// Text in front of which the model sees a U+2581, which stands for the first character, unless there is one; before parts it
    /// sees none.
    Prefixed,
}

impl Unit {
    /// Units that `token` stands for where it is found.
    fn len_of(self, token: &str) -> usize {
        match self {
            Self::Text => token.len(),
            Self::Bytes => token.chars().count(),
            Self::Spaced => {
                let visible = token.matches(VISIBLE_SPACE).count();
                token.len() - visible * (VISIBLE_SPACE.len_utf8() - 1)
            }
            Self::Prefixed => token.strip_prefix(VISIBLE_SPACE).unwrap_or(token).len(),
        }
    }
}

/// A model prepared for one kind of pre-token.
#[derive(Debug)]
pub struct WordEncoder {
    model: Arc<Model>,
    unit: Unit,
    has_parts: bool,
    /// For [`Unit::Bytes`], if the model takes raw bytes.
    byte_symbols: Option<ByteSymbols>,
    token_lens: Vec<u32>,
    cut_points: Worthwhile<CutPoints>,
}

/// Memory that one thread reuses from miss to miss.
#[derive(Debug, Default)]
pub struct MissScratch {
    model: Scratch,
    tokens: Tokens,
    mapped: String,
    /// What became of the pre-token that [`WordEncoder::encode_changed`] is for.
    pub changes: Changes,
    /// What groups of characters are that words are cut beside.
    pub groups: GroupKinds,
}

impl MissScratch {
    /// Seeds the random choices that follow.
    pub fn seed(&mut self, seed: u64) {
        self.model.seed(seed);
    }

    /// Whether the part that was encoded last may have other tokens where something else is before it.
    pub fn depends(&self) -> bool {
        self.model.depends()
    }
}

impl WordEncoder {
    /// Prepares `model` for pre-tokens of `unit`.
    pub fn new(model: Arc<Model>, unit: Unit) -> Self {
        let vocab = model.vocab();
        let mut token_lens = Vec::new();
        for (token, id) in vocab.iter() {
            if token_lens.len() <= id as usize && (id as usize) < 4 * vocab.len() + (1 << 20) {
                token_lens.resize(id as usize + 1, 0);
            }
            if let Some(len) = token_lens.get_mut(id as usize) {
                *len = unit.len_of(model.own_text(token)) as u32;
            }
        }
        for id in model.fallback_ids() {
            if let Some(len) = token_lens.get_mut(id as usize) {
                *len = 1;
            }
        }
        let byte_symbols = if unit == Unit::Bytes { model.byte_symbols() } else { None };
        Self {
            has_parts: model.has_parts(),
            model,
            unit,
            byte_symbols,
            token_lens,
            cut_points: Worthwhile::default(),
        }
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// What pre-tokens are made of.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Units that each id covers in a regular pre-token; ids beyond the end are never regular.
    pub fn token_lens(&self) -> &[u32] {
        &self.token_lens
    }

    /// Where a long pre-token of `len` bytes may be cut into units that are encoded apart.
    #[inline]
    pub fn cut_points(&self, len: usize) -> Option<&CutPoints> {
        let make = || self.model.cut_points(self.byte_symbols.as_ref(), self.unit == Unit::Spaced);
        self.cut_points.get(len, self.token_lens.len(), make)
    }

    /// Whether the unit `start..end` of the pre-token that ends at `word_end` and began at `word_start` has to be told
    /// from a pre-token of the same bytes.
    #[inline]
    pub fn is_part(&self, (word_start, word_end): (usize, usize), start: usize, end: usize) -> bool {
        self.has_parts && (start, end) != (word_start, word_end)
    }

    /// Encodes one pre-token, or a part of one, into `out`: what is at `range` of `text`, which are whole characters unless
    /// the model sees bytes.
    ///
    /// # Errors
    /// Those of the model.
    pub fn encode(
        &self,
        text: &str,
        range: Range<usize>,
        is_part: bool,
        scratch: &mut MissScratch,
        out: &mut WordTokens,
    ) -> Result<()> {
        scratch.tokens.clear();
        scratch.model.set_part(is_part);
        if self.unit == Unit::Bytes {
            return self.encode_bytes(&text.as_bytes()[range], scratch, out);
        }
        let word = &text[range];
        if self.unit == Unit::Spaced && word.contains(' ') {
            return self.encode_spaced(word, scratch, out);
        }
        if self.unit == Unit::Prefixed && !is_part && !word.starts_with(VISIBLE_SPACE) {
            return self.encode_prefixed(word, scratch, out);
        }
        self.model.encode_word(word, &mut scratch.model, &mut scratch.tokens)?;
        self.place(&scratch.tokens, word.len(), |at| (at, at), out);
        Ok(())
    }

    /// Encodes what became of a pre-token, or of a part of one, into `out`: the changes that `scratch` holds.
    ///
    /// # Errors
    /// Those of the model.
    pub fn encode_changed(
        &self,
        is_part: bool,
        scratch: &mut MissScratch,
        out: &mut WordTokens,
    ) -> Result<()> {
        let MissScratch { model, tokens, changes, .. } = scratch;
        tokens.clear();
        model.set_part(is_part);
        self.model.encode_word(changes.text(), model, tokens)?;
        self.place(tokens, changes.text().len(), changes.places(), out);
        Ok(())
    }

    fn encode_spaced(&self, word: &str, scratch: &mut MissScratch, out: &mut WordTokens) -> Result<()> {
        let MissScratch { model, tokens, mapped, .. } = scratch;
        mapped.clear();
        push_visible(word, mapped);
        self.model.encode_word(mapped, model, tokens)?;
        // One space, at the front: nearly always.
        if let Some(rest) = word.strip_prefix(' ').filter(|rest| !rest.as_bytes().contains(&b' ')) {
            let around = |at: usize| match at.checked_sub(VISIBLE_SPACE.len_utf8()) {
                Some(at) => (rest.floor_char_boundary(at) + 1, rest.ceil_char_boundary(at) + 1),
                None => (0, at.min(1)),
            };
            self.place(tokens, mapped.len(), around, out);
            return Ok(());
        }
        let width = |c: char| match c {
            ' ' => Width::new(VISIBLE_SPACE.len_utf8(), 1),
            _ => Width::new(c.len_utf8(), c.len_utf8()),
        };
        let mut places = Places::new(word.chars().map(width));
        self.place(tokens, mapped.len(), |at| places.around(at), out);
        Ok(())
    }

    fn encode_prefixed(&self, word: &str, scratch: &mut MissScratch, out: &mut WordTokens) -> Result<()> {
        let MissScratch { model, tokens, mapped, .. } = scratch;
        mapped.clear();
        mapped.push(VISIBLE_SPACE);
        mapped.push_str(word);
        self.model.encode_word(mapped, model, tokens)?;
        let first = word.chars().next().map_or(0, char::len_utf8);
        let around = |at: usize| match at.checked_sub(VISIBLE_SPACE.len_utf8()) {
            Some(0) => (0, first),
            Some(at) => (at, at),
            None => (0, 0),
        };
        self.place(tokens, mapped.len(), around, out);
        Ok(())
    }

    fn encode_bytes(&self, word: &[u8], scratch: &mut MissScratch, out: &mut WordTokens) -> Result<()> {
        let MissScratch { model, tokens, mapped, .. } = scratch;
        mapped.clear();
        if let Some(symbols) = &self.byte_symbols
            && self.model.encode_bytes(word, symbols, mapped, model, tokens)
        {
            self.place(tokens, word.len(), |at| (at, at), out);
            return Ok(());
        }
        mapped.clear();
        push_mapped(word, mapped);
        self.model.encode_word(mapped, model, tokens)?;
        // A token that ends inside a mapped character covers its byte.
        let mut places = Places::new(mapped.chars().map(|c| Width::new(c.len_utf8(), 1)));
        self.place(tokens, mapped.len(), |at| places.around(at), out);
        Ok(())
    }

    /// Copies tokens out, with spans where they do not simply follow one another.
    ///
    /// `unit_at` maps a position in what the model saw to the last unit boundary at or before it and
    /// the first one at or after it; it is asked for ascending positions.
    fn place(
        &self,
        tokens: &Tokens,
        limit: usize,
        mut unit_at: impl FnMut(usize) -> (usize, usize),
        out: &mut WordTokens,
    ) {
        let (mut unit, mut last) = (0, None);
        for (id, span) in tokens.spans() {
            // The bytes of unknown text share its span, and `unit_at` does not go back.
            let (start, end) = match last {
                Some((same, place)) if same == span => place,
                _ => (unit_at(span.start.min(limit)).0, unit_at(span.end.min(limit)).1),
            };
            last = Some((span, (start, end)));
            let regular_len = self.token_lens.get(id as usize).map(|&len| len as usize);
            out.is_regular &= start == unit && regular_len == Some(end - start);
            out.ids.push(id);
            out.spans.extend([start as u32, end as u32]);
            unit = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::vocab::Vocab;

    fn encode(vocab: &[&str], merges: &[(&str, &str)], word: &str) -> WordTokens {
        let bpe = Bpe::new(Vocab::from_tokens(vocab), merges, BpeOptions::default()).expect("valid");
        let encoder = WordEncoder::new(Arc::new(Model::Bpe(bpe)), Unit::Bytes);
        let mut out = WordTokens { is_regular: true, ..WordTokens::default() };
        encoder
            .encode(word, 0..word.len(), false, &mut MissScratch::default(), &mut out)
            .expect("no unk_token");
        out
    }

    #[test]
    fn tokens_that_follow_one_another_are_regular() {
        let tokens = encode(&["a", "b", "Ġ", "Ġa"], &[("Ġ", "a")], " ab");
        assert_eq!((tokens.ids.as_slice(), tokens.is_regular), (&[3, 1][..], true));
    }

    #[test]
    fn a_dropped_byte_moves_offsets_as_the_model_counts_them() {
        // The space is not in the vocabulary and takes two bytes in the alphabet, so `a` seems to lie on it.
        let tokens = encode(&["a", "b"], &[], " ab");
        assert_eq!((tokens.ids.as_slice(), tokens.is_regular), (&[0, 1][..], false));
        assert_eq!(tokens.spans, [0, 1, 0, 1]);
    }
}
