//! GPT-2's pre-tokenizer: cuts text by GPT-2's pattern, then writes every byte as a printable character.

use std::ops::Range;

use crate::byte_level::BYTE_TO_CHAR;
use crate::normalized::{PreTokenized, Rewrite};
use crate::scan::Splitter;

/// Options of the byte-level pre-tokenizer and post-processor, as Hugging Face names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLevel {
    /// Adds a space before text that does not start with one.
    pub add_prefix_space: bool,
    /// Leaves leading and trailing spaces out of offsets (post-processor only).
    pub trim_offsets: bool,
    /// Splits by GPT-2's regex first.
    pub use_regex: bool,
}

impl Default for ByteLevel {
    fn default() -> Self {
        Self { add_prefix_space: true, trim_offsets: true, use_regex: true }
    }
}

impl ByteLevel {
    pub(super) fn pre_tokenize(self, text: &mut PreTokenized<'_>) {
        let mut rewrite = text.text.rewrite();
        let mut spans = Vec::with_capacity(text.spans.len());
        for span in &text.spans {
            self.map_span(text.text.text(), span.clone(), &mut rewrite, &mut spans);
        }
        text.text = rewrite.finish();
        text.spans = spans;
    }

    fn map_span(
        self,
        text: &str,
        span: Range<usize>,
        rewrite: &mut Rewrite<'_>,
        spans: &mut Vec<Range<usize>>,
    ) {
        let piece = &text[span.clone()];
        let with_prefix;
        // A position in `split` is the position in the span plus `shift`.
        let (split, shift) = match piece.chars().next() {
            Some(first) if self.add_prefix_space && first != ' ' => {
                with_prefix = format!(" {piece}");
                (with_prefix.as_str(), 1)
            }
            _ => (piece, 0),
        };
        let mut push = |start: usize, end: usize| {
            let mapped_start = rewrite.len();
            for (at, c) in split[start..end].char_indices() {
                let at = start + at;
                // The prefix space stands for the first character of the text.
                let (from, len) = match at.checked_sub(shift) {
                    Some(from) => (from, c.len_utf8()),
                    None => (0, piece.chars().next().map_or(0, char::len_utf8)),
                };
                let source = span.start + from..span.start + from + len;
                let bytes = split.as_bytes()[at..at + c.len_utf8()].iter();
                rewrite.push_all(bytes.map(|&byte| BYTE_TO_CHAR[byte as usize]), source);
            }
            spans.push(mapped_start..rewrite.len());
        };
        if self.use_regex {
            Splitter::Gpt2.for_each_span(split, push);
        } else {
            push(0, split.len());
        }
    }
}
