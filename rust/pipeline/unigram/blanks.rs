//! What runs of blanks before a word become.

use super::chunk_stages::ChunkStages;

impl ChunkStages<'_> {
    /// Whether a chunk begins before `c`: a space, or another character that the stages make a space of in any run.
    pub(super) fn is_blank(&self, c: char) -> bool {
        c == ' ' || self.has_lines() && matches!(c, '\t' | '\n' | '\r')
    }

    /// Bytes of the blanks at the beginning of `chunk`.
    pub(in crate::pipeline) fn blanks(&self, chunk: &str) -> usize {
        chunk.bytes().take_while(|&byte| self.is_blank(byte.into())).count()
    }

    /// Whether the word after the first `blanks` bytes of `chunk` may be cut beside isolated characters, and may hold any.
    pub(in crate::pipeline) fn may_have_isolated(&self, chunk: &str, blanks: usize) -> bool {
        self.become_one_space(&chunk[..blanks]) && !chunk.is_ascii()
    }

    /// Whether the last one of `blanks` stands for the visible space that begins a word, or there is none.
    pub(super) fn become_one_space(&self, blanks: &str) -> bool {
        blanks.len() < 2
            || self.facts().joins_blanks && !blanks.contains('\r')
            || self.facts().joins_spaces && blanks.bytes().all(|byte| byte == b' ')
    }

    /// Whether `c`, white space beyond ASCII, becomes a space after any cluster.
    pub(super) fn is_wide_space(&self, c: char) -> bool {
        self.stages().normalizer.as_ref().is_some_and(|normalizer| normalizer.maps_to_space(c))
    }

    /// Bytes of the [`Self::is_wide_space`] that `chunk` begins with, or 0.
    pub(super) fn wide_space_len(&self, chunk: &str) -> usize {
        let first =
            chunk.chars().next().filter(|&c| !c.is_ascii() && c.is_whitespace() && self.is_wide_space(c));
        first.map_or(0, char::len_utf8)
    }

    /// Whether a run of blanks and of `wide`, an [`Self::is_wide_space`], becomes what a run of spaces becomes.
    pub(super) fn joins_wide_space(&self, wide: char) -> bool {
        let made = |text: &str| self.normalize(text, 0, false).ok().map(|made| made.into_text().into_owned());
        let blanks = if self.has_lines() { &[' ', '\t', '\n'][..] } else { &[' '] };
        let mut runs = blanks.iter().flat_map(|&blank| [[blank, wide], [wide, blank]]).chain([[wide; 2]]);
        let joined = made("  a");
        let is_joined = |[first, second]: [char; 2]| made(&format!("{first}{second}a")) == joined;
        self.has_gaps() || self.facts().joins_spaces && runs.all(is_joined)
    }
}
