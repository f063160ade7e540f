mod columns;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::Error;
use crate::corpus::Utf8Errors;
use crate::testing::cases;

/// A file that is removed in the end.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("lexmill-source-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("a temporary file");
        Self(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn source(files: &[&TemporaryFile], format: Format) -> Source {
    let paths = files.iter().map(|file| file.0.clone()).collect();
    Source { paths, format, errors: Utf8Errors::Strict, on_error: OnError::Raise }
}

fn json_lines(field: &str) -> Format {
    Format::JsonLines { field: field.split('.').map(str::to_owned).collect() }
}

fn csv(name: &str) -> Format {
    Format::Csv { column: CsvColumn::Name(name.to_owned()), delimiter: b',' }
}

fn opened(source: &Source) -> (SourceReader, Arc<Skipped>) {
    let skipped = Arc::new(Skipped::default());
    (SourceReader::new(Arc::new(source.clone()), Arc::clone(&skipped)), skipped)
}

/// The number of records that were left out, and the messages of the first ones.
type Report = (u64, Vec<String>);

/// All texts, and the report of the records that were left out.
fn texts(source: &Source) -> Result<(Vec<String>, Report)> {
    texts_of(source, true)
}

/// The same; `has_bytes` is false for a stream, whose bytes are not known.
fn texts_of(source: &Source, has_bytes: bool) -> Result<(Vec<String>, Report)> {
    let (mut reader, skipped) = opened(source);
    let mut block = RecordBlock::default();
    let (mut texts, mut last, mut read) = (Vec::new(), None, 0);
    while reader.next(&mut block)? {
        source.for_each_text(&mut block, &skipped, |text, offset| {
            assert!(Some(offset) > last, "texts come in order");
            last = Some(offset);
            texts.push(text.to_owned());
            Ok(())
        })?;
        read += block.read;
    }
    assert_eq!(reader.bytes(), has_bytes.then_some(read), "what is read is told");
    Ok((texts, skipped.report()))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(bytes, 1).expect("memory")
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_format_gives_back_the_texts(
        texts in prop::collection::vec("[a\u{e9}日\"\\\\,\r\n ]{0,9}", 1..12),
        split in 0..12usize,
        compress in prop::sample::select(vec![<[u8]>::to_vec as fn(&[u8]) -> Vec<u8>, gzip, bzip2, zstd]),
        ascii in any::<bool>(),
    ) {
        let (first, second) = texts.split_at(split.min(texts.len()));
        let lines = |texts: &[String]| -> String {
            let escaped = |text: &String| {
                let json = serde_json::json!({"id": 1, "inner": {"text": text}}).to_string();
                if ascii { json.replace('\u{e9}', "\\u00e9") } else { json }
            };
            texts.iter().map(|text| escaped(text) + "\n").collect()
        };
        let values = |texts: &[String]| {
            let mut writer = ::csv::Writer::from_writer(Vec::new());
            writer.write_record(["id", "text"]).expect("memory");
            for text in texts {
                writer.write_record(["1", text]).expect("memory");
            }
            writer.into_inner().expect("memory")
        };
        // Two members of one file, and another file.
        let both = [compress(lines(first).as_bytes()), compress(lines(second).as_bytes())].concat();
        let json = [TemporaryFile::new("both.json", &both), TemporaryFile::new("one.json", &compress(lines(&texts).as_bytes()))];
        let csv_files = [TemporaryFile::new("first.csv", &compress(&values(first))), TemporaryFile::new("second.csv", &compress(&values(second)))];
        let twice = [&texts[..], &texts[..]].concat();
        prop_assert_eq!(self::texts(&source(&[&json[0], &json[1]], json_lines("inner.text"))).expect("valid").0, twice);
        prop_assert_eq!(self::texts(&source(&[&csv_files[0], &csv_files[1]], csv("text"))).expect("valid").0, texts.clone());
        let plain = texts.concat();
        let file = TemporaryFile::new("plain", &compress(plain.as_bytes()));
        let naive: Vec<&str> = plain.split_inclusive('\n').collect();
        prop_assert_eq!(self::texts(&source(&[&file], Format::Lines)).expect("valid").0, naive);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..99), at in 0..99usize) {
        let whole = [gzip(b"{\"text\": \"a\"}\n"), zstd(b"{\"text\": \"a\"}\n"), bzip2(b"{\"text\": \"a\"}\n"), bytes.clone()];
        for mut file in whole {
            // One byte is changed, and the rest is cut off.
            file.truncate(at + 9);
            if let Some(byte) = file.get_mut(at) {
                *byte ^= bytes.first().copied().unwrap_or(1);
            }
            let file = TemporaryFile::new("any", &file);
            for format in [Format::Lines, json_lines("text"), csv("text")] {
                let source = source(&[&file], format);
                let _ = texts_or_error(&source);
                let lenient = Source { errors: Utf8Errors::Replace, on_error: OnError::Skip, ..source };
                let _ = texts_or_error(&lenient);
            }
        }
    }
}

fn texts_or_error(source: &Source) -> Result<usize> {
    let (mut reader, skipped) = opened(source);
    let (mut block, mut count) = (RecordBlock::default(), 0);
    while reader.next(&mut block)? {
        source.for_each_text(&mut block, &skipped, |_, _| {
            count += 1;
            Ok(())
        })?;
    }
    Ok(count)
}

#[test]
fn a_broken_record_is_named_or_left_out() {
    let file = TemporaryFile::new(
        "broken",
        b"\xef\xbb\xbf{\"text\": \"a\"}\n\n{\"text\": 1}\n{\"text\": \"b\"}\nx\n{\"text\": \"\xff\"}",
    );
    let strict = source(&[&file], json_lines("text"));
    let error = texts(&strict).expect_err("line 3 has no text");
    assert!(
        error.to_string().ends_with("broken, line 3: invalid type: integer `1`, expected a text at byte 10"),
        "{error}"
    );
    let lenient = Source { on_error: OnError::Skip, ..strict.clone() };
    let (found, (count, first)) = texts(&lenient).expect("broken lines are left out");
    assert_eq!((found, count), (vec!["a".to_owned(), "b".to_owned()], 3));
    let lines: Vec<&str> =
        first.iter().filter_map(|message| message.split(": ").next()?.rsplit(' ').next()).collect();
    assert_eq!(lines, ["3", "5", "6"]);
    let (found, (count, _)) =
        texts(&Source { errors: Utf8Errors::Replace, ..lenient }).expect("all is replaced");
    assert_eq!((found, count), (vec!["a".to_owned(), "b".to_owned(), "\u{fffd}".to_owned()], 2));
}

#[test]
fn a_csv_file_needs_the_column() {
    let file = TemporaryFile::new("columns", "\u{feff}a,b\n1,\"2\n3\"\n4\n5,6\n".as_bytes());
    assert_eq!(texts(&source(&[&file], csv("a"))).expect("it is there").0, ["1", "4", "5"]);
    let error = texts(&source(&[&file], csv("text"))).expect_err("no column");
    assert!(error.to_string().ends_with("columns: there is no column `text`, only a, b"), "{error}");
    let error = texts(&source(&[&file], csv("b"))).expect_err("a short record");
    assert!(
        error.to_string().ends_with("columns, line 4: the record has 1 values, but the text is in number 1"),
        "{error}"
    );
    let lenient = Source { on_error: OnError::Skip, ..source(&[&file], csv("b")) };
    assert_eq!(
        texts(&lenient).expect("left out"),
        (vec!["2\n3".to_owned(), "6".to_owned()], (1, texts(&lenient).expect("left out").1.1))
    );
    let numbered = Format::Csv { column: CsvColumn::Number(1), delimiter: b',' };
    let lenient = Source { format: numbered, ..lenient };
    assert_eq!(texts(&lenient).expect("left out").0, ["b", "2\n3", "6"]);
}

#[test]
fn a_file_that_is_cut_off_is_an_error_that_names_the_file() {
    let text = "abc \u{e9}\n".repeat(1000);
    for compressed in [gzip(text.as_bytes()), bzip2(text.as_bytes()), zstd(text.as_bytes())] {
        let file = TemporaryFile::new("cut", &compressed[..compressed.len() - 5]);
        let error = texts(&source(&[&file], Format::Lines)).expect_err("cut off");
        assert!(matches!(&error, Error::Io { action: "read", path, .. } if *path == file.0), "{error}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_named_by_their_place_in_the_decompressed_file() {
    let good = TemporaryFile::new("good", b"ab\n");
    let bad = TemporaryFile::new("bad", &gzip(b"a\nb\xff\n"));
    let error = texts(&source(&[&good, &bad], Format::Lines)).expect_err("not UTF-8");
    assert!(matches!(error, Error::InvalidUtf8 { byte: 3, .. }), "{error}");
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn documents_match_naive(
        texts in prop::collection::vec("[a|\u{e9}\n]{0,12}", 0..4),
        separator in prop::sample::select(vec![None, Some("|"), Some("||"), Some("|a|"), Some("\u{e9}|")]),
        compress in prop::sample::select(vec![<[u8]>::to_vec as fn(&[u8]) -> Vec<u8>, gzip, zstd]),
        step in 1..5usize,
    ) {
        let mut naive = Vec::new();
        for text in &texts {
            match separator {
                None => naive.push(text.clone()),
                Some(separator) => {
                    let mut parts: Vec<&str> = text.split(separator).collect();
                    if parts.last().is_some_and(|last| last.is_empty()) {
                        parts.pop();
                    }
                    naive.extend(parts.into_iter().map(str::to_owned));
                }
            }
        }
        let files: Vec<_> = texts.iter().enumerate().map(|(at, text)| {
            TemporaryFile::new(&format!("documents-{at}"), &compress(text.as_bytes()))
        }).collect();
        let format = Format::Documents { separator: separator.map(str::to_owned) };
        let found = self::texts(&source(&files.iter().collect::<Vec<_>>(), format)).expect("valid").0;
        prop_assert_eq!(&found, &naive);
        // The same by few bytes at a time.
        let mut slow = Vec::new();
        for text in &texts {
            let file = Slow { bytes: text.clone().into_bytes(), at: 0, step };
            let mut documents = documents::Documents::new(Box::new(file), separator, 99);
            let mut block = RecordBlock::default();
            while documents.next(&mut block).expect("memory") {
                let mut start = 0;
                for value in block.values.drain(..) {
                    slow.push(String::from_utf8_lossy(&block.bytes[start..value.end]).into_owned());
                    start = value.end;
                }
            }
        }
        prop_assert_eq!(&slow, &naive);
    }
}

/// Gives out few bytes at a time.
struct Slow {
    bytes: Vec<u8>,
    at: usize,
    step: usize,
}

impl std::io::Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.step.min(self.bytes.len() - self.at).min(buffer.len());
        buffer[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[test]
fn a_record_beyond_the_limit_is_named() {
    // The limit is more than the bytes that are read at a time.
    let (limit, long) = (300_000, "x".repeat(900_000));
    let cases = [
        (format!("ab\n{long}\n"), Format::Lines, ", line 2: "),
        (long.clone(), Format::Lines, ", line 1: "),
        (format!("{{\"text\": \"a\"}}\n{{\"text\": \"{long}\"}}\n"), json_lines("text"), ", line 2: "),
        (format!("id,text\n1,a\n2,{long}\n"), csv("text"), ", line 3: "),
        (format!("{long},text\n1,a\n"), csv("text"), ", line 1: "),
        (long.clone(), Format::Documents { separator: None }, ", document 0: "),
        (format!("a|{long}|b"), Format::Documents { separator: Some("|".to_owned()) }, ", document 1: "),
        (format!("a|{long}"), Format::Documents { separator: Some("|".to_owned()) }, ", document 1: "),
    ];
    for (text, format, place) in cases {
        let file = TemporaryFile::new("long", text.as_bytes());
        let source = Arc::new(source(&[&file], format));
        let mut reader = SourceReader::new(Arc::clone(&source), Arc::default()).with_limit(limit);
        let mut block = RecordBlock::default();
        let error = loop {
            match reader.next(&mut block) {
                Ok(true) => match source.for_each_text(&mut block, &Skipped::default(), |_, _| Ok(())) {
                    Ok(()) => {}
                    Err(error) => break Some(error.to_string()),
                },
                Ok(false) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        let expected = format!("{place}the text has more than {limit} bytes");
        assert!(error.as_ref().is_some_and(|error| error.contains(&expected)), "{error:?}, not {expected}");
        let mut reader = SourceReader::new(Arc::clone(&source), Arc::default()).with_limit(1_000_000);
        while reader.next(&mut block).expect("it fits") {
            source.for_each_text(&mut block, &Skipped::default(), |_, _| Ok(())).expect("it fits");
        }
    }
}

#[test]
fn lines_beyond_the_limit_are_left_out_if_asked() {
    let (limit, long) = (300_000, format!("{{\"text\": \"{}\"}}", "x".repeat(900_000)));
    let line = |text: &str| format!("{{\"text\": \"{text}\"}}\n");
    let cases = [
        (format!("{}{long}\n{}{}", line("a"), line("b"), line("c")), "a,b,c", ", line 2: "),
        (format!("{long}\n{}", line("a")), "a", ", line 1: "),
        (format!("{}{long}", line("a")), "a", ", line 2: "),
        (long.clone(), "", ", line 1: "),
    ];
    for (text, expected, place) in cases {
        // Ranges of a plain file are read by the threads that work on them; others are read in order.
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            let file = TemporaryFile::new("long-lines", &bytes);
            let source = Source { on_error: OnError::Skip, ..source(&[&file], json_lines("text")) };
            let skipped = Arc::new(Skipped::default());
            let mut reader =
                SourceReader::new(Arc::new(source.clone()), Arc::clone(&skipped)).with_limit(limit);
            let (mut block, mut found, mut read) = (RecordBlock::default(), Vec::new(), 0);
            while reader.next(&mut block).expect("what is long is left out") {
                source
                    .for_each_text(&mut block, &skipped, |found_text, offset| {
                        assert!(text[offset as usize..].starts_with(&line(found_text)));
                        found.push(found_text.to_owned());
                        Ok(())
                    })
                    .expect("all others are sound");
                read += block.read;
            }
            assert_eq!((found.join(","), read), (expected.to_owned(), bytes.len() as u64));
            let (count, first) = skipped.report();
            assert_eq!(count, 1);
            assert!(first[0].contains(&format!("{place}the line has more than {limit} bytes")), "{first:?}");
        }
    }
}
