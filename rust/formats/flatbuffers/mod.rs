//! The layout of FlatBuffers: tables, vectors and strings, read in place.
//!
//! A table begins with the distance back to its vtable, which says where each field is; offsets go forwards. Every position is
//! checked when it is used, so any bytes are read or refused; there is nothing to recurse into. Source: the documentation of
//! FlatBuffers' internals.

pub(crate) mod writer;

use crate::{Error, Result};

/// Size of an offset and of the length of a vector.
const OFFSET: usize = 4;

/// The fields of a vtable begin after its size and the size of the table.
const VTABLE_HEADER: usize = 4;

fn wrong(at: usize, message: impl Into<String>) -> Error {
    Error::Format { path: format!("model at byte {at}"), message: message.into() }
}

fn take(bytes: &[u8], at: usize, len: usize) -> Result<&[u8]> {
    let end = at.checked_add(len).filter(|&end| end <= bytes.len());
    end.map(|end| &bytes[at..end])
        .ok_or_else(|| wrong(at, format!("{len} bytes announced beyond the end, byte {}", bytes.len())))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let mut array = [0; N];
    array.copy_from_slice(take(bytes, at, N)?);
    Ok(array)
}

fn short(bytes: &[u8], at: usize) -> Result<usize> {
    array(bytes, at).map(|bytes| usize::from(u16::from_le_bytes(bytes)))
}

fn long(bytes: &[u8], at: usize) -> Result<usize> {
    array(bytes, at).map(|bytes| u32::from_le_bytes(bytes) as usize)
}

/// The position to which the offset at `at` points.
fn follow(bytes: &[u8], at: usize) -> Result<usize> {
    Ok(at.saturating_add(long(bytes, at)?))
}

fn text(bytes: &[u8], at: usize) -> Result<&str> {
    let content = take(bytes, at.saturating_add(OFFSET), long(bytes, at)?)?;
    std::str::from_utf8(content)
        .map_err(|error| wrong(at, format!("text is not UTF-8 at byte {}", error.valid_up_to())))
}

/// A table, whose fields are numbered in the order of the schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    len: usize,
    vtable: &'a [u8],
}

impl<'a> Table<'a> {
    /// The root table of a file.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self> {
        Self::new(bytes, follow(bytes, 0)?)
    }

    fn new(bytes: &'a [u8], at: usize) -> Result<Self> {
        let back = i64::from(i32::from_le_bytes(array(bytes, at)?));
        let vtable = usize::try_from(at as i64 - back)
            .map_err(|_| wrong(at, format!("a vtable {back} bytes before, which is before the file")))?;
        let size = short(bytes, vtable)?;
        if size < VTABLE_HEADER || size % 2 > 0 {
            return Err(wrong(vtable, format!("a vtable of {size} bytes")));
        }
        let len = short(bytes, vtable + 2)?;
        take(bytes, at, len)?;
        Ok(Self { bytes, at, len, vtable: take(bytes, vtable, size)? })
    }

    /// Where a field of `len` bytes is, if the table has it.
    fn field(&self, field: usize, len: usize) -> Result<Option<usize>> {
        let entry = VTABLE_HEADER + 2 * field;
        if entry >= self.vtable.len() {
            return Ok(None);
        }
        match short(self.vtable, entry)? {
            0 => Ok(None),
            offset if offset + len <= self.len => Ok(Some(self.at + offset)),
            offset => {
                let message = format!("field {field} at {offset} of a table of {} bytes", self.len);
                Err(wrong(self.at, message))
            }
        }
    }

    /// A field of one byte.
    pub(super) fn byte(&self, field: usize, default: u8) -> Result<u8> {
        let at = self.field(field, 1)?;
        at.map_or(Ok(default), |at| array(self.bytes, at).map(|[byte]| byte))
    }

    /// Where the value of a field is that holds an offset.
    fn value(&self, field: usize) -> Result<Option<usize>> {
        self.field(field, OFFSET)?.map(|at| follow(self.bytes, at)).transpose()
    }

    /// A table within the table.
    pub(super) fn table(&self, field: usize) -> Result<Option<Self>> {
        self.value(field)?.map(|at| Self::new(self.bytes, at)).transpose()
    }

    /// A text.
    pub(super) fn text(&self, field: usize) -> Result<Option<&'a str>> {
        self.value(field)?.map(|at| text(self.bytes, at)).transpose()
    }

    /// A vector of items of `N` bytes; empty if the table lacks it.
    pub(super) fn vector<const N: usize>(&self, field: usize) -> Result<&'a [[u8; N]]> {
        let Some(at) = self.value(field)? else { return Ok(&[]) };
        let len = long(self.bytes, at)?.saturating_mul(N);
        Ok(take(self.bytes, at.saturating_add(OFFSET), len)?.as_chunks::<N>().0)
    }

    /// A vector of texts, which together are no longer than the file.
    ///
    /// Texts may overlap in a crafted file; without the limit a small file would have texts of any size.
    pub(super) fn texts(&self, field: usize) -> Result<Vec<&'a str>> {
        let Some(at) = self.value(field)? else { return Ok(Vec::new()) };
        let count = self.vector::<OFFSET>(field)?.len();
        let mut texts = Vec::with_capacity(count);
        let mut room = self.bytes.len();
        for entry in (0..count).map(|index| at + OFFSET * (index + 1)) {
            let place = follow(self.bytes, entry)?;
            let text = text(self.bytes, place)?;
            room = room.checked_sub(text.len()).ok_or_else(|| wrong(place, "texts that overlap"))?;
            texts.push(text);
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A table with a byte in field 0, the text `ab` in field 2 and the bytes 7, 8 in field 3.
    const SMALL: &[u8] =
        b"\x10\0\0\0\x0c\0\x10\0\x04\0\0\0\x08\0\x0c\0\x0c\0\0\0\x05\0\0\0\x08\0\0\0\x0c\0\0\0\
        \x02\0\0\0ab\0\0\x02\0\0\0\x07\x08\0\0";

    #[test]
    fn a_small_table_is_read() {
        let table = Table::root(SMALL).expect("well formed");
        assert_eq!(table.byte(0, 9).expect("there"), 5);
        assert_eq!(table.byte(1, 9).expect("absent"), 9);
        assert_eq!(table.text(2).expect("there"), Some("ab"));
        assert_eq!(table.vector::<1>(3).expect("there"), [[7], [8]]);
        assert_eq!(table.text(4).expect("absent"), None);
    }

    fn read_all(bytes: &[u8]) -> Result<()> {
        let table = Table::root(bytes)?;
        for field in 0..6 {
            let _ = (table.byte(field, 0), table.text(field), table.vector::<4>(field), table.texts(field));
            let _ = table.table(field).and_then(|inner| inner.map_or(Ok(0), |inner| inner.byte(0, 0)));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = read_all(&bytes);
        }

        #[test]
        fn what_is_written_is_read(
            byte: u8,
            texts in prop::collection::vec(".{0,9}", 0..9),
            numbers in prop::collection::vec(any::<u32>(), 0..9),
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut writer = writer::Writer::default();
            let texts_at = writer.texts(texts.iter().map(String::as_str));
            let numbers_at = writer.longs(numbers.iter().copied());
            let inner_bytes = writer.bytes(&bytes, 8);
            let inner = writer.table(&[(1, writer::Field::Offset(inner_bytes))]);
            let fields = [(3, texts_at), (2, numbers_at), (1, inner)];
            let mut fields = fields.map(|(field, at)| (field, writer::Field::Offset(at))).to_vec();
            fields.push((0, writer::Field::Byte(byte)));
            let root = writer.table(&fields);
            let file = writer.finish(root);
            let table = Table::root(&file).expect("well formed");
            prop_assert_eq!(table.byte(0, 0).expect("there"), byte);
            let found: Vec<u32> =
                table.vector(2).expect("there").iter().map(|&number| u32::from_le_bytes(number)).collect();
            prop_assert_eq!(found, numbers);
            prop_assert_eq!(table.texts(3).expect("there"), texts);
            let inner = table.table(1).expect("well formed").expect("there");
            prop_assert_eq!(inner.vector::<1>(1).expect("there").as_flattened(), bytes);
        }

        #[test]
        fn changed_bytes_are_read_or_refused(changes in prop::collection::vec((0..SMALL.len(), any::<u8>()), 1..6)) {
            let mut bytes = SMALL.to_vec();
            for (at, byte) in changes {
                bytes[at] = byte;
            }
            let _ = read_all(&bytes);
        }
    }

    #[test]
    fn texts_that_overlap_are_refused() {
        // Each text of field 0 is the same one, of 8 bytes.
        let mut file = b"\x0c\0\0\0\x06\0\x08\0\x04\0\0\0\x08\0\0\0\x04\0\0\0\x0a\0\0\0".to_vec();
        file.extend((0..10u32).flat_map(|index| (40 - 4 * index).to_le_bytes()));
        file.extend(b"\x08\0\0\0abcdefgh");
        let table = Table::root(&file).expect("well formed");
        let error = table.texts(0).expect_err("80 bytes of text in 76 bytes");
        assert_eq!(error.to_string(), "model at byte 64: texts that overlap");
    }

    #[test]
    fn errors_have_the_place() {
        let shown = |bytes: &[u8]| Table::root(bytes).expect_err("malformed").to_string();
        assert_eq!(shown(b"\x04\0"), "model at byte 0: 4 bytes announced beyond the end, byte 2");
        let far = shown(b"\x04\0\0\0\x7f\0\0\0");
        assert_eq!(far, "model at byte 4: a vtable 127 bytes before, which is before the file");
    }
}
