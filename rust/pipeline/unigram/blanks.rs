//! The rewrites of runs of blanks before a word.

use super::chunk_stages::ChunkStages;
use super::facts::LINE_BLANKS;
use crate::normalizers::clusters::is_simple_grapheme;

impl ChunkStages<'_> {
    /// True if `c` is a blank: a space, or another character that the stages turn into a space in any run.
    pub(super) fn is_blank(&self, c: char) -> bool {
        c == ' ' || self.facts.has_lines && LINE_BLANKS.contains(&c)
    }

    /// Bytes of the blanks at the beginning of `chunk`.
    pub(in crate::pipeline) fn blanks(&self, chunk: &str) -> usize {
        chunk.bytes().take_while(|&byte| self.is_blank(byte.into())).count()
    }

    /// True if the word after the first `blanks` bytes of `chunk` may hold isolated characters and may be cut beside them.
    pub(in crate::pipeline) fn may_have_isolated(&self, chunk: &str, blanks: usize) -> bool {
        self.become_one_space(&chunk[..blanks]) && !chunk.is_ascii()
    }

    /// True if the last one of `blanks` stands for the visible space that begins a word, or if there are no blanks.
    pub(super) fn become_one_space(&self, blanks: &str) -> bool {
        let are_joined = if self.facts.joins_blanks() {
            // A carriage return and a line feed are one cluster.
            !blanks.contains('\r')
        } else {
            self.facts.joins_spaces && blanks.bytes().all(|byte| byte == b' ')
        };
        blanks.len() < 2 || are_joined
    }

    /// True if `c` is white space beyond ASCII that becomes a space after any cluster, and is joined with others as blanks are.
    pub(super) fn is_wide_space(&self, c: char) -> bool {
        let normalizer = self.stages.normalizer.as_ref();
        let is_single = !c.is_ascii() && c.is_whitespace() && is_simple_grapheme(c);
        let is_like_blanks = self.facts.joins_blanks() == self.facts.joins_spaces;
        is_single && is_like_blanks && normalizer.is_some_and(|normalizer| normalizer.maps_to_joined_space(c))
    }

    /// Bytes of the [`Self::is_wide_space`] that `chunk` begins with, or 0.
    pub(super) fn wide_space_len(&self, chunk: &str) -> usize {
        chunk.chars().next().filter(|&c| self.is_wide_space(c)).map_or(0, char::len_utf8)
    }

    /// True if a run of blanks and [wide spaces](Self::is_wide_space) has the same rewrite as a run of spaces.
    pub(super) fn joins_wide_spaces(&self) -> bool {
        self.facts.has_gaps || self.facts.joins_blanks()
    }
}
