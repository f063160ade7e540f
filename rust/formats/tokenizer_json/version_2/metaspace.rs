//! `MetaspaceNormalizer` and a `Split` in the place of the pre-tokenizer `Metaspace`.
//!
//! `Metaspace` makes spaces visible after added tokens have been cut out of normalized text. `MetaspaceNormalizer` as the last normalizer
//! does the same: Hugging Face leaves it out where it normalizes added tokens. So both spellings mean one pre-tokenizer:
//!
//! | normalizer, at the end | pre-tokenizer, at the beginning | version 1.0 |
//! |---|---|---|
//! | `MetaspaceNormalizer` | `Split` of the replacement, merged with next | `Metaspace` |
//! | `MetaspaceNormalizer` | anything else | `Metaspace` with `split` false |
//! | `MetaspaceNormalizer` with `drop_whitespace`, scheme `always` | `Split` of the replacement, merged with next | `WhitespaceSplit`, `Metaspace` |
//!
//! Elsewhere `MetaspaceNormalizer` stays a normalizer.

use std::sync::Arc;

use super::cuts::Cuts;
use super::losses::unsupported;
use crate::Result;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::normalizers::{MetaspaceNormalizer, Normalizer};
use crate::pre_tokenizers::{Behavior, PreTokenizer, Split};
use crate::structures::finder::TextPattern;

/// The stages of version 1.0: `Metaspace` in the place of a last `MetaspaceNormalizer`, by the table above.
pub(super) fn to_version_1(normalizer: Option<Normalizer>, mut cuts: Cuts) -> (Option<Normalizer>, Cuts) {
    let Some(own) = &normalizer else { return (None, cuts) };
    let stages = own.stages();
    let Some((&&Normalizer::Metaspace(last), before)) = stages.split_last() else {
        return (normalizer, cuts);
    };
    let split = begins_with_split(&cuts, last.replacement);
    if !is_pre_tokenizer(last, split) {
        return (normalizer, cuts);
    }
    let MetaspaceNormalizer { replacement, prepend_scheme, drop_whitespace } = last;
    let mut first = vec![PreTokenizer::Metaspace(Metaspace { replacement, prepend_scheme, split })];
    if drop_whitespace {
        cuts.is_sequence = true;
        first.insert(0, PreTokenizer::WhitespaceSplit);
    }
    cuts.stages.splice(..usize::from(split), first);
    let mut before: Vec<Normalizer> = before.iter().map(|&stage| stage.clone()).collect();
    let before = if before.len() > 1 { Some(Normalizer::Sequence(before)) } else { before.pop() };
    (before, cuts)
}

/// The normalizers of version 2.0, with `MetaspaceNormalizer` for a first `Metaspace`, which is removed from `cuts`.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if the table has no row for `Metaspace` and the stages around it, or if the last
/// normalizer is a `MetaspaceNormalizer` that would be read as `Metaspace`.
pub(super) fn to_version_2(normalizer: Option<&Normalizer>, cuts: &mut Cuts) -> Result<Vec<Normalizer>> {
    let stages = normalizer.map(Normalizer::stages).unwrap_or_default();
    let mut normalizers: Vec<Normalizer> = stages.into_iter().cloned().collect();
    let (taken, metaspace) = match cuts.stages[..] {
        [PreTokenizer::Metaspace(metaspace), ..] => (1, metaspace),
        [PreTokenizer::WhitespaceSplit, PreTokenizer::Metaspace(metaspace), ..] => (2, metaspace),
        _ => {
            check_stays_normalizer(&normalizers, cuts)?;
            return Ok(normalizers);
        }
    };
    let Metaspace { replacement, prepend_scheme, split } = metaspace;
    let last = MetaspaceNormalizer { replacement, prepend_scheme, drop_whitespace: taken == 2 };
    if !is_pre_tokenizer(last, split) {
        return Err(unsupported(
            "`Metaspace` after `WhitespaceSplit`, unless it splits and its `prepend_scheme` is `always`",
        ));
    }
    cuts.stages.drain(..taken);
    if split {
        cuts.stages.insert(0, split_before(replacement)?);
    } else if begins_with_split(cuts, replacement) {
        return Err(unsupported("`Metaspace` that does not split before a `Split` of its replacement"));
    }
    // The two stages of a sequence become one, which Hugging Face writes alone.
    cuts.is_sequence &= cuts.stages.len() > 1;
    normalizers.push(Normalizer::Metaspace(last));
    Ok(normalizers)
}

/// Checks that the reader keeps a last `MetaspaceNormalizer`. As a pre-tokenizer it would come after the search for normalized added tokens.
fn check_stays_normalizer(normalizers: &[Normalizer], cuts: &Cuts) -> Result<()> {
    let Some(Normalizer::Metaspace(last)) = normalizers.last() else { return Ok(()) };
    if is_pre_tokenizer(*last, begins_with_split(cuts, last.replacement)) {
        return Err(unsupported(
            "a `MetaspaceNormalizer` at the end of the normalizer; use the pre-tokenizer `Metaspace`",
        ));
    }
    Ok(())
}

/// True if a last `MetaspaceNormalizer` means the pre-tokenizer `Metaspace`, with this `split`.
fn is_pre_tokenizer(stage: MetaspaceNormalizer, split: bool) -> bool {
    !stage.drop_whitespace || (split && stage.prepend_scheme == PrependScheme::Always)
}

fn split_before(replacement: char) -> Result<PreTokenizer> {
    let split = Split::new(TextPattern::Literal(replacement.to_string()), Behavior::MergedWithNext, false)?;
    Ok(PreTokenizer::Split(Arc::new(split)))
}

/// True if the first stage is the `Split` that [`split_before`] makes.
fn begins_with_split(cuts: &Cuts, replacement: char) -> bool {
    let Some(PreTokenizer::Split(split)) = cuts.stages.first() else { return false };
    let is_pattern = matches!(split.pattern(), TextPattern::Literal(text) if text.chars().eq(std::iter::once(replacement)));
    is_pattern && split.behavior() == Behavior::MergedWithNext && !split.invert()
}
