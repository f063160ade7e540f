//! Seams: places between two characters where a text may be cut, and its parts encoded one by one.
//!
//! Whether a place is a seam is told by the *kinds* of the two characters beside it, and sometimes by the character before these: it must
//! be *ink*, a character with a kind that is neither a space nor a line end. Which kinds make a seam is derived for each tokenizer from its stages (`pre_tokenizers::seams`); here the seams of a text are
//! found, 64 bytes at a time.

use super::classes::{Class, LETTER, LOWER, NUMBER, PUNCTUATION, SPACE, UPPER};
use super::cursor::run_in;
use super::simd::Backend;
use super::simd::seams::FillSeams;
use super::spaces::PUNCTUATION_KEPT_APART;

/// Number of kinds of characters.
pub(crate) const KINDS: usize = 14;

/// Small letters of ASCII; the next kind has those beyond it.
pub(crate) const SMALL: usize = 0;
/// Capitals of ASCII; the next kind has those beyond it.
pub(crate) const CAPITAL: usize = 2;
/// Letters without case, and modifiers.
pub(crate) const UNCASED: usize = 4;
/// Digits of ASCII.
pub(crate) const DIGIT: usize = 5;
/// The space.
pub(crate) const BLANK: usize = 6;
/// Carriage return and line feed.
pub(crate) const NEWLINE: usize = 7;
/// The punctuation of ASCII that ends and divides sentences.
pub(crate) const STOP: usize = 8;
/// Punctuation beyond ASCII.
pub(crate) const WIDE_STOP: usize = 9;
/// All else beyond ASCII but marks, numbers and white space.
pub(crate) const WIDE_OTHER: usize = 10;
/// The apostrophe.
pub(crate) const APOSTROPHE: usize = 11;

/// All other punctuation and symbols of ASCII.
pub(crate) const SIGN: usize = 13;
/// Marks, such as accents and the vowels of some scripts.
pub(crate) const MARK: usize = 12;

/// The kind of a character, if it has one.
pub(crate) fn kind_of(code: usize) -> Option<usize> {
    let (class, is_wide) = (Class::of_code(code), code >= 0x80);
    let is_in = |characters: &[u8]| !is_wide && characters.contains(&(code as u8));
    Some(match (class.is(UPPER), class.is(LOWER)) {
        (false, true) => SMALL + usize::from(is_wide),
        (true, false) => CAPITAL + usize::from(is_wide),
        (true, true) if class.is(LETTER) => UNCASED,
        (true, true) => MARK,
        _ if class.is(NUMBER) && !is_wide => DIGIT,
        _ if is_in(b" ") => BLANK,
        _ if is_in(b"\r\n") => NEWLINE,
        _ if class.is(NUMBER.or(SPACE)) => return None,
        _ if is_in(b"'") => APOSTROPHE,
        _ if class.is(PUNCTUATION) && is_wide => WIDE_STOP,
        _ if is_in(PUNCTUATION_KEPT_APART) => STOP,
        _ if class.is(PUNCTUATION) => SIGN,
        _ if is_wide => WIDE_OTHER,
        _ => return None,
    })
}

/// Whether a character of a kind is ink.
pub(crate) fn is_ink(kind: usize) -> bool {
    kind != BLANK && kind != NEWLINE
}

/// The seams of one tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seams {
    /// At most [`MOST_RULES`].
    pub(super) rules: Vec<Rule>,
    /// All kinds of letters are alike, so that [`SMALL`] stands for them.
    pub(super) joins_letters: bool,
    /// All punctuation and symbols are alike, so that [`STOP`] stands for them.
    pub(super) joins_stops: bool,
    words: Words,
}

/// Which words are one pre-token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) alone: Letters,
    /// With a space before them.
    pub(crate) after_space: Letters,
}

/// Words of letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Letters {
    /// None.
    #[default]
    None,
    /// Words of small letters of ASCII, of which the first may be a capital.
    Small,
    /// Words of all letters.
    All,
}

/// There is a seam between two characters of these kinds, one bit each; with `after_ink`, only where ink stands before the two, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) left: u16,
    pub(super) right: u16,
    pub(super) after_ink: bool,
}

/// Parts that [`Seams::for_each_part`] looks for at a time.
const PARTS: usize = 128;

/// Rules at most: two for each kind.
pub(super) const MOST_RULES: usize = 2 * KINDS;

impl Seams {
    /// The seams between kinds: `is_seam(left, right, after_ink)` says whether there is one between two kinds, always or only after ink.
    /// None if there are none.
    pub(crate) fn new(is_seam: impl Fn(usize, usize, bool) -> bool, words: Words) -> Option<Self> {
        let mut rules: Vec<Rule> = Vec::new();
        for left in 0..KINDS {
            let mut known = 0;
            for after_ink in [false, true] {
                let is_new = |&right: &usize| known >> right & 1 == 0 && is_seam(left, right, after_ink);
                let right = (0..KINDS).filter(is_new).fold(0, |kinds, right| kinds | 1 << right);
                known |= right;
                // Fewer rules are faster than a few more seams.
                match rules.iter_mut().find(|rule| rule.right == right) {
                    Some(rule) => {
                        rule.left |= 1 << left;
                        rule.after_ink |= after_ink;
                    }
                    None if right != 0 => rules.push(Rule { left: 1 << left, right, after_ink }),
                    None => {}
                }
            }
        }
        let are_alike = |kinds: u16| {
            let is_whole = |set: u16| [0, kinds].contains(&(set & kinds));
            rules.iter().all(|rule| is_whole(rule.left) && is_whole(rule.right))
        };
        let (letters, stops) = (0x1f, 1 << STOP | 1 << WIDE_STOP | 1 << WIDE_OTHER | 1 << SIGN);
        let (joins_letters, joins_stops) = (are_alike(letters), are_alike(stops));
        let joined =
            if joins_letters { letters & !1 } else { 0 } | if joins_stops { stops & !(1 << STOP) } else { 0 };
        for rule in &mut rules {
            (rule.left, rule.right) = (rule.left & !joined, rule.right & !joined);
        }
        (!rules.is_empty()).then_some(Self { rules, joins_letters, joins_stops, words })
    }

    /// The kind that stands for a kind.
    #[cfg(test)]
    fn representative(&self, kind: usize) -> usize {
        match kind {
            SMALL..=UNCASED if self.joins_letters => SMALL,
            STOP..=WIDE_OTHER | SIGN if self.joins_stops => STOP,
            _ => kind,
        }
    }

    /// Whether a part of a text is known to be one pre-token, so that it need not be cut.
    pub(crate) fn is_word(&self, part: &[u8]) -> bool {
        let (word, letters) = match part {
            [b' ', word @ ..] => (word, self.words.after_space),
            word => (word, self.words.alone),
        };
        let Some((first, rest)) = word.split_first() else { return false };
        match letters {
            Letters::None => false,
            Letters::Small => first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase),
            Letters::All => run_in(word, 0, LETTER) == word.len(),
        }
    }

    /// Writes the ends of the parts of `text` from `start` on, until `ends` is full or the text ends; returns how many. `start` is the start
    /// of the text or a seam, and zero means its end.
    pub(crate) fn fill_ends(&self, text: &str, start: usize, ends: &mut [u32]) -> usize {
        Backend::best().run(FillSeams { seams: self, text, start, ends })
    }

    /// As [`Self::fill_ends`], with the starts of the parts.
    pub(crate) fn fill_spans(&self, text: &str, start: usize, starts: &mut [u32], ends: &mut [u32]) -> usize {
        let found = self.fill_ends(text, start, ends);
        if found > 0 {
            starts[0] = start as u32;
            starts[1..found].copy_from_slice(&ends[..found - 1]);
        }
        found
    }

    /// Calls `found` with the start and the end of each part of a text of less than 4 GiB.
    pub(crate) fn for_each_part(&self, text: &str, mut found: impl FnMut(usize, usize)) {
        let (mut ends, mut start) = ([0; PARTS], 0);
        loop {
            let count = self.fill_ends(text, start, &mut ends);
            for &end in &ends[..count] {
                found(start, end as usize);
                start = end as usize;
            }
            if count == 0 {
                return;
            }
        }
    }

    /// The obvious twin of [`Self::fill_ends`]: the ends of all parts of a text.
    #[cfg(test)]
    pub(super) fn naive_ends(&self, text: &str) -> Vec<u32> {
        let chars: Vec<(usize, Option<usize>)> = text
            .char_indices()
            .map(|(at, c)| (at, kind_of(c as usize).map(|kind| self.representative(kind))))
            .collect();
        let mut ends = Vec::new();
        for right in 1..chars.len() {
            let is_after_ink = right < 2 || chars[right - 2].1.is_some_and(is_ink);
            let (Some(left), (at, Some(kind))) = (chars[right - 1].1, chars[right]) else { continue };
            let is_seam = |rule: &Rule| {
                rule.left >> left & rule.right >> kind & 1 == 1 && (!rule.after_ink || is_after_ink)
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
    use crate::scan::simd::seams::kinds_of;

    proptest! {
        #[test]
        fn parts_match_naive(
            least in prop::collection::vec(0..4usize, KINDS * KINDS),
            alike in any::<bool>(),
            text in "([ab ]{0,90}[.,'\n\t$1É]?|('[abc]?| |a|É)[ .,]|[aéÉ日本́، ٣²€\u{3000}]{0,40}|\\PC{0,40}){0,4}",
            room in 1..40usize,
        ) {
            let at = |left: usize, right: usize| if alike { (left % 3) * 3 + right % 3 } else { left * KINDS + right };
            let is_seam = |left, right, after_ink: bool| least[at(left, right)] <= usize::from(after_ink);
            let Some(seams) = Seams::new(is_seam, Words::default()) else { return Ok(()) };
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
    fn masks_know_the_kinds_of_all_characters() {
        for c in '\0'..=char::MAX {
            let text: String = c.to_string() + &" ".repeat(80);
            let expected = kind_of(c as usize).map_or(0, |kind| 1 << kind);
            assert_eq!(kinds_of(&text), expected, "{c:?}");
        }
    }
}
