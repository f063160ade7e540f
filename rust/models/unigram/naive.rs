//! Naive twins, which try every segmentation, and the tests of the fast paths against them.

use std::collections::HashMap;

use proptest::prelude::*;

use super::sums::{F32Scores, F64Scores};
use super::{Edge, PieceKind, Scratch, Unigram, UnigramOptions};
use crate::models::Tokens;
use crate::models::bpe::CutPoints;

/// All segmentations with their scores, summed from left to right.
///
/// The best comes first; of equals, the one with the longer last piece, compared from the end backwards.
fn all(unigram: &Unigram, word: &str) -> Vec<(f64, Vec<Edge>)> {
    let bounds: Vec<usize> = (0..=word.len()).filter(|&at| word.is_char_boundary(at)).collect();
    let mut ways: HashMap<usize, Vec<(f64, Vec<Edge>)>> = HashMap::from([(0, vec![(0.0, Vec::new())])]);
    for &end in &bounds[1..] {
        let mut here = Vec::new();
        for &start in bounds.iter().filter(|&&start| start < end) {
            let text = &word[start..end];
            let unknown = (text.chars().count() == 1)
                .then(|| unigram.options.unk_id.map(|id| (id, unigram.unknown_score)))
                .flatten();
            let piece = unigram.vocab.id(text).map(|id| (id, unigram.scores[id as usize]));
            if let Some((id, score)) = piece.or(unknown) {
                for (sum, path) in &ways[&start] {
                    let edge = Edge { start: start as u32, end: end as u32, id };
                    here.push((score + sum, [path.as_slice(), &[edge]].concat()));
                }
            }
        }
        here.sort_by(|left, right| right.0.total_cmp(&left.0));
        ways.insert(end, here);
    }
    ways.remove(&word.len()).unwrap_or_default()
}

fn tokens(unigram: &Unigram, word: &str, path: &[Edge]) -> Tokens {
    let mut tokens = Tokens::default();
    let backwards: Vec<Edge> = path.iter().rev().copied().collect();
    unigram.push_path(word, &backwards, &mut tokens);
    tokens
}

prop_compose! {
    /// A few pieces, with scores that often tie.
    fn model()(
        pieces in prop::collection::vec(("[abé日]{1,4}|ж|𠀀", 1..12i32, 1..4i32), 0..10),
        byte_fallback in any::<bool>(),
    ) -> Unigram {
        let mut pieces: Vec<(String, f64)> = pieces
            .into_iter()
            .map(|(piece, over, under)| (piece, -f64::from(over) / f64::from(under)))
            .collect();
        pieces.extend(["<unk>", "<0xC3>", "<0xA9>"].map(|piece| (piece.to_owned(), -3.0)));
        let unk_id = pieces.iter().position(|(piece, _)| piece == "<unk>").map(|id| id as u32);
        let options = UnigramOptions { unk_id, byte_fallback, ..UnigramOptions::default() };
        Unigram::new(&pieces, options).expect("a valid model")
    }
}

proptest! {
    #[test]
    fn best_path_matches_naive(unigram in model(), word in "[abé日xж𠀀]{0,9}") {
        let mut found = Tokens::default();
        unigram.encode_word(&word, &mut Scratch::default(), &mut found).expect("an unknown id");
        let best = all(&unigram, &word).swap_remove(0);
        prop_assert_eq!(found, tokens(&unigram, &word, &best.1));
    }

    #[test]
    fn viterbi_branchless_matches_naive(unigram in model(), word in "[abé日xж𠀀]{1,12}", base in -100.0..0.0) {
        let (mut nodes, mut naive) = (Vec::new(), Vec::new());
        let margin = unigram.viterbi::<true, F64Scores>(&word, base, &mut naive).expect("an unknown id");
        let least = unigram.viterbi_branchless::<true>(&word, base, &mut nodes).expect("an unknown id");
        prop_assert_eq!(least.to_bits(), margin.least.to_bits());
        unigram.viterbi_branchless::<false>(&word, base, &mut nodes).expect("an unknown id");
        prop_assert_eq!(nodes.len(), naive.len());
        for (at, (node, naive)) in nodes.iter().zip(&naive).enumerate().filter(|&(at, _)| word.is_char_boundary(at)) {
            prop_assert_eq!((node.score.to_bits(), node.start), (naive.score.to_bits(), naive.start), "at {}", at);
            prop_assert!(at == 0 || node.id == naive.id, "at {}", at);
        }
    }

    #[test]
    fn nbest_matches_naive(unigram in model(), word in "[abé日x]{0,7}", n in 0..20usize) {
        let found = unigram.encode_nbest(&word, n).expect("an unknown id");
        let all = all(&unigram, &word);
        prop_assert_eq!(found.len(), all.len().min(n));
        for (found, (score, path)) in found.iter().zip(&all) {
            prop_assert_eq!(found.score.to_bits(), score.to_bits());
            prop_assert_eq!(&found.tokens, &tokens(&unigram, &word, path));
        }
    }
}

proptest! {
    #[test]
    fn best_path_by_fragments_matches_naive(
        unigram in model(),
        words in prop::collection::vec("[abé日xж𠀀]{1,6}", 1..6),
        choices in prop::collection::vec(any::<usize>(), 1..120),
        in_32_bits in any::<bool>(),
        factor in prop::sample::select(vec![1.0, -3.0, 300.0, 7e3, -7e3, 5e4]),
        has_cuts in any::<bool>(),
    ) {
        let unigram = if in_32_bits {
            let scaled = |(piece, score)| (piece, f64::from((score * factor) as f32));
            let pieces: Vec<(&str, f64)> = unigram.pieces().map(scaled).collect();
            let kinds = vec![PieceKind::Normal; pieces.len()];
            Unigram::with_kinds(&pieces, Some(kinds), unigram.options.clone()).expect("a valid model")
        } else {
            unigram
        };
        let text: String = choices.iter().map(|&choice| words[choice % words.len()].as_str()).collect();
        let cuts = has_cuts.then(|| CutPoints::new(unigram.vocab.iter().map(|(piece, _)| piece)));
        let (mut fast, mut naive) = (Scratch::default(), Scratch::default());
        // Twice, so that every fragment is a miss and then a hit of the memo.
        for _ in 0..2 {
            if in_32_bits {
                unigram.best_path_by_fragments::<F32Scores>(&text, cuts.as_ref(), &mut fast).expect("an unknown id");
                unigram.best_path_of_whole::<F32Scores>(&text, &mut naive).expect("an unknown id");
            } else {
                unigram.best_path_by_fragments::<F64Scores>(&text, cuts.as_ref(), &mut fast).expect("an unknown id");
                unigram.best_path_of_whole::<F64Scores>(&text, &mut naive).expect("an unknown id");
            }
            prop_assert_eq!(&fast.path, &naive.path);
        }
    }
}

/// The frequencies of draws are proportional to exp(alpha * score), over all segmentations or over the best ones.
#[test]
fn samples_are_spread_as_their_scores_say() {
    let pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("ab", -2.5), ("aa", -2.2)];
    for (nbest_size, alpha) in [(0, 0.5), (0, 2.0), (3, 0.7)] {
        let options =
            UnigramOptions { unk_id: Some(0), alpha: Some(alpha), nbest_size, ..UnigramOptions::default() };
        let unigram = Unigram::new(&pieces, options).expect("a valid model");
        let mut ways = all(&unigram, "aaab");
        ways.truncate(if nbest_size == 0 { usize::MAX } else { nbest_size });
        let total: f64 = ways.iter().map(|(score, _)| (alpha * score).exp()).sum();
        let (mut scratch, draws) = (Scratch::default(), 20_000);
        let mut counts = vec![0; ways.len()];
        for _ in 0..draws {
            let mut drawn = Tokens::default();
            unigram.encode_word("aaab", &mut scratch, &mut drawn).expect("all characters are known");
            let way = ways.iter().position(|(_, path)| tokens(&unigram, "aaab", path) == drawn);
            counts[way.expect("one of all segmentations")] += 1;
        }
        for ((score, _), count) in ways.iter().zip(counts) {
            let expected = (alpha * score).exp() / total;
            let found = f64::from(count) / f64::from(draws);
            assert!((found - expected).abs() < 0.02, "{found} for {expected}");
        }
    }
}
