//! Ids, offsets and word ids in the layout of arrays.

use std::mem::MaybeUninit;

use super::TokenStore;
use super::columns::word_id;
use crate::cache::{ChunkCache, Id, InlineIds, Lookup, MEDIUM_ITEMS, Packing, SHORT_ITEMS};
use crate::encoding::SpacesAround;

/// Token ids, spans and word ids of some texts, one vector per column.
#[derive(Clone, Debug, Default)]
pub struct SpanColumns<T> {
    /// Token ids.
    pub ids: Vec<T>,
    /// Half-open range of each token in the original text: bytes while a sink writes; `char_offsets` makes
    /// characters of them.
    pub offsets: Vec<[u32; 2]>,
    /// Word id of each token, below 2^31; -1 for none.
    pub words: Vec<i32>,
    /// True if word ids are kept.
    pub has_words: bool,
    /// Spaces around tokens with texts of their own, by ascending index; kept if offsets are to be trimmed.
    pub(crate) own_spaces: Option<Vec<(usize, SpacesAround)>>,
}

impl<T: Id> SpanColumns<T> {
    /// Empty columns.
    pub fn new(has_words: bool, has_trims: bool) -> Self {
        Self { has_words, own_spaces: has_trims.then(Vec::new), ..Self::default() }
    }

    /// Removes all tokens and keeps the memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.offsets.clear();
        self.words.clear();
        if let Some(own_spaces) = &mut self.own_spaces {
            own_spaces.clear();
        }
    }

    /// Appends the tokens of chunks up to the first that the cache cannot answer from its slot; returns the number of chunks.
    ///
    /// All items of a slot are written at once, and the next chunk overwrites those beyond the number of ids.
    #[inline]
    #[expect(
        unsafe_code,
        reason = "keeping the lengths of three vectors up to date costs as much as the rest of a cache hit"
    )]
    fn push_spans(
        &mut self,
        cache: &ChunkCache,
        text: &[u8],
        lookups: &[Lookup],
        token_lens: &[u32],
        skipped_word_ids: &mut Option<u32>,
        (write_short, write_medium): (
            impl Fn(&InlineIds<SHORT_ITEMS>, &mut [MaybeUninit<T>; SHORT_ITEMS]),
            impl Fn(&InlineIds<MEDIUM_ITEMS>, &mut [MaybeUninit<T>; MEDIUM_ITEMS]),
        ),
    ) -> usize {
        let (most, packing) = (MEDIUM_ITEMS * lookups.len(), cache.packing());
        self.ids.reserve(most);
        self.offsets.reserve(most);
        self.words.reserve(if self.has_words { most } else { 0 });
        let (ids, offsets) = (self.ids.spare_capacity_mut(), self.offsets.spare_capacity_mut());
        let words = self.words.spare_capacity_mut();
        let (mut written, mut taken) = (0, 0);
        for lookup in lookups {
            let short = cache.get_short(lookup);
            let medium = if short.is_none() { cache.get_medium(lookup, text) } else { None };
            let count =
                short.map_or_else(|| medium.and_then(|slot| slot.count(true)), |slot| slot.count(true));
            let Some(count) = count.map(|count| count.min(MEDIUM_ITEMS)) else { break };
            let (Some(items), Some(spans)) = (
                ids.get_mut(written..).and_then(|spare| spare.first_chunk_mut::<MEDIUM_ITEMS>()),
                offsets.get_mut(written..).and_then(|spare| spare.first_chunk_mut::<MEDIUM_ITEMS>()),
            ) else {
                break;
            };
            if self.has_words {
                let Some(words) = words.get_mut(written..written + count) else { break };
                let word = word_id(skipped_word_ids, lookup.word_id, count > 0) as i32;
                for slot in words {
                    slot.write(word);
                }
            }
            if let Some(ids) = short {
                let Some(items) = items.first_chunk_mut() else { break };
                write_short(ids, items);
                write_spans(&packing.unpack(ids), count, lookup.start, token_lens, spans);
            } else if let Some(ids) = medium {
                write_medium(ids, items);
                write_spans(&packing.unpack(ids), count, lookup.start, token_lens, spans);
            }
            written += count;
            taken += 1;
        }
        // SAFETY: `written` items of the spare room of each vector were written one after the other, with no gap between; of
        // `words` only if word ids are kept.
        unsafe {
            self.ids.set_len(self.ids.len() + written);
            self.offsets.set_len(self.offsets.len() + written);
            if self.has_words {
                self.words.set_len(self.words.len() + written);
            }
        }
        taken
    }
}

/// Writes the spans of the first `count` of `ids`, which follow one another from `start`, and then perhaps one more.
#[inline]
fn write_spans(
    ids: &[u32],
    count: usize,
    start: u32,
    token_lens: &[u32],
    spans: &mut [MaybeUninit<[u32; 2]>; MEDIUM_ITEMS],
) {
    let len = |id: u32| token_lens.get(id as usize).copied().unwrap_or(0);
    let mut at = start;
    let mut push = |span: &mut MaybeUninit<[u32; 2]>, id: u32| {
        let end = at.wrapping_add(len(id));
        span.write([at, end]);
        at = end;
    };
    // Most chunks have one or two tokens, so two are written without asking.
    push(&mut spans[0], ids[0]);
    push(&mut spans[1], ids[1]);
    if count > 2 {
        for (span, &id) in spans[..count].iter_mut().zip(ids).skip(2) {
            push(span, id);
        }
    }
}

impl<T: Id> TokenStore for SpanColumns<T> {
    #[inline]
    fn wants_texts(&self) -> bool {
        self.own_spaces.is_some()
    }

    #[inline]
    fn push_hits(
        &mut self,
        cache: &ChunkCache,
        text: &[u8],
        lookups: &[Lookup],
        token_lens: &[u32],
        skipped_word_ids: &mut Option<u32>,
    ) -> Option<usize> {
        Some(match cache.packing() {
            Packing::Narrow => {
                let write = (InlineIds::write_narrow::<T>, InlineIds::write_narrow::<T>);
                self.push_spans(cache, text, lookups, token_lens, skipped_word_ids, write)
            }
            Packing::Wide => {
                let write = (InlineIds::write_wide::<T>, InlineIds::write_wide::<T>);
                self.push_spans(cache, text, lookups, token_lens, skipped_word_ids, write)
            }
        })
    }

    #[inline]
    fn push(&mut self, id: u32, (start, end): (u32, u32), word: Option<u32>) {
        self.ids.push(T::narrow(id));
        self.offsets.push([start, end]);
        if self.has_words {
            self.words.push(word.map_or(-1, |word| word as i32));
        }
    }

    fn push_with_text(&mut self, id: u32, text: &str, offsets: (u32, u32), word: Option<u32>) {
        if let Some(own_spaces) = &mut self.own_spaces {
            own_spaces.push((self.ids.len(), SpacesAround::of(text)));
        }
        self.push(id, offsets, word);
    }
}
