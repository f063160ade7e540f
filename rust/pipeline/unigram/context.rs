//! The check that a chunk is context-free: the stages give the same pre-tokens for the chunk in any text.
//!
//! For most chunks the characters at the ends decide. Any other chunk is tried: the stages run on the chunk with a blank and a
//! letter after it, and where chunks have gaps between them, also with a blank before it. One trial decides for all texts,
//! because every stage of a normalizer that [`leaves_spaces`](crate::normalizers::Normalizer::leaves_spaces) sees nothing
//! beyond a grapheme cluster or a run of white space: the text after a chunk begins with a blank too, and so acts on the chunk as
//! the trial does. Other blanks may act otherwise. A line feed forms one cluster with a carriage return before it. So a chunk with
//! a carriage return, after which a stage may remove all characters, is tried before a line feed too. Where runs of spaces are
//! joined and another blank is not joined with them, every chunk is tried before that blank too; stages see such blanks alone, so
//! one stands for all.

use super::chunk_stages::ChunkStages;
use super::facts::WITHIN;
use crate::Result;
use crate::normalized::Normalized;
use crate::normalizers::clusters::is_simple_grapheme;
use crate::scan::Splitter;

impl ChunkStages<'_> {
    /// True if `chunk`, which alone becomes `normalized`, becomes the same with a blank after it, and, where chunks have gaps
    /// between them, also with a blank before it if it begins with none.
    pub(in crate::pipeline) fn is_context_free(
        &self,
        chunk: &str,
        normalized: &Normalized<'_>,
    ) -> Result<bool> {
        if self.has_fixed_ends(chunk) {
            return Ok(true);
        }
        let has_blank = chunk.chars().next().is_some_and(|c| self.is_blank(c));
        let may_join_line_feed = self.facts.has_lines && chunk.contains('\r');
        if may_join_line_feed && !self.is_free_between("", chunk, "\na", normalized)? {
            return Ok(false);
        }
        if let Some(blank) = self.facts.unjoined_blank
            && !self.is_free_between("", chunk, &format!("{blank}a"), normalized)?
        {
            return Ok(false);
        }
        Ok(self.is_free_between("", chunk, " a", normalized)?
            && (!self.facts.has_gaps || has_blank || self.is_free_between(" ", chunk, " a", normalized)?))
    }

    /// True if no neighbour changes the first or the last character.
    fn has_fixed_ends(&self, chunk: &str) -> bool {
        // A character that vanishes at the beginning of a text moves the characters after it.
        self.is_fixed(&mut chunk.chars().rev())
            && (chunk.chars().next().is_some_and(|c| self.is_blank(c)) || self.is_fixed(&mut chunk.chars()))
    }

    /// True if `chunk` becomes `normalized`, with the same offsets, between `before` and `after`, which is a blank with a letter.
    fn is_free_between(
        &self,
        before: &str,
        chunk: &str,
        after: &str,
        normalized: &Normalized<'_>,
    ) -> Result<bool> {
        let surrounded = [before, chunk, after].concat();
        if self.stages.normalizer.as_ref().is_none_or(|normalizer| normalizer.is_identity(&surrounded)) {
            return Ok(normalized.text() == chunk);
        }
        let made = self.normalize(&surrounded, 0, true)?;
        let Some(kept) = made.text().strip_prefix(before).and_then(|made| made.strip_suffix(" a")) else {
            return Ok(false);
        };
        let shift = before.len();
        let end = made.original(shift + kept.len()..made.text().len()).0 as usize;
        if kept != normalized.text() || end != shift + chunk.len() {
            return Ok(false);
        }
        let is_aligned = |(at, c): (usize, char)| {
            let (start, end) = normalized.original(at..at + c.len_utf8());
            let shift = shift as u32;
            made.original(before.len() + at..before.len() + at + c.len_utf8()) == (start + shift, end + shift)
        };
        Ok(kept.char_indices().all(is_aligned))
    }

    /// True if a chunk ends between `before` and `next`, and the last character of `before` is fixed.
    pub(in crate::pipeline) fn ends_chunk(&self, before: &str, next: char) -> bool {
        self.is_blank(next) && self.is_fixed(&mut before.chars().rev())
    }

    /// `text` without the line feeds at its end, not below `start`, if the normalizer strips these and nothing else changes.
    pub(super) fn without_line_ends<'t>(&self, text: &'t str, start: usize) -> &'t str {
        let kept = text[start..].trim_end_matches('\n');
        let is_same = self.facts.strips_lines && self.is_fixed(&mut kept.chars().rev());
        if is_same { &text[..start + kept.len()] } else { text }
    }

    /// Start, not below `start`, of the last chunk of `text` if that chunk may lose white space at the end of the text which the
    /// chunk keeps elsewhere; the end of `text` if not.
    ///
    /// A fixed character keeps everything before it from that.
    pub(super) fn strippable(&self, text: &str, start: usize) -> usize {
        if !WITHIN.iter().any(|&c| self.facts.is_plain(c as u8)) {
            return text.len();
        }
        let segment = &text[start..];
        let ends = || segment.char_indices().rev().map(|(at, c)| at + c.len_utf8());
        let kept = ends().find(|&end| self.is_fixed(&mut segment[..end].chars().rev())).unwrap_or(0);
        if !segment[kept..].contains(WITHIN) {
            return text.len();
        }
        let word = segment[..kept].rfind(|c| self.is_blank(c)).map_or(0, |blank| blank + 1);
        start + segment[..word].trim_end_matches(|c| self.is_blank(c)).len()
    }

    /// True if the first of `chars` is unchanged beside any neighbour and is no white space, and the next one is no mark.
    fn is_fixed(&self, chars: &mut impl Iterator<Item = char>) -> bool {
        let is_unchanged = |c: char| {
            if c.is_ascii() {
                return !WITHIN.contains(&c) && self.facts.is_plain(c as u8);
            }
            let normalizer = self.stages.normalizer.as_ref();
            !c.is_whitespace()
                && normalizer.map_or(is_simple_grapheme(c), |normalizer| normalizer.leaves_unchanged(c))
        };
        chars.next().is_some_and(is_unchanged) && chars.next().is_none_or(is_simple_grapheme)
    }

    /// End of a run of whole chunks, from the beginning of `text`, that is context-free; the end of `text` if no run is found. Runs
    /// of 1, 3, 7 and so on chunks are tried.
    ///
    /// Time: linear in the length of the run, since each attempt adds twice as many chunks as the one before.
    pub(super) fn context_free_end(&self, splitter: Splitter, text: &str) -> Result<usize> {
        let (mut end, mut chunks) = (0, 1);
        while end < text.len() {
            for _ in 0..chunks {
                let mut ends = [0];
                let found = splitter.fill_spans(text, end, &mut [0], &mut ends);
                end = if found > 0 { ends[0] as usize } else { text.len() };
            }
            if self.is_context_free(&text[..end], &self.normalize(&text[..end], 0, true)?)? {
                break;
            }
            chunks *= 2;
        }
        Ok(end)
    }
}
