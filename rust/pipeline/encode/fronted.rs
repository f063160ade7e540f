//! Encodes normalized segments before which the pre-tokenizer puts something.
//!
//! The first chunk alone, the *front*, sees the text before a segment: no scanner looks back beyond the start of a span.
//! The front takes the pre-tokenizer. GPT-2's scanner looks a few bytes ahead, so there it cuts a copy of the first bytes with a
//! space before them, and some bytes after the front.

use super::TextEncoding;
use crate::Result;
use crate::cache::KeyForm;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::Normalized;
use crate::pipeline::plan::{ChunkPlan, Scope};
use crate::pipeline::stages::Visitor;
use crate::scan::Scan;
use crate::scan::gpt2::Gpt2;
use crate::sinks::Sink;

/// Bytes in which the end of a front is looked for first.
const WINDOW: usize = 64;

/// More bytes than a scanner looks ahead of the end of a span.
const AHEAD: usize = 16;

impl<S: Sink> TextEncoding<'_, S> {
    /// Encodes `text`, a segment of normalized text: its front, and by `encode_chunks` the chunks after the front, given its length and
    /// the step between word ids. False, and nothing encoded, if the segment has to take the stages.
    pub(in crate::pipeline) fn encode_fronted(
        &mut self,
        plan: ChunkPlan,
        text: &Normalized<'_>,
        encode_chunks: impl FnOnce(&mut Self, ChunkPlan, usize, u32) -> Result<()>,
    ) -> Result<bool> {
        let is_one = plan.scope == Scope::Fronted { pre_tokens: None };
        let first = self.word_id;
        let Some(front) = self.encode_front(plan, text)? else { return Ok(false) };
        if is_one {
            self.word_id = first;
        }
        let plan = if S::TRACKED { plan.of_whole_pre_tokens() } else { plan };
        encode_chunks(self, plan, front, u32::from(!is_one))?;
        self.word_id += u32::from(is_one);
        Ok(true)
    }

    /// Encodes the front of `text`; returns its length. None, and nothing encoded, if the segment has to take the stages.
    fn encode_front(&mut self, plan: ChunkPlan, text: &Normalized<'_>) -> Result<Option<usize>> {
        if plan.key_form == KeyForm::Bytes {
            return self.encode_spaced_front(text).map(Some);
        }
        let mut visible_space = [0; 4];
        let visible_space = VISIBLE_SPACE.encode_utf8(&mut visible_space).as_bytes();
        let bytes = text.text().as_bytes();
        // Text of unknown tokens is spelled as the model sees it.
        let is_spelled = self.sink.wants_texts() && self.pipeline.model().id_of_unknown_text().is_some();
        if is_spelled || memchr::memmem::find(bytes, visible_space).is_some() {
            return Ok(None);
        }
        let front = memchr::memchr(b' ', bytes).unwrap_or(bytes.len());
        let cut = self.pipeline.stages().cut(text.slice(0..front), plan.key_form)?;
        cut.spans.iter().try_for_each(|span| self.pre_token(&cut.text, span.clone()))?;
        Ok(Some(front))
    }

    /// Encodes the first spans of `text` with a space before it, unless the text begins with one.
    fn encode_spaced_front(&mut self, text: &Normalized<'_>) -> Result<usize> {
        let Some(first) = text.text().chars().next().filter(|&first| first != ' ') else { return Ok(0) };
        let mut window = WINDOW;
        loop {
            let end = text.text().floor_char_boundary(window);
            let part = text.slice(0..end);
            let mut rewrite = part.rewrite();
            rewrite.push(' ', 0..first.len_utf8());
            rewrite.copy(0..end);
            let spaced = rewrite.finish();
            // The space may be a span by itself.
            let middle = Gpt2::advance(spaced.text(), 0);
            let last = if middle == 1 { Gpt2::advance(spaced.text(), 1) } else { middle };
            if end < text.text().len() && last + AHEAD > spaced.text().len() {
                window *= 2;
                continue;
            }
            self.pre_token(&spaced, 0..middle)?;
            if middle < last {
                self.pre_token(&spaced, middle..last)?;
            }
            return Ok(last - 1);
        }
    }
}
