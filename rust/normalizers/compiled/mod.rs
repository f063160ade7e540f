//! A compiled normalizer: one pass over a text for all stages, for text whose alignment is not wanted.
//!
//! A text is *closed* for a stage if, in any row of closed texts, the stage makes of each what it makes of that text alone
//! ([`closed`]). For most stages only the first character decides: it must not compose with a character before it, nor change places
//! with marks there, nor continue a match. A *piece* is a text that is closed at every stage, in the form in which the stage
//! receives it. An empty text is closed.
//!
//! **Theorem 1.** The stages make of a row of pieces what they make of each piece, one after the other.
//!
//! *Proof*, by induction on the stages: each receives a row of closed texts, and hands on what it makes of each.
//!
//! So a piece is looked up in a memo ([`memo`]): first single characters, then a character with all that may not begin a piece after
//! it. Characters of ASCII that become one character of ASCII are mapped in bulk ([`ascii`]). One that may continue a match is
//! mapped too, as long as the character before it is not its neighbour in a pattern: then no match holds both.
//!
//! Text that is no row of pieces goes through the stages, with as little as possible around it. A stage *reaches* from such text at
//! most into the piece beside it: a mark joins the character before it, and a match ends where the next piece begins, and begins
//! in the last piece before it. Let *n* be the number of stages that see more than a character.
//!
//! **Theorem 2.** In a row of *2n* pieces of which something is left at every stage, text may be cut after the first *n*, whatever stands
//! beside the row, and what the stages make of both parts is what they make of the whole.
//!
//! *Proof*: before stage *i* + 1, all pieces but the first *i* and the last *i* are as the stages have made them of these pieces alone, as
//! each stage reaches one further. So at every stage the two pieces at the cut are closed texts, and the stage sees nothing across.
//!
//! Such cuts are kept in mind during the pass, so that only text since the last one is done again, and no text more than twice.
//!
//! `Strip` and `Prepend` concern the ends of a text. Their reach is one too where the pieces are visible characters at every
//! stage. So the first and the last part of a text, up to a row of such characters, go through the stages with them,
//! and the rest without them.
//!
//! A long text may grow 64 times ([`Growth`](crate::growth::Growth)). Where a part grows 16 times in any stage, the whole text goes through the stages,
//! which then decide; so all other text stays within the bound.
//!
//! | file | holds |
//! |---|---|
//! | `closed` | how far a stage sees |
//! | `ascii` | the table and the loop for ASCII |
//! | `memo` | what pieces become |
//! | `output` | the text under construction |
//! | `pass` | the pass over one text |

mod ascii;
mod closed;
mod memo;
mod output;
mod pass;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use ascii::AsciiTable;
use closed::{Matched, Sight, is_closed, sight};
use memo::Answer;
pub use memo::PieceMemo;
use output::Output;
use pass::Pass;

use super::Normalizer;
use crate::Result;

/// The longest piece in bytes.
const LONGEST: usize = 32;

/// Stages that see more than a character, at most.
const MOST_REACH: usize = 16;

/// Part of a text may grow so many times in one stage.
const GROWTH: usize = 16;

/// Beyond its [`GROWTH`], each end of a text may grow by so many bytes.
const END_GROWTH: usize = 1 << 20;

/// Stages without those that see the ends of a text.
#[derive(Debug)]
pub(super) struct Rules(Vec<Normalizer>);

impl Rules {
    /// What the stages make of `text` beside other pieces; none if it is not known to be one.
    fn answer(&self, text: &str) -> Option<Answer> {
        let mut made = Cow::Borrowed(text);
        let (mut is_solid, mut is_firm) = (true, true);
        for stage in &self.0 {
            if !is_closed(stage, &made) {
                return None;
            }
            if let Normalizer::Replace(replacement) = stage
                && let Some(matched) = Matched::of(replacement)
            {
                is_firm &= !made.chars().next_back().is_some_and(|last| matched.may_go_on(last));
            }
            made = Cow::Owned(stage.normalize_str(&made).ok()?.into_owned());
            is_solid &= !made.is_empty();
            if made.len() > GROWTH * text.len() {
                return None;
            }
        }
        Some(Answer { text: made.into_owned(), is_solid, is_firm })
    }
}

/// What all `stages` make of `text`; none if any of them makes more than `GROWTH` times the text and `more` bytes.
fn run(stages: &[Normalizer], text: &str, more: usize) -> Option<String> {
    let mut made = Cow::Borrowed(text);
    for stage in stages {
        made = Cow::Owned(stage.normalize_str(&made).ok()?.into_owned());
        if made.len() > GROWTH * text.len() + more {
            return None;
        }
    }
    Some(made.into_owned())
}

/// The stages of a normalizer, compiled.
#[derive(Debug)]
pub struct CompiledNormalizer {
    /// The stages themselves.
    whole: Normalizer,
    /// Those of the first and the last part of a text, if any stage sees the ends.
    ends: Option<[Vec<Normalizer>; 2]>,
    /// Those of all other parts.
    rules: Rules,
    ascii: AsciiTable,
    /// Stages that see more than a character; at least 1.
    reach: usize,
}

impl CompiledNormalizer {
    /// Compiles a normalizer; none if a stage may see any distance, or if the stages themselves are as fast.
    pub fn new(normalizer: &Normalizer) -> Option<Self> {
        let stages = normalizer.stages();
        let sees = |kind: Sight| stages.iter().filter(move |stage| sight(stage) == kind).count();
        let reach = sees(Sight::Neighbours) + sees(Sight::Ends);
        let is_inner = |stage: &&&Normalizer| sight(stage) != Sight::Ends;
        let inner: Vec<Normalizer> = stages.iter().filter(is_inner).map(|&stage| stage.clone()).collect();
        // A form by itself finds by vectors of bytes what stays as it is.
        let is_fast = matches!(inner.as_slice(), [] | [Normalizer::Unicode(_)]);
        if sees(Sight::Unlimited) > 0 || reach > MOST_REACH || is_fast {
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
            ends: (sees(Sight::Ends) > 0).then(|| [end(true), end(false)]),
            ascii: AsciiTable::new(&inner),
            rules: Rules(inner),
            reach: reach.max(1),
        })
    }

    /// The normalized text, borrowed if nothing changes.
    ///
    /// # Errors
    /// Those of [`Normalizer::normalize`].
    pub fn normalize<'t>(&self, text: &'t str, memo: &mut PieceMemo) -> Result<Cow<'t, str>> {
        let mut out = Output::new(text);
        match self.fill(text, memo, &mut out) {
            Some(()) => Ok(out.finish().map_or(Cow::Borrowed(text), Cow::Owned)),
            None => self.whole.normalize_str(text),
        }
    }

    /// Writes what becomes of `text`; none if that cannot be told part by part.
    fn fill<'t>(&self, text: &'t str, memo: &mut PieceMemo, out: &mut Output<'t>) -> Option<()> {
        let Some([first, last]) = &self.ends else {
            return Pass::new(self, text, memo, out).run(0);
        };
        let (start, end) = self.ends_of(text.as_bytes())?;
        out.put_changed(0, start, &run(first, &text[..start], END_GROWTH)?);
        Pass::new(self, &text[..end], memo, out).run(start)?;
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
            count = if self.ascii.is_visible(byte) { count + 1 } else { 0 };
            count == 2 * self.reach + 2
        };
        bytes.position(ends_row).map(|at| at - self.reach)
    }
}
