//! Places at which a text may end for a reader: after a sentence or a paragraph.

use unicode_segmentation::UnicodeSegmentation;

/// A run of so many characters without a letter or a digit ends a sentence. In such a run after a full stop, the rules of Unicode look ahead from
/// each character.
const LONGEST_RUN: usize = 256;

/// The starts of all sentences but the first, in bytes: the sentence boundaries of UAX 29.
pub(super) fn sentences(text: &str) -> Vec<usize> {
    let (mut starts, mut from) = (Vec::new(), 0);
    let mut add = |range: std::ops::Range<usize>| {
        let start = range.start;
        starts.extend(text[range].split_sentence_bound_indices().map(|(at, _)| start + at));
    };
    let mut run = 0;
    for (at, c) in text.char_indices() {
        run = if c.is_alphanumeric() { 0 } else { run + 1 };
        if run == LONGEST_RUN {
            let end = at + c.len_utf8();
            add(from..end);
            (from, run) = (end, 0);
        }
    }
    add(from..text.len());
    starts.retain(|&start| start > 0);
    starts
}

/// The starts of all paragraphs but the first, in bytes: the lines of text after blank lines, which have nothing but white space.
pub(super) fn paragraphs(text: &str) -> Vec<usize> {
    let (mut starts, mut at, mut was_blank) = (Vec::new(), 0, false);
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim_start().is_empty();
        if was_blank && !is_blank {
            starts.push(at);
        }
        was_blank = is_blank;
        at += line.len();
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_keep_the_space_after_them() {
        assert_eq!(sentences("One. Two? 3.5 is three. Mr. Smith\nnext"), [5, 10, 24, 28, 34]);
        assert_eq!(sentences("これは文。次の文。"), [15]);
        assert_eq!(sentences(""), [0; 0]);
    }

    #[test]
    fn a_long_run_of_spaces_costs_little() {
        let text = ".".to_owned() + &" ".repeat(1 << 20);
        assert_eq!(sentences(&text).len(), (1 << 20) / LONGEST_RUN);
    }

    #[test]
    fn paragraphs_end_with_blank_lines() {
        assert_eq!(paragraphs("a\nb\n\nc\r\n \t\r\n\r\nd\n\n"), [5, 14]);
        assert_eq!(paragraphs("\n\na"), [2]);
        assert_eq!(paragraphs("a\n\n \n"), [0; 0]);
    }
}
