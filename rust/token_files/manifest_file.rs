//! The file of a manifest.
//!
//! Most folders have a `manifest.json`. Programs that open a whole folder of Parquet files refuse one with another file in it, so
//! there the manifest is in the metadata of `.manifest.parquet`, a file with the columns of the parts and without rows. polars
//! and duckdb read it and find no rows; others pass over names that begin with a dot.

use std::fs;
use std::io;
use std::path::Path;

use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use serde_json::Value;

use super::layouts::schema_of;
use super::parquet_rows::read_file;
use super::paths::remove;
use crate::structures::atomic_file;
use crate::{Error, Result};

/// Name of the manifest in most folders, and its name in folders of Parquet files.
pub(super) const NAMES: [&str; 2] = ["manifest.json", ".manifest.parquet"];

/// The key of the manifest in the metadata of a Parquet file.
const KEY: &str = "lexmill.manifest";

/// The manifest of a folder as JSON; none if there is none. Earlier versions wrote a `manifest.json` beside Parquet files, too.
///
/// # Errors
/// [`Error::Io`]; [`Error::Output`] for a Parquet file without a manifest.
pub fn read_manifest(folder: &Path) -> Result<Option<String>> {
    let [plain, within] = NAMES.map(|name| folder.join(name));
    if within.exists() {
        let json = read_file(&within, |file| {
            let pairs = file.metadata().file_metadata().key_value_metadata().into_iter().flatten();
            Ok(pairs.filter(|pair| pair.key == KEY).find_map(|pair| pair.value.clone()))
        })?;
        let message = "it is not a manifest of token files: it has no such metadata".to_owned();
        return json.map(Some).ok_or(Error::Output { path: within, message });
    }
    match fs::read_to_string(&plain) {
        Ok(json) => Ok(Some(json)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            let message = format!("it is not a manifest of token files: {error}");
            Err(Error::Output { path: plain, message })
        }
        Err(source) => Err(Error::io("read", &plain)(source)),
    }
}

/// Puts a manifest into a folder, in place of the one before.
///
/// # Errors
/// [`Error::Io`]; [`Error::InvalidOption`] for Parquet columns of an unknown type.
pub fn write_manifest(folder: &Path, json: &str) -> Result<()> {
    let [plain, within] = NAMES.map(|name| folder.join(name));
    let manifest: Value = serde_json::from_str(json).unwrap_or_default();
    if manifest["options"]["format"] == "parquet" {
        atomic_file::write(&within, &parquet_file(json, &manifest["options"])?)?;
        return remove(&plain);
    }
    atomic_file::write(&plain, json.as_bytes())?;
    remove(&within)
}

/// A Parquet file with the columns of token files of these options, without rows, and with a manifest in its metadata.
fn parquet_file(json: &str, options: &Value) -> Result<Vec<u8>> {
    let schema = schema_of(options)?;
    let pairs = vec![KeyValue::new(KEY.to_owned(), json.to_owned())];
    let properties = WriterProperties::builder()
        .set_created_by("lexmill version 1".to_owned())
        .set_key_value_metadata(Some(pairs))
        .build();
    let file = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).and_then(ArrowWriter::into_inner);
    file.map_err(|error| Error::Custom(Box::new(error)))
}
