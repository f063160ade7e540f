//! Text in which each group of characters becomes something by itself, with what becomes of it remembered.

use foldhash::fast::FixedState;
use std::collections::HashMap;

use super::places::{Places, Width};

/// Characters below this are remembered: all that are common.
const REMEMBERED: usize = 0x2_0000;

/// Bytes that what is remembered may become; then it starts anew.
const LIMIT: usize = 1 << 20;

/// What becomes of a group, from the lowest bit: whether that has been asked, whether it is known, whether it is the group
/// itself, bytes of what it becomes, and where these begin.
type Fate = u32;

const IS_ASKED: Fate = 1;
const IS_KNOWN: Fate = 2;
const STAYS: Fate = 4;
const LEN_SHIFT: u32 = 3;
const LEN_BITS: u32 = 8;
const START_SHIFT: u32 = LEN_SHIFT + LEN_BITS;

/// Answers what becomes of characters.
pub trait Alone {
    /// Bytes of the first group of a text that is not empty.
    fn group_len(&self, text: &str) -> usize;

    /// What a group becomes wherever it stands, never nothing, and how many of its bytes, from its beginning, all of a
    /// changed text stands for.
    ///
    /// A character that has an answer is a group before another one that has.
    fn alone(&self, group: &str) -> Option<(String, usize)>;
}

/// Memory that one thread reuses from miss to miss: what becomes of groups, and of the last text.
#[derive(Debug, Default)]
pub struct Changes {
    /// Of single characters; allocated when the first one is asked for.
    chars: Vec<Fate>,
    /// Of others, with the bytes that it stands for.
    groups: HashMap<Box<str>, (Fate, u32), FixedState>,
    /// What they become, one after the other.
    made: String,
    text: String,
    widths: Vec<Width>,
}

impl Changes {
    /// Puts `prefix` before what becomes of `text`; whether that is known.
    ///
    /// The prefix stands for `prefix_len` bytes before `text`, or, without such, for what the first character stands for.
    pub fn make(&mut self, (prefix, prefix_len): (&str, usize), text: &str, rules: &impl Alone) -> bool {
        if self.made.len() > LIMIT {
            *self = Self::default();
        }
        self.text.clear();
        self.widths.clear();
        self.text.push_str(prefix);
        if prefix_len > 0 {
            self.widths.push(Width::new(prefix.len(), prefix_len));
        }
        let (mut at, mut done) = (0, 0);
        let mut next = text.chars().next().map(|c| (c, self.fate(c, rules)));
        while let Some((c, mut fate)) = next {
            let mut end = at + c.len_utf8();
            next = text[end..].chars().next().map(|c| (c, self.fate(c, rules)));
            let mut source = c.len_utf8() as u32;
            if fate & IS_KNOWN == 0 || next.is_some_and(|(_, fate)| fate & IS_KNOWN == 0) {
                end = at + rules.group_len(&text[at..]);
                (fate, source) = self.group_fate(&text[at..end], rules);
                if fate & IS_KNOWN == 0 {
                    return false;
                }
                next = text[end..].chars().next().map(|c| (c, self.fate(c, rules)));
            }
            if fate & STAYS != 0 {
                self.widths.extend(text[at..end].chars().map(|c| Width::new(c.len_utf8(), c.len_utf8())));
            } else {
                let (start, len) =
                    ((fate >> START_SHIFT) as usize, (fate >> LEN_SHIFT) as usize % (1 << LEN_BITS));
                self.text.push_str(&text[done..at]);
                self.text.push_str(&self.made[start..start + len]);
                self.widths
                    .push(Width { gap: (end - at) as u32 - source, ..Width::new(len, source as usize) });
                done = end;
            }
            at = end;
        }
        self.text.push_str(&text[done..]);
        if prefix_len == 0
            && let Some(first) = self.widths.first_mut()
        {
            first.made += prefix.len() as u32;
        }
        true
    }

    /// What the last text became.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where places in [`Self::text`] come from.
    pub(super) fn places(&self) -> Places<impl Iterator<Item = Width>> {
        Places::new(self.widths.iter().copied())
    }

    /// What becomes of a single character.
    #[inline]
    fn fate(&mut self, c: char, rules: &impl Alone) -> Fate {
        match self.chars.get(c as usize) {
            Some(&fate) if fate != 0 => fate,
            _ => self.ask(c, rules),
        }
    }

    #[cold]
    #[inline(never)]
    fn ask(&mut self, c: char, rules: &impl Alone) -> Fate {
        if self.chars.is_empty() {
            self.chars = vec![0; REMEMBERED];
        }
        if c as usize >= REMEMBERED {
            return IS_ASKED;
        }
        let (fate, _) = self.answer(c.encode_utf8(&mut [0; 4]), rules);
        self.chars[c as usize] = fate;
        fate
    }

    fn group_fate(&mut self, group: &str, rules: &impl Alone) -> (Fate, u32) {
        if let Some(&known) = self.groups.get(group) {
            return known;
        }
        let answer = self.answer(group, rules);
        // A group counts as what it becomes also where that is itself or not known.
        self.made.push_str(group);
        self.groups.insert(group.into(), answer);
        answer
    }

    fn answer(&mut self, group: &str, rules: &impl Alone) -> (Fate, u32) {
        let len = group.len() as u32;
        match rules.alone(group) {
            Some((made, _)) if made == group => (IS_ASKED | IS_KNOWN | STAYS, len),
            Some((made, source))
                if made.len() < 1 << LEN_BITS && self.made.len() < 1 << (32 - START_SHIFT) =>
            {
                let fate = (self.made.len() as u32) << START_SHIFT | (made.len() as u32) << LEN_SHIFT;
                self.made.push_str(&made);
                (fate | IS_ASKED | IS_KNOWN, len.min(source as u32))
            }
            _ => (IS_ASKED, len),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Some characters stay, others become more or less, marks join what is before them, and one character is not known.
    struct Rules;

    impl Alone for Rules {
        fn group_len(&self, text: &str) -> usize {
            let mut chars = text.char_indices().skip(1);
            chars.find(|&(_, c)| c != '\u{301}').map_or(text.len(), |(at, _)| at)
        }

        fn alone(&self, group: &str) -> Option<(String, usize)> {
            let changed = match group {
                "ß" => ("ss", 2),
                "が" => ("か", 3),
                "한" => ("\u{1112}\u{1161}\u{11AB}", 3),
                "a\u{301}" => ("á", 3),
                "b\u{301}" => ("b", 1),
                "日\u{301}" => ("日\u{301}", 5),
                "a" | "b" | "日" | "𝄞" => (group, group.len()),
                _ => return None,
            };
            Some((changed.0.to_owned(), changed.1))
        }
    }

    proptest! {
        #![proptest_config(crate::testing::cases(2000))]

        #[test]
        fn make_matches_naive(
            texts in prop::collection::vec("([ab日]\u{301}?|[ßが한日𝄞]|b\u{301}){0,8}(x|\u{301}|ß\u{301}|\u{10ffff})?", 1..6),
            prefix in prop::sample::select(&[("", 0), ("▁", 0), ("▁", 1)][..]),
        ) {
            let mut changes = Changes::default();
            for text in &texts {
                let mut groups = Vec::new();
                let mut at = 0;
                while at < text.len() {
                    let end = at + Rules.group_len(&text[at..]);
                    groups.push(&text[at..end]);
                    at = end;
                }
                let made: Option<Vec<(String, usize)>> = groups.iter().map(|group| Rules.alone(group)).collect();
                let is_known = changes.make(prefix, text, &Rules);
                let is_large = text.contains(['𝄞', '\u{10ffff}']);
                prop_assert!(is_known == made.is_some() || is_large);
                let Some(made) = made.filter(|_| is_known) else { continue };
                // The source of each byte of what became of the text.
                let mut sources = vec![(0, prefix.1); prefix.0.len()];
                let (mut expected, mut at) = (prefix.0.to_owned(), prefix.1);
                for (group, (made, source)) in groups.iter().zip(&made) {
                    expected += made;
                    let start = sources.len();
                    if made == group {
                        let own = |(place, c): (usize, char)| vec![(at + place, at + place + c.len_utf8()); c.len_utf8()];
                        sources.extend(group.char_indices().flat_map(own));
                    } else {
                        sources.extend(vec![(at, at + source); made.len()]);
                    }
                    if prefix.1 == 0 && at == 0 {
                        let first = sources[start];
                        sources[..start].fill(first);
                    }
                    at += group.len();
                }
                prop_assert_eq!(changes.text(), expected.as_str());
                let mut places = changes.places();
                for (at, source) in sources.iter().enumerate() {
                    let before = if at > 0 { sources[at - 1] } else { (0, 0) };
                    let is_inside = at > 0 && before == *source;
                    let end = if is_inside { source.1 } else { before.1 };
                    prop_assert_eq!(places.around(at), (source.0, end));
                }
                prop_assert_eq!(places.around(expected.len()).1, sources.last().map_or(0, |source| source.1));
            }
        }
    }
}
