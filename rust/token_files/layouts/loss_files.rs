//! Loss masks as files beside the ids, for layouts without columns: a value for each token, in the layout of the ids.

use std::path::{Path, PathBuf};

use super::megatron::Megatron;
use super::raw::Bare;
use super::{CompleteFile, PartKind, PartWriter};
use crate::Result;
use crate::token_files::layout::{Layout, Preset};
use crate::token_files::loss::LossForm;
use crate::token_files::part_file::PartFile;
use crate::token_files::rows::Row;
use crate::token_files::width::Width;

/// The forms that can be files of their own.
pub(in crate::token_files) const FORMS: [LossForm; 2] = [LossForm::Mask, LossForm::Labels];

/// Suffixes of the files of loss masks, the file of values first. Empty if the layout has columns instead, or lacks the form.
fn suffixes(layout: Layout, form: LossForm) -> &'static [&'static str] {
    match (layout, form) {
        (Layout::Megatron, LossForm::Mask) => &[".loss_mask.bin", ".loss_mask.idx"],
        (Layout::Megatron, LossForm::Labels) => &[".labels.bin", ".labels.idx"],
        (Layout::Npy | Layout::Raw(Preset::Dolma), LossForm::Mask) => &[".loss_mask.npy"],
        (Layout::Npy, LossForm::Labels) => &[".labels.npy"],
        (Layout::Raw(Preset::NanoGpt), LossForm::Mask) => &[".loss_mask.bin"],
        // datatrove's own name.
        (Layout::Raw(Preset::Datatrove), LossForm::Mask) => &[".ds.loss"],
        _ => &[],
    }
}

/// The names of the files of loss masks beside the ids `stem`, the values first.
pub(in crate::token_files) fn loss_names(layout: Layout, form: LossForm, stem: &str) -> Vec<String> {
    suffixes(layout, form).iter().map(|suffix| format!("{stem}{suffix}")).collect()
}

/// True if a file of the layout has loss masks.
pub(in crate::token_files) fn is_loss_file(layout: Layout, name: &str) -> bool {
    FORMS.iter().any(|&form| suffixes(layout, form).iter().any(|suffix| name.ends_with(suffix)))
}

/// The name of the side file of lengths, which exists only while the part is written.
fn side_name(form: LossForm, stem: &str) -> String {
    format!("{stem}.{}.lengths", form.columns()[0])
}

fn stem(part: usize) -> String {
    format!("part-{part:05}")
}

/// The names of all files of loss masks that part `part` may have, finished or not.
pub(super) fn possible_names(layout: Layout, part: usize) -> Vec<String> {
    let of_form = |form| {
        let mut names = loss_names(layout, form, &stem(part));
        if layout == Layout::Megatron {
            names.push(side_name(form, &stem(part)));
        }
        names
    };
    FORMS.into_iter().flat_map(of_form).collect()
}

/// The path of the loss masks of a part, in a layout with one file of them.
pub(super) fn file_of(layout: Layout, form: LossForm, folder: &Path, part: usize) -> PathBuf {
    folder.join(loss_names(layout, form, &stem(part)).concat())
}

/// Wraps the writer `ids` so that it also writes loss masks, in layouts where `ids` does not write them itself.
///
/// # Errors
/// [`crate::Error::Io`].
pub(super) fn beside(
    ids: Box<dyn PartWriter>,
    kind: PartKind<'_>,
    folder: &Path,
    part: usize,
) -> Result<Box<dyn PartWriter>> {
    let (Some(form), Layout::Megatron | Layout::Raw(_)) = (kind.loss, kind.layout) else { return Ok(ids) };
    let width = kind.width;
    let values: Box<dyn PartWriter> = if kind.layout == Layout::Megatron {
        let mut names = loss_names(kind.layout, form, &stem(part));
        names.push(side_name(form, &stem(part)));
        let paths: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
        Box::new(Megatron::create(&paths, form.width().unwrap_or(Width::U8))?)
    } else {
        Box::new(Bare { ids: PartFile::create(file_of(kind.layout, form, folder, part), 0)? })
    };
    Ok(Box::new(LossFiles { ids, values, form, width, bytes: Vec::new() }))
}

/// Two writers, one for ids and one for the values of loss masks.
struct LossFiles {
    ids: Box<dyn PartWriter>,
    values: Box<dyn PartWriter>,
    form: LossForm,
    /// Of the ids.
    width: Width,
    /// The values of a row.
    bytes: Vec<u8>,
}

impl PartWriter for LossFiles {
    fn push(&mut self, row: Row<'_>) -> Result<()> {
        self.bytes.clear();
        self.form.push(row.ids, row.mask, self.width, &mut self.bytes);
        self.values.push(Row { ids: &self.bytes, ..row })?;
        self.ids.push(row)
    }

    fn finish(self: Box<Self>) -> Result<Vec<CompleteFile>> {
        let mut files = self.ids.finish()?;
        files.extend(self.values.finish()?);
        Ok(files)
    }
}
