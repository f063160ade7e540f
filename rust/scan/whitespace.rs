//! The two splitters that drop white space: `Whitespace` and `WhitespaceSplit`.
//!
//! `Whitespace` is `\w+|[^\w\s]+`: a span is a run of word characters, or a run of characters that are neither word
//! characters nor white space. `WhitespaceSplit` keeps everything between white space together.
//!
//! Here `\w` is as in Rust's `regex`: letters, marks, decimal digits, connector punctuation and the two joiners. In a
//! user's regular expression `\w` differs, see [`crate::structures::regex`].

use super::ascii::letters;
use super::classes::{SPACE, WORD};
use super::cursor::{class_at, run_in, run_outside};
use super::scanner::ScanWithGaps;

/// The `Whitespace` pre-tokenizer.
#[derive(Clone, Copy, Debug)]
pub struct Whitespace;

/// The `WhitespaceSplit` pre-tokenizer.
#[derive(Clone, Copy, Debug)]
pub struct WhitespaceSplit;

impl ScanWithGaps for Whitespace {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let start = run_in(bytes, pos, SPACE);
        if start == bytes.len() {
            return None;
        }
        let end = letters(bytes, start);
        if end > start || class_at(bytes, start).0.is(WORD) {
            return Some((start, run_in(bytes, end, WORD)));
        }
        Some((start, run_outside(bytes, start, WORD.or(SPACE))))
    }
}

impl ScanWithGaps for WhitespaceSplit {
    #[inline]
    fn next_span(text: &str, pos: usize) -> Option<(usize, usize)> {
        let bytes = text.as_bytes();
        let start = run_in(bytes, pos, SPACE);
        (start < bytes.len()).then(|| (start, run_outside(bytes, letters(bytes, start), SPACE)))
    }
}
