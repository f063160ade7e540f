//! All stages for one missed chunk.

use std::ops::Range;

use super::facts::{ChunkFacts, GROWTH, WITHIN};
use crate::Result;
use crate::cache::{ChunkKind, ChunkTokens, KeyForm};
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::{Normalized, PreTokenized};
use crate::normalizers::Rewritten;
use crate::pipeline::added_in_chunks::AddedInChunks;
use crate::pipeline::model_encoder::ModelEncoder;
use crate::pipeline::rewrite_memo::ContextFreeRewriter;
use crate::pipeline::scratch::MissScratch;
use crate::pipeline::stages::Stages;

/// The stages before the model, for one chunk at a time.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) struct ChunkStages<'a> {
    /// The stages themselves.
    pub(super) stages: &'a Stages,
    /// The facts about the stages.
    pub(super) facts: &'a ChunkFacts,
    /// True if chunks are cut further where ids alone are wanted.
    pub(in crate::pipeline) are_refined: bool,
}

impl ContextFreeRewriter for ChunkStages<'_> {
    fn rewrite_in_isolation(&self, cluster: &str) -> Option<(String, Vec<Range<usize>>)> {
        let is_text = |c: char| !c.is_whitespace() && c != VISIBLE_SPACE;
        let rewritten = match &self.stages.normalizer {
            _ if WITHIN.iter().any(|&c| cluster.starts_with(c)) => (cluster.len() == 1
                && self.facts.is_plain(cluster.as_bytes()[0]))
            .then(|| Rewritten::unchanged(cluster)),
            // The caller has made sure that no two of these are neighbours.
            _ if matches!(*cluster.as_bytes(), [byte] if self.facts.is_plain_apart(byte)) => {
                Some(Rewritten::unchanged(cluster))
            }
            Some(normalizer) => normalizer.rewrite_in_isolation(cluster),
            None => cluster.chars().all(is_text).then(|| Rewritten::unchanged(cluster)),
        };
        rewritten.map(|rewritten| (rewritten.text, rewritten.sources))
    }
}

impl ChunkStages<'_> {
    pub(in crate::pipeline) fn normalize<'t>(
        &self,
        text: &'t str,
        start: usize,
        tracked: bool,
    ) -> Result<Normalized<'t>> {
        self.stages.normalize(text, start, tracked)
    }

    /// True if a chunk of kind `kind` may be a part of another chunk.
    pub(in crate::pipeline) fn may_be_part(&self, kind: ChunkKind) -> bool {
        match kind {
            ChunkKind::Fragment => true,
            ChunkKind::Chunk => self.are_refined,
            ChunkKind::PreToken | ChunkKind::Whole | ChunkKind::Early | ChunkKind::EarlyChunk => false,
        }
    }

    /// True if an added token that is looked for in normalized text holds `c`.
    pub(super) fn is_in_token(&self, c: char) -> bool {
        self.stages.matchers.normalized.has_char(c)
    }

    pub(super) fn cut<'t>(&self, text: Normalized<'t>) -> Result<PreTokenized<'t>> {
        self.stages.cut(text, KeyForm::Text)
    }

    /// Encodes a chunk into `out`, or marks `out` if the chunk is context-dependent; false, and nothing encoded, if it holds an added token
    /// once it is normalized. A fragment that `is_continuation` has no blanks.
    ///
    /// # Errors
    /// The errors of the stages and of the model.
    pub(in crate::pipeline) fn encode(
        &self,
        chunk: &str,
        is_continuation: bool,
        (model, added): (&ModelEncoder, Option<AddedInChunks<'_>>),
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<bool> {
        let holds_added = |text: &str| added.is_some_and(|added| added.are_in_text(text));
        let has_blank = !self.facts.has_gaps && !is_continuation;
        let word = if has_blank { chunk.strip_prefix(' ').unwrap_or_default() } else { chunk };
        if self.facts.is_plain_word(word) {
            if holds_added(word) {
                return Ok(false);
            }
            model.encode(chunk, 0..chunk.len(), is_continuation, scratch, out)?;
        } else if self.rewrite(chunk, is_continuation, scratch) {
            if holds_added(scratch.rewrite_memo.text()) {
                return Ok(false);
            }
            model.encode_rewritten(is_continuation, scratch, out)?;
        } else if let Some(normalized) = self.normalize_alone(chunk, is_continuation)? {
            if holds_added(normalized.text()) {
                return Ok(false);
            }
            self.encode_normalized(normalized, is_continuation, model, scratch, out)?;
        } else {
            out.set_context_dependent();
            return Ok(true);
        }
        if is_continuation && scratch.is_context_dependent() {
            out.set_context_dependent();
        }
        Ok(true)
    }

    /// Rewrites a chunk of context-free clusters after blanks that become one space, into the memo of `scratch`; false for any other chunk.
    fn rewrite(&self, chunk: &str, is_continuation: bool, scratch: &mut MissScratch) -> bool {
        let mut blanks = if is_continuation { 0 } else { self.blanks(chunk) };
        if !self.become_one_space(&chunk[..blanks]) {
            return false;
        }
        // Bytes that the visible space stands for: the last blank, or white space beyond ASCII.
        let mut own = blanks.min(1);
        if blanks == 0 && !is_continuation && !self.facts.has_gaps {
            own = self.wide_space_len(chunk);
            blanks = own;
        }
        let (word, mut space) = (&chunk[blanks..], [0; 4]);
        let has_space = blanks > 0 || !is_continuation && self.facts.begins_visibly;
        let space = if has_space { VISIBLE_SPACE.encode_utf8(&mut space) } else { "" };
        let is_context_free = !word.is_empty()
            && self.facts.are_plain_apart(word)
            && scratch.rewrite_memo.rewrite((space, own), word, self);
        if is_context_free {
            scratch.rewrite_memo.skip(blanks - own);
        }
        is_context_free
    }

    /// The normalized chunk; none if the chunk is context-dependent.
    fn normalize_alone<'t>(&self, chunk: &'t str, is_continuation: bool) -> Result<Option<Normalized<'t>>> {
        let normalized = self.normalize(chunk, 0, true)?;
        let has_grown = normalized.text().len() > GROWTH * chunk.len();
        let begins_or_ends_word = is_continuation && begins_or_ends_word(normalized.text());
        let is_dependent = has_grown || begins_or_ends_word || !self.is_context_free(chunk, &normalized)?;
        Ok((!is_dependent).then_some(normalized))
    }

    /// Encodes a normalized chunk through the other stages.
    fn encode_normalized(
        &self,
        normalized: Normalized<'_>,
        is_continuation: bool,
        model: &ModelEncoder,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let cut = if is_continuation { PreTokenized::new(normalized) } else { self.cut(normalized)? };
        for pre_token in &cut.spans {
            let (pre_token, original) =
                ((cut.text.text(), pre_token.clone()), |range| cut.text.original(range));
            model.encode_pre_token(pre_token, is_continuation, original, scratch, out)?;
        }
        model.set_regularity(out);
        Ok(())
    }
}

/// True if `text` is empty, or a pre-token would begin or end within it.
fn begins_or_ends_word(text: &str) -> bool {
    text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == VISIBLE_SPACE)
}
