//! Canonical composition (NFC) with alignment.
//!
//! Hugging Face normalizes by the tables of Unicode 9, so characters that came later neither reorder
//! nor compose. The tables here are the current ones with those characters taken out; which they are
//! was found by comparing the two over all code points and all canonical pairs.
//! Source: Unicode Standard Annex 15.

use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical};
use unicode_normalization::{IsNormalized, is_nfc_quick};

use crate::normalized::{Normalized, Rewrite};

/// Combining marks that came after Unicode 9, as closed ranges.
const NEW_MARKS: [(u32, u32); 52] = [
    (0x05C8, 0x05C9),
    (0x07FD, 0x07FD),
    (0x0897, 0x089F),
    (0x08CA, 0x08D3),
    (0x09FE, 0x09FE),
    (0x0C3C, 0x0C3C),
    (0x0D3B, 0x0D3C),
    (0x0EBA, 0x0EBA),
    (0x1715, 0x1715),
    (0x1ABF, 0x1AF0),
    (0x1DF6, 0x1DFA),
    (0xA82C, 0xA82C),
    (0x10D24, 0x10D27),
    (0x10D69, 0x10D6D),
    (0x10EAB, 0x10EAC),
    (0x10ECB, 0x10ECF),
    (0x10EF0, 0x10EFB),
    (0x10EFD, 0x10EFF),
    (0x10F46, 0x10F50),
    (0x10F82, 0x10F85),
    (0x11070, 0x11070),
    (0x1133B, 0x1133B),
    (0x113CE, 0x113D0),
    (0x1145E, 0x1145E),
    (0x11839, 0x1183A),
    (0x1193D, 0x1193E),
    (0x11943, 0x11943),
    (0x119E0, 0x119E0),
    (0x11A34, 0x11A34),
    (0x11A47, 0x11A47),
    (0x11A99, 0x11A99),
    (0x11D42, 0x11D42),
    (0x11D44, 0x11D45),
    (0x11D97, 0x11D97),
    (0x11F41, 0x11F42),
    (0x1612F, 0x1612F),
    (0x16FF0, 0x16FF1),
    (0x1D127, 0x1D128),
    (0x1D250, 0x1D252),
    (0x1D25B, 0x1D25C),
    (0x1D25F, 0x1D25F),
    (0x1D280, 0x1D281),
    (0x1E08F, 0x1E08F),
    (0x1E130, 0x1E136),
    (0x1E2AE, 0x1E2AE),
    (0x1E2EC, 0x1E2EF),
    (0x1E4EC, 0x1E4EF),
    (0x1E5EE, 0x1E5EF),
    (0x1E6E3, 0x1E6E3),
    (0x1E6E6, 0x1E6E6),
    (0x1E6EE, 0x1E6EF),
    (0x1E6F5, 0x1E6F5),
];

/// Composed characters that came after Unicode 9.
const NEW_COMPOSED: [u32; 21] = [
    0x105C9, 0x105E4, 0x11383, 0x11385, 0x1138E, 0x11391, 0x113C5, 0x113C7, 0x113C8, 0x11938, 0x16121,
    0x16122, 0x16123, 0x16124, 0x16125, 0x16126, 0x16127, 0x16128, 0x16D68, 0x16D69, 0x16D6A,
];

fn combining_class(c: char) -> u8 {
    let code = c as u32;
    match canonical_combining_class(c) {
        0 => 0,
        class => {
            let after = NEW_MARKS.partition_point(|&(start, _)| start <= code);
            let is_new = after.checked_sub(1).is_some_and(|place| code <= NEW_MARKS[place].1);
            if is_new { 0 } else { class }
        }
    }
}

fn is_new_composed(c: char) -> bool {
    NEW_COMPOSED.binary_search(&(c as u32)).is_ok()
}

/// Whether `text` is in NFC by a look at each character alone.
pub fn is_certainly_nfc(text: &str) -> bool {
    // Below U+0300, the first lead byte of which is 0xCC, nothing composes or reorders.
    text.bytes().all(|byte| byte < 0xCC) || is_nfc_quick(text.chars()) == IsNormalized::Yes
}

/// A character of the decomposed text.
#[derive(Clone, Copy)]
struct Part {
    c: char,
    class: u8,
    /// How many more characters than before this one makes: 0 for the first part of a character, 1
    /// for every further one; composing subtracts.
    change: isize,
}

/// The NFC form of `text`.
///
/// Alignment is Hugging Face's: a composed character stands for the base's bytes alone, and parts
/// that were reordered take the places, not the ranges, of those they changed with.
pub fn nfc<'a>(text: &Normalized<'_>) -> Normalized<'a> {
    let mut emitter = Emitter { rewrite: text.rewrite(), text: text.text(), at: 0 };
    let mut run: Vec<Part> = Vec::new();
    for c in text.text().chars() {
        let mut first = true;
        let mut push = |c: char| {
            let class = combining_class(c);
            if class == 0 {
                flush(&mut run, c, &mut emitter);
            }
            run.push(Part { c, class, change: isize::from(!first) });
            first = false;
        };
        if is_new_composed(c) { push(c) } else { decompose_canonical(c, push) }
    }
    compose_run(&mut run);
    run.drain(..).for_each(|part| emitter.emit(part));
    emitter.rewrite.finish()
}

/// Composes the run before the starter `next`; keeps a lone starter that may compose with it.
fn flush(run: &mut Vec<Part>, next: char, emitter: &mut Emitter<'_>) {
    compose_run(run);
    let may_compose = match run.as_slice() {
        [only] => only.class == 0 && composed(only.c, next).is_some(),
        _ => false,
    };
    if !may_compose {
        run.drain(..).for_each(|part| emitter.emit(part));
    }
}

fn composed(first: char, second: char) -> Option<char> {
    compose(first, second).filter(|&c| !is_new_composed(c))
}

/// Orders a run's marks and composes them with its starter.
fn compose_run(run: &mut Vec<Part>) {
    let marks = run.iter().position(|part| part.class != 0).unwrap_or(run.len());
    run[marks..].sort_by_key(|part| part.class);
    let Some(&starter) = run.first() else { return };
    if starter.class != 0 {
        return;
    }
    let mut kept: Vec<Part> = vec![starter];
    for &part in &run[1..] {
        let blocked = kept.len() > 1 && kept[kept.len() - 1].class >= part.class;
        match composed(kept[0].c, part.c) {
            Some(c) if !blocked => {
                kept[0] = Part { c, class: 0, change: kept[0].change + part.change - 1 };
            }
            _ => kept.push(part),
        }
    }
    *run = kept;
}

/// Writes parts in order and walks the old text beside them.
struct Emitter<'a> {
    rewrite: Rewrite<'a>,
    text: &'a str,
    /// Bytes of the old text that are accounted for.
    at: usize,
}

impl Emitter<'_> {
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

    use super::*;

    fn normalized(text: &str) -> String {
        nfc(&Normalized::new(text, 0, true)).text().to_owned()
    }

    #[test]
    fn a_composed_character_stands_for_its_base() {
        let text = Normalized::new("xe\u{301}y", 0, true);
        let composed = nfc(&text);
        assert_eq!(composed.text(), "xéy");
        assert_eq!(composed.original(1..3), (1, 2));
        assert_eq!(composed.original(3..4), (4, 5));
    }

    #[test]
    fn later_marks_neither_reorder_nor_compose() {
        // U+1ABF has class 220 since Unicode 13; it stays in place.
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
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn nfc_matches_naive(text in any_text()) {
            prop_assert_eq!(normalized(&text), text.nfc().collect::<String>());
        }
    }
}
