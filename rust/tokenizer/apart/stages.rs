//! The stages before the model on one part of the text.

use std::ops::Range;

use super::WITHIN;
use super::known::{GROWTH, Known};
use super::lone::LoneChars;
use crate::Result;
use crate::engine::changes::Alone;
use crate::engine::word_encoder::MissScratch;
use crate::engine::{NEW_PRE_TOKEN, WordEncoder, WordTokens};
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::{Normalized, PreTokenized};
use crate::normalizers::clusters::{group_len, stands_alone};
use crate::normalizers::{Made, Normalizer};
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
    pub(super) known: Known,
    /// The kinds of characters, where parts may be cut beside lone ones.
    pub(in crate::tokenizer) lone: Option<&'a LoneChars>,
}

impl Alone for Stages<'_> {
    fn group_len(&self, text: &str) -> usize {
        group_len(text)
    }

    fn alone(&self, group: &str) -> Option<(String, Vec<Range<usize>>)> {
        let is_text = |c: char| !c.is_whitespace() && c != VISIBLE_SPACE;
        let made = match self.normalizer {
            _ if WITHIN.iter().any(|&c| group.starts_with(c)) => {
                (group.len() == 1 && self.known.is_plain(group.as_bytes()[0])).then(|| Made::unchanged(group))
            }
            // The caller has made sure that no two of these are neighbours.
            _ if matches!(*group.as_bytes(), [byte] if self.known.is_plain_apart(byte)) => {
                Some(Made::unchanged(group))
            }
            Some(normalizer) => normalizer.alone(group),
            None => group.chars().all(is_text).then(|| Made::unchanged(group)),
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

    /// Whether `part` becomes what it becomes by itself, `normalized`, with a blank behind it also, and one before it if
    /// there is none.
    fn is_closed(&self, part: &str, normalized: &Normalized<'_>) -> Result<bool> {
        if self.has_clear_ends(part) {
            return Ok(true);
        }
        let has_blank = part.bytes().next().is_some_and(is_blank);
        Ok(self.is_closed_behind("", part, normalized)?
            && (!self.has_gaps || has_blank || self.is_closed_behind(" ", part, normalized)?))
    }

    /// Whether `part` is closed by the look of its ends.
    fn has_clear_ends(&self, part: &str) -> bool {
        // A character that goes at the beginning of a text moves what is behind it.
        self.is_clear(&mut part.chars().rev())
            && (part.bytes().next().is_some_and(is_blank) || self.is_clear(&mut part.chars()))
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
        let stays = |c: char| match u32::from(c) {
            code @ 0..128 => !WITHIN.contains(&c) && self.known.is_plain(code as u8),
            _ => {
                !c.is_whitespace()
                    && self.normalizer.map_or(stands_alone(c), |normalizer| normalizer.stays(c))
            }
        };
        chars.next().is_some_and(stays) && chars.next().is_none_or(stands_alone)
    }

    fn is_closed_behind(&self, before: &str, part: &str, normalized: &Normalized<'_>) -> Result<bool> {
        let surrounded = [before, part, " a"].concat();
        if self.is_identity(&surrounded) {
            return Ok(normalized.text() == part);
        }
        let made = self.normalize(&surrounded, 0, true)?;
        let Some(kept) = made.text().strip_prefix(before).and_then(|made| made.strip_suffix(" a")) else {
            return Ok(false);
        };
        let shift = before.len();
        let behind = made.original(shift + kept.len()..made.text().len()).0 as usize;
        if kept != normalized.text() || behind != shift + part.len() {
            return Ok(false);
        }
        let is_aligned = |(at, c): (usize, char)| {
            let (start, end) = normalized.original(at..at + c.len_utf8());
            let shift = shift as u32;
            made.original(before.len() + at..before.len() + at + c.len_utf8()) == (start + shift, end + shift)
        };
        Ok(kept.char_indices().all(is_aligned))
    }

    /// Encodes one part of the text into `out`, unless it is open; then that is the answer. A part that `goes_on` with the
    /// one before it has no blanks.
    ///
    /// # Errors
    /// Those of the stages and of the model.
    pub(in crate::tokenizer) fn encode(
        &self,
        part: &str,
        goes_on: bool,
        encoder: &WordEncoder,
        scratch: &mut MissScratch,
        out: &mut WordTokens,
    ) -> Result<()> {
        let has_blank = !self.has_gaps && !goes_on;
        let word = if has_blank { part.strip_prefix(' ').unwrap_or_default() } else { part };
        if self.known.is_plain_word(word) {
            encoder.encode(part, 0..part.len(), goes_on, scratch, out)?;
        } else if !self.encode_alone(part, goes_on, encoder, scratch, out)? {
            let normalized = self.normalize(part, 0, true)?;
            let has_grown = normalized.text().len() > GROWTH * part.len();
            let cannot_go_on = goes_on && cannot_go_on(normalized.text());
            if has_grown || cannot_go_on || !self.is_closed(part, &normalized)? {
                out.set_open();
                return Ok(());
            }
            let mut cut = PreTokenized::new(normalized);
            if !goes_on {
                self.pre_tokenizer.pre_tokenize(&mut cut)?;
            }
            Self::encode_all(&cut, goes_on, encoder, scratch, out)?;
        }
        if goes_on && scratch.depends() {
            out.set_open();
            return Ok(());
        }
        // A text that is unknown is spelled as the model sees it: it takes the stages where it is asked for.
        let is_unknown = |id: &u32| Some(*id) == encoder.model().id_of_unknown_text();
        out.is_regular &= !out.ids.iter().any(is_unknown);
        Ok(())
    }

    /// Bytes of the blanks at the beginning of `part`.
    pub(in crate::tokenizer) fn blanks(&self, part: &str) -> usize {
        part.bytes().take_while(|&byte| self.is_blank(byte.into())).count()
    }

    /// Whether the word behind the first `blanks` bytes of `part` may be cut beside lone characters, and may have such.
    pub(in crate::tokenizer) fn may_have_lone(&self, part: &str, blanks: usize) -> bool {
        self.become_one_space(&part[..blanks]) && !part.is_ascii()
    }

    /// Whether the last one of `blanks` stands for the visible space that begins a word, or there is none.
    fn become_one_space(&self, blanks: &str) -> bool {
        blanks.len() < 2
            || self.known.joins_blanks && !blanks.contains('\r')
            || self.known.joins_spaces && blanks.bytes().all(|byte| byte == b' ')
    }

    /// Whether `c`, which is white space beyond ASCII, becomes a space wherever it stands behind a group of characters.
    pub(super) fn is_wide_space(&self, c: char) -> bool {
        self.normalizer.is_some_and(|normalizer| normalizer.becomes_space(c))
    }

    /// Bytes of the [`Self::is_wide_space`] that `part` begins with, or 0.
    fn wide_space_len(&self, part: &str) -> usize {
        let first =
            part.chars().next().filter(|&c| !c.is_ascii() && c.is_whitespace() && self.is_wide_space(c));
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

    /// Encodes a part whose characters become something by themselves behind blanks that become one, if there are any; answers
    /// whether it is such.
    fn encode_alone(
        &self,
        part: &str,
        goes_on: bool,
        encoder: &WordEncoder,
        scratch: &mut MissScratch,
        out: &mut WordTokens,
    ) -> Result<bool> {
        let mut blanks = if goes_on { 0 } else { self.blanks(part) };
        if !self.become_one_space(&part[..blanks]) {
            return Ok(false);
        }
        // Bytes that the visible space stands for: the last blank, or white space beyond ASCII.
        let mut own = blanks.min(1);
        if blanks == 0 && !goes_on && !self.has_gaps {
            own = self.wide_space_len(part);
            blanks = own;
        }
        let (word, mut space) = (&part[blanks..], [0; 4]);
        let has_space = blanks > 0 || !goes_on && self.known.begins_visibly;
        let space = if has_space { VISIBLE_SPACE.encode_utf8(&mut space) } else { "" };
        let (prefix, skipped) = ((space, own), blanks - own);
        let is_alone =
            !word.is_empty() && self.known.are_plain_apart(word) && scratch.changes.make(prefix, word, self);
        if is_alone {
            scratch.changes.skip(skipped);
            encoder.encode_changed(goes_on, scratch, out)?;
        }
        Ok(is_alone)
    }

    fn encode_all(
        cut: &PreTokenized<'_>,
        goes_on: bool,
        encoder: &WordEncoder,
        scratch: &mut MissScratch,
        out: &mut WordTokens,
    ) -> Result<()> {
        let (mut end, mut is_regular) = (0, true);
        for (number, span) in cut.spans.iter().enumerate() {
            let done = out.ids.len();
            encoder.encode(cut.text.text(), span.clone(), goes_on, scratch, out)?;
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
    pub(super) fn closed_end(&self, splitter: Splitter, text: &str) -> Result<usize> {
        let (mut end, mut parts) = (0, 1);
        while end < text.len() {
            for _ in 0..parts {
                let mut ends = [0];
                let found = splitter.fill_spans(text, end, &mut [0], &mut ends);
                end = if found > 0 { ends[0] as usize } else { text.len() };
            }
            if self.is_closed(&text[..end], &self.normalize(&text[..end], 0, true)?)? {
                break;
            }
            parts *= 2;
        }
        Ok(end)
    }
}

/// Whether `text` is nothing, or a pre-token would begin or end in it.
fn cannot_go_on(text: &str) -> bool {
    text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == VISIBLE_SPACE)
}
