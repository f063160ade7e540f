//! The naive twin of the trainer: recounts all pairs before every turn, and passes turns one by one.

use std::collections::BTreeMap;

use super::super::naive::{Words, merge_naive, symbolise_naive};
use super::super::scores::nearest_f64;
use super::super::{BpeTrainer, TrainedBpe};
use super::{ParityBpeTrainer, Variant};

/// Trains on words with counts, by language; words with the count 0 are ignored.
pub(super) fn train_naive(
    trainer: &ParityBpeTrainer,
    corpora: &[Vec<(&str, u64)>],
    dev: Option<&[Vec<(&str, u64)>]>,
) -> TrainedBpe {
    let options = BpeTrainer { max_token_length: trainer.max_token_length, ..trainer.options() };
    let languages = corpora.len();
    let (mut vocab, mut corpora) = symbolise_all_naive(&options, corpora, dev.unwrap_or_default());
    let mut lengths = vec![0; vocab.len()];
    corpora.iter().flatten().flat_map(|(word, _)| word).for_each(|&id| lengths[id] = 1);
    let at_start: Vec<f64> = corpora.iter().map(size).collect();
    let wanted = trainer.num_merges.saturating_sub(if trainer.total_symbols { vocab.len() } else { 0 });
    let (mut done, mut out, mut turns) = (0, vec![false; languages], Vec::<Option<usize>>::new());
    let mut learnt = TrainedBpe::default();
    while done < wanted && out.contains(&false) {
        let chosen = if done < trainer.global_merges {
            None
        } else {
            let badness = |at: usize| match &trainer.ratio {
                _ if dev.is_some() => size(&corpora[languages + at]),
                Some(_) if size(&corpora[at]) == 0.0 => f64::NEG_INFINITY,
                Some(ratio) => -(at_start[at] / size(&corpora[at]) / ratio[at]),
                None => size(&corpora[at]),
            };
            let turn = turn_naive(trainer, badness, &out, &turns);
            turns.push(turn);
            if turn.is_none() {
                continue;
            }
            turn
        };
        let source = chosen.map_or(&corpora[..languages], |at| &corpora[at..=at]);
        let Some(((left, right), count)) = best_naive(trainer, source, &vocab, &lengths) else {
            let Some(at) = chosen else { break };
            out[at] = true;
            continue;
        };
        let prefix = trainer.continuing_subword_prefix.as_deref().unwrap_or_default();
        for words in &mut corpora {
            merge_naive(words, (left, right), &mut vocab, &mut lengths, prefix);
        }
        learnt.note((left as u32, right as u32), count);
        done += 1;
    }
    learnt.vocab = vocab;
    learnt
}

/// The first tokens, and the words of the corpora and of the dev sets in symbols.
fn symbolise_all_naive(
    options: &BpeTrainer,
    corpora: &[Vec<(&str, u64)>],
    dev: &[Vec<(&str, u64)>],
) -> (Vec<String>, Vec<Words>) {
    let words: Vec<_> = corpora.iter().chain(dev).flat_map(|words| present(words)).collect();
    let lens: Vec<usize> = corpora.iter().map(|words| present(words).count()).collect();
    let (mut vocab, all) = symbolise_naive(options, &words);
    let mut all = all.into_iter();
    let mut corpora: Vec<Words> = lens.into_iter().map(|len| all.by_ref().take(len).collect()).collect();
    // Ids that only words of dev sets have come last; they are taken back.
    let without_affixes =
        BpeTrainer { continuing_subword_prefix: None, end_of_word_suffix: None, ..options.clone() };
    let plain = symbolise_naive(&without_affixes, &words).0.len();
    let affixed = corpora.iter().flatten().flat_map(|(word, _)| word).max();
    vocab.truncate(affixed.map_or(plain, |&id| plain.max(id + 1)));
    let (prefix, suffix) =
        (options.continuing_subword_prefix.as_deref(), options.end_of_word_suffix.as_deref());
    let known = |(word, count): (&str, u64)| {
        let last = word.chars().count().saturating_sub(1);
        let id = |(at, character): (usize, char)| {
            let before = prefix.filter(|_| at > 0).unwrap_or_default();
            let after = suffix.filter(|_| at == last).unwrap_or_default();
            vocab.iter().position(|token| *token == format!("{before}{character}{after}"))
        };
        Some((word.chars().enumerate().map(id).collect::<Option<Vec<_>>>()?, count))
    };
    corpora.extend(dev.iter().map(|words| present(words).filter_map(known).collect()));
    (vocab, corpora)
}

/// The language of the next turn.
fn turn_naive(
    trainer: &ParityBpeTrainer,
    badness: impl Fn(usize) -> f64,
    out: &[bool],
    turns: &[Option<usize>],
) -> Option<usize> {
    let mut worst_first: Vec<usize> = (0..out.len()).filter(|&at| !out[at]).collect();
    worst_first.sort_by(|&one, &other| badness(other).total_cmp(&badness(one)));
    let window = &turns[turns.len().saturating_sub(trainer.window_size)..];
    let may_have_another = |at: usize| {
        let had = window.iter().filter(|&&turn| turn == Some(at)).count();
        let share = nearest_f64(had as u64) / nearest_f64(trainer.window_size as u64);
        trainer.variant == Variant::Base || share <= trainer.alpha / nearest_f64(out.len() as u64)
    };
    let free = worst_first.iter().copied().find(|&at| may_have_another(at));
    if out.contains(&true) { free } else { free.or(worst_first.last().copied()) }
}

/// The pair to merge with its count.
fn best_naive(
    trainer: &ParityBpeTrainer,
    corpora: &[Words],
    vocab: &[String],
    lengths: &[usize],
) -> Option<((usize, usize), u64)> {
    let mut counts = BTreeMap::new();
    for (word, count) in corpora.iter().flatten() {
        for pair in word.windows(2) {
            *counts.entry((pair[0], pair[1])).or_insert(0) += count;
        }
    }
    counts.retain(|&(left, right), _| {
        let length = lengths[left] + lengths[right];
        length == 2 || length < trainer.max_token_length.unwrap_or(usize::MAX)
    });
    let best = counts.into_iter().max_by_key(|&((left, right), count)| (count, &vocab[left], &vocab[right]));
    best.filter(|&(_, count)| count >= trainer.min_frequency.max(1))
}

fn size(words: &Words) -> f64 {
    nearest_f64(words.iter().map(|(word, count)| word.len() as u64 * count).sum())
}

fn present<'a>(words: &'a [(&'a str, u64)]) -> impl Iterator<Item = (&'a str, u64)> {
    words.iter().copied().filter(|&(_, count)| count > 0)
}
