//! The merges of a training in a file, so that training may be killed and resumed.
//!
//! Layout: 8 bytes of magic; the length of the header as a little-endian 64-bit number; the header, JSON; for each merge its two
//! ids of 32 bits and its count of 64; the CRC-32 of all that.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::counting::runs::CountsFile;
use crate::structures::atomic_file;
use crate::trainers::bpe::MergeLog;
use crate::{Error, Result};

/// The magic at the start of the file; its last byte is the version.
const MAGIC: [u8; 8] = *b"LEXMRG\0\x01";

/// Bytes of a merge.
const MERGE_BYTES: usize = 16;

/// Where merges are kept.
#[derive(Clone, Debug)]
pub struct MergeCheckpoint {
    /// The file, which is replaced whole.
    pub path: PathBuf,
    /// The least time between two writes.
    pub every: Duration,
    /// True to resume from the merges in the file, if there is one.
    pub resume: bool,
}

/// The version, the trainer with its options, and the word counts of a training.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The version of the program.
    lexmill: String,
    /// The class of the trainer.
    trainer: String,
    /// Its options by name.
    options: Map<String, Value>,
    /// Sums of the word counts, and a checksum.
    counts: Map<String, Value>,
}

/// Options that do not change the merges.
const SHOWN: [&str; 2] = ["show_progress", "progress_format"];

impl Fingerprint {
    /// The fingerprint of training on `counts` with a trainer, by the name of its class and its options.
    ///
    /// # Errors
    /// [`Error::Io`] for counts that cannot be read.
    pub fn new(counts: &CountsFile, trainer: &str, mut options: Map<String, Value>) -> Result<Self> {
        options.retain(|name, _| !SHOWN.contains(&name.as_str()));
        // Its order decides nothing, and callers may take it from a set.
        if let Some(Value::Array(alphabet)) = options.get_mut("initial_alphabet") {
            alphabet.sort_by_cached_key(Value::to_string);
            alphabet.dedup();
        }
        let summary = counts.summary();
        let checksum = format!("{:08x}", counts.checksum()?);
        let counts =
            [("words", json!(summary.words)), ("total", json!(summary.total)), ("checksum", json!(checksum))];
        let counts = counts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Self {
            lexmill: env!("CARGO_PKG_VERSION").to_owned(),
            trainer: trainer.to_owned(),
            options,
            counts,
        })
    }

    /// The first difference from `now`, the fingerprint of the training to be done, in words.
    fn difference(&self, now: &Self) -> Option<String> {
        let pair =
            |what: &str, then: &str, is: &str| (then != is).then(|| format!("{what} was {then} but is {is}"));
        pair("the version of lexmill", &self.lexmill, &now.lexmill)
            .or_else(|| pair("the trainer", &self.trainer, &now.trainer))
            .or_else(|| {
                let both =
                    [(&self.options, &now.options, ""), (&self.counts, &now.counts, " of the word counts")];
                both.into_iter().find_map(|(then, is, of)| {
                    let names = then.keys().chain(is.keys().filter(|&name| !then.contains_key(name)));
                    names.into_iter().find_map(|name| {
                        let shown = |value: Option<&Value>| value.unwrap_or(&Value::Null).to_string();
                        pair(&format!("{name}{of}"), &shown(then.get(name)), &shown(is.get(name)))
                    })
                })
            })
    }
}

impl MergeCheckpoint {
    /// The merges to begin with.
    ///
    /// # Errors
    /// [`Error::Output`] if the file holds something else, is damaged, belongs to another training, or is there although it is not to
    /// be resumed; [`Error::Io`].
    pub fn done(&self, fingerprint: &Fingerprint) -> Result<MergeLog> {
        let failed = Error::io("read", &self.path);
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(MergeLog::default()),
            file => file.map_err(failed)?,
        };
        let refused = |message: String| Error::Output { path: self.path.clone(), message };
        let [name @ .., version] = MAGIC;
        let mut bytes = Vec::new();
        // Another file may be a corpus, or a device without an end, so only the magic is read first.
        (&mut file).take(MAGIC.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        if !bytes.starts_with(&name) {
            return Err(refused("it is not a checkpoint of merges; choose another file".to_owned()));
        }
        if !self.resume {
            let message =
                "it holds a checkpoint; pass resume=True to go on, or remove the file to begin again";
            return Err(refused(message.to_owned()));
        }
        if bytes.get(name.len()).is_some_and(|&found| found != version) {
            let found = bytes[name.len()];
            let message = format!("the version of the checkpoint is {found}, this program reads {version}");
            return Err(refused(message));
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        let damaged = || refused("the checkpoint is damaged; remove the file to begin again".to_owned());
        let (found, log) = parse(&bytes).ok_or_else(damaged)?;
        match found.difference(fingerprint) {
            Some(difference) => Err(refused(format!("cannot resume: {difference}"))),
            None => Ok(log),
        }
    }

    /// Replaces the file by one with the merges of `log`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn keep(&self, fingerprint: &Fingerprint, log: &MergeLog) -> Result<()> {
        let header = serde_json::to_vec(fingerprint).map_err(|error| Error::Custom(Box::new(error)))?;
        let mut bytes = Vec::with_capacity(MAGIC.len() + 12 + header.len() + MERGE_BYTES * log.len());
        bytes.extend(MAGIC);
        bytes.extend((header.len() as u64).to_le_bytes());
        bytes.extend(header);
        for (&(left, right), &count) in log.merges.iter().zip(&log.counts) {
            bytes.extend(left.to_le_bytes());
            bytes.extend(right.to_le_bytes());
            bytes.extend(count.to_le_bytes());
        }
        bytes.extend(checksum(&bytes).to_le_bytes());
        atomic_file::write(&self.path, &bytes)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The header and the merges of a whole file; `None` if it is damaged.
fn parse(bytes: &[u8]) -> Option<(Fingerprint, MergeLog)> {
    let (content, sum) = bytes.split_last_chunk::<4>()?;
    if checksum(content) != u32::from_le_bytes(*sum) {
        return None;
    }
    let (len, rest) = content.get(MAGIC.len()..)?.split_first_chunk::<8>()?;
    let (header, merges) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    let fingerprint = serde_json::from_slice(header).ok()?;
    let (merges, rest) = merges.as_chunks::<MERGE_BYTES>();
    let mut log = MergeLog::default();
    for merge in merges {
        let (left, rest) = merge.split_first_chunk::<4>()?;
        let (right, rest) = rest.split_first_chunk::<4>()?;
        log.merges.push((u32::from_le_bytes(*left), u32::from_le_bytes(*right)));
        log.counts.push(u64::from_le_bytes(*rest.first_chunk()?));
    }
    rest.is_empty().then_some((fingerprint, log))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn fingerprint() -> Fingerprint {
        let map = |value: Value| value.as_object().cloned().unwrap_or_default();
        Fingerprint {
            lexmill: "1".to_owned(),
            trainer: "BpeTrainer".to_owned(),
            options: map(json!({"vocab_size": 300})),
            counts: map(json!({"words": 7, "checksum": "00c0ffee"})),
        }
    }

    fn checkpoint(name: &str) -> MergeCheckpoint {
        let name = format!("lexmill-merges-{}-{name}", std::process::id());
        MergeCheckpoint { path: std::env::temp_dir().join(name), every: Duration::ZERO, resume: true }
    }

    fn log() -> MergeLog {
        MergeLog { merges: vec![(1, 2), (u32::MAX, 0)], counts: vec![u64::MAX, 3] }
    }

    #[test]
    fn merges_come_back_and_damage_is_an_error() {
        let checkpoint = checkpoint("damage");
        assert_eq!(checkpoint.done(&fingerprint()).expect("no file"), MergeLog::default());
        checkpoint.keep(&fingerprint(), &log()).expect("room on the disk");
        assert_eq!(checkpoint.done(&fingerprint()).expect("as it was written"), log());
        let bytes = fs::read(&checkpoint.path).expect("it is there");
        let damaged = (0..bytes.len()).map(|at| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            bytes
        });
        for bytes in damaged.chain((0..bytes.len()).map(|len| bytes[..len].to_vec())) {
            fs::write(&checkpoint.path, &bytes).expect("room on the disk");
            let refused = checkpoint.done(&fingerprint());
            assert!(matches!(refused, Err(Error::Output { .. })), "{} bytes: {refused:?}", bytes.len());
        }
        fs::remove_file(&checkpoint.path).expect("ours");
    }

    #[test]
    fn a_file_of_something_else_is_refused_by_its_first_bytes() {
        let checkpoint = checkpoint("large");
        // More than any memory holds.
        File::create(&checkpoint.path).and_then(|file| file.set_len(1 << 43)).expect("holes take no room");
        let refused = checkpoint.done(&fingerprint()).expect_err("no checkpoint");
        fs::remove_file(&checkpoint.path).expect("ours");
        assert!(refused.to_string().contains("it is not a checkpoint of merges"), "{refused}");
    }

    #[test]
    fn another_training_is_refused_by_what_differs() {
        let checkpoint = checkpoint("other");
        checkpoint.keep(&fingerprint(), &log()).expect("room on the disk");
        let refused = |change: &dyn Fn(&mut Fingerprint)| {
            let mut other = fingerprint();
            change(&mut other);
            checkpoint.done(&other).expect_err("another training").to_string()
        };
        let mut differences = [
            refused(&|other| other.lexmill = "2".to_owned()),
            refused(&|other| other.trainer = "WordPieceTrainer".to_owned()),
            refused(&|other| drop(other.options.insert("vocab_size".to_owned(), json!(301)))),
            refused(&|other| drop(other.options.insert("min_frequency".to_owned(), json!(2)))),
            refused(&|other| drop(other.counts.insert("checksum".to_owned(), json!("0")))),
        ];
        for refused in &mut differences {
            *refused = refused.split_once("cannot resume: ").expect("the reason").1.to_owned();
        }
        let expected = [
            "the version of lexmill was 1 but is 2",
            "the trainer was BpeTrainer but is WordPieceTrainer",
            "vocab_size was 300 but is 301",
            "min_frequency was null but is 2",
            "checksum of the word counts was \"00c0ffee\" but is \"0\"",
        ];
        assert_eq!(differences, expected);
        let unasked = MergeCheckpoint { resume: false, ..checkpoint.clone() }.done(&fingerprint());
        assert!(unasked.expect_err("a checkpoint").to_string().contains("resume=True"));
        fs::remove_file(&checkpoint.path).expect("ours");
    }
}
