//! Riegeli/records files with chunks that are not compressed: the container of `ArrayRecord` files.
//!
//! A file is a sequence of chunks. At every multiple of 64 KiB a block header interrupts the chunk, so a reader that starts anywhere finds
//! the next chunk. A chunk has a header with a hash of its data, and the data. Source: Riegeli's specification of the file format.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use highway::{HighwayHash, Key, PortableHash};

use crate::Result;
use crate::formats::protobuf::MessageWriter;
use crate::token_files::part_file::PartFile;

/// Bytes from one block header to the next.
pub(in crate::token_files) const BLOCK: u64 = 1 << 16;
const BLOCK_HEADER: u64 = 24;
const USABLE: u64 = BLOCK - BLOCK_HEADER;
const CHUNK_HEADER: u64 = 40;

/// The key of hashes: `Riegeli/records\n` twice.
const KEY: [u64; 4] =
    [0x2f69_6c65_6765_6952, 0x0a73_6472_6f63_6572, 0x2f69_6c65_6765_6952, 0x0a73_6472_6f63_6572];

/// The kinds of chunks.
const SIGNATURE: u8 = b's';
const PADDING: u8 = b'p';
const RECORDS: u8 = b'r';

/// The first byte of records that are not compressed.
const UNCOMPRESSED: u8 = 0;

fn hash(pieces: &[&[u8]]) -> u64 {
    let mut hasher = PortableHash::new(Key(KEY));
    for piece in pieces {
        hasher.append(piece);
    }
    hasher.finalize64()
}

/// The position after `bytes` bytes of a chunk from `position` on, with the block headers among them.
fn after(position: u64, bytes: u64) -> u64 {
    position + bytes + (bytes + (position + USABLE - 1) % BLOCK) / USABLE * BLOCK_HEADER
}

/// Bytes of a number on the wire.
fn varint_bytes(number: u64) -> u64 {
    u64::from(64 - number.max(1).leading_zeros()).div_ceil(7)
}

/// The position of the record in a chunk with a single record of so many bytes.
pub(in crate::token_files) fn record_start(chunk: u64, bytes: u64) -> u64 {
    let sizes = varint_bytes(bytes);
    after(chunk, CHUNK_HEADER + 1 + varint_bytes(sizes) + sizes)
}

/// The position after a record that begins at `start`.
pub(in crate::token_files) fn record_end(start: u64, bytes: u64) -> u64 {
    after(start, bytes)
}

/// A file of chunks.
pub(super) struct Chunks {
    file: PartFile,
}

impl Chunks {
    /// Begins the file with the chunk that identifies its format.
    pub(super) fn create(path: PathBuf) -> Result<Self> {
        let mut chunks = Self { file: PartFile::create(path, 0)? };
        chunks.push(SIGNATURE, 0, 0, &[])?;
        Ok(chunks)
    }

    /// The position of the next chunk.
    pub(super) fn position(&self) -> u64 {
        self.file.bytes()
    }

    pub(super) fn into_file(self) -> PartFile {
        self.file
    }

    /// Writes a chunk of records, given end to end; `sizes` are their sizes as numbers on the wire.
    pub(super) fn push_records(&mut self, count: u64, sizes: &[u8], records: &[&[u8]]) -> Result<()> {
        let mut head = MessageWriter::default();
        head.varint(UNCOMPRESSED.into());
        head.varint(sizes.len() as u64);
        let bytes = records.iter().map(|piece| piece.len() as u64).sum();
        let data: Vec<&[u8]> = [head.finish(), sizes].into_iter().chain(records.iter().copied()).collect();
        self.push(RECORDS, count, bytes, &data)
    }

    /// Adds a padding chunk up to the end of the block.
    pub(super) fn fill_block(&mut self) -> Result<()> {
        let left = self.position().wrapping_neg() % BLOCK;
        if left == 0 {
            return Ok(());
        }
        // A padding chunk that does not fit into this block takes the next one, too.
        let bytes = if left < CHUNK_HEADER { left + USABLE } else { left } - CHUNK_HEADER;
        self.push(PADDING, 0, 0, &[&vec![0; bytes as usize]])
    }

    fn push(&mut self, kind: u8, records: u64, decoded: u64, data: &[&[u8]]) -> Result<()> {
        let begin = self.position();
        let bytes: u64 = data.iter().map(|piece| piece.len() as u64).sum();
        let end = after(begin, CHUNK_HEADER + bytes);
        // The format asks for a byte in the file for each record; here each record has its size, at least.
        debug_assert!(end - begin >= records);
        let fields = [bytes, hash(data), records << 8 | u64::from(kind), decoded];
        let fields: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
        self.append(begin, end, &hash(&[&fields]).to_le_bytes())?;
        self.append(begin, end, &fields)?;
        data.iter().try_for_each(|piece| self.append(begin, end, piece))
    }

    /// Appends bytes of the chunk from `begin` to `end`, with a block header wherever a block begins.
    fn append(&mut self, begin: u64, end: u64, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let at = self.position();
            if at.is_multiple_of(BLOCK) {
                let distances = [(at - begin).to_le_bytes(), (end - at).to_le_bytes()].concat();
                self.file.append(&hash(&[&distances]).to_le_bytes())?;
                self.file.append(&distances)?;
            }
            let room = (BLOCK - self.position() % BLOCK) as usize;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.file.append(now)?;
            bytes = later;
        }
        Ok(())
    }
}

/// Reads bytes of a chunk, without block headers, from `position` on, which becomes the position after them.
fn read(file: &mut File, position: &mut u64, bytes: u64) -> io::Result<Vec<u8>> {
    let mut found = Vec::new();
    while (found.len() as u64) < bytes {
        if position.is_multiple_of(BLOCK) {
            *position += BLOCK_HEADER;
        }
        file.seek(SeekFrom::Start(*position))?;
        let room = (BLOCK - *position % BLOCK).min(bytes - found.len() as u64);
        let taken = file.by_ref().take(room).read_to_end(&mut found)? as u64;
        if taken < room {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *position += room;
    }
    Ok(found)
}

fn broken(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The records of a chunk that is not compressed.
///
/// # Errors
/// If the file cannot be read, or there is no such chunk.
pub(in crate::token_files) fn read_records(file: &mut File, chunk: u64) -> io::Result<Vec<Vec<u8>>> {
    let mut position = chunk;
    let header = read(file, &mut position, CHUNK_HEADER)?;
    let field = |at: usize| header.as_chunks::<8>().0.get(at).map_or(0, |field| u64::from_le_bytes(*field));
    if field(0) != hash(&[&header[8..]]) || field(3) & 0xFF != u64::from(RECORDS) {
        return Err(broken("there is no chunk of records where one must be"));
    }
    let data = read(file, &mut position, field(1))?;
    if field(2) != hash(&[&data]) {
        return Err(broken("the hash of a chunk does not agree"));
    }
    records_of(&data, field(3) >> 8)
        .ok_or_else(|| broken("a chunk does not have the records that it announces"))
}

/// Divides the data of a chunk into its records.
fn records_of(data: &[u8], count: u64) -> Option<Vec<Vec<u8>>> {
    let mut rest = data.strip_prefix(&[UNCOMPRESSED])?;
    let sizes = take_varint(&mut rest)?;
    let (mut sizes, mut values) = rest.split_at_checked(usize::try_from(sizes).ok()?)?;
    let mut records = Vec::new();
    for _ in 0..count {
        let (record, later) = values.split_at_checked(usize::try_from(take_varint(&mut sizes)?).ok()?)?;
        records.push(record.to_vec());
        values = later;
    }
    (sizes.is_empty() && values.is_empty()).then_some(records)
}

/// Takes a number off the beginning.
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;

    /// The beginning of every file, as the specification gives it.
    const BEGINNING: [u8; 64] = [
        0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0,
        0x91, 0xba, 0xc2, 0x3c, 0x92, 0x87, 0xe1, 0xa9, 0, 0, 0, 0, 0, 0, 0, 0, 0xe1, 0x9f, 0x13, 0xc0, 0xe9,
        0xb1, 0xc3, 0x72, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];

    fn written(sizes: &[usize], fill: bool) -> (tempfile::TempDir, PathBuf, Vec<u64>) {
        let folder = tempfile::tempdir().expect("room on the disk");
        let path = folder.path().join("records");
        let mut chunks = Chunks::create(path.clone()).expect("a free name");
        let mut positions = Vec::new();
        for &size in sizes {
            positions.push(chunks.position());
            let mut wire = MessageWriter::default();
            wire.varint(size as u64);
            chunks.push_records(1, wire.finish(), &[&vec![7; size]]).expect("there is room");
            if fill {
                chunks.fill_block().expect("there is room");
                assert_eq!(chunks.position() % BLOCK, 0);
            }
        }
        let mut file = chunks.into_file();
        file.sync(&[]).expect("there is room");
        file.rename().expect("a free name");
        (folder, path, positions)
    }

    #[test]
    fn a_file_begins_as_the_specification_says() {
        let (_folder, path, _) = written(&[], false);
        assert_eq!(std::fs::read(path).expect("it is there"), BEGINNING);
    }

    proptest! {
        #![proptest_config(cases(60))]

        #[test]
        fn records_come_back_and_start_where_they_should(
            sizes in prop::collection::vec(prop_oneof![0..200usize, 60_000..70_000usize, 120_000..140_000usize], 0..5),
            fill: bool,
        ) {
            let (_folder, path, positions) = written(&sizes, fill);
            let mut file = File::open(&path).expect("it is there");
            for (&size, &chunk) in sizes.iter().zip(&positions) {
                prop_assert_eq!(read_records(&mut file, chunk).expect("it is whole"), vec![vec![7; size]]);
                let mut start = record_start(chunk, size as u64);
                let end = record_end(start, size as u64);
                let found = read(&mut file, &mut start, size as u64).expect("it is whole");
                prop_assert_eq!(found, vec![7; size]);
                prop_assert_eq!(start, end);
            }
        }
    }
}
