//! The manifest of a folder of token files: its tokenizer, options and inputs, and its finished parts.
//!
//! The manifest is written when the work begins and again when all is done. In between, each finished part is a line at the end of
//! `parts.jsonl`, so that the work for the manifest does not grow with the number of parts.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::counts::Counts;
use super::manifest_file::{NAMES, read_manifest, write_manifest};
use super::part_file::FileEntry;
use super::paths::remove;
use crate::corpus::inputs::{Input, Place, inputs_difference};
use crate::structures::append_log::AppendLog;
use crate::{Error, Result};

/// The version of the manifest's format.
const VERSION: u32 = 1;

/// The file of finished parts, while there are others.
const PARTS: &str = "parts.jsonl";

/// All that is known of a folder of token files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) format_version: u32,
    /// The version of the program: another one may give other ids.
    pub(super) lexmill: String,
    /// A hash of the tokenizer's file.
    pub(super) tokenizer: String,
    pub(super) options: Value,
    pub(super) inputs: Vec<Input>,
    /// The counts of all parts; none until the run is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) total: Option<Counts>,
    #[serde(default)]
    pub(super) parts: Vec<Part>,
    /// Files that belong to no part.
    #[serde(default)]
    pub(super) files: BTreeMap<String, FileEntry>,
}

/// A range of the records of all files, in order, and the files that its documents are in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) begin: Place,
    /// The first record after the part.
    pub(super) end: Place,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) files: BTreeMap<String, FileEntry>,
}

impl Manifest {
    pub(super) fn new(tokenizer: String, options: Value, inputs: Vec<Input>) -> Self {
        let (parts, files) = (Vec::new(), BTreeMap::new());
        let lexmill = env!("CARGO_PKG_VERSION").to_owned();
        Self { format_version: VERSION, lexmill, tokenizer, options, inputs, total: None, parts, files }
    }

    /// Reads the manifest of `folder`, with the parts that are finished; none if there is no manifest.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Output`] if it is not one of this version.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>> {
        let Some(json) = read_manifest(folder)? else { return Ok(None) };
        let foreign = |message: String| Error::Output { path: folder.join(NAMES[0]), message };
        let mut found: Self = serde_json::from_str(&json)
            .map_err(|error| foreign(format!("it is not a manifest of token files: {error}")))?;
        if found.format_version != VERSION {
            let version = found.format_version;
            return Err(foreign(format!("it has format version {version}, but this is {VERSION}")));
        }
        if found.total.is_none() {
            found.parts = PartList::read(&folder.join(PARTS))?;
            let is_shuffled = found.options["shuffle"] == true;
            let sound = sound_parts(&found.parts, found.inputs.len(), is_shuffled);
            found.parts.truncate(sound);
        }
        Ok(Some(found))
    }

    /// Puts the manifest in its place.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let json = serde_json::to_string_pretty(self).map_err(|error| Error::Custom(Box::new(error)))?;
        write_manifest(folder, &format!("{json}\n"))
    }

    /// Writes the finished parts of a manifest of which others are missing.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn write_unfinished(&self, folder: &Path) -> Result<()> {
        // While the manifest is complete the list is not read, so the list goes first.
        begin_list(folder, &self.parts)?;
        Self { parts: Vec::new(), ..self.clone() }.write(folder)
    }

    /// A name that identifies the documents of a split. Programs keep their results for these documents under this name.
    pub(super) fn fingerprint(&self, split: &str) -> String {
        let parts: Vec<_> = self.parts.iter().map(|part| &part.files).collect();
        format!("{:016x}", fnv_1a(format!("{split}{:?}{parts:?}", self.inputs).as_bytes()))
    }

    /// Differences between this manifest and the manifest of the work to be done, in words; none if it may go on after the records before
    /// `read`.
    pub(super) fn difference(&self, now: &Self, read: Place) -> Option<String> {
        if self.lexmill != now.lexmill {
            return Some(format!("the version of lexmill was {} but is {}", self.lexmill, now.lexmill));
        }
        if self.tokenizer != now.tokenizer {
            return Some(format!("the tokenizer was {} but is {}", self.tokenizer, now.tokenizer));
        }
        if let Some(difference) = option_difference(&self.options, &now.options) {
            return Some(difference);
        }
        inputs_difference(&self.inputs, &now.inputs, read)
    }
}

/// The first option that differs, in words; of the options of conversations, the first one within.
fn option_difference(then: &Value, now: &Value) -> Option<String> {
    let (Value::Object(then), Value::Object(options)) = (then, now) else { return None };
    let (name, value) = options.iter().find(|&(name, value)| then.get(name) != Some(value))?;
    let before = then.get(name).unwrap_or(&Value::Null);
    let within = if name == "messages" { option_difference(before, value) } else { None };
    Some(within.unwrap_or_else(|| format!("{name} was {before} but is {value}")))
}

/// How many parts, from the first one on, follow one another within `files` files and can be summed up. In shuffled parts records do
/// not follow one another.
fn sound_parts(parts: &[Part], files: usize, is_shuffled: bool) -> usize {
    let (mut end, mut total) = (Place::default(), Some(Counts::default()));
    let is_sound = |part: &&Part| {
        total = total.and_then(|total| total.checked_add(part.counts));
        let is_forward = is_shuffled || part.begin <= part.end;
        let is_next = part.begin == end && is_forward && part.end.file <= files;
        end = part.end;
        is_next && total.is_some()
    };
    parts.iter().take_while(is_sound).count()
}

/// The list of finished parts, which grows.
pub(super) type PartList = AppendLog<Part>;

/// Begins the list with the parts that are finished.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn begin_list(folder: &Path, finished: &[Part]) -> Result<PartList> {
    AppendLog::create(folder.join(PARTS), finished)
}

/// Removes the list, all of which is in the manifest now.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn remove_list(folder: &Path) -> Result<()> {
    remove(&folder.join(PARTS))
}

/// The hash FNV-1a of 64 bits.
pub(super) fn fnv_1a(bytes: &[u8]) -> u64 {
    let add = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        // From the tables of its authors.
        assert_eq!(fnv_1a(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_F739_67E8);
    }
}
