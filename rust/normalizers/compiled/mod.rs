//! A compiled normalizer: one pass over a text for all stages, for text whose alignment is not wanted.
//!
//! A text is *closed* for a stage if, in any row of closed texts, the stage rewrites each as it rewrites that text alone
//! (`closed`). For most stages only the first character decides: it must not compose with a character before it, nor change
//! places with marks there, nor continue a match. A *piece* is a text that is closed for every stage, in the form in which the
//! stage receives it. An empty text is closed.
//!
//! **Theorem 1.** The rewrite of a row of pieces is the row of the rewrites of the pieces.
//!
//! *Proof*, by induction on the stages: each receives a row of closed texts, and hands on the row of their rewrites.
//!
//! So a piece is looked up in a memo (`memo`): first single characters, then a character with all characters after it that are
//! no pieces. Characters of ASCII that become one character of ASCII each are mapped in bulk (`ascii`). Such a character that may
//! continue a match, and so is no piece, may still stand in the row: after another such character unless the two are neighbours in
//! a pattern, and after a piece whose end no match goes on after. No match holds both then, and neither ever vanishes.
//!
//! Text that is no row of pieces goes through the stages, with as little as possible around it. A stage *reaches* from such text at
//! most into the piece beside it: a mark joins the character before it, and a match ends where the next piece begins and
//! begins in the last piece before it. Let *n* be the number of stages that see more than a character.
//!
//! **Theorem 2.** Take a row of 2*n* pieces that vanish at no stage, with any text beside the row. The text may be cut after the
//! first *n* pieces: the rewrites of the two parts, one after the other, are the rewrite of the whole.
//!
//! *Proof*: each stage reaches one piece further than the one before it. So all pieces but the first *i* and the last *i* leave
//! stage *i* as they would alone. Hence every stage receives the two pieces at the cut as closed texts, and sees nothing across it.
//!
//! Such cuts are kept in mind during the pass. Only text since the last one is done again, so no text is done more than twice.
//!
//! `Strip` and `Prepend` concern the ends of a text. Their reach is one too where the pieces are visible characters at every
//! stage. So the first and the last part of a text, up to a row of such characters, go through the stages with them,
//! and the rest without them.
//!
//! A long text may grow 64 times ([`Growth`]). Where a part grows more than 16 times in any stage, the whole
//! text goes through the stages, which then decide. So all other text stays within the bound.
//!
//! | file | holds |
//! |---|---|
//! | `closed` | how far a stage sees |
//! | `ascii` | the table and the loop for ASCII |
//! | `images` | rewrites of single characters |
//! | `rules` | the stages that do not see the ends of a text |
//! | `inner` | these stages, compiled |
//! | `memo` | rewrites of pieces |
//! | `output` | the text under construction |
//! | `pass` | the pass over one text |

mod ascii;
mod closed;
mod images;
mod inner;
mod memo;
mod output;
mod pass;
mod rules;
#[cfg(test)]
pub(crate) mod tests;

use closed::{Sight, sight, stages_with_neighbours};
pub(crate) use images::{Image, Images, PageImages, Remains};
use inner::{Inner, LONGEST};
pub use memo::PieceMemo;
use output::Output;
use pass::Pass;
use rules::run;

use super::Normalizer;
use crate::Result;
use crate::growth::Growth;
use crate::normalized::Normalized;
use crate::structures::char_table::CharTable;

/// Stages that see more than a character, at most.
const MOST_REACH: usize = 16;

/// Beyond its [`GROWTH`](rules::GROWTH), each end of a text may grow by so many bytes.
const END_GROWTH: usize = 1 << 20;

/// The stages of a normalizer, compiled.
#[derive(Debug)]
pub struct CompiledNormalizer {
    /// The stages themselves.
    whole: Normalizer,
    /// The stages for the first and for the last part of a text, if any stage sees the ends.
    ends: Option<[Vec<Normalizer>; 2]>,
    /// The stages for all other parts.
    inner: Inner,
}

impl CompiledNormalizer {
    /// True if a normalizer has to run stage by stage: a stage may see any distance, or more than 16 stages see more than a character.
    pub fn runs_by_stages(normalizer: &Normalizer) -> bool {
        let stages = normalizer.stages();
        stages.iter().any(|stage| sight(stage) == Sight::Unlimited)
            || stages_with_neighbours(&stages) > MOST_REACH
    }

    /// Compiles a normalizer; none if it cannot be, or if the stages themselves are as fast.
    pub fn new(normalizer: &Normalizer) -> Option<Self> {
        let stages = normalizer.stages();
        let is_inner = |stage: &&&Normalizer| sight(stage) != Sight::Ends;
        let inner: Vec<Normalizer> = stages.iter().filter(is_inner).map(|&stage| stage.clone()).collect();
        // A form by itself finds unchanged text by vectors of bytes.
        let is_fast = inner.is_empty() || matches!(stages.as_slice(), [Normalizer::Unicode(_)]);
        if is_fast || Self::runs_by_stages(normalizer) {
            return None;
        }
        let end = |is_first: bool| {
            let of_end = |&stage: &&Normalizer| match stage {
                Normalizer::Strip { left, right } => {
                    Some(Normalizer::Strip { left: *left && is_first, right: *right && !is_first })
                }
                Normalizer::Prepend(_) => is_first.then(|| stage.clone()),
                stage => Some(stage.clone()),
            };
            stages.iter().filter_map(of_end).collect()
        };
        Some(Self {
            whole: normalizer.clone(),
            ends: stages.iter().any(|stage| sight(stage) == Sight::Ends).then(|| [end(true), end(false)]),
            inner: Inner::new(inner, stages_with_neighbours(&stages).max(1)),
        })
    }

    /// Normalizes an untracked text as [`Normalizer::normalize`] does. The result knows only with `is_placed` if it
    /// stands for the beginning of a text.
    ///
    /// # Errors
    /// The errors of [`Normalizer::normalize`].
    pub fn normalize<'t>(
        &self,
        text: Normalized<'t>,
        is_placed: bool,
        memo: &mut PieceMemo,
    ) -> Result<Normalized<'t>> {
        let mut out = Output::new(text.text());
        if self.fill(text.text(), memo, &mut out).is_none() {
            return self.whole.normalize(text);
        }
        match out.finish() {
            // Text that is replaced by the same text stands no longer for the beginning.
            None if is_placed && self.has_replace() && text.is_at_beginning(0) => {
                Ok(self.first_part(&text)?.continued(text.text().to_owned()))
            }
            None => Ok(text),
            Some(made) if is_placed && text.is_at_beginning(0) => Ok(self.first_part(&text)?.continued(made)),
            Some(made) => Ok(text.slice(0..0).continued(made)),
        }
    }

    /// Which characters are inert, or none as long as it costs more to ask all characters than it saves in a text of `len` bytes.
    pub(crate) fn inert(&self, len: usize) -> Option<&CharTable> {
        self.inner.inert(len)
    }

    /// The images of single characters between the ends of a text; none if a stage puts a prefix before a text, or if several stages see
    /// grapheme clusters.
    pub(crate) fn images(&self) -> Option<Images<'_>> {
        let stages = self.whole.stages();
        let has_prefix = stages.iter().any(|stage| matches!(stage, Normalizer::Prepend(_)));
        let clusters = stages.iter().filter(|stage| matches!(stage, Normalizer::Precompiled(_))).count();
        (!has_prefix && clusters <= 1).then(|| Images::of_rules(&self.inner.rules))
    }

    /// The rewrite of text inside a longer one, in `buffer` or as it stands: nothing is stripped at its ends. None if a part of it grows so much
    /// that the bound for the whole text decides.
    pub(crate) fn rewrite_inner<'b>(
        &self,
        text: &'b str,
        memo: &mut PieceMemo,
        buffer: &'b mut String,
    ) -> Option<&'b str> {
        // Most chunks.
        if text.len() <= LONGEST && self.inner.ascii.map_whole(text, buffer) {
            return Some(buffer);
        }
        let mut out = Output::in_buffer(text, std::mem::take(buffer));
        let filled = Pass::new(&self.inner, text, memo, &mut out).run(0);
        let is_changed = out.finish_into(buffer);
        filled.map(|()| if is_changed { buffer.as_str() } else { text })
    }

    /// True if a stage sees the ends of a text.
    pub(crate) fn sees_ends(&self) -> bool {
        self.ends.is_some()
    }

    /// The rewrite of the first part of a text, or of the last part, of which only that end may be stripped; none if it grows so much that the
    /// bound for the whole text decides.
    pub(crate) fn rewrite_end(&self, part: &str, is_first: bool) -> Option<String> {
        if part.is_empty() {
            return Some(String::new());
        }
        run(self.stages_of_end(is_first), part, END_GROWTH)
    }

    /// The length of the rewrite of the first part of `text`, up to `end`, under the bound for the whole text.
    ///
    /// # Errors
    /// The errors of [`Normalizer::normalize`].
    pub(crate) fn rewritten_len(&self, text: &str, end: usize) -> Result<usize> {
        let (growth, part) = (Growth::of(text.len()), Normalized::new(&text[..end], 0, false));
        let mut stages = self.stages_of_end(true).iter();
        Ok(stages.try_fold(part, |part, stage| stage.normalize_within(growth, part))?.text().len())
    }

    /// The stages for the first part of a text, or for the last part.
    fn stages_of_end(&self, is_first: bool) -> &[Normalizer] {
        match &self.ends {
            Some([first, _]) if is_first => first,
            Some([_, last]) => last,
            None => &self.inner.rules.0,
        }
    }

    fn has_replace(&self) -> bool {
        self.inner.rules.0.iter().any(|stage| matches!(stage, Normalizer::Replace(_)))
    }

    /// The first part of the normalized text, or all of it.
    fn first_part<'t>(&self, text: &'t Normalized<'_>) -> Result<Normalized<'t>> {
        let Some(end) = self.amid_visible(text.text().as_bytes().iter()) else {
            return self.whole.normalize(text.slice(0..text.text().len()));
        };
        self.stages_of_end(true).iter().try_fold(text.slice(0..end), |part, stage| stage.normalize(part))
    }

    /// Writes the rewrite of `text`; none if `text` cannot be rewritten part by part.
    fn fill<'t>(&self, text: &'t str, memo: &mut PieceMemo, out: &mut Output<'t>) -> Option<()> {
        let Some([first, last]) = &self.ends else {
            return Pass::new(&self.inner, text, memo, out).run(0);
        };
        let (start, end) = self.ends_of(text.as_bytes())?;
        out.put_changed(0, start, &run(first, &text[..start], END_GROWTH)?);
        Pass::new(&self.inner, &text[..end], memo, out).run(start)?;
        out.put_changed(end, text.len(), &run(last, &text[end..], END_GROWTH)?);
        Some(())
    }

    /// Where the first part of a text ends, and where the last part begins: each amid a row of visible characters.
    fn ends_of(&self, text: &[u8]) -> Option<(usize, usize)> {
        let start = self.amid_visible(text.iter())?;
        let end = text.len() - self.amid_visible(text.iter().rev())?;
        (start <= end).then_some((start, end))
    }

    /// Bytes up to the middle of the first row of visible characters that is long enough.
    fn amid_visible<'b>(&self, mut bytes: impl Iterator<Item = &'b u8>) -> Option<usize> {
        let mut count = 0;
        let ends_row = |&byte: &u8| {
            count = if self.inner.ascii.is_visible(byte) { count + 1 } else { 0 };
            count == 2 * self.inner.reach + 2
        };
        bytes.position(ends_row).map(|at| at - self.inner.reach)
    }
}
