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
use super::unsupported;
use crate::Result;
use crate::metaspace::{Metaspace, PrependScheme};
use crate::normalizers::{MetaspaceNormalizer, Normalizer};
use crate::pre_tokenizers::{Behavior, PreTokenizer, Split};
use crate::structures::finder::TextPattern;

/// The stages of version 1.0.
pub(super) fn folded(normalizer: Option<Normalizer>, mut cuts: Cuts) -> (Option<Normalizer>, Cuts) {
    let Some(own) = &normalizer else { return (None, cuts) };
    let stages = own.stages();
    let Some((&&Normalizer::Metaspace(last), before)) = stages.split_last() else {
        return (normalizer, cuts);
    };
    let splits = cuts.stages.first().is_some_and(|stage| is_split(stage, last.replacement));
    let MetaspaceNormalizer { replacement, prepend_scheme, drop_whitespace } = last;
    let metaspace = PreTokenizer::Metaspace(Metaspace { replacement, prepend_scheme, split: splits });
    let first = match (drop_whitespace, splits) {
        (false, _) => vec![metaspace],
        (true, true) if prepend_scheme == PrependScheme::Always => {
            cuts.is_sequence = true;
            vec![PreTokenizer::WhitespaceSplit, metaspace]
        }
        (true, _) => return (normalizer, cuts),
    };
    cuts.stages.splice(..usize::from(splits), first);
    let mut before: Vec<Normalizer> = before.iter().map(|&stage| stage.clone()).collect();
    let before = if before.len() > 1 { Some(Normalizer::Sequence(before)) } else { before.pop() };
    (before, cuts)
}

/// The normalizers of version 2.0; `cuts` lose `Metaspace`.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) if `Metaspace` stands after another pre-tokenizer, or the last normalizer is a
/// `MetaspaceNormalizer` that would be read as `Metaspace`.
pub(super) fn unfolded(normalizer: Option<&Normalizer>, cuts: &mut Cuts) -> Result<Vec<Normalizer>> {
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
    let drop_whitespace = taken == 2;
    let Metaspace { replacement, prepend_scheme, split } = metaspace;
    if drop_whitespace && !(split && prepend_scheme == PrependScheme::Always) {
        return Err(unsupported(
            "`Metaspace` after `WhitespaceSplit`, unless it splits and its `prepend_scheme` is `always`",
        ));
    }
    let cut = split.then(|| split_before(replacement)).transpose()?;
    cuts.stages.splice(..taken, cut);
    if !split && cuts.stages.first().is_some_and(|stage| is_split(stage, replacement)) {
        return Err(unsupported("`Metaspace` that does not split before a `Split` of its replacement"));
    }
    // The two stages of a sequence become one, which Hugging Face writes alone.
    cuts.is_sequence &= cuts.stages.len() > 1;
    normalizers.push(Normalizer::Metaspace(MetaspaceNormalizer {
        replacement,
        prepend_scheme,
        drop_whitespace,
    }));
    Ok(normalizers)
}

/// Checks that the reader leaves a last `MetaspaceNormalizer` where it is: as a pre-tokenizer, it would cut after normalized added tokens.
fn check_stays_normalizer(normalizers: &[Normalizer], cuts: &Cuts) -> Result<()> {
    let Some(Normalizer::Metaspace(last)) = normalizers.last() else { return Ok(()) };
    let splits = cuts.stages.first().is_some_and(|stage| is_split(stage, last.replacement));
    if !last.drop_whitespace || (splits && last.prepend_scheme == PrependScheme::Always) {
        return Err(unsupported(
            "a `MetaspaceNormalizer` at the end of the normalizer; use the pre-tokenizer `Metaspace`",
        ));
    }
    Ok(())
}

fn split_before(replacement: char) -> Result<PreTokenizer> {
    let split = Split::new(TextPattern::Literal(replacement.to_string()), Behavior::MergedWithNext, false)?;
    Ok(PreTokenizer::Split(Arc::new(split)))
}

fn is_split(stage: &PreTokenizer, replacement: char) -> bool {
    let PreTokenizer::Split(split) = stage else { return false };
    let is_pattern = matches!(split.pattern(), TextPattern::Literal(text) if text.chars().eq(std::iter::once(replacement)));
    is_pattern && split.behavior() == Behavior::MergedWithNext && !split.invert()
}
