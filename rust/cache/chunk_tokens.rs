//! Tokens of a chunk, as a model answers them and as the cache hands them out.

use crate::structures::reused::reused;

/// In the start of a token's span: a further pre-token begins here.
///
/// Text has less than 2 GiB, so the bit is free.
pub const NEW_PRE_TOKEN: u32 = 1 << 31;

/// The tokens of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedTokens<'a> {
    /// Token ids.
    pub ids: &'a [u32],
    /// Start and end of each token, alternating, in bytes from the start of the chunk; absent where each token covers exactly
    /// its own length. A start may carry [`NEW_PRE_TOKEN`]. Empty spans mark a context-dependent chunk.
    pub spans: Option<&'a [u32]>,
}

impl CachedTokens<'_> {
    /// True if the chunk is context-dependent: its tokens depend on the text before or after the chunk, so there are none here.
    #[inline]
    pub fn is_context_dependent(self) -> bool {
        self.spans.is_some_and(<[u32]>::is_empty)
    }

    /// The span of each token in a chunk in which these tokens begin at byte `at`; `lens` are the bytes that each id covers where tokens
    /// simply follow one another.
    pub fn spans_from(self, at: usize, lens: &[u32]) -> impl Iterator<Item = [u32; 2]> {
        let (at, mut end) = (at as u32, at as u32);
        self.ids.iter().enumerate().map(move |(index, &id)| {
            if let Some(spans) = self.spans {
                return [spans[2 * index] + at, spans[2 * index + 1] + at];
            }
            let start = end;
            end += lens.get(id as usize).copied().unwrap_or_default();
            [start, end]
        })
    }
}

/// The answer of the model for one chunk.
#[derive(Clone, Debug, Default)]
pub struct ChunkTokens {
    /// Token ids.
    pub ids: Vec<u32>,
    /// Start and end of each token, alternating; used only if `is_regular` is off.
    pub spans: Vec<u32>,
    /// True if each token covers exactly its own length, one after the other from the start.
    pub is_regular: bool,
    /// The next token begins another pre-token.
    pub(crate) begun: bool,
}

reused!(ChunkTokens: ids, spans);

impl ChunkTokens {
    /// Makes this the answer that [`CachedTokens::is_context_dependent`] recognizes.
    pub fn set_context_dependent(&mut self) {
        self.clear();
        self.is_regular = false;
    }

    /// Tells that the next tokens belong to another pre-token, which begins at byte `at` of the chunk.
    pub fn begin_pre_token(&mut self, at: usize) {
        self.begun = !self.ids.is_empty();
        self.is_regular &= at == 0;
    }

    /// Appends the tokens of a part of the chunk that begins at byte `at`; `lens` are the bytes that each id covers where tokens simply
    /// follow one another.
    pub fn push_part(&mut self, tokens: CachedTokens<'_>, at: usize, lens: &[u32]) {
        let first = self.spans.len();
        self.spans.extend(tokens.spans_from(at, lens).flatten());
        if self.begun
            && let Some(start) = self.spans.get_mut(first)
        {
            *start |= NEW_PRE_TOKEN;
            (self.begun, self.is_regular) = (false, false);
        }
        self.is_regular &= tokens.spans.is_none();
        self.ids.extend_from_slice(tokens.ids);
    }

    /// Gives all tokens their spans, unless they have them.
    pub fn place(&mut self, lens: &[u32]) {
        if self.is_regular {
            let tokens = CachedTokens { ids: &self.ids, spans: None };
            self.spans.clear();
            self.spans.extend(tokens.spans_from(0, lens).flatten());
            self.is_regular = false;
        }
    }

    /// Replaces the tokens from index `first` on by `joined`: ids, and the number of tokens that each id replaces.
    pub fn join(&mut self, first: usize, joined: impl Iterator<Item = (u32, u32)>) {
        let (mut to, mut from) = (first, first);
        for (id, count) in joined {
            let next = from + count as usize;
            self.ids[to] = id;
            if !self.is_regular {
                (self.spans[2 * to], self.spans[2 * to + 1]) =
                    (self.spans[2 * from], self.spans[2 * next - 1]);
            }
            (to, from) = (to + 1, next);
        }
        self.ids.truncate(to);
        self.spans.truncate(2 * to);
    }

    /// Forgets where the tokens are, for a chunk whose ids alone are wanted.
    pub fn forget_places(&mut self) {
        self.spans.clear();
        (self.is_regular, self.begun) = (true, false);
    }

    /// Removes all tokens and keeps the memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.spans.clear();
        (self.is_regular, self.begun) = (true, false);
    }

    /// The tokens as the cache hands them out.
    pub fn as_cached(&self) -> CachedTokens<'_> {
        CachedTokens { ids: &self.ids, spans: (!self.is_regular).then_some(self.spans.as_slice()) }
    }
}
