//! The layout that the post-processor gives to every row, found once by an empty row.

use std::sync::Arc;

use super::Tokenizer;
use super::rows::{RowRules, SpecialAffixes};
use crate::Result;
use crate::encoding::{ColumnsBuilder, Encoding, RowLayout};
use crate::processors::PostProcessor;

impl Tokenizer {
    /// The layout of the rows of texts, or of pairs; `None` if rows differ in more than their texts.
    pub(super) fn layout(&self, is_pair: bool, add_special_tokens: bool) -> Result<Option<&RowLayout>> {
        let slot = &self.layouts.rows[usize::from(is_pair)][usize::from(add_special_tokens)];
        if slot.get().is_none() {
            let layout = self.find_layout(is_pair, add_special_tokens)?;
            slot.get_or_init(|| layout);
        }
        Ok(slot.get().and_then(Option::as_ref))
    }

    fn find_layout(&self, is_pair: bool, add_special_tokens: bool) -> Result<Option<RowLayout>> {
        let columns = || Arc::new(ColumnsBuilder::default().finish(self.pipeline.names()));
        let inputs: Vec<_> = (0..=usize::from(is_pair)).map(|_| columns()).collect();
        let mut empty = inputs.iter().map(|columns| Encoding::from_columns(Arc::clone(columns), 0..0));
        let Some(first) = empty.next() else { return Ok(None) };
        let processor = self.parts.post_processor.as_ref();
        let second = empty.next().map(|mut second| {
            second.set_type_id(1);
            second
        });
        let row = PostProcessor::process(processor, first, second, add_special_tokens)?;
        Ok(RowLayout::of(&row, &inputs))
    }

    /// The special ids before and after the ids of each text; none if the post-processor does more than add special ids.
    ///
    /// # Errors
    /// The errors of the post-processor.
    pub fn special_affixes(&self) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
        let rules = self.row_rules(true)?;
        Ok(rules.map(|rules| (rules.affixes.before.clone(), rules.affixes.after.clone())))
    }

    /// The rules for the ids of a text after the model; none if the post-processor does more than add special ids before and
    /// after them.
    pub(super) fn row_rules(&self, add_special_tokens: bool) -> Result<Option<RowRules<'_>>> {
        let slot = &self.layouts.affixes[usize::from(add_special_tokens)];
        if slot.get().is_none() {
            let layout = self.layout(false, add_special_tokens)?;
            let affixes =
                layout.map(RowLayout::affixes).map(|(before, after)| SpecialAffixes { before, after });
            slot.get_or_init(|| affixes);
        }
        let special = if add_special_tokens { self.added_tokens(false) } else { 0 };
        let (truncation, padding) = (self.parts.truncation.as_ref(), self.parts.padding.as_ref());
        let affixes = slot.get().and_then(Option::as_ref);
        Ok(affixes.map(|affixes| RowRules { affixes, truncation, padding, special }))
    }
}
