//! Loss masks beside the ids of conversations: a byte for each token, 1 for a token to learn, else 0.
//!
//! A document brings its mask in [`Document::added`](super::parts::Document), so that sorted runs keep it. The files have it in one of
//! three forms.

use std::borrow::Cow;

use serde_json::Value;

use super::layout::{Layout, Preset};
use super::width::Width;
use crate::{Error, Result};

/// The label of a token that is not learned, as loss functions expect it.
const IGNORED: i32 = -100;

/// The form of loss masks in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossForm {
    /// A byte for each token.
    Mask,
    /// The id of a token to learn, -100 for another token.
    Labels,
    /// The start and the end of each range of tokens to learn.
    Ranges,
}

impl LossForm {
    const ALL: [Self; 3] = [Self::Mask, Self::Labels, Self::Ranges];

    /// The form of this name.
    ///
    /// # Errors
    /// [`Error::InvalidOption`].
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|form| form.name() == name);
        found.ok_or_else(|| Error::InvalidOption {
            name: "loss",
            value: name.to_owned(),
            expected: "mask, labels or ranges".to_owned(),
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mask => "mask",
            Self::Labels => "labels",
            Self::Ranges => "ranges",
        }
    }

    /// The names of its columns.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Mask => &["loss_mask"],
            Self::Labels => &["labels"],
            Self::Ranges => &["loss_start", "loss_end"],
        }
    }

    /// The type of a value for each token; none of ranges.
    pub(super) fn width(self) -> Option<Width> {
        match self {
            Self::Mask => Some(Width::U8),
            Self::Labels => Some(Width::I32),
            Self::Ranges => None,
        }
    }

    /// Refuses a form that the layout does not have.
    fn check(self, layout: Layout) -> Result<()> {
        let (preset, expected) = match (layout, self) {
            (Layout::Arrow | Layout::Parquet, _)
            | (Layout::Megatron | Layout::Npy, Self::Mask | Self::Labels) => {
                return Ok(());
            }
            (Layout::Megatron | Layout::Npy, Self::Ranges) => {
                (None, "mask or labels with format megatron or npy")
            }
            (Layout::Mds | Layout::WebDataset | Layout::Litdata | Layout::ArrayRecord, _) => {
                return Err(Error::InvalidOption {
                    name: "format",
                    value: layout.names().0.to_owned(),
                    expected: "another one, since its records have no masks".to_owned(),
                });
            }
            (Layout::Raw(Preset::LlmC), _) => (Some("llm.c"), "another one, since its files have no masks"),
            (Layout::Raw(_), Self::Mask) => return Ok(()),
            (Layout::Raw(_), _) => (None, "mask with format raw"),
        };
        let (name, value) = preset.map_or(("loss", self.name()), |preset| ("preset", preset));
        Err(Error::InvalidOption { name, value: value.to_owned(), expected: expected.to_owned() })
    }

    /// Appends the values of a row's tokens, whose ids have `width` bytes each. Ranges have no such values.
    pub(super) fn push(self, ids: &[u8], mask: &[u8], width: Width, bytes: &mut Vec<u8>) {
        match self {
            Self::Mask => bytes.extend_from_slice(mask),
            Self::Labels => {
                for label in labels(ids, mask, width) {
                    bytes.extend_from_slice(&label.to_le_bytes());
                }
            }
            Self::Ranges => {}
        }
    }
}

/// The options of runs that tokenize conversations.
#[derive(Clone, Debug, PartialEq)]
pub struct Messages {
    /// The form of loss masks in files.
    pub loss: LossForm,
    /// All that decides texts and masks of conversations, as the manifest shows it.
    pub rendering: Value,
}

impl Messages {
    /// Refuses forms that the layout does not have, and labels beyond 32 bits.
    ///
    /// # Errors
    /// [`Error::InvalidOption`], [`Error::Unsupported`].
    pub(super) fn check(&self, layout: Layout, largest: usize) -> Result<()> {
        self.loss.check(layout)?;
        if self.loss == LossForm::Labels && largest > i32::MAX as usize {
            let limit = i32::MAX;
            return Err(Error::Unsupported(format!(
                "the largest id is {largest}, but labels hold ids up to {limit}"
            )));
        }
        Ok(())
    }

    /// The options as the manifest shows them.
    pub(super) fn to_json(&self) -> Value {
        let mut options = self.rendering.clone();
        options["loss"] = self.loss.name().into();
        options
    }

    /// The form of loss masks that the options of a manifest name; none without conversations.
    pub(super) fn form_of(options: &Value) -> Option<LossForm> {
        LossForm::named(options["messages"]["loss"].as_str()?).ok()
    }
}

/// The labels of a row's tokens.
pub(super) fn labels<'a>(ids: &'a [u8], mask: &'a [u8], width: Width) -> impl Iterator<Item = i32> + 'a {
    let label = |(id, &is_learned): (&[u8], &u8)| {
        let mut bytes = [0; 4];
        bytes[..id.len()].copy_from_slice(id);
        if is_learned == 0 { IGNORED } else { i32::from_le_bytes(bytes) }
    };
    ids.chunks_exact(width.bytes()).zip(mask).map(label)
}

/// The ranges of a row's tokens to learn, half-open and in order.
pub(super) fn ranges(mask: &[u8]) -> impl Iterator<Item = (i32, i32)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + mask[at..].iter().position(|&is_learned| is_learned != 0)?;
        let length = mask[start..].iter().position(|&is_learned| is_learned == 0);
        at = length.map_or(mask.len(), |length| start + length);
        Some((start as i32, at as i32))
    })
}

/// The mark of a token to learn that also has characters of other text. Files have 1 for it.
const STRADDLING: u8 = 2;

/// The mask as files have it, and the number of straddling tokens.
pub(super) fn without_straddling(marks: &[u8]) -> (Cow<'_, [u8]>, u64) {
    let straddling = memchr::memchr_iter(STRADDLING, marks).count() as u64;
    if straddling == 0 {
        return (Cow::Borrowed(marks), 0);
    }
    (marks.iter().map(|&mark| mark.min(1)).collect(), straddling)
}

/// The number of tokens to learn.
pub(super) fn learned(mask: &[u8]) -> u64 {
    mask.iter().map(|&is_learned| u64::from(is_learned)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;

    #[test]
    fn files_have_one_for_a_straddling_token() {
        assert_eq!(without_straddling(&[0, 2, 1, 2]), (vec![0, 1, 1, 1].into(), 2));
        assert_eq!(without_straddling(&[0, 1]), (vec![0, 1].into(), 0));
    }

    proptest! {
        #![proptest_config(cases(200))]

        #[test]
        fn ranges_and_labels_say_the_same_as_the_mask(mask in prop::collection::vec(0..2u8, 0..20), is_wide: bool) {
            let width = if is_wide { Width::U32 } else { Width::U16 };
            let mut ids = Vec::new();
            width.push(&(0..mask.len() as u32).map(|id| id + 40_000).collect::<Vec<_>>(), &mut ids);
            let mut rebuilt = vec![0; mask.len()];
            let mut before = -1;
            for (start, end) in ranges(&mask) {
                prop_assert!(before < start && start < end);
                rebuilt[start as usize..end as usize].fill(1);
                before = end;
            }
            prop_assert_eq!(&rebuilt, &mask);
            let naive = mask.iter().zip(40_000..).map(|(&is_learned, id)| if is_learned == 1 { id } else { -100 });
            prop_assert!(labels(&ids, &mask, width).eq(naive));
            let lengths = ranges(&mask).map(|(start, end)| (end - start) as u64);
            prop_assert_eq!(learned(&mask), lengths.sum::<u64>());
        }
    }

    #[test]
    fn each_layout_has_its_forms_and_refuses_the_others() {
        let raw = |preset| Layout::Raw(preset);
        let flat = [raw(Preset::NanoGpt), raw(Preset::Datatrove), raw(Preset::Dolma)];
        let forms = |layout| {
            LossForm::ALL.into_iter().filter(move |form| form.check(layout).is_ok()).collect::<Vec<_>>()
        };
        for layout in [Layout::Arrow, Layout::Parquet] {
            assert_eq!(forms(layout), LossForm::ALL);
        }
        for layout in [Layout::Megatron, Layout::Npy] {
            assert_eq!(forms(layout), [LossForm::Mask, LossForm::Labels]);
        }
        for layout in flat {
            assert_eq!(forms(layout), [LossForm::Mask]);
        }
        assert_eq!(forms(raw(Preset::LlmC)), []);
        assert!(LossForm::named("masks").is_err());
    }
}
