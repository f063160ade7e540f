//! The naive twin of the trainer: recounts all pairs before every merge.

use std::collections::BTreeMap;

use super::{BpeTrainer, TieBreak, TrainedBpe};

/// Trains on words with counts; words with the count 0 are ignored.
pub(super) fn train_naive(trainer: &BpeTrainer, words: &[(&str, u64)]) -> TrainedBpe {
    let words: Vec<_> = words.iter().copied().filter(|&(_, count)| count > 0).collect();
    let (vocab, words) = symbolise_naive(trainer, &words);
    let mut lengths = vec![0; vocab.len()];
    words.iter().flat_map(|(word, _)| word).for_each(|&id| lengths[id] = 1);
    merge_all_naive(trainer, vocab, words, lengths)
}

/// Trains from a base without prefix and suffix, whose ids are the indices of `base.vocab`; the result has no merges of the base.
pub(super) fn extend_naive(trainer: &BpeTrainer, base: &TrainedBpe, words: &[(&str, u64)]) -> TrainedBpe {
    let words: Vec<_> = words.iter().copied().filter(|&(_, count)| count > 0).collect();
    let (vocab, mut words) = symbolise_naive_from(base.vocab.clone(), trainer, &words);
    let made = |left: u32, right: u32| {
        let text = [&*vocab[left as usize], &*vocab[right as usize]].concat();
        vocab.iter().position(|token| *token == text).expect("the base has the tokens of its merges")
    };
    let mut lengths = vec![0; vocab.len()];
    for &(left, right) in &base.merges {
        let length = |id: u32| lengths[id as usize].max(1);
        let sum = length(left) + length(right);
        let length = &mut lengths[made(left, right)];
        *length = if *length == 0 { sum } else { *length };
    }
    for (word, _) in &mut words {
        for &id in word.iter() {
            lengths[id] = lengths[id].max(1);
        }
        // The merge of the lowest rank, leftmost first, one at a time.
        let is_pair = |pair: &[usize], &(left, right): &(u32, u32)| pair == [left as usize, right as usize];
        while let Some((&(left, right), at)) = base
            .merges
            .iter()
            .find_map(|merge| Some((merge, word.windows(2).position(|pair| is_pair(pair, merge))?)))
        {
            word.splice(at..at + 2, [made(left, right)]);
        }
    }
    let mut learnt = merge_all_naive(trainer, vocab, words, lengths);
    let merges = learnt.merges.iter().zip(&learnt.counts).filter(|(merge, _)| !base.merges.contains(merge));
    (learnt.merges, learnt.counts) = merges.unzip();
    learnt
}

fn merge_all_naive(
    trainer: &BpeTrainer,
    mut vocab: Vec<String>,
    mut words: Words,
    mut lengths: Vec<usize>,
) -> TrainedBpe {
    let prefix = trainer.continuing_subword_prefix.as_deref().unwrap_or_default();
    let longest = trainer.max_token_length.unwrap_or(usize::MAX);
    let mut learnt = TrainedBpe::default();
    while vocab.len() < trainer.vocab_size {
        // For each pair its count, and its first position subtracted from `usize::MAX`, so that the earlier one is larger.
        let mut counts = BTreeMap::new();
        let pairs = words
            .iter()
            .flat_map(|(word, count)| word.windows(2).map(move |pair| ((pair[0], pair[1]), *count)));
        for (place, (pair, count)) in pairs.enumerate() {
            counts.entry(pair).or_insert((0, usize::MAX - place)).0 += count;
        }
        counts.retain(|&(left, right), _| {
            let length = lengths[left] + lengths[right];
            let text = format!("{}{}", vocab[left], vocab[right]);
            let words = text.split(' ').filter(|word| !word.is_empty()).count();
            let is_short = length == 2 || length < longest;
            let has_few_words = trainer.max_words.is_none_or(|most| words <= most);
            is_short && has_few_words && !is_forbidden(trainer, &vocab[left], &vocab[right])
        });
        let best = counts.into_iter().max_by_key(|&(pair, (count, first))| match trainer.tie_break {
            TieBreak::SmallestIds => (count, usize::MAX - pair.0, usize::MAX - pair.1),
            TieBreak::FirstSeen => (count, first, 0),
        });
        let Some(((left, right), (count, _))) = best else {
            break;
        };
        if count < trainer.min_frequency.max(1) {
            break;
        }
        merge_naive(&mut words, (left, right), &mut vocab, &mut lengths, prefix);
        learnt.note((left as u32, right as u32), count);
    }
    learnt.vocab = vocab;
    learnt
}

/// True if a pattern forbids the token of a pair, matched without its affixes.
pub(super) fn is_forbidden(trainer: &BpeTrainer, left: &str, right: &str) -> bool {
    let prefix = trainer.continuing_subword_prefix.as_deref().unwrap_or_default();
    let suffix = trainer.end_of_word_suffix.as_deref().unwrap_or_default();
    let token = format!("{left}{}", right.strip_prefix(prefix).unwrap_or(right));
    let text = token.strip_prefix(prefix).unwrap_or(&token);
    trainer.forbid.holds(text.strip_suffix(suffix).unwrap_or(text), false).expect("short texts")
}

/// Merges a pair in all words; the token that it makes gets an id if it has none.
pub(super) fn merge_naive(
    words: &mut Words,
    (left, right): (usize, usize),
    vocab: &mut Vec<String>,
    lengths: &mut Vec<usize>,
    prefix: &str,
) {
    let tail = vocab[right].strip_prefix(prefix).unwrap_or(&vocab[right]);
    let text = format!("{}{tail}", vocab[left]);
    let joined = vocab.iter().position(|token| *token == text).unwrap_or(vocab.len());
    if joined == vocab.len() {
        vocab.push(text);
        lengths.push(0);
    }
    if lengths[joined] == 0 {
        lengths[joined] = lengths[left] + lengths[right];
    }
    for (word, _) in words {
        let mut at = 0;
        while at + 1 < word.len() {
            if (word[at], word[at + 1]) == (left, right) {
                word.splice(at..at + 2, [joined]);
            }
            at += 1;
        }
    }
}

impl TrainedBpe {
    /// Adds a merge; one that is known moves to the end.
    pub(super) fn note(&mut self, ids: (u32, u32), count: u64) {
        if let Some(place) = self.merges.iter().position(|&known| known == ids) {
            self.merges.remove(place);
            self.counts.remove(place);
        }
        self.merges.push(ids);
        self.counts.push(count);
    }
}

pub(super) type Words = Vec<(Vec<usize>, u64)>;

pub(super) fn symbolise_naive(trainer: &BpeTrainer, words: &[(&str, u64)]) -> (Vec<String>, Words) {
    symbolise_naive_from(Vec::new(), trainer, words)
}

/// As [`symbolise_naive`], with tokens that have the first ids.
fn symbolise_naive_from(
    mut vocab: Vec<String>,
    trainer: &BpeTrainer,
    words: &[(&str, u64)],
) -> (Vec<String>, Words) {
    let known = vocab.clone();
    let mut intern = |text: String| {
        vocab.iter().position(|token| *token == text).unwrap_or_else(|| {
            vocab.push(text);
            vocab.len() - 1
        })
    };
    for special in &trainer.special_tokens {
        intern(special.clone());
    }
    let mut alphabet: BTreeMap<char, u64> = BTreeMap::new();
    for (word, count) in words {
        word.chars().for_each(|character| *alphabet.entry(character).or_default() += count);
    }
    alphabet.extend(trainer.initial_alphabet.iter().map(|&character| (character, u64::MAX)));
    let mut kept: Vec<(u64, char)> =
        alphabet.into_iter().map(|(character, count)| (u64::MAX - count, character)).collect();
    kept.sort_unstable();
    kept.truncate(trainer.limit_alphabet.unwrap_or(usize::MAX));
    let mut kept: Vec<char> = kept.into_iter().map(|(_, character)| character).collect();
    kept.sort_unstable();
    for character in &kept {
        intern(character.to_string());
    }
    let is_kept = |text: &String| {
        known.contains(text)
            || trainer.special_tokens.contains(text)
            || kept.iter().any(|kept| kept.to_string() == *text)
    };
    let prefix = trainer.continuing_subword_prefix.as_deref().unwrap_or_default();
    let suffix = trainer.end_of_word_suffix.as_deref().unwrap_or_default();
    let symbolised = words.iter().map(|&(word, count)| {
        let last = word.chars().count().saturating_sub(1);
        let symbols = word.chars().enumerate().filter(|(_, character)| is_kept(&character.to_string()));
        let affixed = symbols.map(|(at, character)| {
            let (before, after) = (if at > 0 { prefix } else { "" }, if at == last { suffix } else { "" });
            intern(format!("{before}{character}{after}"))
        });
        (affixed.collect(), count)
    });
    let symbolised = symbolised.collect();
    (vocab, symbolised)
}
