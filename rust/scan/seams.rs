//! Seams: places between two characters where a text may be cut, and the chunks between them encoded one by one.
//!
//! The kinds of two neighbours decide if the place between them is a seam. Some rules ask for more. One needs *ink*, a character that is
//! not white space, before the two neighbours. Another makes a seam before a space, and needs the character after the space. Kinds and
//! rules are derived for each tokenizer from its stages (`pre_tokenizers::seams`). This module finds the seams of a text, 64 bytes at a
//! time.

use std::ops::Range;

use super::seam_rules::is_char_start;
#[cfg(test)]
use super::seam_rules::may_join_after;
pub(crate) use super::seam_rules::{Context, Kinds, MOST_KINDS, MOST_WORDS, Open, Rule, Seams, Words};
use super::simd::Backend;
use super::simd::seams::FillSeams;

/// Bytes before the end of a range in which the last seam is looked for first.
const WINDOW: usize = 128;

/// Bytes after which a scan that starts anywhere finds true seams: a seam depends on at most five characters before it.
const BEFORE: usize = 32;

/// Chunks that [`Seams::for_each_chunk`] looks for at a time.
const CHUNKS: usize = 128;

impl Seams {
    /// True if a rule makes a seam between `c` and another character of its kind, after any text.
    pub(crate) fn are_between(&self, c: char) -> bool {
        let kind = self.table.of_code(c as usize);
        let holds_both = |rule: &Rule| rule.left & rule.right & kind != 0 && rule.context == Context::Any;
        self.rules.iter().any(holds_both)
    }

    /// Bytes before and after a seam that decide on it, at most.
    pub(crate) fn reach(&self) -> usize {
        BEFORE + 4 * self.open.map_or(0, |open| open.ahead)
    }

    /// True if a pre-token is known to have characters on both sides of the seam `at` of `text`, which is before a space.
    #[inline]
    pub(crate) fn are_joined(&self, text: &[u8], at: usize) -> bool {
        let is_known = text.get(at) == Some(&b' ') && at + 1 < text.len();
        let Some(before) = (0..at).rev().find(|&at| is_char_start(text[at])).filter(|_| is_known) else {
            return false;
        };
        let (left, right) = (self.table.at(text, before).0, self.table.at(text, at + 1).0);
        left != 0 && self.joined[left.trailing_zeros() as usize] & right != 0
    }

    /// True if a chunk is known to be one pre-token.
    pub(crate) fn is_word(&self, chunk: &[u8]) -> bool {
        self.known_pre_tokens(chunk).is_some_and(|mut known| known.next() == Some(0..chunk.len()))
    }

    /// The pre-tokens of a chunk that is a word, or a space and a word, if they are known without a search. The space is part of the word, a
    /// pre-token of its own, or dropped.
    #[inline]
    pub(crate) fn known_pre_tokens(
        &self,
        chunk: &[u8],
    ) -> Option<impl Iterator<Item = Range<usize>> + use<>> {
        let Words { table, space_kept, space_cut_off, space_dropped } = self.words.as_ref()?;
        let (word, mut sets) = match chunk {
            [b' ', word @ ..] => (word, space_kept | space_cut_off | space_dropped),
            word => (word, Kinds::MAX),
        };
        if word.is_empty() {
            return None;
        }
        let (first, mut at) = table.at(word, 0);
        sets &= first >> MOST_WORDS;
        while at < word.len() && sets != 0 {
            let (next, width) = table.at(word, at);
            sets &= next;
            at += width;
        }
        let (has_space, len) = (word.len() < chunk.len(), chunk.len());
        let is_cut = has_space && sets & space_kept == 0;
        let space = (is_cut && sets & space_cut_off != 0).then_some(0..1);
        (sets != 0).then(|| space.into_iter().chain(Some(usize::from(is_cut)..len)))
    }

    /// Writes the ends of the chunks of `text[start..]` until `ends` is full or the text ends; returns how many, so 0 at the end of the text.
    /// Nothing before `start` counts.
    pub(crate) fn fill_ends(&self, text: &str, start: usize, ends: &mut [u32]) -> usize {
        Backend::best().run(FillSeams { seams: self, text, start, ends })
    }

    /// The part of `text` that no stripping of white space reaches, cut at seams; none if there is none.
    pub(crate) fn part_between_ends(&self, text: &str) -> Option<Range<usize>> {
        let places = || text.char_indices().map(|(at, _)| at);
        let start = places().find(|&at| self.is_settled_ink(text, at))?;
        let last = places().rev().find(|&at| self.is_settled_ink(text, at))?;
        let is_at_end = last + self.table.at(text.as_bytes(), last).1 == text.len();
        self.part_within(text, start..if is_at_end { text.len() } else { last })
    }

    /// True if the character at a place is *settled ink*: ink at every stage of the normalizer, so that stripping stops there.
    fn is_settled_ink(&self, text: &str, at: usize) -> bool {
        let Some(open) = self.open else { return false };
        // None of these characters may be open: up to two before the place, the one at the place, and `open.ahead` after it.
        let (mut first, mut count) = (at, 1 + open.ahead);
        for (before, _) in text[..at].char_indices().rev().take(1 + usize::from(open.before)) {
            (first, count) = (before, count + 1);
        }
        let is_settled =
            || self.chars_before_open(Open { ahead: count, ..open }, text.as_bytes(), first) == count;
        self.table.at(text.as_bytes(), at).0 & self.ink != 0 && is_settled()
    }

    /// The largest part within `range` that begins and ends at a seam, or at an end of the text; none if there is none.
    fn part_within(&self, text: &str, range: Range<usize>) -> Option<Range<usize>> {
        let mut ends = [0; 8];
        let mut start = 0;
        while start < range.start {
            let count = self.fill_ends(text, start, &mut ends);
            let within = ends[..count].iter().find(|&&end| end as usize >= range.start);
            start = *within.or(ends[..count].last())? as usize;
        }
        if range.end == text.len() {
            return (start <= range.end).then_some(start..range.end);
        }
        let mut window = WINDOW;
        loop {
            let from = text.floor_char_boundary(range.end.saturating_sub(window)).max(start);
            // Seams right after `from` may depend on the text before.
            let sure = if from == start { from } else { text.ceil_char_boundary(from + BEFORE) };
            let mut last = None;
            self.for_each_chunk_from(text, from, |chunk, end| {
                let is_found = (sure..=range.end).contains(&end);
                last = if is_found { Some(end) } else { last };
                chunk < range.end
            });
            if last.is_some() || from == start {
                return last.map(|end| start..end);
            }
            window *= 4;
        }
    }

    /// The first seam in `range` for which `is_good` is true. The end of the text is none.
    pub(crate) fn find(
        &self,
        text: &str,
        range: Range<usize>,
        mut is_good: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let mut found = None;
        self.for_each_chunk_from(
            text,
            text.floor_char_boundary(range.start.saturating_sub(BEFORE)),
            |_, end| {
                found = Some(end).filter(|&end| range.contains(&end) && end < text.len() && is_good(end));
                found.is_none() && end < range.end
            },
        );
        found
    }

    /// As [`Self::fill_ends`], with the starts of the chunks.
    pub(crate) fn fill_spans(&self, text: &str, start: usize, starts: &mut [u32], ends: &mut [u32]) -> usize {
        let found = self.fill_ends(text, start, ends);
        if found > 0 {
            starts[0] = start as u32;
            starts[1..found].copy_from_slice(&ends[..found - 1]);
        }
        found
    }

    /// Calls `found` with the start and the end of each chunk of a text of less than 4 GiB.
    pub(crate) fn for_each_chunk(&self, text: &str, mut found: impl FnMut(usize, usize)) {
        self.for_each_chunk_from(text, 0, |start, end| {
            found(start, end);
            true
        });
    }

    /// Calls `found` with the chunks from `start` on until it returns false. Nothing before `start` counts.
    fn for_each_chunk_from(&self, text: &str, start: usize, mut found: impl FnMut(usize, usize) -> bool) {
        let (mut ends, mut start) = ([0; CHUNKS], start);
        loop {
            let count = self.fill_ends(text, start, &mut ends);
            for &end in &ends[..count] {
                if !found(start, end as usize) {
                    return;
                }
                start = end as usize;
            }
            if count == 0 {
                return;
            }
        }
    }

    /// The obvious twin of [`Self::fill_ends`]: the ends of all chunks of a text.
    #[cfg(test)]
    pub(super) fn naive_ends(&self, text: &str) -> Vec<u32> {
        let kind_at = |at: usize| self.table.at(text.as_bytes(), at).0;
        let chars: Vec<(usize, char, Kinds)> =
            text.char_indices().map(|(at, c)| (at, c, kind_at(at))).collect();
        let is_open = |at: usize| {
            let kind_before = at.checked_sub(1).map(|before| chars[before].2);
            self.open.is_some_and(|open| {
                let may_join = kind_before.is_some_and(|kind| may_join_after(kind, open.may_go_on));
                chars[at].2 == 0 || chars[at].2 & open.may_continue != 0 && may_join
            })
        };
        let (ahead, before) = self.open.map_or((0, false), |open| (open.ahead, open.before));
        let is_settled = |right: usize| (right..chars.len()).take(ahead + 1).all(|at| !is_open(at));
        let is_left = |left: usize| !(is_open(left) || before && left > 0 && is_open(left - 1));
        let mut ends = Vec::new();
        for right in 1..chars.len() {
            let (left, (at, c, kind)) = (chars[right - 1].2, chars[right]);
            let is_seam = |rule: &Rule| {
                let is_right = |kind| rule.right & kind != 0;
                rule.left & left != 0
                    && is_left(right - 1)
                    && match rule.context {
                        Context::Any => is_right(kind) && is_settled(right),
                        Context::AfterInk => {
                            let is_ink = |at: usize| chars[at].2 & self.ink != 0 && is_left(at);
                            is_right(kind) && is_settled(right) && (right < 2 || is_ink(right - 2))
                        }
                        Context::AcrossSpace => {
                            c == ' '
                                && !is_open(right)
                                && chars.get(right + 1).is_some_and(|c| is_right(c.2))
                                && is_settled(right + 1)
                        }
                    }
            };
            if self.rules.iter().any(is_seam) {
                ends.push(at as u32);
            }
        }
        ends.extend((!text.is_empty()).then_some(text.len() as u32));
        ends
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scan::classes::Class;
    use crate::structures::char_table::{CharTable, PAGE, PAGES};

    /// Kinds by the class of a character, and a few by the character.
    fn table(kinds: [u8; 8]) -> CharTable {
        let kind = |code| {
            let class = Class::of_code(code).bits();
            kinds[match code {
                0x20 => 0,
                0x27 | 0x2c | 0xe9 | 0x5d0 => code % 8,
                _ => usize::from(class.count_ones() as u8 ^ class >> 3) % 8,
            }]
        };
        let page = |page| std::array::from_fn(|at| kind(page * PAGE + at));
        CharTable::new((0..PAGES as u16).collect(), (0..PAGES).map(page).collect())
    }

    fn any_rule() -> impl Strategy<Value = Rule> {
        let context =
            prop::sample::select(vec![Context::Any, Context::Any, Context::AfterInk, Context::AcrossSpace]);
        (any::<u8>(), any::<u8>(), any::<u8>(), context).prop_map(|(left, right, fewer, context)| Rule {
            left: left & fewer,
            right,
            context,
        })
    }

    proptest! {
        #[test]
        fn chunks_match_naive(
            kinds in prop::collection::vec(prop_oneof![4 => (0..8u8).prop_map(|kind| 1 << kind), 1 => Just(0)], 8),
            ink: u8,
            rules in prop::collection::vec(any_rule(), 1..5),
            text in "([ab ]{0,90}[.,'\n\t$1É]?|('[abc]?| |a|É)[ .,]|[aéÉ日本́، ٣²€\u{3000}א]{0,40}|( [aéא日]){0,50}|\\PC{0,40}){0,4}",
            room in 1..40usize,
            open in prop::option::of((any::<u8>(), any::<u8>(), any::<u8>(), 0..4usize, any::<bool>())),
        ) {
            let table = table(std::array::from_fn(|at| kinds[at]));
            let open = open.map(|(may_continue, fewer, may_go_on, ahead, before)| {
                Open { may_continue: may_continue & fewer, may_go_on, ahead, before }
            });
            let seams = Seams::new(table, ink, rules, None, open).expect("there are rules");
            for backend in Backend::available() {
                let (mut found, mut ends) = (Vec::<u32>::new(), vec![0_u32; text.len() + 1]);
                let count = backend.run(FillSeams { seams: &seams, text: &text, start: 0, ends: &mut ends });
                found.extend(&ends[..count]);
                prop_assert_eq!(found, seams.naive_ends(&text), "{:?}", backend);
            }
            // From each seam on, the text is another one.
            let mut start = 0;
            while start < text.len() {
                let mut ends = vec![0; room];
                let count = seams.fill_ends(&text, start, &mut ends);
                let expected: Vec<u32> = seams.naive_ends(&text[start..]).iter().map(|end| end + start as u32).take(room).collect();
                prop_assert_eq!(&ends[..count], &expected[..]);
                start = ends[count - 1] as usize;
            }
        }
    }

    #[test]
    fn vectors_know_the_kinds_of_all_characters() {
        let kinds = std::array::from_fn(|at| if at == 3 { 0 } else { 1 << at });
        let seams = |kind| {
            let rule = Rule { left: 1, right: kind, context: Context::Any };
            Seams::new(table(kinds), 0, vec![rule], None, None).expect("a rule")
        };
        let all: Vec<Seams> = kinds.into_iter().filter(|&kind| kind > 0).map(seams).collect();
        for c in '\0'..=char::MAX {
            let text = format!(" {c}{}", "\u{1}".repeat(80));
            for seams in &all {
                let mut ends = [0];
                let is_seam = seams.table.at(text.as_bytes(), 1).0 == seams.rules[0].right;
                seams.fill_ends(&text, 0, &mut ends);
                assert_eq!(ends[0] == 1, is_seam, "{c:?}");
            }
        }
    }
}
