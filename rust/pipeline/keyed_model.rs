//! The model, which the cache asks on a miss: encodes a chunk in any key form and maps token spans back to the bytes of the
//! chunk.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::offset_map::{CharSpan, OffsetMap};
use super::scratch::MissScratch;
use crate::Result;
use crate::byte_level::push_mapped;
use crate::cache::{ChunkTokens, KeyForm, NEW_PRE_TOKEN};
use crate::encoding::SpacesAround;
use crate::metaspace::{VISIBLE_SPACE, push_visible};
use crate::models::bpe::{ByteSymbols, CutPoints, LateMerges};
use crate::models::{Model, Tokens};

/// Length of an id whose tokens never simply follow one another.
const NO_LEN: u32 = u32::MAX;

/// A model prepared for chunks of one key form.
#[derive(Debug)]
pub(super) struct KeyedModel {
    model: Arc<Model>,
    key_form: KeyForm,
    depends_on_context: bool,
    /// For [`KeyForm::Bytes`], if the model takes raw bytes.
    byte_symbols: Option<ByteSymbols>,
    token_lens: Vec<u32>,
    /// Spaces around each token of the vocabulary, by id; made on first use.
    spaces: OnceLock<Vec<SpacesAround>>,
}

impl KeyedModel {
    /// Prepares `model` for chunks in `key_form`.
    pub(super) fn new(model: Arc<Model>, key_form: KeyForm) -> Self {
        let vocab = model.vocab();
        let mut token_lens = Vec::new();
        for (token, id) in vocab.iter() {
            if token_lens.len() <= id as usize && (id as usize) < 4 * vocab.len() + (1 << 20) {
                token_lens.resize(id as usize + 1, 0);
            }
            if let Some(len) = token_lens.get_mut(id as usize) {
                *len = key_form.len_of(model.own_text(token)) as u32;
            }
        }
        for id in model.fallback_ids() {
            if let Some(len) = token_lens.get_mut(id as usize) {
                *len = 1;
            }
        }
        // Tokens of unknown text are as long as the text, and a sink spells them by their spans.
        if let Some(len) = model.id_of_unknown_text().and_then(|id| token_lens.get_mut(id as usize)) {
            *len = NO_LEN;
        }
        let byte_symbols = if key_form == KeyForm::Bytes { model.byte_symbols() } else { None };
        Self {
            depends_on_context: model.depends_on_context(),
            model,
            key_form,
            byte_symbols,
            token_lens,
            spaces: OnceLock::new(),
        }
    }

    /// The model.
    pub(super) fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The form of the bytes of a chunk.
    pub(super) fn key_form(&self) -> KeyForm {
        self.key_form
    }

    /// Bytes of a chunk that each id covers where tokens simply follow one another; an id beyond the end never does, and [`NO_LEN`]
    /// stands for that too.
    pub(super) fn token_lens(&self) -> &[u32] {
        &self.token_lens
    }

    /// Spaces around token `id` of the vocabulary.
    #[inline]
    pub(super) fn spaces_around(&self, id: u32) -> SpacesAround {
        let of = |id| self.model.vocab().token(id).map(SpacesAround::of).unwrap_or_default();
        let known = || (0..self.token_lens.len() as u32).map(of).collect();
        self.spaces.get_or_init(known).get(id as usize).copied().unwrap_or_else(|| of(id))
    }

    /// Where pre-tokens may be cut into fragments, if the model allows it.
    pub(super) fn make_cut_points(&self) -> Option<CutPoints> {
        self.model.cut_points(self.byte_symbols.as_ref(), self.key_form == KeyForm::Spaced)
    }

    /// The early and late merges of the model, if it has late ones.
    pub(super) fn late_merges(&self) -> Option<LateMerges> {
        if self.key_form == KeyForm::Prefixed {
            return None;
        }
        self.model.late_merges(self.byte_symbols.as_ref(), self.key_form == KeyForm::Spaced)
    }

    /// True if the fragment `start..end` of the pre-token `pre_token` stands in context: it is not the whole pre-token, and the
    /// model treats whole pre-tokens otherwise.
    #[inline]
    pub(super) fn in_context(&self, pre_token: &Range<usize>, start: usize, end: usize) -> bool {
        self.depends_on_context && *pre_token != (start..end)
    }

    /// Calls `each` with the fragments of a pre-token, at `range` of `text`, until one call fails. The second argument of `each` is
    /// true if the fragment stands in context. Without cut points the pre-token is its only fragment.
    ///
    /// # Errors
    /// The errors of `each`.
    pub(super) fn for_each_fragment(
        &self,
        text: &[u8],
        range: Range<usize>,
        cuts: Option<&CutPoints>,
        mut each: impl FnMut(Range<usize>, bool) -> Result<()>,
    ) -> Result<()> {
        let mut start = range.start;
        while start < range.end {
            let end = cuts.map_or(range.end, |cuts| cuts.fragment_end(text, start, range.end));
            each(start..end, self.in_context(&range, start, end))?;
            start = end;
        }
        Ok(())
    }

    /// Encodes the chunk at `range` of `text` into `out`. A range may cut characters only in [`KeyForm::Bytes`].
    ///
    /// # Errors
    /// The errors of the model.
    pub(super) fn encode(
        &self,
        text: &str,
        range: Range<usize>,
        in_context: bool,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        scratch.tokens.clear();
        scratch.model.set_in_context(in_context);
        if self.key_form == KeyForm::Bytes {
            return self.encode_bytes(&text.as_bytes()[range], scratch, out);
        }
        let word = &text[range];
        if self.key_form == KeyForm::Spaced && word.contains(' ') {
            return self.encode_with_spaces(word, scratch, out);
        }
        if self.key_form == KeyForm::Prefixed && !in_context && !word.starts_with(VISIBLE_SPACE) {
            return self.encode_with_prefix(word, scratch, out);
        }
        self.model.encode_word(word, &mut scratch.model, &mut scratch.tokens)?;
        self.place(&scratch.tokens, word.len(), |at| (at, at), out);
        Ok(())
    }

    /// Encodes a pre-token, at a range of a text, into `out`, which holds the tokens of the pre-tokens before it; `original` maps the text
    /// to the chunk. The caller decides on regularity at last.
    ///
    /// # Errors
    /// The errors of the model.
    pub(super) fn encode_pre_token(
        &self,
        (text, range): (&str, Range<usize>),
        in_context: bool,
        original: impl Fn(Range<usize>) -> (u32, u32),
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let (first, base) = (out.ids.len(), range.start);
        self.encode(text, range, in_context, scratch, out)?;
        for span in &mut out.spans.as_chunks_mut::<2>().0[first..] {
            let [start, end] = span.map(|at| base + at as usize);
            *span = original(start..end).into();
        }
        if let (Some(start), true) = (out.spans.get_mut(2 * first), first > 0) {
            *start |= NEW_PRE_TOKEN;
        }
        Ok(())
    }

    /// Encodes the chunk that `scratch.rewrite_memo` rewrote last into `out`.
    ///
    /// # Errors
    /// The errors of the model.
    pub(super) fn encode_rewritten(
        &self,
        in_context: bool,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let MissScratch { model, tokens, rewrite_memo, .. } = scratch;
        tokens.clear();
        model.set_in_context(in_context);
        self.model.encode_word(rewrite_memo.text(), model, tokens)?;
        self.place(tokens, rewrite_memo.text().len(), rewrite_memo.offsets(), out);
        Ok(())
    }

    fn encode_with_spaces(&self, word: &str, scratch: &mut MissScratch, out: &mut ChunkTokens) -> Result<()> {
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
            ' ' => CharSpan::new(VISIBLE_SPACE.len_utf8(), 1),
            _ => CharSpan::new(c.len_utf8(), c.len_utf8()),
        };
        let mut offsets = OffsetMap::new(word.chars().map(width));
        self.place(tokens, mapped.len(), |at| offsets.around(at), out);
        Ok(())
    }

    fn encode_with_prefix(&self, word: &str, scratch: &mut MissScratch, out: &mut ChunkTokens) -> Result<()> {
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

    fn encode_bytes(&self, word: &[u8], scratch: &mut MissScratch, out: &mut ChunkTokens) -> Result<()> {
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
        let mut offsets = OffsetMap::new(mapped.chars().map(|c| CharSpan::new(c.len_utf8(), 1)));
        self.place(tokens, mapped.len(), |at| offsets.around(at), out);
        Ok(())
    }

    /// Copies tokens out with their spans in bytes of the chunk.
    ///
    /// `bounds_at` maps a position in the text that the model saw to the last boundary in the chunk at or before that position
    /// and the first boundary at or after it. Positions ascend.
    fn place(
        &self,
        tokens: &Tokens,
        limit: usize,
        mut bounds_at: impl FnMut(usize) -> (usize, usize),
        out: &mut ChunkTokens,
    ) {
        let (mut last_end, mut last) = (0, None);
        for (id, span) in tokens.spans() {
            // All byte tokens of unknown text have one span, and positions must not descend.
            let (start, end) = match last {
                Some((same, bounds)) if same == span => bounds,
                _ => (bounds_at(span.start.min(limit)).0, bounds_at(span.end.min(limit)).1),
            };
            last = Some((span, (start, end)));
            let regular_len = self.token_lens.get(id as usize).map(|&len| len as usize);
            out.is_regular &= start == last_end && regular_len == Some(end - start);
            out.ids.push(id);
            out.spans.extend([start as u32, end as u32]);
            last_end = end;
        }
    }

    /// Sets `is_regular` of `out` after the caller has moved the spans: true if the tokens simply follow one another.
    pub(super) fn set_regularity(&self, out: &mut ChunkTokens) {
        let mut last_end = 0;
        let is_next = |(&[start, end], &id): (&[u32; 2], &u32)| {
            let is_next =
                start == last_end && self.token_lens.get(id as usize) == Some(&end.wrapping_sub(start));
            last_end = end;
            is_next
        };
        out.is_regular = out.spans.as_chunks::<2>().0.iter().zip(&out.ids).all(is_next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::vocab::Vocab;

    fn encode(vocab: &[&str], merges: &[(&str, &str)], word: &str) -> ChunkTokens {
        let bpe = Bpe::new(Vocab::from_tokens(vocab), merges, BpeOptions::default()).expect("valid");
        let encoder = KeyedModel::new(Arc::new(Model::Bpe(bpe)), KeyForm::Bytes);
        let mut out = ChunkTokens { is_regular: true, ..ChunkTokens::default() };
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
