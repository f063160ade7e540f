//! The naive twin of training by likelihood: recounts all pairs before every merge.

use std::collections::{BTreeMap, BTreeSet};

use super::{Score, WordPieceTrainer};
use crate::trainers::bpe::{TieBreak, TrainedBpe};

#[expect(clippy::cast_precision_loss, reason = "small counts")]
/// Trains on words with counts; words with the count 0 are ignored. Counts have to be small.
pub(super) fn train_naive(trainer: &WordPieceTrainer, words: &[(&str, u64)]) -> TrainedBpe {
    let words: Vec<_> = words.iter().copied().filter(|&(_, count)| count > 0).collect();
    let (mut vocab, mut words) = symbolise_naive(trainer, &words);
    let least = trainer.min_frequency.max(trainer.min_pair_frequency);
    let mut learnt = TrainedBpe::default();
    while vocab.len() < trainer.vocab_size {
        let mut tokens = vec![0_u64; vocab.len()];
        // For each pair its count and its first position.
        let mut pairs = BTreeMap::new();
        let mut place = 0;
        for (word, count) in &words {
            for &id in word {
                tokens[id] += count;
            }
            for pair in word.windows(2) {
                pairs.entry((pair[0], pair[1])).or_insert((0, place)).0 += count;
                place += 1;
            }
        }
        let mut best: Option<((usize, usize), u64, usize)> = None;
        for (pair, (count, first)) in pairs {
            if count < least || is_forbidden(trainer, &vocab[pair.0], &vocab[pair.1]) {
                continue;
            }
            let Some((other, other_count, other_first)) = best else {
                best = Some((pair, count, first));
                continue;
            };
            let product = |(left, right): (usize, usize)| tokens[left] * tokens[right];
            let by_score = if trainer.score == Score::Likelihood {
                (count * product(other)).cmp(&(other_count * product(pair)))
            } else {
                let score = |count: u64, pair| count as f64 / product(pair) as f64;
                score(count, pair).total_cmp(&score(other_count, other))
            };
            // Pairs come in the order of their ids, so the best so far has the smaller ids.
            let by_ties = match trainer.tie_break {
                Some(TieBreak::SmallestIds) => std::cmp::Ordering::Less,
                Some(TieBreak::FirstSeen) | None => other_first.cmp(&first),
            };
            if by_score.then(by_ties).is_gt() {
                best = Some((pair, count, first));
            }
        }
        let Some(((left, right), count, _)) = best else { break };
        let prefix = trainer.continuing_subword_prefix.as_deref().unwrap_or_default();
        let tail = vocab[right].strip_prefix(prefix).unwrap_or(&vocab[right]);
        let text = format!("{}{tail}", vocab[left]);
        let joined = vocab.iter().position(|token| *token == text).unwrap_or(vocab.len());
        if joined == vocab.len() {
            vocab.push(text);
        }
        for (word, _) in &mut words {
            merge_naive(word, (left, right), joined);
        }
        learn_naive(&mut learnt, (left as u32, right as u32), count);
    }
    learnt.vocab = vocab;
    learnt
}

/// Appends a merge; one that was learnt before loses its earlier place.
fn learn_naive(learnt: &mut TrainedBpe, pair: (u32, u32), count: u64) {
    if let Some(place) = learnt.merges.iter().position(|&known| known == pair) {
        learnt.merges.remove(place);
        learnt.counts.remove(place);
    }
    learnt.merges.push(pair);
    learnt.counts.push(count);
}

/// Replaces each occurrence of a pair by `joined`, from left to right.
fn merge_naive(word: &mut Vec<usize>, pair: (usize, usize), joined: usize) {
    let mut at = 0;
    while at + 1 < word.len() {
        if (word[at], word[at + 1]) == pair {
            word.splice(at..at + 2, [joined]);
        }
        at += 1;
    }
}

type Words = Vec<(Vec<usize>, u64)>;

fn symbolise_naive(trainer: &WordPieceTrainer, words: &[(&str, u64)]) -> (Vec<String>, Words) {
    let mut alphabet: BTreeMap<char, u64> = BTreeMap::new();
    for (word, count) in words {
        word.chars().for_each(|character| *alphabet.entry(character).or_default() += count);
    }
    alphabet.extend(trainer.initial_alphabet.iter().map(|&character| (character, u64::MAX)));
    let mut kept: Vec<(u64, char)> =
        alphabet.into_iter().map(|(character, count)| (u64::MAX - count, character)).collect();
    kept.sort_unstable();
    kept.truncate(trainer.limit_alphabet.unwrap_or(usize::MAX));
    let in_alphabet = |character: char| kept.iter().any(|&(_, kept)| kept == character);
    let is_kept =
        |character: char| in_alphabet(character) || trainer.special_tokens.contains(&character.to_string());
    let suffix = trainer.end_of_word_suffix.as_deref().unwrap_or_default();
    let spell = |word: &str| -> Vec<String> {
        let last = word.chars().count().saturating_sub(1);
        let symbols = word.chars().enumerate().filter(|&(_, character)| is_kept(character));
        let affixed = symbols.map(|(at, character)| {
            let before =
                if at > 0 { trainer.continuing_subword_prefix.as_deref().unwrap_or_default() } else { "" };
            format!("{before}{character}{}", if at == last { suffix } else { "" })
        });
        affixed.collect()
    };
    let spelled: Vec<_> = words.iter().map(|&(word, count)| (spell(word), count)).collect();
    let mut symbols: BTreeSet<String> = spelled.iter().flat_map(|(symbols, _)| symbols.clone()).collect();
    let initial = trainer.initial_alphabet.iter().filter(|&&character| in_alphabet(character));
    symbols.extend(initial.map(char::to_string));
    let mut vocab: Vec<String> = Vec::new();
    for token in trainer.special_tokens.iter().cloned().chain(symbols) {
        if !vocab.contains(&token) {
            vocab.push(token);
        }
    }
    let id = |symbol: &String| vocab.iter().position(|token| token == symbol).expect("it was added");
    let symbolised = spelled.iter().map(|(symbols, count)| (symbols.iter().map(id).collect(), *count));
    let symbolised = symbolised.collect();
    (vocab, symbolised)
}

/// True if a pattern forbids the token of a pair, matched without its affixes.
fn is_forbidden(trainer: &WordPieceTrainer, left: &str, right: &str) -> bool {
    let prefix = trainer.continuing_subword_prefix.as_deref().unwrap_or_default();
    let suffix = trainer.end_of_word_suffix.as_deref().unwrap_or_default();
    let token = format!("{left}{}", right.strip_prefix(prefix).unwrap_or(right));
    let text = token.strip_prefix(prefix).unwrap_or(&token);
    trainer.forbid.holds(text.strip_suffix(suffix).unwrap_or(text), false).expect("short texts")
}
