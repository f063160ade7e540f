//! Writes FlatBuffers from the end to the beginning, in the layout of the C++ library's builder.
//!
//! A value is written before the table that refers to it, so it is after the table in the file. Positions are counted from the end
//! of the file, where they do not change.

/// A value that is written: the distance of its beginning from the end of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position(usize);

/// The value of a field of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Field {
    Byte(u8),
    Long(i32),
    Offset(Position),
}

/// The bytes of a file, last byte first.
#[derive(Debug)]
pub(crate) struct Writer {
    reversed: Vec<u8>,
    alignment: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Self { reversed: Vec::new(), alignment: 1 }
    }
}

impl Writer {
    fn push(&mut self, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
    }

    /// Pads so that after `len` more bytes the position is a multiple of `alignment`.
    fn align(&mut self, len: usize, alignment: usize) {
        self.alignment = self.alignment.max(alignment);
        let padding = (self.reversed.len() + len).next_multiple_of(alignment) - len;
        self.reversed.resize(padding, 0);
    }

    fn long(&mut self, number: u32) -> Position {
        self.align(4, 4);
        self.push(&number.to_le_bytes());
        Position(self.reversed.len())
    }

    fn offset(&mut self, to: Position) {
        self.align(4, 4);
        self.long((self.reversed.len() + 4 - to.0) as u32);
    }

    pub(crate) fn text(&mut self, text: &str) -> Position {
        self.align(text.len() + 1, 4);
        self.reversed.push(0);
        self.push(text.as_bytes());
        self.long(text.len() as u32)
    }

    /// A vector of bytes that begins at a multiple of `alignment`.
    pub(crate) fn bytes(&mut self, bytes: &[u8], alignment: usize) -> Position {
        self.align(bytes.len(), alignment.max(4));
        self.push(bytes);
        self.long(bytes.len() as u32)
    }

    /// A vector of numbers of four bytes.
    pub(crate) fn longs(
        &mut self,
        numbers: impl DoubleEndedIterator<Item = u32> + ExactSizeIterator,
    ) -> Position {
        let len = numbers.len();
        self.align(4 * len, 4);
        numbers.rev().for_each(|number| self.push(&number.to_le_bytes()));
        self.long(len as u32)
    }

    pub(crate) fn texts<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> Position {
        let places: Vec<Position> = texts.map(|text| self.text(text)).collect();
        self.align(4 * places.len(), 4);
        places.iter().rev().for_each(|&place| self.offset(place));
        self.long(places.len() as u32)
    }

    /// A table of fields with their numbers; the first one is at the end.
    pub(crate) fn table(&mut self, fields: &[(usize, Field)]) -> Position {
        let start = self.reversed.len();
        let mut places = vec![0; fields.iter().map(|(number, _)| number + 1).max().unwrap_or(0)];
        for &(number, field) in fields {
            match field {
                Field::Byte(byte) => self.push(&[byte]),
                Field::Long(long) => _ = self.long(long as u32),
                Field::Offset(to) => self.offset(to),
            }
            places[number] = self.reversed.len();
        }
        // The distance to the vtable, which follows before the table.
        let size = 4 + 2 * places.len();
        let table = self.long(size as u32);
        let short = |distance: usize| (distance as u16).to_le_bytes();
        for place in places.into_iter().rev() {
            self.push(&short(if place > 0 { table.0 - place } else { 0 }));
        }
        self.push(&short(table.0 - start));
        self.push(&short(size));
        table
    }

    /// The file, which begins with the offset of its root.
    pub(crate) fn finish(mut self, root: Position) -> Vec<u8> {
        self.align(4, self.alignment.max(4));
        self.offset(root);
        self.reversed.reverse();
        self.reversed
    }
}
