//! Every back end against the scalar scanners.

use proptest::prelude::*;

use super::masks::{BLOCK, IDEOGRAPHS, Masks, SYLLABLES, Window};
use super::{Backend, Splitter};
use crate::scan::spaces::PUNCTUATION_KEPT_APART;
use crate::scan::tests::{monotone_text, text};

mod naive {
    use crate::scan::Splitter;

    /// The spans that `fill_spans` must write if the slices are long enough.
    pub(super) fn spans(splitter: Splitter, text: &str, start: usize) -> Vec<(u32, u32)> {
        let mut spans = Vec::new();
        splitter.for_each_span_scalar(&text[start..], &mut |from, to| {
            spans.push(((start + from) as u32, (start + to) as u32));
        });
        spans
    }
}

const SPLITTERS: [Splitter; 18] = [
    Splitter::Gpt2,
    Splitter::Cl100k,
    Splitter::Qwen2,
    Splitter::O200k,
    Splitter::Whitespace,
    Splitter::WhitespaceSplit,
    Splitter::Bert,
    Splitter::BertText { accents: false },
    Splitter::BertText { accents: true },
    Splitter::Spaces,
    Splitter::SingleSpaces,
    Splitter::SingleSpacedWords,
    Splitter::SpacedWords,
    Splitter::Blanks,
    Splitter::BlankSplit,
    Splitter::SpaceFragments,
    Splitter::BlankFragments,
    Splitter::BlankSplitFragments,
];

/// The spans that a back end finds with buffers of `room` spans; `None` is the back end that callers get.
fn filled(
    splitter: Splitter,
    backend: Option<Backend>,
    text: &str,
    start: usize,
    room: usize,
) -> Vec<(u32, u32)> {
    let (mut starts, mut ends) = (vec![0; room], vec![0; room]);
    let (mut spans, mut pos) = (Vec::new(), start);
    loop {
        let found = if splitter.is_gapless() {
            let found = splitter.fill_ends_on(backend, text, pos, &mut ends);
            for at in 0..found {
                starts[at] = if at == 0 { pos as u32 } else { ends[at - 1] };
            }
            found
        } else {
            splitter.fill_spans_on(backend, text, pos, &mut starts, &mut ends)
        };
        if found == 0 {
            return spans;
        }
        spans.extend(starts.iter().copied().zip(ends.iter().copied()).take(found));
        pos = ends[found - 1] as usize;
        assert!(found == room || naive::spans(splitter, text, pos).is_empty(), "stopped at {pos}");
    }
}

fn backends() -> impl Iterator<Item = Option<Backend>> {
    Backend::available().into_iter().map(Some).chain([None])
}

fn check(splitter: Splitter, text: &str, start: usize, room: usize) {
    let expected = naive::spans(splitter, text, start);
    for backend in backends() {
        let actual = filled(splitter, backend, text, start, room);
        if actual != expected {
            let wrong = actual.iter().zip(&expected).take_while(|(one, other)| one == other).count();
            let from = expected.get(wrong).or(expected.last()).map_or(0, |span| span.0 as usize);
            panic!(
                "{splitter:?} on {backend:?}, room for {room}, from {start}: span {wrong} is {:?}, not {:?}, in {:?}",
                actual.get(wrong),
                expected.get(wrong),
                text[from..].chars().take(80).collect::<String>()
            );
        }
    }
}

/// Texts of words: their blocks have all classes, but nothing that masks cannot decide.
fn prose() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(
        &[
            " the",
            " a",
            "Word",
            " CamelCase",
            "HTTPServer",
            "don't",
            " it's",
            "we'll",
            "I'M",
            "'",
            ".\n",
            ", ",
            "\n\n",
            "\n    ",
            "  ",
            " 1",
            "2024",
            "1234567",
            " привет",
            "Мир",
            "使用",
            "API",
            "中文",
            "。",
            "กำลัง",
            "ไทย",
            "हिन्दी",
            "में",
            "العَرَبِيَّة",
            "한국어",
            "❤\u{fe0f}",
            "👍🏽",
            "\u{a0}",
            "\u{3000}",
            "e\u{301}",
            "É",
            "١٢٣٤",
            "५६७८९",
            "()",
            "//",
            ";\n/",
            "ſ",
            "'ſ",
            "_x",
        ][..],
    );
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

/// A character boundary at or before `start`; a span may start at any of them.
fn start_in(text: &str, start: prop::sample::Index) -> usize {
    (0..=start.index(text.len() + 1)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

macro_rules! fill_matches_naive {
    ($($name:ident: $splitter:expr;)*) => {$(
        proptest! {
            #[test]
            fn $name(
                text in prop_oneof![text(), monotone_text(), prose()],
                start in any::<prop::sample::Index>(),
                room in prop_oneof![1_usize..4, 4_usize..80, Just(1024)],
            ) {
                check($splitter, &text, start_in(&text, start), room);
            }
        }
    )*};
}

fill_matches_naive! {
    fill_ends_of_gpt2_matches_naive: Splitter::Gpt2;
    fill_ends_of_cl100k_matches_naive: Splitter::Cl100k;
    fill_ends_of_qwen2_matches_naive: Splitter::Qwen2;
    fill_ends_of_o200k_matches_naive: Splitter::O200k;
    fill_ends_of_spaces_matches_naive: Splitter::Spaces;
    fill_ends_of_single_spaces_matches_naive: Splitter::SingleSpaces;
    fill_ends_of_single_spaced_words_matches_naive: Splitter::SingleSpacedWords;
    fill_ends_of_spaced_words_matches_naive: Splitter::SpacedWords;
    fill_ends_of_blanks_matches_naive: Splitter::Blanks;
    fill_spans_of_blank_split_matches_naive: Splitter::BlankSplit;
    fill_ends_of_space_fragments_matches_naive: Splitter::SpaceFragments;
    fill_ends_of_blank_fragments_matches_naive: Splitter::BlankFragments;
    fill_spans_of_blank_split_fragments_matches_naive: Splitter::BlankSplitFragments;
    fill_spans_of_whitespace_matches_naive: Splitter::Whitespace;
    fill_spans_of_whitespace_split_matches_naive: Splitter::WhitespaceSplit;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(8), ..ProptestConfig::default() })]

    /// Difficult text at every distance from the end of a block, and texts of every length.
    #[test]
    fn every_shift_and_length_matches_naive(text in text(), filler in prop::sample::select(&["a", " ", "é", "中", "1", "!", "\n"][..])) {
        let middle: String = text.chars().take(12).collect();
        for shift in 0..=BLOCK + 3 {
            let text = filler.repeat(shift) + &middle + &"b ".repeat(BLOCK - shift.min(BLOCK));
            for splitter in SPLITTERS {
                check(splitter, &text, 0, 300);
            }
        }
        for (length, _) in text.char_indices().take_while(|&(length, _)| length <= 300) {
            for splitter in SPLITTERS {
                check(splitter, &text[..length], 0, 300);
            }
        }
    }

    /// The back ends agree on all masks of any block, with any text after it.
    #[test]
    fn masks_matches_naive(text in prop_oneof![text(), prose()]) {
        for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
            let Some(window) = text.as_bytes()[at..].first_chunk() else { break };
            let expected = naive_masks(window);
            for backend in Backend::available() {
                prop_assert_eq!(masks(backend, window), expected, "{:?}", backend);
            }
        }
    }

    #[test]
    fn positions_matches_naive(mask in prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], keep in any::<u64>(), room in 0_usize..70) {
        for mask in [mask, mask & keep] {
            let places: Vec<u32> = (0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| bit + 1000).take(room).collect();
            for backend in Backend::available() {
                // The element after the slice must stay unchanged.
                let mut out = vec![7; room + 1];
                let found = positions(backend, mask, 1000, &mut out[..room]);
                prop_assert_eq!(&out[..found], &places, "{:?}", backend);
                prop_assert_eq!(out[room], 7, "{:?}", backend);
            }
        }
    }
}

fn naive_masks(window: &Window) -> Masks {
    use crate::scan::classes::{LETTER, LOWER, NUMBER, PUNCTUATION, SPACE, UPPER, WORD};
    use crate::scan::cursor::class_at;
    let mask = |test: &dyn Fn(usize) -> bool| {
        (0..BLOCK).filter(|&at| test(at)).fold(0_u64, |mask, at| mask | 1 << at)
    };
    let byte = |byte| mask(&|at| window[at] == byte);
    let class = |class| mask(&|at| !(0x80..0xc0).contains(&window[at]) && class_at(window, at).0.is(class));
    Masks {
        letter: class(LETTER),
        upper: class(UPPER),
        lower: class(LOWER),
        number: class(NUMBER),
        space: class(SPACE),
        word: class(WORD),
        punctuation: class(PUNCTUATION),
        blank: byte(b' '),
        newline: byte(b'\n') | byte(b'\r'),
        tab: byte(b'\t'),
        apostrophe: byte(b'\''),
        slash: byte(b'/'),
        stop: mask(&|at| PUNCTUATION_KEPT_APART.contains(&window[at])),
        wide: mask(&|at| window[at] >= 0x80),
        tail: mask(&|at| (0x80..0xc0).contains(&window[at])),
        ideograph: mask(&|at| (0xe5..=0xe9).contains(&window[at])),
        syllable: mask(&|at| (0xeb..=0xec).contains(&window[at])),
    }
}

#[test]
fn characters_told_by_their_first_bytes_are_alike() {
    use crate::scan::bert::is_ideograph;
    use crate::scan::classes::{Class, LETTER, LOWER, NUMERIC, UPPER, WORD};
    let alike = LETTER.or(UPPER).or(LOWER).or(WORD).bits();
    for c in '\0'..=char::MAX {
        let first = c.to_string().as_bytes()[0];
        let [is_first_of_ideographs, is_first_of_syllables] =
            [IDEOGRAPHS, SYLLABLES].map(|(from, to)| (from..=to).contains(&first));
        assert!(!is_first_of_ideographs || is_ideograph(c), "{c:?}");
        let is_told = is_first_of_ideographs || is_first_of_syllables;
        assert!(!is_told || Class::of(c).bits() & !NUMERIC.bits() == alike, "{c:?}");
    }
}

/// Runs a closure on a back end, whose only entrance is a [`super::fill::Job`].
struct Ask<'a, T>(&'a mut dyn FnMut(&dyn AnyIsa) -> T, &'a mut Option<T>);

/// [`super::fill::Isa`] in a form that works as a `dyn`.
trait AnyIsa {
    fn any_masks(&self, window: &Window) -> Masks;
    fn any_positions(&self, mask: u64, base: usize, out: &mut [u32]) -> usize;
}

impl<I: super::fill::Isa> AnyIsa for I {
    fn any_masks(&self, window: &Window) -> Masks {
        self.masks(window, true)
    }

    fn any_positions(&self, mask: u64, base: usize, out: &mut [u32]) -> usize {
        self.positions(mask, base, out)
    }
}

impl<T> super::fill::Job for Ask<'_, T> {
    fn run<I: super::fill::Isa>(self, isa: I) -> usize {
        *self.1 = Some(self.0(&isa));
        0
    }
}

fn masks(backend: Backend, window: &Window) -> Masks {
    let mut answer = None;
    backend.run(Ask(&mut |isa| isa.any_masks(window), &mut answer));
    answer.expect("an answer")
}

fn positions(backend: Backend, mask: u64, base: usize, out: &mut [u32]) -> usize {
    let mut answer = None;
    backend.run(Ask(&mut |isa| isa.any_positions(mask, base, out), &mut answer));
    answer.expect("an answer")
}

#[test]
fn every_character_matches_naive() {
    let contexts =
        ["x? ?!?", "a?b", "??", "'?", "'s?", "'?l", "1?2", "?\n", "!?", "A?B", "\n?a", "中?A", "x'ſ?'s"];
    for (index, context) in contexts.into_iter().enumerate() {
        // From the ideographs on, classes come in long runs: one context takes all characters, the others take every
        // 17th.
        let step = if index == 0 { 1 } else { 17 };
        let mut text = String::new();
        for character in ('\0'..'\u{3400}').chain(('\u{3400}'..=char::MAX).step_by(step)) {
            // The contexts have many lengths, so characters reach all positions of a block.
            text += &context.replace('?', character.encode_utf8(&mut [0; 4]));
            text += "\n\n;";
            if text.len() > 1 << 16 {
                for splitter in SPLITTERS {
                    check(splitter, &text, 0, 1 << 16);
                }
                text.clear();
            }
        }
        for splitter in SPLITTERS {
            check(splitter, &text, 0, 1 << 16);
        }
    }
}

#[test]
fn long_runs_match_naive() {
    let runs = [
        "a", "A", "中", "1", "٣", "!", " ", "\n", "\u{3000}", "\u{301}", "'", "'s", "/", "\n ", " \n", "!\n",
        "aB", "中A", "/\n", "😀",
    ];
    for splitter in SPLITTERS {
        for run in runs {
            for after in ["", "a", "B", "1", " ", "\n", "!", "'s", "/", "\u{301}"] {
                for ahead in ["", "a", "中", "!", "\n", "'", " "] {
                    let text = ahead.to_owned() + &run.repeat(1000) + after;
                    check(splitter, &text, 0, 300);
                }
            }
        }
    }
}

#[test]
fn gapless_spans_have_starts_too() {
    let text = "It's  10,000 o'clock in 東京, ".repeat(9);
    for (_, splitter) in Splitter::PATTERNS {
        let (mut starts, mut ends) = ([0; 7], [0; 9]);
        let found = splitter.fill_spans(&text, 2, &mut starts, &mut ends);
        let spans: Vec<(u32, u32)> = starts.into_iter().zip(ends).take(found).collect();
        assert_eq!(spans, naive::spans(splitter, &text, 2)[..7]);
    }
}

#[test]
fn no_room_is_no_span() {
    let text = "a text of more than one block, ".repeat(9);
    for splitter in SPLITTERS {
        assert_eq!(splitter.fill_spans(&text, 0, &mut [], &mut [0]), 0);
        assert_eq!(splitter.fill_spans(&text, text.len(), &mut [0], &mut [0]), 0);
    }
    assert_eq!(Splitter::Gpt2.fill_ends(&text, 0, &mut []), 0);
}
