//! A byte for every character, in two stages: the page of a character, then its byte in the page.

/// Characters of a page. They differ in the last byte alone.
pub(crate) const PAGE: usize = 64;

/// Pages of all code points.
pub(crate) const PAGES: usize = 0x11_0000 / PAGE;

/// A byte for every character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CharTable {
    ascii: [u8; 128],
    /// By the lower six bits of a lead byte: the byte of its characters, if they have the same.
    leads: [u8; 64],
    /// By the lower six bits of a lead byte: all ones if its characters differ.
    mixed: [u8; 64],
    /// By the number of a page, its place in `pages`.
    places: Vec<u16>,
    pages: Vec<[u8; PAGE]>,
}

impl CharTable {
    /// The table of some pages, and by the number of each of all pages, the place of its like among them.
    pub(crate) fn new(places: Vec<u16>, pages: Vec<[u8; PAGE]>) -> Self {
        let mut made = Self { ascii: [0; 128], leads: [0; 64], mixed: [0xff; 64], places, pages };
        for code in 0..128 {
            made.ascii[code] = made.of_code(code);
        }
        for lead in 0xc2..0xf0 {
            let characters = match lead {
                0xe0.. => (lead & 0x0f) << 12..((lead & 0x0f) + 1) << 12,
                _ => (lead & 0x1f) << 6..((lead & 0x1f) + 1) << 6,
            };
            let byte = made.of_code(characters.start);
            if characters.step_by(PAGE).all(|code| *made.page(code / PAGE) == [byte; PAGE]) {
                (made.leads[lead & 0x3f], made.mixed[lead & 0x3f]) = (byte, 0);
            }
        }
        made
    }

    pub(crate) fn ascii(&self) -> &[u8; 128] {
        &self.ascii
    }

    /// By the lower six bits of a lead byte: the byte of its characters, and all ones if they differ.
    #[inline]
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for AVX-512"))]
    pub(crate) fn leads(&self) -> (&[u8; 64], &[u8; 64]) {
        (&self.leads, &self.mixed)
    }

    /// The bytes of a page; the last page for a number beyond.
    #[inline]
    pub(crate) fn page(&self, number: usize) -> &[u8; PAGE] {
        &self.pages[usize::from(self.places[number.min(PAGES - 1)])]
    }

    /// The place of a page among the distinct ones: pages with the same place have the same bytes.
    pub(crate) fn place(&self, number: usize) -> u16 {
        self.places[number]
    }

    /// The byte of a code point.
    #[inline]
    pub(crate) fn of_code(&self, code: usize) -> u8 {
        self.page(code / PAGE)[code % PAGE]
    }

    /// Byte of the character at `pos`, which must be a character boundary less than the length, and length of that character.
    #[inline]
    pub(crate) fn at(&self, bytes: &[u8], pos: usize) -> (u8, usize) {
        let first = bytes[pos];
        if first < 0x80 {
            return (self.ascii[usize::from(first)], 1);
        }
        let (code, len) = wide_code_at(bytes, pos);
        (self.of_code(code), len)
    }
}

/// Code point and length of the character of two to four bytes at `pos`, a character boundary. The code point may be up to `0x1F_FFFF` if the
/// bytes are no text.
#[inline]
pub(crate) fn wide_code_at(bytes: &[u8], pos: usize) -> (usize, usize) {
    let low = |at: usize| usize::from(bytes[pos + at] & 0x3f);
    let first = usize::from(bytes[pos]);
    if first < 0xe0 {
        ((first & 0x1f) << 6 | low(1), 2)
    } else if first < 0xf0 {
        ((first & 0x0f) << 12 | low(1) << 6 | low(2), 3)
    } else {
        ((first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4)
    }
}
