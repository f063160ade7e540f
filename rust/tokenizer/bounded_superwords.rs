//! Training of superwords from counts on disk, in bounded memory.

use std::sync::Arc;

use super::from_counts::words_of;
use super::superwords::{SuperwordStages, bpe};
use crate::Result;
use crate::counting::runs::{Budget, CountsFile, Overflow, Spelling};
use crate::counting::{Spill, WordCounter};
use crate::models::Model;
use crate::structures::parallel::OnProgress;
use crate::trainers::Trainer;
use crate::trainers::bpe::{BpeTrainer, SuperwordAlgorithm};

impl SuperwordStages {
    /// As [`Self::train`], from counts; runs are counted within `budget` as well.
    ///
    /// # Errors
    /// The errors of [`Self::train`], of reading and writing counts, and of [`CountsFile::check_training_memory`].
    pub fn train_bounded(
        &self,
        trainer: &BpeTrainer,
        [words, weak_words]: [CountsFile; 2],
        model: &Model,
        threads: usize,
        budget: &Budget,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Model> {
        let [first, second] = self.phases(trainer, threads).map(Trainer::Bpe);
        let limit = budget.memory as u64;
        words.check_training_memory(&first, threads, limit)?;
        let source = words_of(first.needs_order(), &words, on_progress)?;
        let base = bpe(first.train(source, model, threads, on_progress)?)?;
        drop(words);
        let counts = match self.options.algorithm {
            SuperwordAlgorithm::SuperBpe => weak_words,
            SuperwordAlgorithm::Boundless => {
                let summary = weak_words.summary();
                let stages = summary.stages.clone();
                let overflow = Arc::new(Overflow::new(budget.clone(), threads, Spelling::Text, stages)?);
                overflow.begin_source(0, 0);
                let source = words_of(second.needs_order(), &weak_words, on_progress)?;
                let new_counter = || WordCounter::bounded(Arc::clone(&overflow) as _, overflow.share());
                for mut counter in self.count_runs(&base, &source, threads, &new_counter, on_progress)? {
                    counter.flush()?;
                }
                overflow.finish(summary.texts, summary.bytes, on_progress)?
            }
        };
        counts.check_training_memory(&second, threads, limit)?;
        let source = words_of(second.needs_order(), &counts, on_progress)?;
        let [_, second] = self.phases(trainer, threads);
        let extension = match self.options.algorithm {
            SuperwordAlgorithm::SuperBpe => second.extend(&base, 0, source, on_progress)?,
            SuperwordAlgorithm::Boundless => second.extend_by_tokens(&base, source, on_progress)?,
        };
        extension.into_model(&base).map(Model::Bpe)
    }
}
