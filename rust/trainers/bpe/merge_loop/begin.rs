//! The merges of initial tokens, which are known before the search for pairs begins.

use super::MergeLoop;
use crate::Result;
use crate::structures::parallel::OnProgress;
use crate::trainers::bpe::apply_merges::Replacement;
use crate::trainers::bpe::likelihood::Merged;

impl MergeLoop<'_> {
    /// Applies the merges `first`.
    pub(super) fn begin(&mut self, first: Vec<(u32, u32)>, on_progress: &mut OnProgress<'_>) -> Result<()> {
        let prefix = self.trainer.continuing_subword_prefix.as_deref();
        if first.is_empty() {
            return Ok(());
        }
        let mut replacements = Vec::with_capacity(first.len());
        for &(left, right) in &first {
            let (joined, known) = self.tokens.join(left, right, prefix);
            self.pairs_return |= known;
            replacements.push(Replacement { left, right, joined });
        }
        // As many as possible in narrow cells: afterwards there are fewer of them.
        let most = if self.arena.is_narrow() { self.tuning.narrow_id } else { usize::MAX };
        let fitting = replacements.iter().take_while(|merge| merge.joined as usize <= most).count();
        let (narrow, rest) = replacements.split_at(fitting);
        let threads = self.trainer.threads;
        let mut performed = self.arena.replay(narrow, threads, on_progress)?;
        if !rest.is_empty() {
            self.arena.widen();
            performed.extend(self.arena.replay(rest, threads, on_progress)?);
        }
        for (Replacement { left, right, joined }, &weight) in replacements.into_iter().zip(&performed) {
            self.choice.recount(Merged { left, right, joined, weight, first_new: 0 });
        }
        (self.merges, self.counts) = (first, performed);
        Ok(())
    }
}
