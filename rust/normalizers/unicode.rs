//! Unicode's four normalization forms, with alignment.
//!
//! Source: Unicode Standard Annex 15, with the tables of `unicode_9`.

use std::ops::Range;

use super::form::Form;
use super::quick_check::QuickCheck;
use super::unicode_9::{combining_class, compose, decompose, is_mark};
use crate::normalized::{Normalized, Rewrite};

impl Form {
    /// True if `text` is certainly in this form; may be false although it is.
    pub(super) fn is_certain(self, text: &str) -> bool {
        // ASCII is in every form, and most texts need no table.
        text.is_ascii() || QuickCheck::of(self).first_unstable(text, 0).is_none()
    }

    /// `text` in this form.
    ///
    /// Only segments around characters that may change are decomposed and composed; the text between them is copied. A
    /// text that does not change is returned as it is.
    ///
    /// Alignment is Hugging Face's. A composed character stands for the bytes of its base alone. Each part of a
    /// decomposed character stands for all of that character. A reordered mark stands for the old character at its new
    /// position.
    pub(super) fn normalize(self, text: Normalized<'_>) -> Normalized<'_> {
        if text.text().is_ascii() {
            return text;
        }
        let (check, mut buffers) = (QuickCheck::of(self), Buffers::default());
        let (mut emitter, mut copied, mut done) = (None, 0, 0);
        while let Some(segment) = check.next_segment(text.text(), done) {
            done = segment.end;
            let old = &text.text()[segment.clone()];
            if !reordered(check, old, &mut buffers) {
                self.write_parts(old, &mut buffers);
            }
            let parts = &buffers.parts;
            let is_same = parts.iter().all(|part| part.change == 0);
            if is_same && parts.iter().map(|part| part.c).eq(old.chars()) {
                continue;
            }
            let emitter = emitter.get_or_insert_with(|| Emitter::new(&text));
            emitter.copy(copied..segment.start);
            for &part in parts {
                emitter.emit(part);
            }
            copied = done;
        }
        let made = emitter.map(|mut emitter| {
            emitter.copy(copied..text.text().len());
            emitter.rewrite.finish()
        });
        made.unwrap_or(text)
    }

    /// Puts the parts of `text` in this form into the buffers.
    fn write_parts(self, text: &str, buffers: &mut Buffers) {
        let Buffers { run, parts } = buffers;
        parts.clear();
        for c in text.chars() {
            let mut first = true;
            decompose(c, self.is_compatible(), |c| {
                let class = combining_class(c);
                if class == 0 {
                    self.flush(run, c, parts);
                }
                run.push(Part { c, class, change: isize::from(!first) });
                first = false;
            });
        }
        self.finish_run(run);
        parts.append(run);
    }

    /// Finishes the run before the starter `next` and moves it to `parts`, except a single starter that composes with `next`.
    fn flush(self, run: &mut Vec<Part>, next: char, parts: &mut Vec<Part>) {
        self.finish_run(run);
        let may_compose = match run.as_slice() {
            [only] => self.composes() && only.class == 0 && compose(only.c, next).is_some(),
            _ => false,
        };
        if !may_compose {
            parts.append(run);
        }
    }

    /// Puts the marks of a run into canonical order and composes them with its starter.
    fn finish_run(self, run: &mut Vec<Part>) {
        let marks = run.iter().position(|part| part.class != 0).unwrap_or(run.len());
        run[marks..].sort_by_key(|part| part.class);
        if self.composes() {
            compose_run(run);
        }
    }
}

/// True if `text` certainly has no combining mark.
pub(super) fn has_no_marks(text: &str) -> bool {
    text.bytes().all(|byte| byte < 0xCC) || !text.chars().any(is_mark)
}

/// A character of the decomposed text.
#[derive(Clone, Copy)]
struct Part {
    c: char,
    class: u8,
    /// By how many characters the text grows here: 0 for the first part of an old character, 1 for every further part;
    /// composition subtracts the characters that it absorbs.
    change: isize,
}

/// Memory that segments of one text share.
#[derive(Default)]
struct Buffers {
    /// A starter with the marks after it.
    run: Vec<Part>,
    /// All parts of a segment so far.
    parts: Vec<Part>,
}

/// Makes the parts of a segment, if no character of it decomposes or composes: its marks only change places.
fn reordered(check: &QuickCheck, segment: &str, buffers: &mut Buffers) -> bool {
    let parts = &mut buffers.parts;
    parts.clear();
    for c in segment.chars() {
        let Some(class) = check.class(c) else { return false };
        parts.push(Part { c, class, change: 0 });
    }
    // Only the first character may be a starter.
    parts.sort_by_key(|part| part.class);
    true
}

/// Composes the ordered marks of a run with its starter, in place.
fn compose_run(run: &mut Vec<Part>) {
    let Some(&starter) = run.first() else { return };
    if starter.class != 0 {
        return;
    }
    let mut kept = 1;
    for at in 1..run.len() {
        let part = run[at];
        let blocked = kept > 1 && run[kept - 1].class >= part.class;
        match compose(run[0].c, part.c) {
            Some(c) if !blocked => {
                run[0] = Part { c, class: 0, change: run[0].change + part.change - 1 };
            }
            _ => {
                run[kept] = part;
                kept += 1;
            }
        }
    }
    run.truncate(kept);
}

/// Writes parts in order and walks through the old text in step with them.
struct Emitter<'a> {
    rewrite: Rewrite<'a>,
    text: &'a str,
    /// Bytes of the old text that the parts written so far stand for.
    at: usize,
}

impl<'a> Emitter<'a> {
    fn new(text: &'a Normalized<'_>) -> Self {
        Self { rewrite: text.rewrite(), text: text.text(), at: 0 }
    }

    /// Copies `range` of the old text, which ends where the next parts begin.
    fn copy(&mut self, range: Range<usize>) {
        self.at = range.end;
        self.rewrite.copy(range);
    }

    fn emit(&mut self, part: Part) {
        if part.change > 0 {
            self.rewrite.push(part.c, self.at.saturating_sub(1)..self.at);
            return;
        }
        self.rewrite.push(part.c, self.at..self.at + 1);
        let replaced = self.text[self.at..].chars().take(1 + part.change.unsigned_abs());
        self.at += replaced.map(char::len_utf8).sum::<usize>();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;
    use unicode_normalization::char::canonical_combining_class;

    use super::super::strip;
    use super::*;
    use crate::testing::{cases, text_with_marks};

    mod naive {
        use super::*;

        /// The specification of [`Form::normalize`]: decomposes and composes all of a text.
        pub(super) fn normalize<'a>(form: Form, text: &Normalized<'_>) -> Normalized<'a> {
            let (mut buffers, mut emitter) = (Buffers::default(), Emitter::new(text));
            form.write_parts(text.text(), &mut buffers);
            buffers.parts.into_iter().for_each(|part| emitter.emit(part));
            emitter.rewrite.finish()
        }
    }

    fn normalized(text: &str) -> String {
        Form::Nfc.normalize(Normalized::new(text, 0, true)).text().to_owned()
    }

    /// The characters of the text, each with its original range, and with true if it stands for the beginning.
    fn characters(text: &Normalized<'_>) -> Vec<(char, (u32, u32), bool)> {
        let range = |at: usize, c: char| text.original(at..at + c.len_utf8());
        text.text().char_indices().map(|(at, c)| (c, range(at, c), text.is_at_beginning(at))).collect()
    }

    #[test]
    fn a_composed_character_stands_for_its_base() {
        let text = Normalized::new("xe\u{301}y", 0, true);
        let composed = Form::Nfc.normalize(text);
        assert_eq!(composed.text(), "xéy");
        assert_eq!(composed.original(1..3), (1, 2));
        assert_eq!(composed.original(3..4), (4, 5));
    }

    #[test]
    fn parts_of_a_decomposed_character_stand_for_all_of_it() {
        let text = Normalized::new("xéﬁy", 0, true);
        let decomposed = Form::Nfkd.normalize(text);
        assert_eq!(decomposed.text(), "xe\u{301}fiy");
        assert_eq!(decomposed.original(1..2), (1, 3));
        assert_eq!(decomposed.original(2..4), (1, 3));
        assert_eq!(decomposed.original(5..6), (3, 6));
        assert_eq!(decomposed.original(6..7), (6, 7));
    }

    #[test]
    fn later_marks_neither_reorder_nor_compose() {
        // U+1ABF has had class 220 since Unicode 13; under Unicode 9 it stays in place.
        assert_eq!(normalized("a\u{301}\u{1ABF}"), "á\u{1ABF}");
        assert_eq!(normalized("a\u{1ABF}\u{301}"), "a\u{1ABF}\u{301}");
    }

    fn any_text() -> impl Strategy<Value = String> {
        let c = prop_oneof![
            Just('e'),
            Just('é'),
            Just('\u{301}'),
            Just('\u{323}'),
            Just('\u{344}'),
            Just('ệ'),
            Just('\u{1100}'),
            Just('\u{1161}'),
            Just('\u{11A8}'),
            Just('가'),
            Just('\u{958}'),
            Just('\u{93C}'),
            Just('\u{915}'),
            Just('Ω'),
            Just('\u{2126}'),
            Just('\u{9C7}'),
            Just('\u{9BE}'),
            prop::char::range('\u{0}', '\u{FFFF}').prop_filter("known to Unicode 9", |&c| {
                combining_class(c) == canonical_combining_class(c)
            }),
        ];
        prop::collection::vec(c, 0..12).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #![proptest_config(cases(4000))]

        #[test]
        fn nfc_matches_naive(text in any_text()) {
            prop_assert_eq!(normalized(&text), text.nfc().collect::<String>());
        }

        #[test]
        fn other_forms_match_naive(text in any_text()) {
            let is_old = |c: &char| {
                let mut parts = Vec::new();
                decompose(*c, true, |part| parts.push(part));
                parts == c.nfkd().collect::<Vec<char>>()
            };
            let text: String = text.chars().filter(is_old).collect();
            let form = |form: Form| form.normalize(Normalized::new(&text, 0, false)).into_text().into_owned();
            prop_assert_eq!(form(Form::Nfd), text.nfd().collect::<String>());
            prop_assert_eq!(form(Form::Nfkc), text.nfkc().collect::<String>());
            prop_assert_eq!(form(Form::Nfkd), text.nfkd().collect::<String>());
        }

        #[test]
        fn normalize_matches_naive(text in text_with_marks(), start in 0..2usize, strips in any::<bool>()) {
            for (form, _) in Form::NAMES {
                for tracked in [true, false] {
                    let mut text = Normalized::new(&text, start, tracked);
                    if strips {
                        // An alignment that an earlier stage has made.
                        text = strip::remove(&text, |c| c == 'e' || c == '\u{323}');
                    }
                    let expected = naive::normalize(form, &text);
                    prop_assert_eq!(characters(&form.normalize(text.clone())), characters(&expected));
                }
            }
        }

        #[test]
        fn a_certain_text_stays_as_it_is(text in text_with_marks()) {
            for (form, _) in Form::NAMES {
                let normalized = naive::normalize(form, &Normalized::new(&text, 0, false)).into_text();
                prop_assert!(!form.is_certain(&text) || normalized == text);
            }
        }
    }
}
