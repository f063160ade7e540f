//! The files of a folder that belong to no part.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::joining::Stream;
use super::layout::Layout;
use super::layouts::{PartKind, WrittenFile, litdata_index, mds_index};
use super::manifest::Manifest;
use super::part_file::FileEntry;
use super::paths::{SPLITS, joined, within};
#[cfg(doc)]
use crate::Error;
use crate::Result;
use crate::structures::atomic_file;

/// The list of shards or chunks.
const INDEX: &str = "index.json";

/// The names of all files that a run may write beside the files of parts. The files of a split are in its folder.
pub(super) fn folder_files(layout: Layout, splits: &[&'static str]) -> Vec<String> {
    let of_split = |&split: &&'static str| -> Vec<String> {
        match layout {
            Layout::Arrow => ["dataset_info.json", "state.json"].map(|name| joined(split, name)).into(),
            Layout::Mds | Layout::Litdata => vec![joined(split, INDEX)],
            layout => Stream::possible(&[split]).iter().flat_map(|stream| stream.files(layout)).collect(),
        }
    };
    let mut names: Vec<String> = splits.iter().flat_map(of_split).collect();
    if layout == Layout::Arrow {
        names.push("dataset_dict.json".to_owned());
    }
    names
}

/// Writes the files of `folder` that belong to no part. `splits` are the names of the splits' folders, or one empty name.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn finish_folder(
    kind: PartKind<'_>,
    folder: &Path,
    splits: &[&str],
    manifest: &Manifest,
) -> Result<BTreeMap<String, FileEntry>> {
    let (layout, mut files) = (kind.layout, BTreeMap::new());
    for &split in splits {
        let names = manifest.parts.iter().flat_map(|part| part.files.keys());
        let names: Vec<&str> = names.filter_map(|name| within(split, name)).collect();
        if layout == Layout::Arrow {
            write_json(folder, &joined(split, "dataset_info.json"), &json!({}), &mut files)?;
            let state = arrow_state(split, &names, manifest);
            write_json(folder, &joined(split, "state.json"), &state, &mut files)?;
        }
        let index = match layout {
            Layout::Mds => mds_index(kind, &written_files(kind, split, manifest)),
            Layout::Litdata => {
                litdata_index(&written_files(kind, split, manifest), &manifest.fingerprint(split))
            }
            _ => continue,
        };
        write_json(folder, &joined(split, INDEX), &index, &mut files)?;
    }
    if layout == Layout::Arrow && splits.len() > 1 {
        write_json(folder, "dataset_dict.json", &json!({ "splits": splits }), &mut files)?;
    }
    Ok(files)
}

/// The files of a split that have rows, for layouts with one file a part.
fn written_files<'a>(kind: PartKind<'_>, split: &str, manifest: &'a Manifest) -> Vec<WrittenFile<'a>> {
    let files = manifest.parts.iter().flat_map(|part| {
        let (rows, tokens) = part.counts.of_split(split == SPLITS[1], kind.row_length);
        let files = part.files.iter().filter_map(|(name, entry)| Some((within(split, name)?, entry.bytes)));
        files.map(move |(name, bytes)| WrittenFile { name, bytes, rows, tokens })
    });
    files.filter(|file| file.rows > 0).collect()
}

/// The `state.json` that `datasets` asks for beside the data.
fn arrow_state(split: &str, names: &[&str], manifest: &Manifest) -> Value {
    json!({
        "_data_files": names.iter().map(|name| json!({ "filename": name })).collect::<Vec<_>>(),
        "_fingerprint": manifest.fingerprint(split),
        "_format_columns": null,
        "_format_kwargs": {},
        "_format_type": null,
        "_output_all_columns": false,
        "_split": if split.is_empty() { Value::Null } else { split.into() },
    })
}

fn write_json(
    folder: &Path,
    name: &str,
    value: &Value,
    files: &mut BTreeMap<String, FileEntry>,
) -> Result<()> {
    let text = format!("{value:#}\n");
    atomic_file::write(&folder.join(name), text.as_bytes())?;
    let mut crc = flate2::Crc::new();
    crc.update(text.as_bytes());
    let entry = FileEntry { bytes: text.len() as u64, crc32: format!("{:08x}", crc.sum()) };
    files.insert(name.to_owned(), entry);
    Ok(())
}
