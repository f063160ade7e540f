//! The contents of a folder before a run, and the part of them that the run may continue.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::folder_files::folder_files;
use super::joining::{Stream, are_joined, is_joined, joined_parts, remove_joining};
use super::layout::Layout;
use super::layouts::possible_names;
use super::manifest::{Manifest, Part, remove_list};
use super::part_file::temporary;
use super::paths::{SPLITS, remove};
use super::run::{Existing, Run};
use super::shuffle::{remove_runs, sorted_up_to};
use crate::corpus::inputs::{Place, resumed_inputs};
use crate::structures::folder_lock::LOCK;
use crate::{Error, Result};

/// Intact files of an earlier run.
struct Sound {
    /// The first parts, as many as have all their files.
    parts: usize,
    /// True if joining may go on, or has not begun.
    is_joining: bool,
    /// True if the run was finished and lacks no file.
    is_complete: bool,
}

impl Run<'_> {
    /// The manifest to continue: the manifest of the folder, or a new one.
    pub(super) fn prepare(&self, planned: Manifest) -> Result<Manifest> {
        let refused = |message: String| Error::Output { path: self.folder.to_owned(), message };
        let Some(found) = Manifest::read(self.folder)? else {
            if let Some(other) = other_file(self.folder)? {
                let message = format!("it holds {other}, which is no token file; choose a folder of its own");
                return Err(refused(message));
            }
            planned.write(self.folder)?;
            return Ok(planned);
        };
        match self.existing {
            Existing::Refuse => {
                let state = if found.total.is_some() { "" } else { " of a run that was not finished" };
                Err(refused(format!(
                    "it holds token files{state}; pass resume=True to go on or overwrite=True to begin again"
                )))
            }
            Existing::Resume => {
                let sound = self.sound_parts(&found)?;
                let read = self.read_for(&found, &sound)?;
                match found.difference(&planned, read) {
                    Some(difference) => Err(refused(format!("cannot resume: {difference}"))),
                    None => self.go_on(found, &planned, &sound, read),
                }
            }
            Existing::Overwrite => {
                remove_all(self.folder, &found)?;
                planned.write(self.folder)?;
                Ok(planned)
            }
        }
    }

    /// Looks which parts have their files as they were written. Files in a store are not looked for.
    fn sound_parts(&self, found: &Manifest) -> Result<Sound> {
        if self.store.is_some() && (found.total.is_some() || !is_joined(self.options)) {
            return Ok(Sound {
                parts: found.parts.len(),
                is_joining: true,
                is_complete: found.total.is_some(),
            });
        }
        let is_there = |(name, bytes): (&String, u64)| {
            self.folder.join(name).metadata().is_ok_and(|data| data.is_file() && data.len() == bytes)
        };
        let has_files = |part: &&Part| part.files.iter().all(|(name, entry)| is_there((name, entry.bytes)));
        let (layout, streams) = (self.options.layout, Stream::of_run(self.options));
        // Parts that were joined have no files of their own any more.
        let joined = if found.total.is_none() { joined_parts(self.folder)? } else { 0 };
        let is_joining = joined == 0 || are_joined(self.folder, layout, &streams, &found.parts, joined);
        let joined = if is_joining { joined } else { 0 };
        let whole = joined + found.parts.iter().skip(joined).take_while(has_files).count();
        let has_others = found.files.iter().all(|(name, entry)| is_there((name, entry.bytes)));
        let is_complete = found.total.is_some() && whole == found.parts.len() && has_others;
        // Of a finished run, parts that were joined have no files left to go on with.
        let is_lost = found.total.is_some() && !is_complete && is_joined(self.options);
        Ok(Sound { parts: if is_lost { 0 } else { whole }, is_joining, is_complete })
    }

    /// The first record that no sound part or sorted run has read.
    fn read_for(&self, found: &Manifest, sound: &Sound) -> Result<Place> {
        let all = Place { file: found.inputs.len(), byte: 0 };
        Ok(match found.parts[..sound.parts].last() {
            _ if sound.is_complete => all,
            // All documents are sorted before the first part is written.
            Some(_) if self.options.shuffle => all,
            None if self.options.shuffle => sorted_up_to(self.folder)?,
            last => last.map_or_else(Place::default, |part| part.end),
        })
    }

    /// The manifest with its sound parts, and with the inputs of the parts that are still to be made.
    fn go_on(&self, mut found: Manifest, planned: &Manifest, sound: &Sound, read: Place) -> Result<Manifest> {
        if !sound.is_joining {
            remove_joining(self.folder, self.options.layout, self.options.split_names())?;
        }
        let inputs = resumed_inputs(&found.inputs, &planned.inputs, read);
        let is_reopened = found.total.is_some() && !sound.is_complete;
        found.parts.truncate(sound.parts);
        if is_reopened || inputs != found.inputs {
            (found.total, found.files, found.inputs) = (None, BTreeMap::new(), inputs);
            found.write_unfinished(self.folder)?;
        }
        remove_begun_parts(self.folder, self.options.layout, found.parts.len())?;
        Ok(found)
    }

    /// Removes files that a complete manifest makes useless.
    pub(super) fn clean_up_after(&self, manifest: &Manifest) -> Result<()> {
        remove_list(self.folder)?;
        if self.options.shuffle {
            remove_runs(self.folder)?;
        }
        if is_joined(self.options) {
            remove_joining(self.folder, self.options.layout, self.options.split_names())?;
            (0..manifest.parts.len())
                .try_for_each(|part| remove_part(self.folder, self.options.layout, part))?;
            remove_split_folders(self.folder);
        }
        Ok(())
    }
}

/// A file or folder that no run has made.
pub(super) fn other_file(folder: &Path) -> Result<Option<String>> {
    let failed = Error::io("read", folder);
    let names = fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(failed));
    let names = names.collect::<Result<Vec<_>>>()?;
    // A temporary file of the manifest may be there if the first write of one was cut short.
    Ok(names.into_iter().filter(|name| name != LOCK && !name.starts_with(".lexmill-")).min())
}

/// Removes the files of a part, finished or not.
fn remove_part(folder: &Path, layout: Layout, part: usize) -> Result<()> {
    for split in ["", SPLITS[0], SPLITS[1]] {
        let folder = folder.join(split);
        for name in possible_names(layout, part) {
            let path = folder.join(name);
            remove(&temporary(&path))?;
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes the files of the two parts after the first `finished`: a killed run may leave one part on its way to the disk, and the next.
fn remove_begun_parts(folder: &Path, layout: Layout, finished: usize) -> Result<()> {
    (finished..finished + 2).try_for_each(|part| remove_part(folder, layout, part))
}

/// Removes the folders of splits, unless something else is there.
fn remove_split_folders(folder: &Path) {
    for split in SPLITS {
        // A folder that is not empty stays.
        let _ = fs::remove_dir(folder.join(split));
    }
}

/// Removes all files of an earlier run, but for the manifest, which is replaced.
pub(super) fn remove_all(folder: &Path, found: &Manifest) -> Result<()> {
    let option = |name: &str| found.options.get(name).and_then(|value| value.as_str());
    let layout = Layout::named(option("format").unwrap_or_default(), option("preset"))?;
    remove_joining(folder, layout, &["", SPLITS[0], SPLITS[1]])?;
    (0..found.parts.len()).try_for_each(|part| remove_part(folder, layout, part))?;
    remove_begun_parts(folder, layout, found.parts.len())?;
    for name in folder_files(layout, &["", SPLITS[0], SPLITS[1]]) {
        let path = folder.join(name);
        remove(&temporary(&path))?;
        remove(&path)?;
    }
    remove_list(folder)?;
    remove_runs(folder)?;
    remove_split_folders(folder);
    Ok(())
}
