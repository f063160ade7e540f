//! Files in blocks of whole documents, or of parts of documents that are encoded apart.

use std::ops::Range;

use memchr::memmem::Finder;

use super::documents::{DocumentFile, check_separator};
use super::file_size::file_size;
#[cfg(feature = "sources")]
use super::inputs::OpenRecords;
use super::text_file::TextFile;
use super::utf8_errors::Utf8Errors;
use crate::Result;
use crate::pipeline::{Pipeline, Shard, check_length};
use crate::tokenizer::Block;

/// Bytes of text that are read at a time: few enough to stay in a near cache until they are encoded.
const BLOCK: usize = 1 << 18;

/// Documents of some files as a source of blocks, in memory that does not grow with the files.
///
/// Of a document that does not end within a block, the block gets the text up to a place where the ids cannot depend on the
/// text after it. Where the tokenizer has no such places, the document is read to its end.
pub(super) struct FileBlocks<'a> {
    pipeline: &'a Pipeline,
    files: std::slice::Iter<'a, DocumentFile>,
    separator: Option<Finder<'a>>,
    errors: Utf8Errors,
    block: usize,
    file: Option<TextFile>,
    #[cfg(feature = "sources")]
    records: Option<OpenRecords<'a>>,
    /// Bytes of all files, as far as they know their length.
    pub(super) bytes: usize,
    /// Text that was read and not handed out.
    rest: String,
    /// The number of the next document.
    row: usize,
    /// True if part of the next document was handed out.
    is_begun: bool,
}

impl<'a> FileBlocks<'a> {
    /// The documents of `files`; text is cut at `separator`.
    ///
    /// # Errors
    /// [`Error::InvalidOption`](crate::Error) for an empty separator.
    pub(super) fn new(
        pipeline: &'a Pipeline,
        files: &'a [DocumentFile],
        separator: Option<&'a str>,
        errors: Utf8Errors,
    ) -> Result<Self> {
        check_separator(separator)?;
        let paths = files.iter().flat_map(DocumentFile::paths);
        Ok(Self {
            pipeline,
            bytes: paths
                .filter_map(|path| file_size(path))
                .fold(0, |sum, size| sum.saturating_add(size as usize)),
            files: files.iter(),
            separator: separator.map(Finder::new),
            errors,
            block: BLOCK,
            file: None,
            #[cfg(feature = "sources")]
            records: None,
            rest: String::new(),
            row: 0,
            is_begun: false,
        })
    }

    /// Adds the documents that end in the block's text; answers where the next one begins.
    fn add_ended(&mut self, block: &mut Block) -> usize {
        let mut next = 0;
        if let Some(separator) = self.separator.take() {
            for end in separator.find_iter(block.text.as_bytes()) {
                self.add(&mut block.shards, next..end, true);
                next = end + separator.needle().len();
            }
            self.separator = Some(separator);
        }
        next
    }

    /// Adds the beginning of a document that continues after the block's text, up to a place where its ids cannot depend on the
    /// text after it; answers this place, or 0 if there is none.
    fn add_beginning(&mut self, block: &mut Block) -> usize {
        let margin = self.separator.as_ref().map_or(0, |separator| separator.needle().len());
        let boundary = self.pipeline.last_boundary(&block.text, margin).unwrap_or(0);
        if boundary > 0 {
            self.add(&mut block.shards, 0..boundary, false);
        }
        boundary
    }

    fn add(&mut self, parts: &mut Vec<Shard>, bytes: Range<usize>, is_last: bool) {
        parts.push(Shard { row: self.row, bytes, is_first: !self.is_begun, is_last });
        self.row += usize::from(is_last);
        self.is_begun = !is_last;
    }

    /// Adds the next records of a file of records to `block`, which is empty; false at the end, or if no such file is open.
    ///
    /// # Errors
    /// The errors of reading.
    #[cfg(feature = "sources")]
    fn next_records(&mut self, block: &mut Block) -> Result<bool> {
        while let Some(mut records) = self.records.take() {
            let is_filled = records.next(|text| {
                let start = block.text.len();
                block.text.push_str(text);
                self.add(&mut block.shards, start..block.text.len(), true);
            })?;
            if is_filled {
                self.records = Some(records);
            }
            if !block.shards.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Replaces the contents of `block` by the next documents, or by a part of the next one; false at the end.
    ///
    /// # Errors
    /// The errors of reading.
    pub(super) fn next(&mut self, block: &mut Block) -> Result<bool> {
        block.shards.clear();
        block.text.clear();
        block.text.push_str(&self.rest);
        self.rest.clear();
        loop {
            #[cfg(feature = "sources")]
            if self.next_records(block)? {
                return Ok(true);
            }
            let file = match &mut self.file {
                Some(file) => file,
                none => match self.files.next() {
                    None => return Ok(false),
                    Some(DocumentFile::Text(path)) => none.insert(TextFile::open(path, self.errors)?),
                    #[cfg(feature = "sources")]
                    Some(DocumentFile::Records(source)) => {
                        self.records = Some(source.open());
                        continue;
                    }
                },
            };
            // Twice as much each time, so that a long document is not looked through again and again.
            let wanted = block.text.len().max(self.block);
            let is_more = file.read(&mut block.text, wanted)?;
            check_length(block.text.len())?;
            let mut used = self.add_ended(block);
            if !is_more {
                self.file = None;
                // The text after the last separator is a document only if it is not empty.
                if used < block.text.len() || self.is_begun || self.separator.is_none() {
                    self.add(&mut block.shards, used..block.text.len(), true);
                }
                used = block.text.len();
            } else if used == 0 {
                used = self.add_beginning(block);
            }
            if !block.shards.is_empty() {
                self.rest.push_str(&block.text[used..]);
                block.text.truncate(used);
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::added_tokens::{AddedToken, AddedTokens};
    use crate::byte_level::BYTE_TO_CHAR;
    use crate::corpus::documents::read_documents;
    use crate::models::Model;
    use crate::models::bpe::{Bpe, BpeOptions};
    use crate::models::wordpiece::{WordPiece, WordPieceOptions};
    use crate::normalizers::{Bert, Form, Normalizer};
    use crate::pre_tokenizers::{ByteLevel, PreTokenizer};
    use crate::structures::finder::{Replacement, TextPattern};
    use crate::testing::cases;
    use crate::tokenizer::{Components, Tokenizer};
    use crate::vocab::Vocab;

    fn bpe(first: impl Iterator<Item = String>, merges: &[(&str, &str)], byte_fallback: bool) -> Model {
        let joined = merges.iter().map(|(left, right)| format!("{left}{right}"));
        let vocab = Vocab::from_tokens(first.chain(joined).chain(["<unk>".to_owned()]));
        let options =
            BpeOptions { unk_token: Some("<unk>".to_owned()), byte_fallback, ..BpeOptions::default() };
        Model::Bpe(Bpe::new(vocab, merges, options).expect("all tokens are there"))
    }

    /// Byte-level with and without a normalizer, BERT's kind, SentencePiece's kind, and one that cannot be cut.
    fn tokenizers() -> Vec<Tokenizer> {
        let bytes = || BYTE_TO_CHAR.iter().map(char::to_string);
        let of_bytes = bpe(bytes(), &[("a", "b"), ("Ġ", "a"), ("Ġa", "b"), ("å", "Ĺ")], false);
        let fallback = (0..=255u8).map(|byte| format!("<0x{byte:02X}>"));
        let letters = ["▁", "a", "b", "B", "é"].map(str::to_owned);
        let spaced = bpe(letters.into_iter().chain(fallback), &[("▁", "a"), ("a", "b"), ("▁a", "b")], true);
        let tokens = ["[UNK]", "a", "b", "##a", "##b", "ab", "e", "日", "."];
        let pieces = WordPiece::new(Arc::new(Vocab::from_tokens(tokens)), WordPieceOptions::default());
        let visible = Replacement::new(TextPattern::Literal(" ".to_owned()), "▁".to_owned());
        let visible = Normalizer::Replace(Arc::new(visible.expect("literal")));
        let with_prefix = Normalizer::Sequence(vec![Normalizer::Prepend("▁".to_owned()), visible]);
        let byte_level =
            PreTokenizer::ByteLevel(ByteLevel { add_prefix_space: false, ..ByteLevel::default() });
        let (of_bytes, spaced) = (Arc::new(of_bytes), Arc::new(spaced));
        let kinds = [
            (None, Some(byte_level.clone()), Arc::clone(&of_bytes)),
            (Some(Normalizer::Unicode(Form::Nfc)), Some(byte_level), of_bytes),
            (
                Some(Normalizer::Bert(Bert::default())),
                Some(PreTokenizer::Bert),
                Arc::new(Model::WordPiece(pieces)),
            ),
            (Some(with_prefix), None, Arc::clone(&spaced)),
            (Some(Normalizer::Lowercase), None, spaced),
        ];
        let of_kind = |(normalizer, pre_tokenizer, model): (_, _, Arc<Model>)| {
            let mut added = AddedTokens::default();
            added.add(&[AddedToken::new("<s>", true)], model.vocab());
            // Other plans know nothing of tokens in normalized text.
            if matches!(pre_tokenizer, Some(PreTokenizer::ByteLevel(_))) {
                added.add(&[AddedToken::new("b a", false)], model.vocab());
            }
            let parts = Components {
                normalizer,
                pre_tokenizer,
                added: Arc::new(added),
                ..Components::of_model(model)
            };
            Tokenizer::new(&parts).expect("valid stages")
        };
        kinds.into_iter().map(of_kind).collect()
    }

    #[test]
    fn a_file_is_read_in_blocks_where_it_can_be_cut() {
        let path = std::env::temp_dir().join(format!("lexmill-block-{}", std::process::id()));
        std::fs::write(&path, "ab ba ".repeat(100)).expect("a temporary file");
        let blocks = tokenizers().into_iter().map(|tokenizer| {
            let files = [DocumentFile::Text(path.clone())];
            let mut source = FileBlocks::new(tokenizer.pipeline(), &files, None, Utf8Errors::Strict)?;
            source.block = 100;
            let (mut count, mut block) = (0, Block::default());
            while source.next(&mut block)? {
                count += 1;
            }
            Ok(count > 3)
        });
        assert_eq!(blocks.collect::<Result<Vec<_>>>().expect("it is there"), [true, true, true, true, false]);
        std::fs::remove_file(&path).expect("a temporary file");
    }

    #[cfg(feature = "sources")]
    #[test]
    fn records_and_text_files_come_in_order() {
        use crate::corpus::inputs::InputSource;
        use crate::corpus::sources::{Format, OnError, Source};

        let folder = std::env::temp_dir().join(format!("lexmill-records-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let (text, lines) = (folder.join("text"), folder.join("lines"));
        std::fs::write(&text, "ab||ba||").expect("a temporary file");
        std::fs::write(&lines, "a||b\n\nab ba").expect("a temporary file");
        let source = Source {
            paths: vec![lines.clone(), lines],
            format: Format::Lines,
            errors: Utf8Errors::Strict,
            on_error: OnError::Raise,
        };
        let records =
            DocumentFile::Records(InputSource { source: Arc::new(source), skipped: Arc::default() });
        let files = [DocumentFile::Text(text.clone()), records, DocumentFile::Text(text)];
        let read = read_documents(&files, Some("||"), Utf8Errors::Strict).expect("they are there");
        let of_lines = ["a||b\n", "\n", "ab ba"];
        assert_eq!(read.documents(), [&["ab", "ba"][..], &of_lines, &of_lines, &["ab", "ba"]].concat());
        for tokenizer in tokenizers() {
            let source = FileBlocks::new(tokenizer.pipeline(), &files, Some("||"), Utf8Errors::Strict);
            let mut source = source.expect("a separator");
            let (bytes, next) = (source.bytes, |block: &mut Block| source.next(block));
            let streamed = tokenizer.encode_blocks::<u32>(bytes, next, true, 2.into()).expect("no bad bytes");
            let whole = tokenizer.encode_ids::<u32>(&read.documents()[..], true, 1).expect("all is known");
            assert_eq!(streamed, Some(whole), "{:?}", tokenizer.pipeline().plan());
        }
        std::fs::remove_dir_all(&folder).expect("a temporary folder");
    }

    proptest! {
        #![proptest_config(cases(400))]

        #[test]
        fn file_blocks_matches_naive(
            texts in prop::collection::vec(
                "[abB é日\n.|<s>\u{301}]{0,200}|(b a|<s>|[|]{1,3}|ab|\n){0,60}|( {0,3}[ab日]{1,9},?[|]?){0,40}|日{0,99}",
                0..4,
            ),
            separator in prop::sample::select(vec![None, Some("\n"), Some("||"), Some("<s>"), Some(" a")]),
            block in prop_oneof![1..40usize, 60..300usize],
            threads in 1..4usize,
        ) {
            let folder = std::env::temp_dir().join(format!("lexmill-blocks-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a temporary folder");
            let paths = (0..texts.len()).map(|at| folder.join(at.to_string()));
            let paths: Vec<DocumentFile> = paths.map(DocumentFile::Text).collect();
            for (file, text) in paths.iter().zip(&texts) {
                std::fs::write(&file.paths()[0], text).expect("a temporary file");
            }
            let files = read_documents(&paths, separator, Utf8Errors::Strict).expect("they are there");
            for tokenizer in tokenizers() {
                let source = FileBlocks::new(tokenizer.pipeline(), &paths, separator, Utf8Errors::Strict);
                let mut source = FileBlocks { block, ..source.expect("a separator") };
                let parallelism = threads.into();
                let streamed = tokenizer.encode_blocks::<u32>(source.bytes, |block| source.next(block), true, parallelism).expect("no bad bytes");
                let whole = tokenizer.encode_ids::<u32>(&files.documents()[..], true, 1).expect("all is known");
                prop_assert_eq!(streamed, Some(whole), "{:?}", tokenizer.pipeline().plan());
            }
            std::fs::remove_dir_all(&folder).expect("a temporary folder");
        }
    }
}
