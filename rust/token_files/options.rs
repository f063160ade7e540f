//! The options of token files: their layout and their contents.

use serde_json::{Value, json};

use super::layout::{Layout, Preset};
use super::loss::Messages;
use super::packing_options::Packing;
use super::paths::SPLITS;
use super::rows::RowColumn;
use super::width::Width;
use crate::corpus::sources::{AddedColumn, ValueKind};
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};

/// Entries of a vocabulary from which on Megatron-LM takes 32 bits an id.
const MEGATRON_WIDE: usize = 65_500;

/// Tokens that the header of a file of llm.c can count.
const LLM_C_TOKENS: u64 = i32::MAX as u64;

/// Bytes of ids in a part of files with 32-bit offsets. Sizes, offsets and columns make a file at most twentyfold as long, so it stays
/// below 4 GiB unless a single document is longer.
const OFFSET_PART: u64 = 1 << 27;

/// The options of token files.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Options {
    /// The layout.
    pub layout: Layout,
    /// An id before each document.
    pub begin_id: Option<u32>,
    /// An id after each document.
    pub end_id: Option<u32>,
    /// True if documents get the special tokens of the post-processor.
    pub add_special_tokens: bool,
    /// Rows of one length instead of one row a document.
    pub packing: Option<Packing>,
    /// Columns of packed rows.
    pub row_columns: Vec<RowColumn>,
    /// The share of documents, from 0 to 1, that is written apart for validation.
    pub validation: f64,
    /// Decides which documents these are, and the order of a shuffle.
    pub seed: u64,
    /// True if the documents of all sources come in an order that the seed decides.
    pub shuffle: bool,
    /// Bytes of ids in a part, unless a single document has more.
    pub part_bytes: u64,
    /// Stores signed ids, for readers that have no unsigned ones.
    pub signed: bool,
    /// Columns of the sources that are kept beside the ids, with the type that was asked for.
    pub columns: Vec<(String, Option<ValueKind>)>,
    /// True if the offsets of tokens are kept beside the ids.
    pub offsets: bool,
    /// True if parts are joined at the end to one pair of files.
    pub join: bool,
    /// Conversations in the place of texts, with loss masks beside their ids.
    pub messages: Option<Messages>,
}

/// The names of the columns that token files have by themselves.
pub(super) const OWN_COLUMNS: [&str; 4] = ["input_ids", "seq_start_id", "offsets_start", "offsets_end"];

impl Options {
    /// One more than the largest id that is written.
    fn id_bound(&self, tokenizer: &Tokenizer) -> usize {
        let added = self.begin_id.into_iter().chain(self.end_id).chain(self.packing.and_then(|it| it.pad_id));
        added.map(|id| id as usize + 1).fold(tokenizer.id_bound(), usize::max)
    }

    /// How the ids of `tokenizer` are stored.
    pub(super) fn width(&self, tokenizer: &Tokenizer) -> Width {
        let bound = self.id_bound(tokenizer);
        match self.layout {
            Layout::Megatron if bound < MEGATRON_WIDE => Width::U16,
            Layout::Megatron | Layout::Litdata => Width::I32,
            layout if layout.has_columns() && self.signed => Width::I32,
            _ if bound <= 1 << 16 => Width::U16,
            _ => Width::U32,
        }
    }

    /// Refuses options that do not fit together, and tokenizers whose ids could not be written again.
    ///
    /// # Errors
    /// [`Error::InvalidOption`], [`Error::Unsupported`], [`Error::UnknownId`].
    pub(super) fn check(&self, tokenizer: &Tokenizer) -> Result<()> {
        let invalid = |name, value: String, expected: &str| {
            Err(Error::InvalidOption { name, value, expected: expected.to_owned() })
        };
        if !(0.0..1.0).contains(&self.validation) {
            return invalid("validation", self.validation.to_string(), "from 0 to less than 1");
        }
        if self.part_bytes == 0 {
            return invalid("part_bytes", "0".to_owned(), "at least 1");
        }
        self.check_reader(tokenizer)?;
        let largest = self.id_bound(tokenizer).saturating_sub(1);
        if self.width(tokenizer) == Width::I32 && largest > i32::MAX as usize {
            let limit = i32::MAX;
            let message = format!("the largest id is {largest}, but these files hold ids up to {limit}");
            return Err(Error::Unsupported(message));
        }
        self.packing.map_or(Ok(()), Packing::check)?;
        if self.packing.is_some() && !self.layout.has_rows() {
            let expected = format!("absent unless format is {}", Layout::formats_with(Layout::has_rows));
            return invalid("pack", "given".to_owned(), &expected);
        }
        if self.signed && !self.layout.has_columns() {
            let expected = format!("false unless format is {}", Layout::formats_with(Layout::has_columns));
            return invalid("signed", "true".to_owned(), &expected);
        }
        self.messages.as_ref().map_or(Ok(()), |messages| messages.check(self.layout, largest))?;
        self.check_row_columns()?;
        self.check_columns()?;
        if self.join && self.layout != Layout::Megatron {
            return invalid("join", "true".to_owned(), "false unless format is megatron");
        }
        let ids = self.begin_id.into_iter().chain(self.end_id).chain(self.packing.and_then(|it| it.pad_id));
        tokenizer.check_ids(&ids.collect::<Vec<_>>())?;
        let unsupported = |message: &str| Err(Error::Unsupported(message.to_owned()));
        if tokenizer.truncation().is_some() {
            return unsupported(
                "the tokenizer truncates texts; call no_truncation() to write whole documents",
            );
        }
        if tokenizer.padding().is_some() {
            return unsupported("the tokenizer pads texts; call no_padding() to write bare documents");
        }
        if !tokenizer.pipeline().model().is_deterministic() {
            return unsupported("the model has dropout or sampling, so its ids differ from run to run");
        }
        Ok(())
    }

    /// Refuses files that their program would read as others.
    fn check_reader(&self, tokenizer: &Tokenizer) -> Result<()> {
        let largest = self.id_bound(tokenizer).saturating_sub(1);
        if self.layout == Layout::Raw(Preset::NanoGpt) && self.width(tokenizer) != Width::U16 {
            let limit = u16::MAX;
            let message = format!(
                "the largest id is {largest}, but nanoGPT reads ids of 16 bits, up to {limit}; take a tokenizer with fewer ids, or \
                 another format, such as npy"
            );
            return Err(Error::Unsupported(message));
        }
        let (most, reason) = match self.layout {
            Layout::Raw(Preset::LlmC) => {
                let bytes = LLM_C_TOKENS * self.width(tokenizer).bytes() as u64;
                (bytes, format!("a file of llm.c has at most {LLM_C_TOKENS} tokens"))
            }
            Layout::Mds | Layout::Litdata => {
                (OFFSET_PART, format!("offsets in files of {} have 32 bits", self.layout.names().0))
            }
            _ => return Ok(()),
        };
        if self.part_bytes > most {
            let (value, expected) = (self.part_bytes.to_string(), format!("at most {most}: {reason}"));
            return Err(Error::InvalidOption { name: "part_bytes", value, expected });
        }
        Ok(())
    }

    /// Refuses columns of packed rows without rows, given twice, or that the layout has in another form.
    fn check_row_columns(&self) -> Result<()> {
        for (at, column) in self.row_columns.iter().enumerate() {
            let expected = if self.packing.is_none() {
                "absent without pack".to_owned()
            } else if self.row_columns[..at].contains(column) {
                "given once".to_owned()
            } else if let Some(reason) = self.layout.lacks(*column) {
                format!("absent with format {}, {reason}", self.layout.names().0)
            } else {
                continue;
            };
            let value = column.name().to_owned();
            return Err(Error::InvalidOption { name: "pack_columns", value, expected });
        }
        Ok(())
    }

    /// The columns of packed rows, in their order.
    pub(super) fn all_row_columns(&self) -> Vec<RowColumn> {
        let starts = self.packing.map(|_| RowColumn::Starts);
        starts.into_iter().chain(self.row_columns.iter().copied()).collect()
    }

    /// Refuses columns that the layout cannot have.
    fn check_columns(&self) -> Result<()> {
        let invalid = |name, value: &str, expected: &str| {
            Err(Error::InvalidOption { name, value: value.to_owned(), expected: expected.to_owned() })
        };
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let wanted = [("columns", !names.is_empty(), "given"), ("offsets", self.offsets, "true")];
        for (option, is_given, value) in wanted {
            if is_given && !self.layout.has_columns() {
                let expected =
                    format!("absent unless format is {}", Layout::formats_with(Layout::has_columns));
                return invalid(option, value, &expected);
            }
            if is_given && self.packing.is_some() {
                return invalid(
                    option,
                    value,
                    "absent with pack, since a row has tokens of several documents",
                );
            }
        }
        for (at, name) in names.iter().enumerate() {
            if name.split('.').any(str::is_empty) {
                return invalid("column", name, "a name, or names with a dot between them");
            }
            if OWN_COLUMNS.contains(name) || names[..at].contains(name) {
                return invalid("column", name, "a name that no other column has");
            }
        }
        Ok(())
    }

    /// The options as the manifest shows them; `columns` are the columns that are kept, with their types.
    pub(super) fn to_json(&self, width: Width, columns: &[AddedColumn]) -> Value {
        let columns = columns.iter().map(|column| (column.name.clone(), column.kind.name().into()));
        let (format, preset) = self.layout.names();
        json!({
            "format": format,
            "preset": preset,
            "dtype": width.name(),
            "begin_token": self.begin_id,
            "end_token": self.end_id,
            "add_special_tokens": self.add_special_tokens,
            "pack": self.packing.map(|packing| packing.length),
            "packing": self.packing.map(|packing| packing.method.name()),
            "pad_token": self.packing.and_then(|packing| packing.pad_id),
            "pack_columns": self.row_columns.iter().map(|column| column.name()).collect::<Vec<_>>(),
            "validation": self.validation,
            "seed": self.seed,
            "shuffle": self.shuffle,
            "part_bytes": self.part_bytes,
            "columns": columns.collect::<serde_json::Map<String, Value>>(),
            "offsets": self.offsets,
            "join": self.join,
            "messages": self.messages.as_ref().map(Messages::to_json),
        })
    }

    /// Number of splits: documents to train on, and documents for validation.
    pub(super) fn splits(&self) -> usize {
        if self.validation > 0.0 { 2 } else { 1 }
    }

    /// The folders of the splits, named from the folder of the run; with one split this is the folder itself, by an empty name.
    pub(super) fn split_names(&self) -> &'static [&'static str] {
        if self.splits() == 1 { &[""] } else { &SPLITS }
    }
}
