//! From texts or pairs to columns: ids with offsets, word ids, type ids and masks, in rows that may be truncated and padded.
//!
//! Where a post-processor puts the same special tokens into every row, worker threads write rows by its [`RowLayout`]; no
//! [`Encoding`](crate::encoding::Encoding) is made. All other rows are read from encodings, which is slower and gives the same
//! columns.

use std::ops::Range;

use super::padding::{LayoutColumns, TextLens};
use super::rows::{Ragged, RunRows, row_splits};
use super::token_columns::check_pairs;
use super::{ColumnOptions, TokenColumns, Tokenizer};
use crate::Result;
use crate::cache::Id;
use crate::encoding::{RowLayout, RowPart, RowTrim, char_offsets};
use crate::pipeline::Worker;
use crate::sinks::{IdSink, SpanColumns};
use crate::structures::parallel::{Parallelism, Runs, ordered_map, write_in_order};

/// The inputs and the options of one call.
struct Call<'a> {
    tokenizer: &'a Tokenizer,
    number: u64,
    layout: &'a RowLayout,
    texts: &'a [&'a str],
    pairs: Option<&'a [&'a str]>,
    options: ColumnOptions,
    /// Special tokens that truncation leaves room for.
    special: usize,
}

impl Tokenizer {
    /// Encodes texts, or pairs of `texts` and as many `pairs`, to columns.
    ///
    /// # Errors
    /// As [`Self::encode_batch`], and [`Error::InvalidOption`](crate::Error::InvalidOption) if there is another number of pairs
    /// than of texts, or if memory does not hold the padding.
    pub fn encode_columns<'a, T: Id + Into<u32>>(
        &self,
        texts: &[&str],
        pairs: Option<&[&str]>,
        options: ColumnOptions,
        add_special_tokens: bool,
        parallelism: impl Into<Parallelism<'a>>,
    ) -> Result<TokenColumns<T>> {
        check_pairs(texts, pairs)?;
        let (parallelism, is_pair) = (parallelism.into(), pairs.is_some());
        if options.is_ids_alone(is_pair) {
            return self.encode_ids(texts, add_special_tokens, parallelism).map(TokenColumns::from);
        }
        let layout = self.layout(is_pair, add_special_tokens)?;
        let Some(layout) = layout.filter(|_| !options.overflowing || self.parts.truncation.is_none()) else {
            return self.columns_by_encodings(texts, pairs, options, add_special_tokens, parallelism);
        };
        let special = if add_special_tokens { self.added_tokens(is_pair) } else { 0 };
        let number = self.pipeline.next_call();
        Call { tokenizer: self, number, layout, texts, pairs, options, special }.columns(parallelism)
    }
}

impl Call<'_> {
    fn columns<T: Id + Into<u32>>(&self, parallelism: Parallelism<'_>) -> Result<TokenColumns<T>> {
        let sizes: Vec<usize> =
            (0..self.texts.len()).map(|row| self.texts[row].len() + self.second(row).len() + 1).collect();
        let bytes: usize = sizes.iter().sum();
        let pipeline = &self.tokenizer.pipeline;
        pipeline.prepare(bytes, parallelism.threads);
        let start = |thread| (pipeline.pool().take_for(thread), self.empty_columns(), self.empty_columns());
        let finish = |(worker, ..): (Worker, SpanColumns<T>, SpanColumns<T>)| pipeline.pool().put(worker);
        let (runs, parallelism) = Runs::new(&sizes, parallelism);
        let room = |is_wanted| if is_wanted { bytes } else { 0 };
        // A column nobody asked for has no values in any run.
        let (ids, (offsets, (words, runs))) = write_in_order(bytes, |ids| {
            write_in_order(room(self.options.offsets), |offsets| {
                write_in_order(room(self.options.word_ids), |words| {
                    let work = |number, run: &mut Range<usize>, (worker, made, untruncated): &mut _| {
                        let pushed = self.push_run(run, worker, made, untruncated)?;
                        ids.put(number, &mut made.ids);
                        offsets.put(number, &mut made.offsets);
                        words.put(number, &mut made.words);
                        Ok(pushed)
                    };
                    ordered_map(runs, parallelism, start, finish, work)
                })
            })
        })?;
        let (runs, lens): (Vec<RunRows>, Vec<Vec<TextLens>>) = runs.into_iter().unzip();
        let columns = TokenColumns {
            rows: Ragged { ids, row_splits: row_splits(0, &runs) },
            offsets: self.options.offsets.then_some(offsets),
            word_ids: self.options.word_ids.then_some(words),
            sample_mapping: self.options.overflowing.then(|| (0..self.texts.len() as i64).collect()),
            ..TokenColumns::default()
        };
        let layout = LayoutColumns { layout: self.layout, lens: &lens.concat(), options: self.options };
        layout.finish(columns, self.tokenizer.parts.padding.as_ref())
    }

    /// The second text of a row; empty without pairs.
    fn second(&self, row: usize) -> &str {
        self.pairs.map_or("", |pairs| pairs[row])
    }

    /// True if anything but ids comes from the texts.
    fn is_tracked(&self) -> bool {
        self.options.offsets || self.options.word_ids
    }

    fn empty_columns<T: Id>(&self) -> SpanColumns<T> {
        SpanColumns::new(self.options.word_ids, self.options.offsets && self.layout.has_trims())
    }

    /// Appends the rows of a run to `made`; returns where they end, and the tokens of their texts.
    fn push_run<T: Id + Into<u32>>(
        &self,
        run: &Range<usize>,
        worker: &mut Worker,
        made: &mut SpanColumns<T>,
        untruncated: &mut SpanColumns<T>,
    ) -> Result<(RunRows, Vec<TextLens>)> {
        let (mut ends, mut lens) = (Vec::with_capacity(run.len()), Vec::with_capacity(run.len()));
        for row in run.clone() {
            lens.push(self.push_row(row, worker, made, untruncated)?);
            ends.push(made.ids.len());
        }
        // Word ids are tracked together with spans; spans nobody asked for are dropped here.
        if !self.options.offsets {
            made.offsets.clear();
        }
        Ok((RunRows { ids: made.ids.len(), ends }, lens))
    }

    /// Appends row `row` to `made`, truncated and with its special tokens; `untruncated` is memory for texts before they are
    /// truncated.
    fn push_row<T: Id + Into<u32>>(
        &self,
        row: usize,
        worker: &mut Worker,
        made: &mut SpanColumns<T>,
        untruncated: &mut SpanColumns<T>,
    ) -> Result<TextLens> {
        self.tokenizer.pipeline.seed_row(self.number, row, worker);
        let truncation = self.tokenizer.parts.truncation.as_ref();
        let kept = match truncation {
            Some(truncation) => {
                untruncated.clear();
                let first = self.push_text(self.texts[row], worker, untruncated)?.len();
                let second =
                    self.pairs.map(|pairs| self.push_text(pairs[row], worker, untruncated)).transpose()?;
                let second = second.map(|range| range.len());
                let (kept, kept_second) = truncation.kept(first, second, self.special)?;
                Some([kept, first + kept_second.start..first + kept_second.end])
            }
            None => None,
        };
        let (mut lens, mut texts) = (TextLens::default(), 0);
        for part in &self.layout.parts {
            match part {
                RowPart::Special { id, .. } => self.push_special(*id, made),
                RowPart::Text { trims, .. } => {
                    lens[texts] = if let Some(kept) = &kept {
                        self.trim(trims, untruncated, kept[texts].clone());
                        self.append(untruncated, kept[texts].clone(), made);
                        kept[texts].len()
                    } else {
                        let text = if texts == 0 { self.texts[row] } else { self.second(row) };
                        let range = self.push_text(text, worker, made)?;
                        self.trim(trims, made, range.clone());
                        range.len()
                    };
                    texts += 1;
                }
            }
        }
        // Places in `made` are only valid within the row: `put` empties the vectors.
        if let Some(own_spaces) = &mut made.own_spaces {
            own_spaces.clear();
        }
        Ok(lens)
    }

    /// Appends the tokens of a text; returns their places.
    fn push_text<T: Id>(
        &self,
        text: &str,
        worker: &mut Worker,
        columns: &mut SpanColumns<T>,
    ) -> Result<Range<usize>> {
        let (pipeline, start) = (&self.tokenizer.pipeline, columns.ids.len());
        if self.is_tracked() {
            pipeline.encode_columns(text, worker, columns)?;
            let offsets = columns.offsets[start..].iter_mut().map(|[start, end]| (start, end));
            char_offsets(text, offsets);
        } else {
            pipeline.encode(text, worker, &mut IdSink(&mut columns.ids))?;
        }
        Ok(start..columns.ids.len())
    }

    fn push_special<T: Id>(&self, id: u32, made: &mut SpanColumns<T>) {
        made.ids.push(T::narrow(id));
        if self.is_tracked() {
            made.offsets.push([0, 0]);
        }
        if self.options.word_ids {
            made.words.push(-1);
        }
    }

    fn append<T: Id>(&self, from: &SpanColumns<T>, range: Range<usize>, made: &mut SpanColumns<T>) {
        made.ids.extend_from_slice(&from.ids[range.clone()]);
        if self.is_tracked() {
            made.offsets.extend_from_slice(&from.offsets[range.clone()]);
        }
        if self.options.word_ids {
            made.words.extend_from_slice(&from.words[range]);
        }
    }

    /// Trims spaces from the offsets of the tokens `range`, all of one text.
    fn trim<T: Id + Into<u32>>(&self, trims: &[RowTrim], columns: &mut SpanColumns<T>, range: Range<usize>) {
        let SpanColumns { ids, offsets, own_spaces: Some(own_spaces), .. } = columns else { return };
        for RowTrim { add_prefix_space, has_first } in trims {
            for at in range.clone() {
                let spaces = match own_spaces.binary_search_by_key(&at, |&(place, _)| place) {
                    Ok(found) => own_spaces[found].1,
                    Err(_) => self.tokenizer.pipeline.spaces_around(ids[at].into()),
                };
                let is_first = *has_first && at == range.start;
                let [start, end] = offsets[at];
                offsets[at] = spaces.trim((start, end), is_first, *add_prefix_space).into();
            }
        }
    }
}
