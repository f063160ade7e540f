//! A pre-tokenizer that cuts, maps bytes to characters, and cuts again, as Falcon's. No stage makes a list of spans.
//!
//! Few mapped characters can be cut by a later stage. A pre-token without such a character skips these stages.

use std::ops::Range;

use super::{ByteLevel, Cuts, PreTokenizer};
use crate::Result;
use crate::byte_level::{BYTE_TO_CHAR, push_mapped};

/// The stages before and after the mapping of bytes.
#[derive(Clone, Debug)]
pub struct MappedCuts {
    before: Cuts,
    after: Cuts,
    /// By byte, true if a stage after the mapping may cut the byte's character.
    may_cut: [bool; 256],
}

impl MappedCuts {
    /// `None` unless exactly one stage maps bytes, it adds no space, a stage follows it, and all others only cut.
    pub fn new(pre_tokenizer: &PreTokenizer) -> Option<Self> {
        let PreTokenizer::Sequence(stages) = pre_tokenizer else { return None };
        let is_map = |stage: &PreTokenizer| matches!(stage, PreTokenizer::ByteLevel(_));
        let place = stages.iter().position(is_map)?;
        let (before, after) = stages.split_at(place + 1);
        let adds_space =
            matches!(before.last(), Some(PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: true, .. })));
        if adds_space || after.is_empty() || !before[..place].iter().chain(after).all(PreTokenizer::only_cuts)
        {
            return None;
        }
        let cuts = |stages: &[PreTokenizer]| Cuts::new(&PreTokenizer::Sequence(stages.to_vec()));
        let may_cut = |byte| after.iter().any(|stage| stage.may_cut(BYTE_TO_CHAR[byte]));
        Some(Self { before: cuts(before)?, after: cuts(after)?, may_cut: std::array::from_fn(may_cut) })
    }

    /// Appends the mapped text to `mapped` and calls `found` with each pre-token in it, from left to right; no pre-token is empty.
    ///
    /// # Errors
    /// [`crate::Error::Regex`] if a regular expression gives up on the text.
    pub fn for_each_span(
        &self,
        text: &str,
        mapped: &mut String,
        mut found: impl FnMut(Range<usize>),
    ) -> Result<()> {
        let mut result = Ok(());
        self.before.for_each_span(text, |span| {
            let (bytes, start) = (&text.as_bytes()[span], mapped.len());
            push_mapped(bytes, mapped);
            if !bytes.iter().any(|&byte| self.may_cut[usize::from(byte)]) {
                found(start..mapped.len());
            } else if result.is_ok() {
                let piece = &mapped[start..];
                result = self.after.for_each_span(piece, |part| found(start + part.start..start + part.end));
            }
        })?;
        result
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normalized::{Normalized, PreTokenized};
    use crate::pre_tokenizers::seams::tests::{any_stage, any_text};

    fn texts<'t>(text: &'t str, spans: &[Range<usize>]) -> Vec<&'t str> {
        spans.iter().map(|span| &text[span.clone()]).filter(|part| !part.is_empty()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn mapped_cuts_match_naive(
            before in prop::collection::vec(any_stage(), 0..3),
            after in prop::collection::vec(any_stage(), 1..3),
            use_regex: bool,
            text in any_text(),
        ) {
            let map = PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, trim_offsets: true, use_regex });
            let pre_tokenizer = PreTokenizer::Sequence(before.into_iter().chain([map]).chain(after).collect());
            let Some(cuts) = MappedCuts::new(&pre_tokenizer) else { return Ok(()) };
            let (mut mapped, mut spans) = (String::new(), Vec::new());
            cuts.for_each_span(&text, &mut mapped, |span| spans.push(span)).expect("simple patterns");
            let mut naive = PreTokenized::new(Normalized::new(&text, 0, false));
            pre_tokenizer.pre_tokenize(&mut naive).expect("simple patterns");
            prop_assert_eq!(texts(&mapped, &spans), texts(naive.text.text(), &naive.spans));
        }
    }
}
