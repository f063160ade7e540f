//! A file as one text, read and checked by several threads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::structures::threads::share;
use crate::tokenizer::Utf8Errors;
use crate::{Error, Result};

/// Bytes of room that a file's own word on its length gets at first, at most.
const MOST_ROOM: u64 = 1 << 31;

/// Bytes that are worth a thread.
const PART: usize = 1 << 20;

/// Reads a whole file.
///
/// # Errors
/// [`Error::Io`]; [`Error::InvalidUtf8`] unless `errors` is [`Utf8Errors::Replace`].
pub(super) fn read_file(path: &Path, errors: Utf8Errors, threads: usize) -> Result<String> {
    let failed = |action| move |source| Error::Io { action, path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed("open"))?;
    let bytes = read_bytes(&mut file, threads).map_err(failed("read"))?;
    let bytes = match text_of(bytes, threads) {
        Ok(text) => return Ok(text),
        Err(bytes) => bytes,
    };
    match (String::from_utf8(bytes), errors) {
        (Ok(text), _) => Ok(text),
        (Err(error), Utf8Errors::Strict) => Err(Error::InvalidUtf8 {
            origin: path.display().to_string(),
            byte: error.utf8_error().valid_up_to() as u64,
        }),
        (Err(error), Utf8Errors::Replace) => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

fn read_bytes(file: &mut File, threads: usize) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    // What is no regular file may be read only once, and does not know its length.
    let len = if metadata.is_file() { metadata.len().min(MOST_ROOM) as usize } else { 0 };
    let mut bytes = vec![0; len];
    let threads = (len / PART).clamp(1, threads.max(1));
    let known = if len > 0 { read_parts(file, &mut bytes, threads)? } else { 0 };
    bytes.truncate(known);
    if known == len {
        if len > 0 {
            file.seek(SeekFrom::Start(len as u64))?;
        }
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Each thread reads a part; returns how many bytes there were.
fn read_parts(file: &File, bytes: &mut [u8], threads: usize) -> io::Result<usize> {
    let part_len = bytes.len().div_ceil(threads);
    let parts: Vec<(usize, &mut [u8])> = bytes.chunks_mut(part_len).enumerate().collect();
    let (mut known, mut is_whole) = (0, true);
    for read in share(parts, |(at, part)| fill(file, part, (at * part_len) as u64)) {
        let read = read?;
        // A file that became shorter ends with the first part that does.
        if is_whole {
            known += read;
        }
        is_whole &= read == part_len;
    }
    Ok(known)
}

/// Reads from byte `start` on until the memory is full or the file is at its end; returns how many bytes.
fn fill(file: &File, memory: &mut [u8], start: u64) -> io::Result<usize> {
    #[cfg(unix)]
    use std::os::unix::fs::FileExt as _;
    #[cfg(windows)]
    use std::os::windows::fs::FileExt as _;

    let mut filled = 0;
    while filled < memory.len() {
        let (rest, at) = (&mut memory[filled..], start + filled as u64);
        #[cfg(unix)]
        let read = file.read_at(rest, at);
        #[cfg(windows)]
        let read = file.seek_read(rest, at);
        match read {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The bytes as text, or as they were if they are none.
#[expect(unsafe_code, reason = "the standard library would check again, on one thread and byte by byte")]
fn text_of(bytes: Vec<u8>, threads: usize) -> std::result::Result<String, Vec<u8>> {
    if !is_utf8(&bytes, (bytes.len() / PART).clamp(1, threads.max(1))) {
        return Err(bytes);
    }
    // SAFETY: all parts of the bytes were found to be UTF-8, and so is what they make together.
    Ok(unsafe { String::from_utf8_unchecked(bytes) })
}

fn is_utf8(bytes: &[u8], threads: usize) -> bool {
    let is_valid = |part: &[u8]| simdutf8::basic::from_utf8(part).is_ok();
    if threads == 1 {
        return is_valid(bytes);
    }
    // Text is cut between characters, anything else anywhere: it is invalid wherever it is cut.
    let cut = |at: usize| {
        let near = at * bytes.len() / threads;
        let continuing = bytes[near..].iter().take(3).take_while(|&&byte| byte & 0xC0 == 0x80);
        if near == 0 { 0 } else { near + continuing.count() }
    };
    let parts = (0..threads).map(|at| &bytes[cut(at).min(cut(at + 1))..cut(at + 1)]);
    share(parts.collect(), is_valid).into_iter().all(|is_valid| is_valid)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn is_utf8_matches_naive(
            bytes in prop::collection::vec(prop::sample::select(b"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x88\xff".to_vec()), 0..12),
            text in "[a-é€🐈]{0,12}",
            threads in 1..9usize,
        ) {
            prop_assert_eq!(is_utf8(&bytes, threads), std::str::from_utf8(&bytes).is_ok());
            prop_assert!(is_utf8(text.as_bytes(), threads));
            let (front, back) = bytes.split_at(bytes.len() / 2);
            let mixed = [front, text.as_bytes(), back].concat();
            prop_assert_eq!(is_utf8(&mixed, threads), std::str::from_utf8(&mixed).is_ok());
        }
    }

    #[test]
    fn several_threads_read_what_one_does() -> Result<()> {
        let failed = |source| Error::Io { action: "write", path: "a temporary file".into(), source };
        let path = std::env::temp_dir().join(format!("lexmill-whole-file-{}", std::process::id()));
        for len in [0, 1, 3 * PART - 1, 5 * PART + 1] {
            let text = "wörter €5 ".repeat(len / 14);
            std::fs::write(&path, &text).map_err(failed)?;
            for threads in [1, 2, 3, 8] {
                assert!(read_file(&path, Utf8Errors::Strict, threads)? == text);
            }
        }
        std::fs::remove_file(&path).map_err(failed)
    }
}
