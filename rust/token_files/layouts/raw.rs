//! Bare ids, with the header or the other files of a preset.

use std::path::PathBuf;

use csv::{Writer, WriterBuilder};
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};

use super::{CompleteFile, PartWriter};
use crate::token_files::layout::Preset;
use crate::token_files::part_file::PartFile;
use crate::token_files::rows::Row;
use crate::token_files::width::Width;
use crate::{Error, Result};

/// Opens the files of a part.
pub(super) fn create(preset: Preset, paths: &[PathBuf], width: Width) -> Result<Box<dyn PartWriter>> {
    let create = |at: usize| PartFile::create(paths[at].clone(), 0);
    Ok(match preset {
        Preset::NanoGpt => Box::new(Bare { ids: create(0)? }),
        Preset::LlmC => {
            let ids = PartFile::create(paths[0].clone(), LLM_C_HEADER * 4)?;
            Box::new(LlmC { ids, width, tokens: 0 })
        }
        Preset::Datatrove => {
            Box::new(Datatrove { ids: create(0)?, ends: create(1)?, counts: create(2)?, width, tokens: 0 })
        }
        Preset::Dolma => {
            // No time of day: the same input gives the same bytes.
            let table = GzBuilder::new().write(create(1)?, Compression::default());
            let table = WriterBuilder::new().has_headers(false).from_writer(table);
            Box::new(Dolma { ids: create(0)?, table, path: paths[1].clone(), width, tokens: 0 })
        }
    })
}

/// nanoGPT's file: ids alone; also a file of loss masks.
pub(super) struct Bare {
    pub(super) ids: PartFile,
}

impl PartWriter for Bare {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        self.ids.append(row.ids)
    }

    fn finish(self: Box<Self>) -> Result<Vec<CompleteFile>> {
        Ok(vec![CompleteFile::without_header(self.ids)])
    }
}

/// Integers in the header of llm.c's files: a magic number, a version, the number of tokens, and zeros.
const LLM_C_HEADER: usize = 256;

struct LlmC {
    ids: PartFile,
    width: Width,
    tokens: usize,
}

impl PartWriter for LlmC {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        self.tokens += row.ids.len() / self.width.bytes();
        self.ids.append(row.ids)
    }

    fn finish(self: Box<Self>) -> Result<Vec<CompleteFile>> {
        let tokens = i32::try_from(self.tokens).map_err(|_| {
            let (tokens, limit) = (self.tokens, i32::MAX);
            Error::Unsupported(format!(
                "a part has {tokens} tokens but this format holds at most {limit}; lower part_bytes"
            ))
        })?;
        let (magic, version) = if self.width == Width::U16 { (20_240_520, 1) } else { (20_240_801, 7) };
        let mut header = vec![0i32; LLM_C_HEADER];
        header[..3].copy_from_slice(&[magic, version, tokens]);
        let header = header.iter().flat_map(|value| value.to_le_bytes()).collect();
        Ok(vec![CompleteFile { file: self.ids, header }])
    }
}

/// datatrove's three files.
struct Datatrove {
    ids: PartFile,
    /// Tokens up to the end of each document.
    ends: PartFile,
    counts: PartFile,
    width: Width,
    tokens: u64,
}

impl PartWriter for Datatrove {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        self.tokens += (row.ids.len() / self.width.bytes()) as u64;
        self.ids.append(row.ids)?;
        self.ends.append(&self.tokens.to_le_bytes())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<CompleteFile>> {
        let (width, tokens) = (self.width.bytes(), self.tokens);
        self.counts.append(format!("lexmill|{width}\n{tokens}\n{}\n", shortened(tokens)).as_bytes())?;
        Ok([self.ids, self.ends, self.counts].map(CompleteFile::without_header).into())
    }
}

/// A number for people.
fn shortened(tokens: u64) -> String {
    let steps = [(1_000_000_000_000, " T"), (1_000_000_000, " B"), (1_000_000, " M"), (1000, " K"), (1, "")];
    let (unit, letter) = steps.into_iter().find(|&(unit, _)| tokens >= unit).unwrap_or((1, ""));
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let value = tokens as f64 / unit as f64;
    if unit == 1 { tokens.to_string() } else { format!("{value:.2}{letter}") }
}

/// dolma's two files: ids, and a table of where documents begin and end and where they come from.
struct Dolma {
    ids: PartFile,
    table: Writer<GzEncoder<PartFile>>,
    path: PathBuf,
    width: Width,
    tokens: u64,
}

impl Dolma {
    fn failed(&self, source: std::io::Error) -> Error {
        Error::io("write", &self.path)(source)
    }
}

impl PartWriter for Dolma {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        let start = self.tokens;
        self.tokens += (row.ids.len() / self.width.bytes()) as u64;
        self.ids.append(row.ids)?;
        let (end, place) = (self.tokens.to_string(), row.place.byte.to_string());
        let record = [&start.to_string(), &end, &format!("{}:{place}", row.place.file), row.source, &place];
        self.table.write_record(record).map_err(|error| self.failed(error.into()))
    }

    fn finish(self: Box<Self>) -> Result<Vec<CompleteFile>> {
        let failed = Error::io("write", &self.path);
        let gzip = self.table.into_inner().map_err(|error| failed(error.into_error()))?;
        let table = gzip.finish().map_err(failed)?;
        Ok([self.ids, table].map(CompleteFile::without_header).into())
    }
}
