//! The layouts, their names, and the options that each takes.

use super::rows::RowColumn;
use crate::{Error, Result};

/// The layout of token files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Megatron-LM's pair of `.bin` and `.idx`.
    Megatron,
    /// A folder that `datasets.load_from_disk` opens.
    Arrow,
    /// Apache Parquet.
    Parquet,
    /// NPY files, as numpy reads them.
    Npy,
    /// MDS shards, as `MosaicML` streaming reads them.
    Mds,
    /// Tar files of NPY files, as `WebDataset` reads them.
    WebDataset,
    /// Chunks, as litdata reads them.
    Litdata,
    /// `ArrayRecord` files, as Grain reads them.
    ArrayRecord,
    /// Bare ids, with the header and the side files of a training program.
    Raw(Preset),
}

/// The program whose files of bare ids are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// nanoGPT: one file of ids and nothing else.
    NanoGpt,
    /// datatrove and nanotron: `.ds` with the ends of documents and a file of counts.
    Datatrove,
    /// dolma and `OLMo`: ids under the name `.npy`, and a table of documents.
    Dolma,
    /// llm.c: a header of 256 integers.
    LlmC,
}

impl Layout {
    const ALL: [Self; 12] = [
        Self::Megatron,
        Self::Arrow,
        Self::Parquet,
        Self::Npy,
        Self::Mds,
        Self::WebDataset,
        Self::Litdata,
        Self::ArrayRecord,
        Self::Raw(Preset::NanoGpt),
        Self::Raw(Preset::Datatrove),
        Self::Raw(Preset::Dolma),
        Self::Raw(Preset::LlmC),
    ];

    /// The names of its format and of its preset.
    pub(super) fn names(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Megatron => ("megatron", None),
            Self::Arrow => ("arrow", None),
            Self::Parquet => ("parquet", None),
            Self::Npy => ("npy", None),
            Self::Mds => ("mds", None),
            Self::WebDataset => ("webdataset", None),
            Self::Litdata => ("litdata", None),
            Self::ArrayRecord => ("arrayrecord", None),
            Self::Raw(Preset::NanoGpt) => ("raw", Some("nanogpt")),
            Self::Raw(Preset::Datatrove) => ("raw", Some("datatrove")),
            Self::Raw(Preset::Dolma) => ("raw", Some("dolma")),
            Self::Raw(Preset::LlmC) => ("raw", Some("llm.c")),
        }
    }

    /// The layout with these names.
    ///
    /// # Errors
    /// [`Error::InvalidOption`].
    pub fn named(format: &str, preset: Option<&str>) -> Result<Self> {
        if let Some(found) = Self::ALL.into_iter().find(|layout| layout.names() == (format, preset)) {
            return Ok(found);
        }
        let invalid = |name, value: &str, expected: String| {
            Err(Error::InvalidOption { name, value: value.to_owned(), expected })
        };
        match preset {
            _ if format == "raw" => {
                let presets: Vec<&str> =
                    Self::ALL.into_iter().filter_map(|layout| layout.names().1).collect();
                let expected = format!("{} with format raw", alternatives(&presets));
                invalid("preset", preset.unwrap_or("absent"), expected)
            }
            Some(preset) => invalid("preset", preset, "absent unless format is raw".to_owned()),
            None => invalid("format", format, Self::formats_with(|_| true)),
        }
    }

    /// The names of the formats with a property, as alternatives.
    pub(super) fn formats_with(has: impl Fn(Self) -> bool) -> String {
        let found = Self::ALL.into_iter().filter(|&layout| has(layout));
        let mut names: Vec<&str> = found.map(|layout| layout.names().0).collect();
        names.dedup();
        alternatives(&names)
    }

    /// True if documents can be packed into rows.
    pub(super) fn has_rows(self) -> bool {
        !matches!(self, Self::Megatron | Self::Raw(_))
    }

    /// True if columns of the sources, offsets and signed ids can be kept.
    pub(super) fn has_columns(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }

    /// The reason why packed rows have no such column, if they have none.
    pub(super) fn lacks(self, column: RowColumn) -> Option<&'static str> {
        match self {
            Self::Npy if !RowColumn::OF_TOKENS.contains(&column) => Some("whose row_splits have all starts"),
            Self::Litdata | Self::ArrayRecord => Some("whose records have ids alone"),
            _ => None,
        }
    }
}

/// `a, b or c`.
fn alternatives(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_layouts() {
        for layout in Layout::ALL {
            let (format, preset) = layout.names();
            assert_eq!(Layout::named(format, preset).ok(), Some(layout));
        }
        assert_eq!(Layout::formats_with(Layout::has_columns), "arrow or parquet");
        assert_eq!(Layout::formats_with(|layout| layout == Layout::Npy), "npy");
    }
}
