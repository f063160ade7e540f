//! BERT's splitter: white space is dropped, each punctuation character stands alone.

use super::ScanWithGaps;
use super::ascii::letters;
use super::classes::{PUNCTUATION, SPACE};
use super::cursor::{class_at, run_in, run_outside};

/// The `BertPreTokenizer`.
#[derive(Clone, Copy, Debug)]
pub struct Bert;

impl ScanWithGaps for Bert {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let start = run_in(bytes, pos, SPACE);
        if start == bytes.len() {
            return None;
        }
        let (class, width) = class_at(bytes, start);
        if class.is(PUNCTUATION) {
            return Some((start, start + width));
        }
        Some((start, run_outside(bytes, letters(bytes, start), PUNCTUATION.or(SPACE))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::scan::Splitter;
    use crate::scan::classes::{Class, PUNCTUATION};
    use crate::scan::tests::{monotone_text, scanned, text};

    /// The rule as it is written: white space first, then punctuation.
    fn naive(text: &str) -> Vec<(usize, usize)> {
        let mut spans = Vec::new();
        let start_of = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        for word in text.split_whitespace() {
            let mut start = start_of(word);
            for (at, found) in word.match_indices(|c| Class::of(c).is(PUNCTUATION)) {
                let at = start_of(word) + at;
                spans.extend([(start, at), (at, at + found.len())]);
                start = at + found.len();
            }
            spans.push((start, start_of(word) + word.len()));
        }
        spans.retain(|(start, end)| start < end);
        spans
    }

    proptest! {
        #[test]
        fn bert_matches_naive(text in prop_oneof![text(), monotone_text()]) {
            prop_assert_eq!(scanned(Splitter::Bert, &text), naive(&text));
        }
    }

    #[test]
    fn every_character_is_split_as_naive() {
        let text: String = ('\0'..=char::MAX).flat_map(|c| ['a', c, 'b', ' ']).collect();
        assert_eq!(scanned(Splitter::Bert, &text), naive(&text));
    }
}
