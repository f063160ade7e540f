//! Parts that become one file of each split, or one pair of files.
//!
//! Parts are appended to the joined file one by one, and each is removed once its bytes are on the disk there. So joining takes room
//! for one part more. `joined.jsonl` lists how many parts are joined. The next process cuts off all bytes that a killed process has
//! appended after these parts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::layout::{Layout, Preset};
use super::layouts::{FORMS, documents_of, is_loss_file, loss_names, open_lengths, write_index};
use super::loss::LossForm;
use super::manifest::Part;
use super::options::Options;
use super::part_file::{FileEntry, PartFile, temporary};
use super::paths::{joined, remove, within};
use super::width::Width;
use crate::structures::append_log::AppendLog;
use crate::structures::atomic_file;
use crate::structures::parallel::{OnProgress, Progress};
use crate::{Error, Result};

/// The stage that progress reports.
const STAGE: &str = "join";

/// The list of numbers of joined parts, while these are joined.
const LIST: &str = "joined.jsonl";

/// Bytes that are copied at a time.
const BLOCK: usize = 1 << 20;

/// One joined sequence of files: the ids of a split, or its loss masks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) split: &'static str,
    pub(super) loss: Option<LossForm>,
}

impl Stream {
    /// The streams of a run: the ids of each split, and its loss masks if it has them.
    pub(super) fn of_run(options: &Options) -> Vec<Self> {
        let loss = options.messages.as_ref().map(|messages| messages.loss);
        let of_split = |&split: &&'static str| {
            let masks = loss.map(|form| Self { split, loss: Some(form) });
            std::iter::once(Self { split, loss: None }).chain(masks)
        };
        options.split_names().iter().flat_map(of_split).collect()
    }

    /// All streams that a run may have in these splits, whatever its options.
    pub(super) fn possible(splits: &[&'static str]) -> Vec<Self> {
        let forms = [None].into_iter().chain(FORMS.map(Some));
        splits.iter().flat_map(|&split| forms.clone().map(move |loss| Self { split, loss })).collect()
    }

    /// The names of the files that parts are joined to, the values first; none for layouts that keep parts.
    pub(super) fn files(self, layout: Layout) -> Vec<String> {
        let stem = match layout {
            Layout::Raw(Preset::NanoGpt) if self.split == "validation" => "val".to_owned(),
            Layout::Raw(Preset::NanoGpt) => "train".to_owned(),
            Layout::Megatron => joined(self.split, "tokens"),
            _ => return Vec::new(),
        };
        match self.loss {
            Some(form) => loss_names(layout, form, &stem),
            None if layout == Layout::Megatron => vec![format!("{stem}.bin"), format!("{stem}.idx")],
            None => vec![format!("{stem}.bin")],
        }
    }

    /// How a value is stored, in files whose ids have `width`.
    fn width(self, width: Width) -> Width {
        self.loss.and_then(LossForm::width).unwrap_or(width)
    }
}

/// True if parts are joined.
pub(super) fn is_joined(options: &Options) -> bool {
    options.join || options.layout == Layout::Raw(Preset::NanoGpt)
}

/// The file of lengths of a joined index, which exists under its temporary name alone.
fn lengths_path(folder: &Path, stream: Stream) -> PathBuf {
    let of_masks = stream.loss.map_or_else(String::new, |form| format!("{}.", form.columns()[0]));
    temporary(&folder.join(joined(stream.split, &format!("tokens.{of_masks}lengths"))))
}

/// How many parts are joined.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn joined_parts(folder: &Path) -> Result<usize> {
    Ok(AppendLog::<usize>::read(&folder.join(LIST))?.last().copied().unwrap_or(0))
}

/// Removes all that is there only while parts are joined.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn remove_joining(folder: &Path, layout: Layout, splits: &[&'static str]) -> Result<()> {
    // The list goes first: without it, all else is litter.
    remove(&folder.join(LIST))?;
    for stream in Stream::possible(splits) {
        stream.files(layout).iter().try_for_each(|name| remove(&temporary(&folder.join(name))))?;
        remove(&lengths_path(folder, stream))?;
    }
    Ok(())
}

/// One stream while its parts are joined.
struct Joined {
    stream: Stream,
    layout: Layout,
    names: Vec<String>,
    /// Bytes of values in the joined parts, and their documents; no documents are counted without an index.
    bytes: u64,
    documents: u64,
}

impl Joined {
    /// A stream to which `parts`, the first of a run, are joined.
    fn new(layout: Layout, stream: Stream, parts: &[Part]) -> Self {
        let mut joined = Self { stream, layout, names: stream.files(layout), bytes: 0, documents: 0 };
        for part in parts {
            joined.add(part);
        }
        joined
    }

    /// The names and entries of the files of a part in this stream, the file of values first.
    fn files<'a>(&self, part: &'a Part) -> Vec<(&'a str, &'a FileEntry)> {
        let Stream { split, loss } = self.stream;
        let is_of_stream =
            |name: &str| within(split, name).is_some() && is_loss_file(self.layout, name) == loss.is_some();
        let of_stream = part.files.iter().filter(|(name, _)| is_of_stream(name));
        of_stream.map(|(name, entry)| (name.as_str(), entry)).collect()
    }

    fn add(&mut self, part: &Part) {
        let files = self.files(part);
        self.bytes += files.first().map_or(0, |(_, entry)| entry.bytes);
        self.documents += files.get(1).map_or(0, |(_, entry)| documents_of(entry.bytes));
    }

    fn has_index(&self) -> bool {
        self.names.len() > 1
    }

    /// The joined values: under their temporary name, or under their own if only the manifest was missing.
    fn values_path(&self, folder: &Path) -> PathBuf {
        let path = folder.join(&self.names[0]);
        let unfinished = temporary(&path);
        if unfinished.exists() || !path.exists() { unfinished } else { path }
    }

    /// True if the joined files are long enough for the joined parts.
    fn is_whole(&self, folder: &Path) -> bool {
        let has =
            |path: &Path, bytes| path.metadata().is_ok_and(|data| data.is_file() && data.len() >= bytes);
        let has_lengths = !self.has_index() || has(&lengths_path(folder, self.stream), self.documents * 4);
        has(&self.values_path(folder), self.bytes) && has_lengths
    }
}

/// True if the joined files of all streams are long enough for the first `count` parts.
pub(super) fn are_joined(
    folder: &Path,
    layout: Layout,
    streams: &[Stream],
    parts: &[Part],
    count: usize,
) -> bool {
    let Some(parts) = parts.get(..count) else { return false };
    streams.iter().all(|&stream| Joined::new(layout, stream, parts).is_whole(folder))
}

/// A file that grows from the end of its sound bytes.
struct Growing {
    file: File,
    path: PathBuf,
    crc: Crc,
}

impl Growing {
    /// Opens a file, cut to `bytes` bytes.
    fn open(path: PathBuf, bytes: u64) -> Result<Self> {
        let open = || {
            let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
            file.set_len(bytes)?;
            let (mut crc, mut block) = (Crc::new(), vec![0; BLOCK]);
            loop {
                match file.read(&mut block)? {
                    0 => break,
                    read => crc.update(&block[..read]),
                }
            }
            file.seek(SeekFrom::End(0))?;
            Ok((file, crc))
        };
        let (file, crc) = open().map_err(Error::io("open", &path))?;
        Ok(Self { file, path, crc })
    }

    /// Appends `bytes` bytes of a file; `each` hears of each block.
    fn copy(
        &mut self,
        from: &Path,
        mut source: impl Read,
        bytes: u64,
        mut each: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let (mut block, mut left) = (vec![0; BLOCK], bytes);
        while left > 0 {
            let wanted = BLOCK.min(usize::try_from(left).unwrap_or(BLOCK));
            source.read_exact(&mut block[..wanted]).map_err(Error::io("read", from))?;
            self.file.write_all(&block[..wanted]).map_err(Error::io("write", &self.path))?;
            self.crc.update(&block[..wanted]);
            left -= wanted as u64;
            each(wanted as u64)?;
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(Error::io("write", &self.path))
    }
}

/// Joins the parts of a run that are not joined yet; answers the joined files.
///
/// # Errors
/// [`Error::Io`]; [`Error::Output`] for a part that is not as it was written; the errors of `on_progress`.
pub(super) fn join_parts(
    folder: &Path,
    layout: Layout,
    width: Width,
    streams: &[Stream],
    parts: &[Part],
    on_progress: &mut OnProgress<'_>,
) -> Result<BTreeMap<String, FileEntry>> {
    let begun = joined_parts(folder)?.min(parts.len());
    let mut list = AppendLog::create(folder.join(LIST), &[begun])?;
    let mut targets = Vec::new();
    for &stream in streams {
        let joined = Joined::new(layout, stream, &parts[..begun]);
        let (found, unfinished) = (joined.values_path(folder), temporary(&folder.join(&joined.names[0])));
        if found != unfinished && begun > 0 {
            fs::rename(&found, &unfinished).map_err(Error::io("rename", &found))?;
        }
        let values = Growing::open(unfinished, joined.bytes)?;
        let lengths =
            joined.has_index().then(|| Growing::open(lengths_path(folder, stream), joined.documents * 4));
        targets.push((joined, values, lengths.transpose()?));
    }
    let total = streams.iter().map(|&stream| Joined::new(layout, stream, parts).bytes).sum();
    let mut done = targets.iter().map(|(joined, ..)| joined.bytes).sum();
    let remove_files = |part: &Part| part.files.keys().try_for_each(|name| remove(&folder.join(name)));
    // A process that was killed may have listed the last one before it removed its files.
    parts[..begun].last().map_or(Ok(()), remove_files)?;
    for (number, part) in parts.iter().enumerate().skip(begun) {
        for (joined, values, lengths) in &mut targets {
            let files = joined.files(part);
            let Some(&(name, entry)) = files.first() else { continue };
            let path = folder.join(name);
            let opened = File::open(&path).map_err(Error::io("open", &path))?;
            values.copy(&path, opened, entry.bytes, |copied| {
                done += copied;
                on_progress(Progress { stage: STAGE, done, total })
            })?;
            if let (Some(lengths), Some(&(name, entry))) = (lengths, files.get(1)) {
                let (path, documents) = (folder.join(name), documents_of(entry.bytes));
                let message = || "it is not as it was written".to_owned();
                let damaged = || Error::Output { path: path.clone(), message: message() };
                let index =
                    open_lengths(&path, joined.stream.width(width), documents)?.ok_or_else(damaged)?;
                lengths.copy(&path, index, documents * 4, |_| Ok(()))?;
                lengths.sync()?;
            }
            values.sync()?;
            joined.add(part);
        }
        list.push(&(number + 1))?;
        remove_files(part)?;
    }
    let files = finish(folder, width, targets)?;
    on_progress(Progress { stage: STAGE, done: total, total })?;
    Ok(files)
}

/// A stream that is joined: its values and lengths.
type Target = (Joined, Growing, Option<Growing>);

/// Gives the joined files their names, once all parts are in them.
fn finish(folder: &Path, width: Width, targets: Vec<Target>) -> Result<BTreeMap<String, FileEntry>> {
    let mut files = BTreeMap::new();
    for (joined, values, lengths) in targets {
        let entry = FileEntry { bytes: joined.bytes, crc32: format!("{:08x}", values.crc.sum()) };
        files.insert(joined.names[0].clone(), entry);
        if let (Some(lengths), Some(name)) = (lengths, joined.names.get(1)) {
            let (path, width) = (folder.join(name), joined.stream.width(width));
            files.insert(name.clone(), index_file(path, width, joined.documents, &lengths.path)?);
        }
        let path = folder.join(&joined.names[0]);
        fs::rename(&values.path, &path).map_err(Error::io("rename", &path))?;
        let within = path.parent().unwrap_or(folder);
        atomic_file::sync_folder(within).map_err(Error::io("sync", within))?;
    }
    Ok(files)
}

/// Writes the index of documents whose lengths are in a file.
///
/// # Errors
/// [`Error::Io`].
pub(super) fn index_file(path: PathBuf, width: Width, documents: u64, lengths: &Path) -> Result<FileEntry> {
    let mut index = PartFile::create(path, 0)?;
    write_index(&mut index, width, documents, || {
        Ok((BufReader::new(File::open(lengths).map_err(Error::io("read", lengths))?), lengths.to_owned()))
    })?;
    let entry = index.sync(&[])?;
    index.rename()?;
    Ok(entry)
}
