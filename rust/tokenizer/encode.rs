//! From texts to encodings.

use std::ops::Range;
use std::sync::Arc;

use super::Tokenizer;
use crate::Result;
use crate::encoding::{ColumnsBuilder, Encoding};
use crate::pipeline::Worker;
use crate::processors::PostProcessor;
use crate::structures::parallel::{Parallelism, Runs, ordered_map};

/// Bytes of text of a token, as a rule more.
const BYTES_PER_TOKEN: usize = 3;

/// One input sequence.
#[derive(Clone, Debug)]
pub enum Sequence<'a> {
    /// A text.
    Text(&'a str),
    /// A text cut into words already; each is encoded on its own and its offsets count from its own start.
    Words(Vec<&'a str>),
}

impl Sequence<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Words(words) => words.iter().map(|word| word.len()).sum(),
        }
    }
}

/// A text or a pair.
#[derive(Clone, Debug)]
pub struct EncodeInput<'a> {
    /// The text, or the first of a pair.
    pub first: Sequence<'a>,
    /// The second of a pair.
    pub second: Option<Sequence<'a>>,
}

impl<'a> EncodeInput<'a> {
    /// A text without a pair.
    pub fn of_text(text: &'a str) -> Self {
        Self { first: Sequence::Text(text), second: None }
    }

    fn bytes(&self) -> usize {
        self.first.bytes() + self.second.as_ref().map_or(0, Sequence::bytes)
    }
}

impl Tokenizer {
    /// Encodes texts or pairs, truncated and padded as this tokenizer is set to.
    ///
    /// # Errors
    /// The errors of the pipeline, of truncation, of the post-processor and of [`Self::pad`].
    pub fn encode_batch<'a>(
        &self,
        inputs: &[EncodeInput<'_>],
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<Vec<Encoding>> {
        let sizes: Vec<usize> = inputs.iter().map(|input| input.bytes() + 1).collect();
        let (parallelism, pool) = (parallelism.into(), self.pipeline.pool());
        self.pipeline.prepare(sizes.iter().sum(), parallelism.threads);
        let calls = self.pipeline.next_call();
        let (runs, parallelism) = Runs::new(&sizes, parallelism);
        let finish = |worker| pool.put(worker);
        let batches = ordered_map(
            runs,
            parallelism,
            |thread| pool.take_for(thread),
            finish,
            |_, run, worker| self.encode_run(inputs, Range::clone(run), add_special_tokens, calls, worker),
        )?;
        let mut encodings: Vec<Encoding> = batches.into_iter().flatten().collect();
        self.pad(&mut encodings)?;
        Ok(encodings)
    }

    fn encode_run(
        &self,
        inputs: &[EncodeInput<'_>],
        run: Range<usize>,
        add_special_tokens: bool,
        call: u64,
        worker: &mut Worker,
    ) -> Result<Vec<Encoding>> {
        let bytes: usize = inputs[run.clone()].iter().map(EncodeInput::bytes).sum();
        let mut builder = ColumnsBuilder::with_room(bytes / BYTES_PER_TOKEN + 1);
        let mut rows = Vec::with_capacity(run.len());
        for at in run {
            self.pipeline.seed_row(call, at, worker);
            let EncodeInput { first, second } = &inputs[at];
            let first = self.push_sequence(first, worker, &mut builder)?;
            let second = second.as_ref().map(|second| self.push_sequence(second, worker, &mut builder));
            rows.push((first, second.transpose()?));
        }
        let columns = Arc::new(builder.finish(self.pipeline.names()));
        let encoding = |range| Encoding::from_columns(Arc::clone(&columns), range);
        let finish = |(first, second): (Range<usize>, Option<Range<usize>>)| {
            let mut second = second.map(encoding);
            if let Some(second) = &mut second {
                second.set_type_id(1);
            }
            self.post_process(encoding(first), second, add_special_tokens)
        };
        rows.into_iter().map(finish).collect()
    }

    fn push_sequence(
        &self,
        sequence: &Sequence<'_>,
        worker: &mut Worker,
        builder: &mut ColumnsBuilder,
    ) -> Result<Range<usize>> {
        let start = builder.ids.len();
        match sequence {
            Sequence::Text(text) => self.push_text(text, worker, builder)?,
            Sequence::Words(words) => {
                for (index, word) in words.iter().enumerate() {
                    let from = builder.ids.len();
                    self.push_text(word, worker, builder)?;
                    builder.words[from..].fill(index as u32);
                }
            }
        }
        Ok(start..builder.ids.len())
    }

    fn push_text(&self, text: &str, worker: &mut Worker, builder: &mut ColumnsBuilder) -> Result<()> {
        let start = builder.ids.len();
        self.pipeline.encode_columns(text, worker, builder)?;
        builder.bytes_to_chars(text, start);
        Ok(())
    }

    /// Truncates one encoding or a pair and adds special tokens; padding is up to the caller.
    ///
    /// # Errors
    /// The errors of truncation and of the post-processor.
    pub fn post_process(
        &self,
        mut first: Encoding,
        mut second: Option<Encoding>,
        add_special_tokens: bool,
    ) -> Result<Encoding> {
        if let Some(truncation) = &self.parts.truncation {
            let special = if add_special_tokens { self.added_tokens(second.is_some()) } else { 0 };
            truncation.apply(&mut first, second.as_mut(), special)?;
        }
        PostProcessor::process(self.parts.post_processor.as_ref(), first, second, add_special_tokens)
    }

    /// Pads encodings as this tokenizer is set to, as one batch.
    ///
    /// # Errors
    /// The errors of [`Encoding::pad`].
    pub fn pad(&self, encodings: &mut [Encoding]) -> Result<()> {
        self.parts.padding.as_ref().map_or(Ok(()), |rule| rule.apply(encodings))
    }

    /// Encodes one text or pair, padded on its own.
    ///
    /// # Errors
    /// As [`Self::encode_batch`].
    pub fn encode(&self, input: &EncodeInput<'_>, add_special_tokens: bool) -> Result<Encoding> {
        self.pipeline.prepare(input.bytes(), 1);
        let (pool, call) = (self.pipeline.pool(), self.pipeline.next_call());
        let mut worker = pool.take();
        let encoded =
            self.encode_run(std::slice::from_ref(input), 0..1, add_special_tokens, call, &mut worker);
        pool.put(worker);
        let mut encodings = encoded?;
        self.pad(&mut encodings)?;
        Ok(encodings.pop().unwrap_or_default())
    }
}
