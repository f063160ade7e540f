//! Parquet, Arrow files and streams.

use ::arrow_ipc::CompressionType;
use ::arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_array::{
    ArrayRef, BinaryViewArray, DictionaryArray, LargeStringArray, RecordBatch, StringArray, StringViewArray,
    StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::*;

fn parquet(column: &str) -> Format {
    Format::Parquet { column: column.to_owned() }
}

fn arrow(column: &str) -> Format {
    Format::ArrowIpc { column: column.to_owned() }
}

/// A file of optional texts within an optional struct, in row groups of four rows and pages of few bytes.
fn parquet_file(texts: &[Option<&str>], kind: usize) -> Vec<u8> {
    let schema = "message m { required int64 id; optional group meta { optional binary text (STRING); } }";
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::GZIP(parquet::basic::GzipLevel::default()),
    ];
    let properties = WriterProperties::builder()
        .set_compression(compressions[kind % 5])
        .set_writer_version([WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][kind % 2])
        .set_data_page_size_limit(30)
        .set_write_batch_size(2);
    let properties = match kind % 3 {
        0 => properties,
        1 => properties.set_dictionary_enabled(false),
        _ => {
            let text = ColumnPath::new(vec!["meta".to_owned(), "text".to_owned()]);
            properties.set_dictionary_enabled(false).set_column_encoding(text, Encoding::DELTA_BYTE_ARRAY)
        }
    };
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).expect("memory");
    for rows in texts.chunks(4) {
        let mut group = writer.next_row_group().expect("memory");
        let mut ids = group.next_column().expect("memory").expect("a column");
        let numbers: Vec<i64> = (0..rows.len() as i64).collect();
        ids.typed::<parquet::data_type::Int64Type>().write_batch(&numbers, None, None).expect("memory");
        ids.close().expect("memory");
        let mut column = group.next_column().expect("memory").expect("a column");
        let values: Vec<ByteArray> = rows.iter().flatten().map(|&text| text.into()).collect();
        // In even rows a null is a null text, in odd rows a null struct.
        let level = |(row, text): (usize, Option<&str>)| {
            if text.is_some() { 2 } else { i16::from(row % 2 == 0) }
        };
        let levels: Vec<i16> = rows.iter().copied().enumerate().map(level).collect();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).expect("memory");
        column.close().expect("memory");
        group.close().expect("memory");
    }
    writer.into_inner().expect("memory")
}

fn column_of(texts: &[Option<&str>], kind: usize) -> ArrayRef {
    match kind % 5 {
        0 => Arc::new(StringArray::from(texts.to_vec())),
        1 => Arc::new(LargeStringArray::from(texts.to_vec())),
        2 => Arc::new(StringViewArray::from(texts.to_vec())),
        3 => {
            let bytes: Vec<Option<&[u8]>> = texts.iter().map(|text| text.map(str::as_bytes)).collect();
            Arc::new(BinaryViewArray::from(bytes))
        }
        _ => Arc::new(texts.iter().copied().collect::<DictionaryArray<arrow_array::types::Int32Type>>()),
    }
}

/// A batch of four rows each, with the texts within a struct; of a dictionary a single batch, since a file allows one.
fn batches(texts: &[Option<&str>], kind: usize) -> (Arc<Schema>, Vec<RecordBatch>) {
    let rows = if kind % 5 == 4 { texts.len().max(1) } else { 4 };
    let batch = |texts: &[Option<&str>]| {
        let column = column_of(texts, kind);
        let text = Arc::new(Field::new("text", column.data_type().clone(), true));
        let meta: ArrayRef = Arc::new(StructArray::from(vec![(text, column)]));
        let ids: ArrayRef = Arc::new(arrow_array::Int64Array::from_iter_values(0..texts.len() as i64));
        RecordBatch::try_from_iter_with_nullable([("id", ids, false), ("meta", meta, true)]).expect("columns")
    };
    let schema = batch(&[]).schema();
    (schema, texts.chunks(rows).map(batch).collect())
}

fn arrow_file(texts: &[Option<&str>], kind: usize) -> Vec<u8> {
    let (schema, batches) = batches(texts, kind);
    let compressions = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    let options = IpcWriteOptions::default().try_with_compression(compressions[kind % 3]).expect("known");
    let mut bytes = Vec::new();
    if kind.is_multiple_of(2) {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &schema, options).expect("memory");
        for batch in &batches {
            writer.write(batch).expect("memory");
        }
        writer.finish().expect("memory");
    } else {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &schema, options).expect("memory");
        for batch in &batches {
            writer.write(batch).expect("memory");
        }
        writer.finish().expect("memory");
    }
    bytes
}

/// A stream as another library would hand it over.
fn stream(texts: &[Option<&str>], kind: usize) -> Format {
    let (schema, batches) = batches(texts, kind);
    let batches = arrow_array::RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    let stream = arrow_array::ffi_stream::FFI_ArrowArrayStream::new(Box::new(batches));
    Format::ArrowStream { column: "meta.text".to_owned(), stream: Arc::new(ArrowStream::new(stream)) }
}

fn without_nulls(source: Source, texts: &[Option<&str>]) {
    let is_stream = matches!(source.format, Format::ArrowStream { .. });
    let (found, (count, first)) =
        self::texts_of(&Source { on_error: OnError::Skip, ..source }, !is_stream).expect("valid");
    assert_eq!(found, texts.iter().copied().flatten().collect::<Vec<_>>());
    let nulls: Vec<usize> = (0..texts.len()).filter(|&row| texts[row].is_none()).collect();
    assert_eq!(count, nulls.len() as u64);
    for (row, message) in nulls.iter().zip(&first) {
        assert!(message.ends_with(&format!(", row {row}: the value is null")), "{message}");
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_column_gives_back_the_texts(
        texts in prop::collection::vec(prop::option::weighted(0.9, "[a\u{e9}日\n ]{0,20}"), 0..40),
        kind in 0..30usize,
        compress in prop::sample::select(vec![<[u8]>::to_vec as fn(&[u8]) -> Vec<u8>, gzip, zstd]),
    ) {
        let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
        let file = TemporaryFile::new("column.parquet", &parquet_file(&texts, kind));
        without_nulls(source(&[&file], parquet("meta.text")), &texts);
        let file = TemporaryFile::new("column.arrow", &compress(&arrow_file(&texts, kind)));
        without_nulls(source(&[&file], arrow("meta.text")), &texts);
        without_nulls(Source { paths: vec!["stream".into()], ..source(&[], stream(&texts, kind)) }, &texts);
    }

    #[test]
    fn damaged_columns_are_read_or_refused(
        kind in 0..30usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let texts = [Some("abc"), None, Some("日本"), Some(""), Some("abc abc abc abc abc abc abc abc")];
        for (mut bytes, format) in
            [(parquet_file(&texts, kind), parquet("meta.text")), (arrow_file(&texts, kind), arrow("meta.text"))]
        {
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] ^= byte;
            }
            bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
            let file = TemporaryFile::new("damaged", &bytes);
            let _ = texts_or_error(&source(&[&file], format));
        }
    }
}

#[test]
fn a_column_that_is_cut_off_is_an_error() {
    let texts = [Some("abc"); 9];
    for kind in 0..30 {
        for (bytes, format) in [
            (parquet_file(&texts, kind), parquet("meta.text")),
            (arrow_file(&texts, kind), arrow("meta.text")),
        ] {
            // A stream may end without the mark of its end, which has 8 bytes.
            let file = TemporaryFile::new("cut-column", &bytes[..bytes.len() - 9]);
            let error = super::texts(&source(&[&file], format)).expect_err("cut off");
            assert!(matches!(&error, Error::Io { action: "read", path, .. } if *path == file.0), "{error}");
        }
    }
}

#[test]
fn a_column_has_to_be_there_and_to_hold_texts() {
    let files = [
        (parquet_file(&[Some("a")], 0), parquet as fn(&str) -> Format, "INT64"),
        (arrow_file(&[Some("a")], 0), arrow, "Int64"),
    ];
    for (bytes, format, int) in files {
        let file = TemporaryFile::new("wrong-column", &bytes);
        let wrong = |column: &str| texts(&source(&[&file], format(column))).expect_err("wrong").to_string();
        let message = wrong("text");
        assert!(
            message.ends_with("wrong-column: there is no column `text`, only id, meta.text"),
            "{message}"
        );
        let message = wrong("id");
        let expected = format!("column `id` holds {int} but must hold strings, or bytes that are UTF-8");
        assert!(message.ends_with(&expected), "{message}");
        assert!(wrong("meta").contains("column `meta` holds "));
    }
}

#[test]
fn a_stream_is_read_once_and_its_errors_are_told() {
    let schema = Arc::new(Schema::new(vec![Field::new("text", DataType::Utf8, true)]));
    let failing = std::iter::once(Err(arrow_schema::ArrowError::ComputeError("boom".to_owned())));
    let failing = arrow_array::RecordBatchIterator::new(failing, schema);
    let stream = arrow_array::ffi_stream::FFI_ArrowArrayStream::new(Box::new(failing));
    let stream = Arc::new(ArrowStream::new(stream));
    let format = Format::ArrowStream { column: "text".to_owned(), stream };
    let source = Source { paths: vec!["stream".into()], ..source(&[], format) };
    let error = texts_of(&source, false).expect_err("it fails");
    assert!(
        matches!(&error, Error::Format { path, message } if path == "stream" && message.contains("boom"))
    );
    let error = texts_of(&source, false).expect_err("it was read");
    assert_eq!(error.to_string(), "an Arrow stream can be read only once");
}
