//! Images: the rewrites of single characters, for a table of all characters.
//!
//! A character is *open* in its text if it has no image, or if it may continue a match and the character before it has no image or may go on
//! with a match. Let *n* be the number of stages that see more than a character.
//!
//! **Theorem 3.** Let two neighbours in a text not be open, nor the *n* characters after them, and where a stage sees grapheme
//! clusters, nor the character before them. Then the text may be cut between the two, the rewrite of the left part ends with the image
//! of the left neighbour, and the rewrite of the right part begins with the image of the right one.
//!
//! At most one stage sees grapheme clusters. Each of several might take one more character after an open one.
//!
//! *Proof*: text before a piece does not change the piece, and no match goes on across the place before a character that is not
//! open. (A cluster may reach into the character after it, but not further.) An open character changes one more character before it at
//! each stage, so at most *n* of them. A match changes its own characters alone. Where there are several searches, a character that may
//! continue one match counts as one after which a match may go on, since the text in place of a match may be part of the next one.

use std::borrow::Cow;
use std::ops::Range;

use super::closed::{Matched, Sight, is_closed, sight, stages_with_neighbours};
use super::rules::{GROWTH, Rules};
use crate::normalizers::Normalizer;
use crate::scan::classes::{Class, SPACE};
use crate::structures::char_table::{CharTable, PAGE, PAGES};

/// The rewrite of a text by all stages.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) text: String,
    /// The least that is left at any stage.
    pub(crate) remains: Remains,
    /// True if, at some stage, the first character may continue a match.
    pub(crate) may_continue: bool,
    /// True if, at some stage, a match may go on after the last character.
    pub(crate) may_go_on: bool,
}

/// The remains of a text at a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Remains {
    Nothing,
    /// Text with white space.
    White,
    /// Text without white space.
    Ink,
}

impl Remains {
    fn of(text: &str) -> Self {
        if text.is_empty() {
            Self::Nothing
        } else if text.chars().any(|c| Class::of_code(c as usize).is(SPACE)) {
            Self::White
        } else {
            Self::Ink
        }
    }
}

/// The images of the characters of one page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PageImages {
    /// No character has an image.
    None,
    /// The image of each is the character between the two texts.
    Between { before: String, after: String, remains: Remains, may_continue: bool, may_go_on: bool },
    /// They differ.
    Own,
}

/// Characters that no stage of Unicode data changes, whole pages of them.
const STABLE: [Range<usize>; 11] = [
    0x1200..0x1340,
    0x1400..0x1680,
    0x2340..0x2440,
    0x2500..0x2580,
    0x25c0..0x2a00,
    0x2b00..0x2c00,
    0x3400..0xa640,
    0x12000..0x13440,
    0x1f300..0x1f3c0,
    0x1f400..0x1fb00,
    0x20000..0x2f800,
];

/// Other characters that are asked for their images. The rest is seldom met.
const ASKED: [Range<usize>; 4] = [0..0x3400, 0xa640..0xd800, 0xf900..0x1_0000, 0x1f000..0x1fb00];

fn are_in(ranges: &[Range<usize>], page: usize) -> bool {
    ranges.iter().any(|range| range.contains(&(page * PAGE)))
}

/// The images of all characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Images<'a> {
    rules: &'a Rules,
    /// True if several stages search for matches.
    has_searches: bool,
    /// So many characters after the right neighbour of a cut must not be open.
    pub(crate) ahead: usize,
}

impl PageImages {
    /// The images of a page without stages.
    pub(crate) fn unchanged() -> Self {
        let (before, after) = (String::new(), String::new());
        Self::Between { before, after, remains: Remains::Ink, may_continue: false, may_go_on: false }
    }

    /// The image of a character of such a page; none if all are none, or if they differ.
    pub(crate) fn image(&self, c: char) -> Option<Image> {
        let Self::Between { before, after, remains, may_continue, may_go_on } = self else { return None };
        let mut text = String::with_capacity(before.len() + c.len_utf8() + after.len());
        text.push_str(before);
        text.push(c);
        text.push_str(after);
        let remains = Remains::of(&text).min(*remains);
        Some(Image { text, remains, may_continue: *may_continue, may_go_on: *may_go_on })
    }
}

impl<'a> Images<'a> {
    pub(super) fn of_rules(rules: &'a Rules) -> Self {
        let searches = rules.0.iter().filter(|stage| is_search(stage)).count();
        let ahead = stages_with_neighbours(&rules.0.iter().collect::<Vec<_>>());
        Self { rules, has_searches: searches > 1, ahead }
    }

    /// Which characters are *inert*, a 1 for each: they are pieces, stay as they are, and continue no match.
    pub(super) fn inert(&self) -> CharTable {
        let (mut pages, mut places) = (vec![[0; PAGE], [1; PAGE]], Vec::with_capacity(PAGES));
        for page in 0..PAGES {
            let bytes = match self.page(page) {
                images if images == PageImages::unchanged() => [1; PAGE],
                PageImages::None | PageImages::Between { .. } => [0; PAGE],
                PageImages::Own => std::array::from_fn(|at| {
                    let c = char::from_u32((page * PAGE + at) as u32);
                    u8::from(c.is_some_and(|c| self.is_inert(c)))
                }),
            };
            let place = pages.iter().position(|known| *known == bytes).unwrap_or_else(|| {
                pages.push(bytes);
                pages.len() - 1
            });
            places.push(place as u16);
        }
        CharTable::new(places, pages)
    }

    fn is_inert(&self, c: char) -> bool {
        let is_same = |image: Image| image.text.chars().eq([c]) && !image.may_continue;
        self.of(c).is_some_and(is_same)
    }

    /// True if the character before the two neighbours of a cut must not be open either.
    pub(crate) fn see_clusters(&self) -> bool {
        self.rules.0.iter().any(|stage| matches!(stage, Normalizer::Precompiled(_)))
    }

    /// The image of a character; none if it has none, or if a stage leaves nothing of it.
    pub(crate) fn of(&self, c: char) -> Option<Image> {
        let image = self.rules.image(c.encode_utf8(&mut [0; 4]), true)?;
        // The text that one stage puts in place of a match may continue a match of the next.
        let may_go_on = image.may_go_on || self.has_searches && image.may_continue;
        (image.remains != Remains::Nothing).then_some(Image { may_go_on, ..image })
    }

    /// The images of a page.
    pub(crate) fn page(&self, page: usize) -> PageImages {
        let codes = page * PAGE..(page + 1) * PAGE;
        let mut chars = codes.clone().filter_map(|code| char::from_u32(code as u32));
        if are_in(&STABLE, page) && !chars.any(|c| self.rules.may_match(c)) {
            let between = |code: usize| {
                let c = char::from_u32(code as u32)?;
                let Image { text, remains, may_continue, may_go_on } = self.of(c)?;
                let (before, after) = text.split_once(c)?;
                let (before, after) = (before.to_owned(), after.to_owned());
                Some(PageImages::Between { before, after, remains, may_continue, may_go_on })
            };
            if let Some(images) =
                between(codes.start).filter(|first| between(codes.end - 1).as_ref() == Some(first))
            {
                return images;
            }
        }
        if are_in(&STABLE, page) || are_in(&ASKED, page) { PageImages::Own } else { PageImages::None }
    }
}

impl Rules {
    /// The image of `text` beside other pieces; none if `text` is not closed at every stage. With `or_continues`, searches may
    /// match `text` together with the character before it; the image then holds only where they do not.
    pub(super) fn image(&self, text: &str, or_continues: bool) -> Option<Image> {
        let mut made = Cow::Borrowed(text);
        let remains = Remains::of(text);
        let mut image = Image { text: String::new(), remains, may_continue: false, may_go_on: false };
        for stage in &self.0 {
            let matched = match stage {
                Normalizer::Replace(replacement) => Matched::of(replacement),
                _ => None,
            };
            if !is_closed(stage, &made) {
                if matched.is_none() || !or_continues {
                    return None;
                }
                image.may_continue = true;
            }
            if let Some(matched) = matched {
                image.may_go_on |= made.chars().next_back().is_some_and(|last| matched.may_go_on(last));
            }
            if let Cow::Owned(changed) = stage.normalize_str(&made).ok()? {
                made = Cow::Owned(changed);
            }
            image.remains = image.remains.min(Remains::of(&made));
            if made.len() > GROWTH * text.len() {
                return None;
            }
        }
        Some(Image { text: made.into_owned(), ..image })
    }

    /// True if a stage with data of its own, beside Unicode's, may change `c`.
    fn may_match(&self, c: char) -> bool {
        self.0.iter().any(|stage| match stage {
            Normalizer::Replace(replacement) => {
                Matched::of(replacement).is_none_or(|matched| matched.may_hold(c))
            }
            Normalizer::Precompiled(charsmap) => charsmap.has_rules_of(c.encode_utf8(&mut [0; 4])),
            Normalizer::ByteLevel => true,
            _ => false,
        })
    }
}

/// True if a stage searches for matches of several characters.
fn is_search(stage: &Normalizer) -> bool {
    matches!(stage, Normalizer::Replace(_)) && sight(stage) != Sight::Characters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalizers::precompiled::clusters::is_simple_grapheme;
    use crate::normalizers::{Bert, Form};

    #[test]
    fn stages_of_unicode_data_leave_stable_characters() {
        let bert = Bert {
            clean_text: true,
            handle_chinese_chars: false,
            strip_accents: Some(true),
            lowercase: true,
        };
        let mut stages = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd].map(Normalizer::Unicode).to_vec();
        stages.extend([
            Normalizer::Lowercase,
            Normalizer::StripAccents,
            Normalizer::Nmt,
            Normalizer::Bert(bert),
        ]);
        for code in STABLE.into_iter().flatten() {
            let c = char::from_u32(code as u32).expect("no surrogates");
            let text = c.to_string();
            assert!(is_simple_grapheme(c), "{code:x}");
            for stage in &stages {
                assert!(is_closed(stage, &text), "{stage:?} {code:x}");
                assert_eq!(stage.normalize_str(&text).expect("short"), text, "{stage:?}");
            }
        }
    }
}
