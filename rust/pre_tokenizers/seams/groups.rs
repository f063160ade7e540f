//! Groups: sets of characters that no stage tells apart.

use std::collections::{BTreeSet, HashMap, HashSet};

use foldhash::fast::FixedState;

use super::kinds::Facts;
use super::stage::Stage;
use super::weights::Weight;
use crate::byte_level::BYTE_TO_CHAR;
use crate::normalizers::{Image, Images, PageImages, Remains};
use crate::scan::classes::page_number;
use crate::scan::seams::Kinds;
use crate::structures::char_table::{CharTable, PAGE, PAGES};
use crate::structures::regex::AtomSet;

/// Groups, at most. Characters of rarer groups have none.
const MOST_GROUPS: usize = 128;

/// In place of a group: the character has none.
const NO_GROUP: u16 = u16::MAX;

/// Pages whose characters are weighed: the Basic Multilingual Plane.
const WEIGHED: usize = 0x1_0000 / PAGE;

/// The atoms by which a stage knows the characters of a group: as characters, or as mapped bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// The atoms of the first and of the last byte, or of the character.
    pub(super) first: u8,
    pub(super) last: u8,
    /// The atoms of all bytes.
    pub(super) all: AtomSet,
}

#[derive(Clone, Debug)]
pub(super) struct Group {
    /// By stage.
    pub(super) seen: Vec<Seen>,
    /// How often its characters are met, about.
    pub(super) weight: Weight,
    pub(super) is_space: bool,
    pub(super) facts: Facts,
    /// True if each image has several characters.
    pub(super) has_several: bool,
    /// True if the model encodes a space after an image, and the text from there on, apart from the text before.
    pub(super) is_apart: bool,
}

/// All characters.
pub(super) struct Characters<'a> {
    pub(super) groups: Vec<Group>,
    /// The number of the group of the space.
    space: Option<usize>,
    /// By stage, the atoms of all characters that the stage may see.
    pub(super) atoms: Vec<AtomSet>,
    /// See [`PreTokenizer::seams_for_ids`](super::PreTokenizer::seams_for_ids).
    pub(super) are_apart: Option<&'a [bool; 256]>,
    /// By page, the place of its groups in `pages`.
    places: Vec<u16>,
    pages: Vec<[u16; PAGE]>,
    /// Characters whose images hold a symbol, by the symbol: the place of the page, and the place in the page.
    holders: Vec<(char, u16, usize)>,
}

impl<'a> Characters<'a> {
    /// The characters as the stages see them: as they are, or their images. A character whose image holds one of `symbols` may lose its
    /// group later.
    pub(super) fn new(
        stages: &[Stage],
        images: Option<Images<'_>>,
        symbols: &BTreeSet<char>,
        are_apart: Option<&'a [bool; 256]>,
    ) -> Self {
        let mut made = Self {
            groups: Vec::new(),
            space: None,
            atoms: Vec::new(),
            are_apart,
            places: Vec::with_capacity(PAGES),
            pages: Vec::new(),
            holders: Vec::new(),
        };
        let (mut known, mut key, mut maker) =
            (HashMap::<Vec<u16>, u16, FixedState>::default(), Vec::new(), Maker::new(are_apart));
        // Kinds of pages by their images; without a normalizer, all pages are of the first kind.
        let mut kinds_of_pages = vec![PageImages::unchanged()];
        for page in 0..PAGES {
            let kind =
                images.map_or(0, |images| number_of(images_of(page, images, symbols), &mut kinds_of_pages));
            // Where bytes are mapped, pages of one lead byte are alike.
            key.clear();
            key.extend([u16::from(encode(page * PAGE)[0]), page_number(page), kind as u16]);
            key.extend(stages.iter().map(|stage| stage.search.page_number(page)));
            let kind = &kinds_of_pages[kind];
            if *kind == PageImages::Own {
                key.push(page as u16);
            }
            let place = known.get(&key).copied().unwrap_or_else(|| {
                let place = made.pages.len() as u16;
                made.pages.push(maker.groups_of_page(
                    stages,
                    page,
                    images.map(|images| (images, kind)),
                    |at, image| {
                        let symbols = image.chars().filter(|c| symbols.contains(c));
                        made.holders.extend(symbols.map(|symbol| (symbol, place, at)));
                    },
                ));
                known.insert(key.clone(), place);
                place
            });
            made.places.push(place);
            if page < WEIGHED {
                for (at, &group) in made.pages[usize::from(place)].iter().enumerate() {
                    if let Some(group) = maker.groups.get_mut(usize::from(group)) {
                        group.weight.add(page * PAGE + at);
                    }
                }
            }
        }
        made.groups = maker.groups;
        let seen = |stage: usize| made.groups.iter().fold(0, |all, group| all | group.seen[stage].all);
        made.atoms = match images {
            None => (0..stages.len()).map(seen).collect(),
            // A stage may see characters that are no image of a single character.
            Some(_) => stages.iter().map(all_atoms).collect(),
        };
        made.drop_rare();
        made.space = made.groups.iter().position(|group| group.is_space);
        made
    }

    /// The group of the space, if the stages see a space. It has the largest weight of all, so it is never dropped.
    pub(super) fn space(&self) -> Option<&Group> {
        self.space.map(|space| &self.groups[space])
    }

    /// Takes the groups from all characters whose images hold one of these characters, which are among the symbols.
    pub(super) fn ungroup(&mut self, chars: &BTreeSet<char>) {
        for &(_, place, at) in self.holders.iter().filter(|(symbol, ..)| chars.contains(symbol)) {
            self.pages[usize::from(place)][at] = NO_GROUP;
        }
    }

    /// A table with the byte that `of_group` gives for the group of a character; zero for a character without one.
    pub(super) fn table(&self, of_group: impl Fn(usize) -> Kinds) -> CharTable {
        let by_group: Vec<Kinds> = (0..self.groups.len()).map(of_group).collect();
        let of = |group: u16| by_group.get(usize::from(group)).copied().unwrap_or(0);
        CharTable::new(self.places.clone(), self.pages.iter().map(|page| page.map(of)).collect())
    }

    /// Leaves the groups that are met most.
    fn drop_rare(&mut self) {
        if self.groups.len() <= MOST_GROUPS {
            return;
        }
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|&one, &other| {
            self.groups[other].weight.sum().total_cmp(&self.groups[one].weight.sum())
        });
        order.truncate(MOST_GROUPS);
        let mut numbers = vec![NO_GROUP; self.groups.len()];
        for (&group, number) in order.iter().zip(0..) {
            numbers[group] = number;
        }
        self.groups = order.iter().map(|&group| self.groups[group].clone()).collect();
        let number = |group: u16| numbers.get(usize::from(group)).copied().unwrap_or(NO_GROUP);
        self.pages.iter_mut().flatten().for_each(|group| *group = number(*group));
    }
}

/// Makes groups as their first characters are met.
struct Maker<'a> {
    are_apart: Option<&'a [bool; 256]>,
    groups: Vec<Group>,
    known: HashMap<Vec<u8>, u16, FixedState>,
    /// Memory for one character.
    key: Vec<u8>,
    seen: Vec<Seen>,
}

impl Group {
    /// The group of `c` in normalized text.
    pub(super) fn of(stages: &[Stage], are_apart: Option<&[bool; 256]>, c: char) -> Self {
        let mut maker = Maker::new(are_apart);
        maker.group_of(stages, c, (c.encode_utf8(&mut [0; 4]), Facts::of_unchanged(c)));
        maker.groups.remove(0)
    }
}

/// The images of a page; each for itself if symbols are among its characters.
fn images_of(page: usize, images: Images<'_>, symbols: &BTreeSet<char>) -> PageImages {
    let codes = char_of(page * PAGE)..=char_of((page + 1) * PAGE - 1);
    if symbols.range(codes).next().is_some() { PageImages::Own } else { images.page(page) }
}

/// The place of a kind of page among the known ones.
fn number_of(kind: PageImages, known: &mut Vec<PageImages>) -> usize {
    known.iter().position(|known| *known == kind).unwrap_or_else(|| {
        known.push(kind);
        known.len() - 1
    })
}

impl<'a> Maker<'a> {
    fn new(are_apart: Option<&'a [bool; 256]>) -> Self {
        Self { are_apart, groups: Vec::new(), known: HashMap::default(), key: Vec::new(), seen: Vec::new() }
    }

    /// The groups of the characters of a page. With a normalizer, calls `found` with the place and the image of each.
    fn groups_of_page(
        &mut self,
        stages: &[Stage],
        page: usize,
        images: Option<(Images<'_>, &PageImages)>,
        mut found: impl FnMut(usize, &str),
    ) -> [u16; PAGE] {
        std::array::from_fn(|at| {
            let c = char_of(page * PAGE + at);
            let Some((images, of_page)) = images else {
                return self.group_of(stages, c, (c.encode_utf8(&mut [0; 4]), Facts::of_unchanged(c)));
            };
            let image = if *of_page == PageImages::Own { images.of(c) } else { of_page.image(c) };
            let Some(Image { text, remains, may_continue, may_go_on }) = image else { return NO_GROUP };
            found(at, &text);
            let is_ink = remains == Remains::Ink;
            let facts = Facts { is_ink, begins_alone: !may_continue, ends_alone: !may_go_on };
            self.group_of(stages, c, (&text, facts))
        })
    }

    /// The group of a character with its image.
    fn group_of(&mut self, stages: &[Stage], c: char, (text, facts): (&str, Facts)) -> u16 {
        let Self { are_apart, groups, known, key, seen } = self;
        let last = text.bytes().next_back();
        let is_apart = are_apart.zip(last).is_some_and(|(are_apart, last)| are_apart[usize::from(last)]);
        let (is_space, has_several) = (c == ' ' && text == " ", text.chars().nth(1).is_some());
        seen.clear();
        seen.extend(stages.iter().map(|stage| see(stage, text)));
        key.clear();
        // Middle bytes would add atoms to a group with shorter characters.
        let has_middle = stages.iter().any(|stage| stage.is_mapped) && text.chars().any(|c| c.len_utf8() > 2);
        key.extend([is_space, has_middle, has_several, is_apart].map(u8::from));
        key.extend(facts.all().map(u8::from));
        key.extend(seen.iter().flat_map(|seen| [seen.first, seen.last]));
        let number = known.get(key).copied().unwrap_or_else(|| {
            groups.push(Group {
                seen: seen.clone(),
                weight: Weight::default(),
                is_space,
                facts,
                has_several,
                is_apart,
            });
            let number = (groups.len() - 1) as u16;
            known.insert(key.clone(), number);
            number
        });
        for (all, seen) in groups[usize::from(number)].seen.iter_mut().zip(seen) {
            all.all |= seen.all;
        }
        number
    }
}

fn see(stage: &Stage, text: &str) -> Seen {
    let of_bytes = |bytes: &[u8]| {
        let atom = |&byte: &u8| stage.search.atom(BYTE_TO_CHAR[usize::from(byte)] as usize);
        // Characters of a page that was seen before may have other bytes in the middle.
        let middle: &[u8] = if text.chars().any(|c| c.len_utf8() > 2) { &CONTINUATIONS } else { &[] };
        let all = bytes.iter().chain(middle).fold(0, |all, byte| all | 1 << atom(byte));
        Seen { first: bytes.first().map_or(0, atom), last: bytes.last().map_or(0, atom), all }
    };
    if stage.is_mapped {
        return of_bytes(text.as_bytes());
    }
    let atom = |c: char| stage.search.atom(c as usize);
    let all = text.chars().fold(0, |all, c| all | 1 << atom(c));
    Seen { first: text.chars().next().map_or(0, atom), last: text.chars().next_back().map_or(0, atom), all }
}

/// Bytes that continue a character.
const CONTINUATIONS: [u8; 64] = {
    let mut bytes = [0x80; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] += at as u8;
        at += 1;
    }
    bytes
};

/// The atoms of all characters, or of all mapped bytes.
fn all_atoms(stage: &Stage) -> AtomSet {
    let of = |codes: &mut dyn Iterator<Item = usize>| {
        codes.fold(0, |all: AtomSet, code| all | 1 << stage.search.atom(code))
    };
    if stage.is_mapped {
        return of(&mut BYTE_TO_CHAR.iter().map(|&c| c as usize));
    }
    let mut known = HashSet::new();
    let pages = (0..PAGES).filter(|&page| known.insert(stage.search.page_number(page)));
    of(&mut pages.flat_map(|page| page * PAGE..(page + 1) * PAGE))
}

/// The character of a code point; any other one for a surrogate, which is not in any text.
fn char_of(code: usize) -> char {
    char::from_u32(code as u32).unwrap_or('\u{d7ff}')
}

/// Bytes of a code point in UTF-8.
fn encode(code: usize) -> [u8; 4] {
    let mut bytes = [0; 4];
    char_of(code).encode_utf8(&mut bytes);
    bytes
}
