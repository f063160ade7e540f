//! Records after a table of 32-bit offsets: the container of MDS shards and of litdata's chunks.
//!
//! A file has the number of records, the offset of each record and the end of the last one, a text, and the records. The number of
//! records is known last, so records and their ends go to side files until the part is complete.

use std::io::{self, Read};
use std::path::PathBuf;

use super::CompleteFile;
use crate::token_files::part_file::PartFile;
use crate::{Error, Result};

pub(super) struct OffsetFile {
    file: PartFile,
    records: PartFile,
    /// For each record the bytes of records up to its end, in 32 bits.
    ends: PartFile,
    text: String,
    /// Bytes that a file may have.
    limit: u64,
}

impl OffsetFile {
    /// The suffixes of the side files.
    pub(super) const SIDE: [&str; 2] = [".records", ".ends"];

    /// Opens the file and its side files; `text` comes before the records.
    pub(super) fn create(paths: &[PathBuf], text: String) -> Result<Self> {
        let create = |at: usize| PartFile::create(paths[at].clone(), 0);
        let limit = u64::from(u32::MAX);
        Ok(Self { file: create(0)?, records: create(1)?, ends: create(2)?, text, limit })
    }

    fn count(&self) -> u64 {
        self.ends.bytes() / 4
    }

    /// The first byte of the records.
    fn start(&self) -> u64 {
        4 + 4 * (self.count() + 1) + self.text.len() as u64
    }

    /// Adds a record, given in pieces.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Unsupported`] for more bytes than offsets can count.
    pub(super) fn push(&mut self, pieces: &[&[u8]]) -> Result<()> {
        pieces.iter().try_for_each(|piece| self.records.append(piece))?;
        self.ends.append(&(self.records.bytes() as u32).to_le_bytes())?;
        let (bytes, limit) = (self.start() + self.records.bytes(), self.limit);
        if bytes > limit {
            let record: usize = pieces.iter().map(|piece| piece.len()).sum();
            return Err(Error::Unsupported(format!(
                "a part has {bytes} bytes, {record} of them in one document or row, but files of this format have at most {limit}; \
                 take another format, such as arrow"
            )));
        }
        Ok(())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn finish(mut self) -> Result<Vec<CompleteFile>> {
        let (count, start) = (self.count(), self.start() as u32);
        self.file.append(&(count as u32).to_le_bytes())?;
        self.file.append(&start.to_le_bytes())?;
        let (mut ends, mut end) = (self.ends.reread()?, [0; 4]);
        for _ in 0..count {
            ends.read_exact(&mut end).map_err(Error::io("read", self.ends.path()))?;
            self.file.append(&(start + u32::from_le_bytes(end)).to_le_bytes())?;
        }
        self.file.append(self.text.as_bytes())?;
        let path = self.file.path().to_owned();
        io::copy(&mut self.records.reread()?, &mut self.file).map_err(Error::io("write", &path))?;
        Ok(vec![CompleteFile::without_header(self.file)])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;

    proptest! {
        #![proptest_config(cases(60))]

        #[test]
        fn offsets_lead_to_records_up_to_the_limit(
            records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..9),
            text in "[a-z]{0,9}",
        ) {
            let folder = tempfile::tempdir().expect("room on the disk");
            let paths = ["file", "records", "ends"].map(|name| folder.path().join(name));
            let create = || OffsetFile::create(&paths, text.clone()).expect("a free name");
            let mut file = create();
            records.iter().try_for_each(|record| file.push(&[record, b""])).expect("there is room");
            let mut complete = file.finish().expect("there is room").remove(0);
            complete.file.sync(&[]).expect("there is room");
            complete.file.rename().expect("a free name");
            let bytes = std::fs::read(&paths[0]).expect("it is there");
            let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at * 4 + byte])) as usize;
            prop_assert_eq!(number(0), records.len());
            let table = 4 * (records.len() + 2);
            prop_assert_eq!(&bytes[table..number(1)], text.as_bytes());
            for (at, record) in records.iter().enumerate() {
                prop_assert_eq!(&bytes[number(at + 1)..number(at + 2)], &record[..]);
            }
            prop_assert_eq!(number(records.len() + 1), bytes.len());
            if let Some((last, others)) = records.split_last() {
                let mut file = OffsetFile { limit: bytes.len() as u64 - 1, ..create() };
                others.iter().try_for_each(|record| file.push(&[record])).expect("there is room");
                prop_assert!(matches!(file.push(&[last]), Err(Error::Unsupported(_))));
            }
        }
    }
}
