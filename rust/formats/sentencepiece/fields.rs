//! The fields of a `.model` or `.spm.fb` file that matter for encoding.

use crate::Result;
use crate::models::piece_kind::PieceKind;
use crate::normalizers::Charsmap;

/// The fields of a file.
pub(super) struct File<'a> {
    pub(super) pieces: Vec<(&'a str, f32, PieceKind)>,
    pub(super) model_type: u64,
    pub(super) byte_fallback: bool,
    pub(super) whitespace_as_suffix: bool,
    pub(super) unk_surface: &'a str,
    pub(super) normalization: Rules<'a>,
    pub(super) denormalization: Rules<'a>,
}

/// Rules that rewrite text, and the handling of its spaces.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) charsmap: &'a [u8],
    pub(super) dummy_prefix: bool,
    pub(super) extra_whitespaces: bool,
    pub(super) escape: bool,
}

impl Default for Rules<'_> {
    fn default() -> Self {
        Self { charsmap: &[], dummy_prefix: true, extra_whitespaces: true, escape: true }
    }
}

impl Rules<'_> {
    /// The table of the rules, if there are any.
    ///
    /// # Errors
    /// The errors of [`Charsmap::new`].
    pub(super) fn table(&self) -> Result<Option<Charsmap>> {
        let table = (!self.charsmap.is_empty()).then(|| Charsmap::new(self.charsmap)).transpose()?;
        Ok(table.map(Charsmap::longest_first))
    }
}

impl File<'_> {
    pub(super) fn has(&self, kind: PieceKind) -> bool {
        self.pieces.iter().any(|&(.., own)| own == kind)
    }

    /// True if a normal piece has several characters.
    pub(super) fn has_longer(&self) -> bool {
        let is_longer = |text: &str| text.chars().nth(1).is_some();
        self.pieces.iter().any(|&(text, _, kind)| kind == PieceKind::Normal && is_longer(text))
    }

    pub(super) fn kinds(&self) -> Vec<PieceKind> {
        self.pieces.iter().map(|&(.., kind)| kind).collect()
    }
}
