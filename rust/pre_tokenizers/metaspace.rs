//! SentencePiece's pre-tokenizer: makes spaces visible, and begins a pre-token at each.

use std::ops::Range;

use crate::metaspace::{Metaspace, PrependScheme};
use crate::normalized::{PreTokenized, Rewrite};

impl Metaspace {
    pub(super) fn pre_tokenize(self, text: &mut PreTokenized<'_>) {
        let mut rewrite = text.text.rewrite();
        let mut spans = Vec::with_capacity(text.spans.len());
        for span in &text.spans {
            let is_wanted = match self.prepend_scheme {
                PrependScheme::Always => true,
                PrependScheme::First => text.text.is_at_beginning(span.start),
                PrependScheme::Never => false,
            };
            self.map_span(text.text.text(), span.clone(), is_wanted, &mut rewrite, &mut spans);
        }
        text.text = rewrite.finish();
        text.spans = spans;
    }

    fn map_span(
        self,
        text: &str,
        span: Range<usize>,
        is_wanted: bool,
        rewrite: &mut Rewrite<'_>,
        spans: &mut Vec<Range<usize>>,
    ) {
        let piece = &text[span.clone()];
        let is_space = |c: char| c == ' ' || c == self.replacement;
        let mut start = rewrite.len();
        if let Some(first) = piece.chars().next()
            && is_wanted
            && !is_space(first)
        {
            rewrite.push(self.replacement, span.start..span.start + first.len_utf8());
        }
        let mut done = 0;
        for (at, found) in piece.match_indices(is_space) {
            rewrite.copy(span.start + done..span.start + at);
            if self.split && start < rewrite.len() {
                spans.push(start..rewrite.len());
                start = rewrite.len();
            }
            done = at + found.len();
            rewrite.push(self.replacement, span.start + at..span.start + done);
        }
        rewrite.copy(span.start + done..span.end);
        if start < rewrite.len() {
            spans.push(start..rewrite.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalized::Normalized;

    fn pieces(options: Metaspace, text: &str, start: usize) -> Vec<(String, (u32, u32))> {
        let mut cut = PreTokenized::new(Normalized::new(text, start, true));
        options.pre_tokenize(&mut cut);
        let of = |span: Range<usize>| (cut.text.text()[span.clone()].to_owned(), cut.text.original(span));
        cut.spans.iter().cloned().map(of).collect()
    }

    fn some(parts: &[(&str, (u32, u32))]) -> Vec<(String, (u32, u32))> {
        parts.iter().map(|&(text, range)| (text.to_owned(), range)).collect()
    }

    #[test]
    fn each_space_begins_a_pre_token() {
        let expected = some(&[("▁a", (0, 1)), ("▁", (1, 2)), ("▁b", (2, 4))]);
        assert_eq!(pieces(Metaspace::default(), "a  b", 0), expected);
    }

    #[test]
    fn a_visible_space_in_the_text_is_one_too() {
        let expected = some(&[("▁a", (0, 4)), ("▁b", (4, 8))]);
        assert_eq!(pieces(Metaspace::default(), "▁a▁b", 0), expected);
    }

    #[test]
    fn first_looks_at_the_place_in_the_original() {
        let options =
            Metaspace { prepend_scheme: PrependScheme::First, split: false, ..Metaspace::default() };
        assert_eq!(pieces(options, "a b", 0), some(&[("▁a▁b", (0, 3))]));
        assert_eq!(pieces(options, "a b", 4), some(&[("a▁b", (4, 7))]));
    }
}
