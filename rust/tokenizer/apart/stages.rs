//! The stages before the model on one part of the text.

use std::ops::Range;

use super::WITHIN;
use super::facts::{GROWTH, NormalizerFacts};
use super::isolated::IsolatedChars;
use crate::Result;
use crate::engine::model_encoder::MissScratch;
use crate::engine::rewrite_memo::ContextFreeRewriter;
use crate::engine::{ChunkTokens, ModelEncoder, NEW_PRE_TOKEN};
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::{Normalized, PreTokenized};
use crate::normalizers::clusters::{cluster_len, is_simple_grapheme};
use crate::normalizers::{Normalizer, Rewritten};
use crate::pre_tokenizers::PreTokenizer;
use crate::scan::Splitter;
use crate::scan::spaces::is_blank;

/// The stages before the model, for parts of the original text.
#[derive(Clone, Copy, Debug)]
pub(in crate::tokenizer) struct Stages<'a> {
    pub(super) normalizer: Option<&'a Normalizer>,
    pub(super) pre_tokenizer: &'a PreTokenizer,
    /// Parts have no blanks at their beginning.
    pub(super) has_gaps: bool,
    /// Tabs and line ends become spaces.
    pub(super) has_lines: bool,
    /// What is known of them.
    pub(super) known: NormalizerFacts,
    /// The kinds of characters, where parts may be cut beside lone ones.
    pub(in crate::tokenizer) isolated: Option<&'a IsolatedChars>,
}

impl ContextFreeRewriter for Stages<'_> {
    fn cluster_len(&self, text: &str) -> usize {
        cluster_len(text)
    }

    fn rewrite_in_isolation(&self, cluster: &str) -> Option<(String, Vec<Range<usize>>)> {
        let is_text = |c: char| !c.is_whitespace() && c != VISIBLE_SPACE;
        let made = match self.normalizer {
            _ if WITHIN.iter().any(|&c| cluster.starts_with(c)) => (cluster.len() == 1
                && self.known.is_plain(cluster.as_bytes()[0]))
            .then(|| Rewritten::unchanged(cluster)),
            // The caller has made sure that no two of these are neighbours.
            _ if matches!(*cluster.as_bytes(), [byte] if self.known.is_plain_apart(byte)) => {
                Some(Rewritten::unchanged(cluster))
            }
            Some(normalizer) => normalizer.rewrite_in_isolation(cluster),
            None => cluster.chars().all(is_text).then(|| Rewritten::unchanged(cluster)),
        };
        made.map(|made| (made.text, made.sources))
    }
}

impl Stages<'_> {
    pub(super) fn normalize<'a>(&self, text: &'a str, start: usize, tracked: bool) -> Result<Normalized<'a>> {
        let text = Normalized::new(text, start, tracked);
        self.normalizer.map_or(Ok(text.clone()), |normalizer| normalizer.normalize(text))
    }

    fn is_identity(&self, text: &str) -> bool {
        self.normalizer.is_none_or(|normalizer| normalizer.is_identity(text))
    }

    /// Whether `chunk` becomes what it becomes by itself, `normalized`, with a blank after it also, and one before it if
    /// there is none.
    fn is_context_free(&self, chunk: &str, normalized: &Normalized<'_>) -> Result<bool> {
        if self.has_clear_ends(chunk) {
            return Ok(true);
        }
        let has_blank = chunk.bytes().next().is_some_and(is_blank);
        Ok(self.is_context_free_after("", chunk, normalized)?
            && (!self.has_gaps || has_blank || self.is_context_free_after(" ", chunk, normalized)?))
    }

    /// Whether `chunk` is closed by the look of its ends.
    fn has_clear_ends(&self, chunk: &str) -> bool {
        // A character that goes at the beginning of a text moves what is after it.
        self.is_clear(&mut chunk.chars().rev())
            && (chunk.bytes().next().is_some_and(is_blank) || self.is_clear(&mut chunk.chars()))
    }

    /// Whether a part that ends with `before`, by the look of that, ends before `next`.
    pub(in crate::tokenizer) fn ends_part(&self, before: &str, next: char) -> bool {
        self.is_blank(next) && self.is_clear(&mut before.chars().rev())
    }

    /// `text` without the line feeds at its end, not below `start`, if these are stripped and what is before them is the
    /// same without.
    pub(super) fn without_line_ends<'a>(&self, text: &'a str, start: usize) -> &'a str {
        let kept = text[start..].trim_end_matches('\n');
        let is_same = self.known.strips_lines && self.is_clear(&mut kept.chars().rev());
        if is_same { &text[..start + kept.len()] } else { text }
    }

    /// Where the last part of `text` begins, not below `start`, that may lose something at its end that stays elsewhere; the end of
    /// `text` if there is none.
    ///
    /// What stays and is no white space keeps from that all that is before it.
    pub(super) fn strippable(&self, text: &str, start: usize) -> usize {
        if !WITHIN.iter().any(|&c| self.known.is_plain(c as u8)) {
            return text.len();
        }
        let text_from = &text[start..];
        let ends = || text_from.char_indices().rev().map(|(at, c)| at + c.len_utf8());
        let kept = ends().find(|&end| self.is_clear(&mut text_from[..end].chars().rev())).unwrap_or(0);
        if !text_from[kept..].contains(WITHIN) {
            return text.len();
        }
        let word = text_from[..kept].rfind(|c| self.is_blank(c)).map_or(0, |blank| blank + 1);
        start + text_from[..word].trim_end_matches(|c| self.is_blank(c)).len()
    }

    /// Whether a part begins with `c`, or may.
    pub(super) fn is_blank(&self, c: char) -> bool {
        c == ' ' || self.has_lines && matches!(c, '\t' | '\n' | '\r')
    }

    /// Whether the first of `chars` stays, and the next one stands alone.
    fn is_clear(&self, chars: &mut impl Iterator<Item = char>) -> bool {
        let leaves_unchanged = |c: char| match u32::from(c) {
            code @ 0..128 => !WITHIN.contains(&c) && self.known.is_plain(code as u8),
            _ => {
                !c.is_whitespace()
                    && self
                        .normalizer
                        .map_or(is_simple_grapheme(c), |normalizer| normalizer.leaves_unchanged(c))
            }
        };
        chars.next().is_some_and(leaves_unchanged) && chars.next().is_none_or(is_simple_grapheme)
    }

    fn is_context_free_after(&self, before: &str, chunk: &str, normalized: &Normalized<'_>) -> Result<bool> {
        let surrounded = [before, chunk, " a"].concat();
        if self.is_identity(&surrounded) {
            return Ok(normalized.text() == chunk);
        }
        let made = self.normalize(&surrounded, 0, true)?;
        let Some(kept) = made.text().strip_prefix(before).and_then(|made| made.strip_suffix(" a")) else {
            return Ok(false);
        };
        let shift = before.len();
        let after = made.original(shift + kept.len()..made.text().len()).0 as usize;
        if kept != normalized.text() || after != shift + chunk.len() {
            return Ok(false);
        }
        let is_aligned = |(at, c): (usize, char)| {
            let (start, end) = normalized.original(at..at + c.len_utf8());
            let shift = shift as u32;
            made.original(before.len() + at..before.len() + at + c.len_utf8()) == (start + shift, end + shift)
        };
        Ok(kept.char_indices().all(is_aligned))
    }

    /// Encodes one part of the text into `out`, unless it is open; then that is the answer. A part that `is_continuation` with the
    /// one before it has no blanks.
    ///
    /// # Errors
    /// Those of the stages and of the model.
    pub(in crate::tokenizer) fn encode(
        &self,
        chunk: &str,
        is_continuation: bool,
        encoder: &ModelEncoder,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let has_blank = !self.has_gaps && !is_continuation;
        let word = if has_blank { chunk.strip_prefix(' ').unwrap_or_default() } else { chunk };
        if self.known.is_plain_word(word) {
            encoder.encode(chunk, 0..chunk.len(), is_continuation, scratch, out)?;
        } else if !self.encode_rewritten_in_isolation(chunk, is_continuation, encoder, scratch, out)? {
            let normalized = self.normalize(chunk, 0, true)?;
            let has_grown = normalized.text().len() > GROWTH * chunk.len();
            let cannot_go_on = is_continuation && cannot_go_on(normalized.text());
            if has_grown || cannot_go_on || !self.is_context_free(chunk, &normalized)? {
                out.set_context_dependent();
                return Ok(());
            }
            let mut cut = PreTokenized::new(normalized);
            if !is_continuation {
                self.pre_tokenizer.pre_tokenize(&mut cut)?;
            }
            Self::encode_all(&cut, is_continuation, encoder, scratch, out)?;
        }
        if is_continuation && scratch.depends() {
            out.set_context_dependent();
            return Ok(());
        }
        // A text that is unknown is spelled as the model sees it: it takes the stages where it is asked for.
        let is_unknown = |id: &u32| Some(*id) == encoder.model().id_of_unknown_text();
        out.is_regular &= !out.ids.iter().any(is_unknown);
        Ok(())
    }

    /// Bytes of the blanks at the beginning of `chunk`.
    pub(in crate::tokenizer) fn blanks(&self, chunk: &str) -> usize {
        chunk.bytes().take_while(|&byte| self.is_blank(byte.into())).count()
    }

    /// Whether the word after the first `blanks` bytes of `chunk` may be cut beside lone characters, and may have such.
    pub(in crate::tokenizer) fn may_have_isolated(&self, chunk: &str, blanks: usize) -> bool {
        self.become_one_space(&chunk[..blanks]) && !chunk.is_ascii()
    }

    /// Whether the last one of `blanks` stands for the visible space that begins a word, or there is none.
    fn become_one_space(&self, blanks: &str) -> bool {
        blanks.len() < 2
            || self.known.joins_blanks && !blanks.contains('\r')
            || self.known.joins_spaces && blanks.bytes().all(|byte| byte == b' ')
    }

    /// Whether `c`, which is white space beyond ASCII, becomes a space wherever it stands after a group of characters.
    pub(super) fn is_wide_space(&self, c: char) -> bool {
        self.normalizer.is_some_and(|normalizer| normalizer.maps_to_space(c))
    }

    /// Bytes of the [`Self::is_wide_space`] that `chunk` begins with, or 0.
    fn wide_space_len(&self, chunk: &str) -> usize {
        let first =
            chunk.chars().next().filter(|&c| !c.is_ascii() && c.is_whitespace() && self.is_wide_space(c));
        first.map_or(0, char::len_utf8)
    }

    /// Whether a run of blanks and of `wide`, an [`Self::is_wide_space`], becomes what a run of spaces becomes.
    pub(super) fn joins_wide_space(&self, wide: char) -> bool {
        let made = |text: &str| self.normalize(text, 0, false).ok().map(|made| made.into_text().into_owned());
        let blanks = if self.has_lines { &[' ', '\t', '\n'][..] } else { &[' '] };
        let mut runs = blanks.iter().flat_map(|&blank| [[blank, wide], [wide, blank]]).chain([[wide; 2]]);
        let joined = made("  a");
        let is_joined = |[first, second]: [char; 2]| made(&format!("{first}{second}a")) == joined;
        self.has_gaps || self.known.joins_spaces && runs.all(is_joined)
    }

    /// Encodes a part whose characters become something by themselves after blanks that become one, if there are any; answers
    /// whether it is such.
    fn encode_rewritten_in_isolation(
        &self,
        chunk: &str,
        is_continuation: bool,
        encoder: &ModelEncoder,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<bool> {
        let mut blanks = if is_continuation { 0 } else { self.blanks(chunk) };
        if !self.become_one_space(&chunk[..blanks]) {
            return Ok(false);
        }
        // Bytes that the visible space stands for: the last blank, or white space beyond ASCII.
        let mut own = blanks.min(1);
        if blanks == 0 && !is_continuation && !self.has_gaps {
            own = self.wide_space_len(chunk);
            blanks = own;
        }
        let (word, mut space) = (&chunk[blanks..], [0; 4]);
        let has_space = blanks > 0 || !is_continuation && self.known.begins_visibly;
        let space = if has_space { VISIBLE_SPACE.encode_utf8(&mut space) } else { "" };
        let (prefix, skipped) = ((space, own), blanks - own);
        let is_alone = !word.is_empty()
            && self.known.are_plain_apart(word)
            && scratch.rewrite_memo.make(prefix, word, self);
        if is_alone {
            scratch.rewrite_memo.skip(skipped);
            encoder.encode_rewritten(is_continuation, scratch, out)?;
        }
        Ok(is_alone)
    }

    fn encode_all(
        cut: &PreTokenized<'_>,
        is_continuation: bool,
        encoder: &ModelEncoder,
        scratch: &mut MissScratch,
        out: &mut ChunkTokens,
    ) -> Result<()> {
        let (mut end, mut is_regular) = (0, true);
        for (number, span) in cut.spans.iter().enumerate() {
            let done = out.ids.len();
            encoder.encode(cut.text.text(), span.clone(), is_continuation, scratch, out)?;
            let places = out.spans.as_chunks_mut::<2>().0[done..].iter_mut();
            for (place, &id) in places.zip(&out.ids[done..]) {
                let [from, to] = place.map(|at| span.start + at as usize);
                *place = cut.text.original(from..to).into();
                let len = encoder.token_lens().get(id as usize);
                is_regular &= place[0] == end && len == Some(&(place[1] - place[0]));
                end = place[1];
            }
            if number > 0 {
                is_regular = false;
                if let Some(start) = out.spans.get_mut(2 * done) {
                    *start |= NEW_PRE_TOKEN;
                }
            }
        }
        out.is_regular = is_regular;
        Ok(())
    }

    /// The end of what begins with the open part at the beginning of `text` and may be encoded by itself: a part that is
    /// closed, with those before it, or all there is.
    ///
    /// Time: linear in what is joined, since twice as many parts are taken at each attempt.
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

/// Whether `text` is nothing, or a pre-token would begin or end in it.
fn cannot_go_on(text: &str) -> bool {
    text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == VISIBLE_SPACE)
}
