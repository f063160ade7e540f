//! Counting for trainers: a text has words, or chunks that are made words once they are counted.
//!
//! A word is a pre-token or an added token. Most chunks come again and again. So the stages that are left for a chunk run once for each
//! distinct chunk, not wherever the chunk stands in the text.

use std::ops::Range;

use super::bert_rewriter::BertRewriter;
use super::chunk_pre_tokenizer::ChunkPreTokenizer;
use super::compiled::Pipeline;
use super::plan::{Rewrite, Scope};
use super::seamed::key_form_of_cuts;
use super::stages::{Stages, Visitor, Walk};
use crate::Result;
use crate::cache::KeyForm;
use crate::normalized::Normalized;
use crate::normalizers::{CompiledNormalizer, Normalizer, PieceMemo};
use crate::scan::Splitter;
use crate::scan::seams::Seams;

/// The unit that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// A word.
    Word,
    /// A chunk, which [`TrainingWords::words_of`] makes words.
    Chunk,
}

/// The stages of a tokenizer, as trainers use them.
#[derive(Clone, Copy, Debug)]
pub struct TrainingWords<'a> {
    stages: &'a Stages,
    /// The normalizer in one pass.
    normalizer: Option<&'a CompiledNormalizer>,
    key_form: KeyForm,
    cutter: Cutter<'a>,
}

/// The way in which a text is cut for trainers.
#[derive(Clone, Copy, Debug)]
enum Cutter<'a> {
    /// The stages, into words.
    Stages,
    /// A scanner, which cuts normalized text into words.
    Words(Splitter),
    /// A scanner, which cuts original text into chunks; BERT's normalizer makes each a word or nothing.
    Bert(Splitter, BertRewriter),
    /// Seams, which cut normalized text into chunks; the pre-tokenizer cuts each into words.
    Seams(&'a Seams, ChunkPreTokenizer<'a>),
}

impl Pipeline {
    /// The stages as trainers use them. Words are made of [`Self::training_key_form`].
    pub fn training_words(&self) -> TrainingWords<'_> {
        let key_form = self.training_key_form();
        let (stages, normalizer) = (self.stages(), self.compiled_normalizer());
        TrainingWords { stages, normalizer, key_form, cutter: self.training_cutter(key_form) }
    }

    fn training_cutter(&self, key_form: KeyForm) -> Cutter<'_> {
        let (stages, plan) = (self.stages(), self.plan().chunked());
        let scanner = plan.and_then(|plan| Some((plan, plan.splitter()?)));
        if let Some((plan, splitter)) = scanner {
            match plan.rewrite {
                Rewrite::Bert(bert) if stages.matchers.normalized.is_empty() => {
                    return Cutter::Bert(splitter, BertRewriter(bert));
                }
                Rewrite::Bert(_) => return Cutter::Words(Splitter::Bert),
                _ if plan.scope == Scope::Unchanged && plan.key_form == key_form => {
                    return Cutter::Words(splitter);
                }
                _ => {}
            }
        }
        match (stages.seams(), &stages.pre_tokenizer) {
            (Some(seams), Some(pre_tokenizer)) if !stages.has_custom() => {
                let cuts_alone = key_form_of_cuts(pre_tokenizer) == Some(key_form);
                Cutter::Seams(seams, ChunkPreTokenizer { stages, cuts_alone, ids_alone: false })
            }
            _ => Cutter::Stages,
        }
    }
}

impl TrainingWords<'_> {
    /// True if texts have chunks.
    pub fn have_chunks(&self) -> bool {
        matches!(self.cutter, Cutter::Bert(..) | Cutter::Seams(..))
    }

    /// The same words, found stage by stage: the obvious twin.
    #[cfg(test)]
    #[must_use]
    pub fn by_stages(self) -> Self {
        Self { normalizer: None, cutter: Cutter::Stages, ..self }
    }

    /// Calls `each` with every word or chunk of a text, from left to right: the buffer that holds it, and its range there.
    ///
    /// An added token counts as any other word, as in Hugging Face. `memo` remembers rewrites of the normalizer.
    ///
    /// # Errors
    /// The errors of the stages.
    pub fn for_each(
        &self,
        text: &str,
        memo: &mut PieceMemo,
        each: impl FnMut(Counted, &[u8], Range<usize>),
    ) -> Result<()> {
        let first_normalizer = self.stages.normalizer.as_ref();
        let walk = Walk { text, tracked: false, first_normalizer, key_form: self.key_form };
        self.stages.walk(walk, &mut Counting { text, training: self, memo, each })
    }

    /// Calls `each` with the words of a chunk, from left to right; a chunk may have none.
    ///
    /// # Errors
    /// The errors of the pre-tokenizer.
    pub fn words_of(&self, chunk: &str, mut each: impl FnMut(&[u8])) -> Result<()> {
        match self.cutter {
            Cutter::Bert(_, bert) => {
                let word = bert.normalize(chunk);
                if !word.is_empty() {
                    each(word.as_bytes());
                }
            }
            Cutter::Seams(_, pre_tokenizer) => {
                let is_cut = pre_tokenizer.for_each_pre_token(chunk, |word| {
                    each(&chunk.as_bytes()[word]);
                    Ok(())
                })?;
                // Words of mapped bytes are not ranges of the chunk.
                if !is_cut {
                    let cut = self.stages.cut(Normalized::new(chunk, 0, false), self.key_form)?;
                    cut.spans.iter().for_each(|word| each(&cut.text.text().as_bytes()[word.clone()]));
                }
            }
            Cutter::Words(_) | Cutter::Stages => unreachable!("these cutters make no chunks"),
        }
        Ok(())
    }
}

/// The visitor that hands words and chunks to a counter.
struct Counting<'a, F> {
    text: &'a str,
    training: &'a TrainingWords<'a>,
    memo: &'a mut PieceMemo,
    each: F,
}

impl<F: FnMut(Counted, &[u8], Range<usize>)> Visitor for Counting<'_, F> {
    fn added_token(&mut self, _: u32, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        self.pre_token(text, range)
    }

    fn pre_token(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<()> {
        (self.each)(Counted::Word, text.text().as_bytes(), range);
        Ok(())
    }

    fn segment(&mut self, range: Range<usize>) -> Result<bool> {
        let Cutter::Bert(scanner, _) = self.training.cutter else { return Ok(false) };
        let (bytes, base) = (self.text.as_bytes(), range.start);
        scanner.for_each_span(&self.text[range], |start, end| {
            (self.each)(Counted::Chunk, bytes, base + start..base + end);
        });
        Ok(true)
    }

    fn normalize<'t>(&mut self, normalizer: &Normalizer, text: Normalized<'t>) -> Result<Normalized<'t>> {
        match self.training.normalizer {
            Some(compiled) => compiled.normalize(text, self.training.stages.looks_at_beginning(), self.memo),
            None => normalizer.normalize(text),
        }
    }

    fn normalized(&mut self, text: &Normalized<'_>, range: Range<usize>) -> Result<bool> {
        let (bytes, base) = (text.text().as_bytes(), range.start);
        let piece = &text.text()[range];
        match self.training.cutter {
            Cutter::Words(scanner) => scanner.for_each_span(piece, |start, end| {
                (self.each)(Counted::Word, bytes, base + start..base + end);
            }),
            // Ends of parts have 32 bits.
            Cutter::Seams(seams, _) if u32::try_from(piece.len()).is_ok() => {
                seams.for_each_chunk(piece, |start, end| {
                    (self.each)(Counted::Chunk, bytes, base + start..base + end);
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
