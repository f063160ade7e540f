//! Kinds of characters: a division of all characters that is made for one tokenizer. There are eight kinds at most, and characters without one.

/// A set of kinds, one bit each. A character has one kind or none.
pub(crate) type Kinds = u8;

/// Characters of a page. They differ in the last byte alone.
pub(crate) const PAGE: usize = 64;

/// Pages of all code points.
pub(crate) const PAGES: usize = 0x11_0000 / PAGE;

/// A byte of bits for every character: its kind, or the sets of words in which it may stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CharTable {
    ascii: [Kinds; 128],
    /// By the lower six bits of a lead byte: the kind of its characters, if they have the same.
    leads: [Kinds; 64],
    /// By the lower six bits of a lead byte: all ones if its characters differ.
    mixed: [u8; 64],
    /// By the number of a page, its place in `pages`.
    places: Vec<u16>,
    pages: Vec<[Kinds; PAGE]>,
}

impl CharTable {
    /// The table of some pages, and by the number of each of all pages, the place of its like among them.
    pub(crate) fn new(places: Vec<u16>, pages: Vec<[Kinds; PAGE]>) -> Self {
        let mut made = Self { ascii: [0; 128], leads: [0; 64], mixed: [0xff; 64], places, pages };
        for code in 0..128 {
            made.ascii[code] = made.of_code(code);
        }
        for lead in 0xc2..0xf0 {
            let characters = match lead {
                0xe0.. => (lead & 0x0f) << 12..((lead & 0x0f) + 1) << 12,
                _ => (lead & 0x1f) << 6..((lead & 0x1f) + 1) << 6,
            };
            let kind = made.of_code(characters.start);
            if characters.step_by(PAGE).all(|code| *made.page(code / PAGE) == [kind; PAGE]) {
                (made.leads[lead & 0x3f], made.mixed[lead & 0x3f]) = (kind, 0);
            }
        }
        made
    }

    pub(super) fn ascii(&self) -> &[Kinds; 128] {
        &self.ascii
    }

    /// By the lower six bits of a lead byte: the kind of its characters, and all ones if they differ.
    #[inline]
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for AVX-512"))]
    pub(super) fn leads(&self) -> (&[Kinds; 64], &[u8; 64]) {
        (&self.leads, &self.mixed)
    }

    /// The kinds of the characters of a page; those of the last page for a number beyond.
    #[inline]
    pub(super) fn page(&self, number: usize) -> &[Kinds; PAGE] {
        &self.pages[usize::from(self.places[number.min(PAGES - 1)])]
    }

    #[inline]
    fn of_code(&self, code: usize) -> Kinds {
        self.page(code / PAGE)[code % PAGE]
    }

    /// Kind and length in bytes of the character at `pos`, which must be a character boundary less than the length.
    #[inline]
    pub(crate) fn at(&self, bytes: &[u8], pos: usize) -> (Kinds, usize) {
        let first = bytes[pos];
        if first < 0x80 { (self.ascii[usize::from(first)], 1) } else { self.wide_at(bytes, pos) }
    }

    #[inline]
    fn wide_at(&self, bytes: &[u8], pos: usize) -> (Kinds, usize) {
        let low = |at: usize| usize::from(bytes[pos + at] & 0x3f);
        let first = usize::from(bytes[pos]);
        if first < 0xe0 {
            (self.of_code((first & 0x1f) << 6 | low(1)), 2)
        } else if first < 0xf0 {
            (self.of_code((first & 0x0f) << 12 | low(1) << 6 | low(2)), 3)
        } else {
            (self.of_code((first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3)), 4)
        }
    }
}
