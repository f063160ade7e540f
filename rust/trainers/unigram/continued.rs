//! Continued training: the pieces of a model keep their ids and scores, new pieces are estimated beside them.
//!
//! The lattice has the pieces of the model with their own probabilities, and only new pieces are estimated and removed. A new piece gets the
//! score that it would get if all pieces were estimated, so its score is the logarithm of a frequency as the others are.
//!
//! * No new piece scores less than the worst piece of the model. So unknown characters keep their score, and a text without new pieces its
//!   tokens.
//! * A new piece stays only if the model with all new pieces encodes its text as that piece. A piece that is less likely than other pieces of
//!   its text is on no best path at all.

use std::collections::BTreeSet;

use super::corpus::Corpus;
use super::em::{Base, Pieces, best};
use super::seeds::{Seed, Suffixes};
use super::{Algorithm, LONGEST, UnigramTrainer};
use crate::models::Tokens;
use crate::models::piece_kind::PieceKind;
use crate::models::unigram::{Scratch, Unigram, UnigramOptions};
use crate::structures::parallel::OnProgress;
use crate::trainers::continued::PresentTokens;
use crate::trainers::word_counts::WordCounts;
use crate::{Error, Result};

/// Estimation takes lower scores of the model for this one, so that sums over a word stay in range.
const LOWEST_ESTIMATED: f64 = -100.0;

/// All pieces by id, with their scores, and with their kinds if the model has kinds.
struct AllPieces {
    pieces: Vec<(String, f64)>,
    kinds: Option<Vec<PieceKind>>,
}

impl AllPieces {
    /// The pieces of a model, and the added tokens after them.
    fn present(model: &Unigram, present: &PresentTokens) -> Result<Self> {
        let pieces = model.pieces().map(|(piece, score)| (piece.to_owned(), score)).collect();
        let mut all = Self { pieces, kinds: model.kinds().map(<[_]>::to_vec) };
        for (token, id) in &present.by_id()[all.pieces.len()..] {
            let next = all.pieces.len();
            if *id as usize != next {
                let message = format!(
                    "added token `{token}` has id {id} but must have id {next}, since a unigram model has no ids without a piece"
                );
                return Err(Error::Unsupported(message));
            }
            all.push(token.clone(), 0.0, PieceKind::Control);
        }
        Ok(all)
    }

    fn push(&mut self, piece: String, score: f64, kind: PieceKind) {
        self.pieces.push((piece, score));
        if let Some(kinds) = &mut self.kinds {
            kinds.push(kind);
        }
    }

    fn extend(&mut self, pieces: &[(String, f64)]) {
        for (piece, score) in pieces {
            self.push(piece.clone(), *score, PieceKind::Normal);
        }
    }

    fn kind(&self, id: usize) -> PieceKind {
        self.kinds.as_ref().map_or(PieceKind::Normal, |kinds| kinds[id])
    }

    /// The score of the worst piece, from which the score of unknown characters derives.
    fn lowest(&self) -> f64 {
        let normal = self.pieces.iter().enumerate().filter(|&(id, _)| self.kind(id) == PieceKind::Normal);
        let lowest = normal.fold(f64::INFINITY, |lowest, (_, &(_, score))| lowest.min(score));
        if lowest.is_finite() { lowest } else { f64::NEG_INFINITY }
    }

    fn to_model(&self, options: UnigramOptions) -> Result<Unigram> {
        Unigram::with_kinds(&self.pieces, self.kinds.clone(), options)
    }
}

impl UnigramTrainer {
    /// Learns further pieces from `words`, until there are `vocab_size` in all.
    ///
    /// Without room for another piece, or if nothing is learnt, the result is the model itself.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the present pieces, special tokens and new characters exceed `vocab_size`, or if an option is out of range
    /// or counts are fixed or penalised, [`Error::Unsupported`] if an added token has an id beyond the next one, and the errors of `on_progress`.
    pub fn continue_training(
        &self,
        words: &WordCounts,
        model: &Unigram,
        present: &PresentTokens,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Unigram> {
        self.check()?;
        if self.algorithm != Algorithm::Em {
            let expected = "em where training is continued, since exact-loss scores all pieces by one corpus";
            let value = "exact-loss".to_owned();
            return Err(Error::InvalidOption { name: "algorithm", value, expected: expected.to_owned() });
        }
        if self.use_sparse_pruning {
            let expected = "false where training is continued, since present pieces keep their scores";
            let value = "true".to_owned();
            return Err(Error::InvalidOption {
                name: "use_sparse_pruning",
                value,
                expected: expected.to_owned(),
            });
        }
        if self.vocab_size == present.len() {
            return Ok(model.clone());
        }
        let mut all = AllPieces::present(model, present)?;
        let specials = present.without_known(&self.special_tokens);
        let known: BTreeSet<String> = all.pieces.iter().map(|(piece, _)| piece.clone()).collect();
        let mut left_out: BTreeSet<&str> = present.added().iter().map(String::as_str).collect();
        left_out.extend(self.special_tokens.iter().map(String::as_str));
        let unknown = model.options().unk_id.and_then(|id| model.vocab().token(id));
        left_out.extend(unknown);
        let in_text: Vec<(&str, f64)> = all
            .pieces
            .iter()
            .enumerate()
            .filter(|&(id, (piece, _))| {
                // Of a piece that is listed twice, only the last one is found.
                let is_last = id >= model.pieces().len() || model.vocab().id(piece) == Some(id as u32);
                is_last && all.kind(id).is_in_text() && !left_out.contains(piece.as_str())
            })
            .map(|(_, (piece, score))| (piece.as_str(), score.clamp(LOWEST_ESTIMATED, 0.0)))
            .collect();
        let learning = Learning { trainer: self, in_text: &in_text, known: &known, left_out: &left_out };
        let corpus = learning.corpus(words);
        let characters = learning.new_characters(&corpus);
        present.check_room(self.vocab_size, specials.len() + characters)?;
        let wanted = self.vocab_size - present.len() - specials.len();
        let mut learnt = learning.learn(&corpus, wanted, on_progress)?;
        let lowest = all.lowest();
        for (_, score) in &mut learnt {
            *score = score.max(lowest);
        }
        for &special in &specials {
            all.push(special.to_owned(), 0.0, PieceKind::Control);
        }
        let learnt = reached(&all, learnt, model.options())?;
        let characters = learnt.iter().take_while(|(text, _)| text.chars().nth(1).is_none()).count();
        let learnt = best(learnt, characters, wanted);
        if learnt.is_empty() && specials.is_empty() {
            return Ok(model.clone());
        }
        all.extend(&learnt);
        all.to_model(model.options().clone())
    }
}

/// The pieces that the model with all of them takes for their own texts; characters always are.
fn reached(
    all: &AllPieces,
    learnt: Vec<(String, f64)>,
    options: &UnigramOptions,
) -> Result<Vec<(String, f64)>> {
    let mut whole = AllPieces { pieces: all.pieces.clone(), kinds: all.kinds.clone() };
    whole.extend(&learnt);
    let model = whole.to_model(UnigramOptions { alpha: None, ..options.clone() })?;
    let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
    let mut reached = Vec::with_capacity(learnt.len());
    for (text, score) in learnt {
        tokens.clear();
        model.encode_word(&text, &mut scratch, &mut tokens)?;
        if tokens.ids.len() == 1 {
            reached.push((text, score));
        }
    }
    Ok(reached)
}

/// The pieces that new ones are learnt beside.
struct Learning<'a> {
    trainer: &'a UnigramTrainer,
    /// Pieces that the model finds in text, with the scores that estimation takes for theirs.
    in_text: &'a [(&'a str, f64)],
    /// All pieces.
    known: &'a BTreeSet<String>,
    /// Tokens that are no pieces of text.
    left_out: &'a BTreeSet<&'a str>,
}

impl Learning<'_> {
    fn characters(&self) -> impl Iterator<Item = (char, f64)> + '_ {
        self.in_text.iter().filter_map(|&(piece, score)| {
            let mut chars = piece.chars();
            chars.next().filter(|_| chars.next().is_none()).map(|c| (c, score))
        })
    }

    fn corpus(&self, words: &WordCounts) -> Corpus {
        // A character that the model has, but never finds in text, is no new character either.
        let known: BTreeSet<char> = self.characters().map(|(c, _)| c).collect();
        let is_hidden =
            |piece: &&str| piece.chars().nth(1).is_none() && piece.chars().all(|c| !known.contains(&c));
        let hidden = self.known.iter().map(String::as_str).filter(is_hidden);
        let left_out = self.left_out.iter().copied().chain(hidden).collect();
        Corpus::new(self.trainer, words, &left_out, &[], &known)
    }

    fn new_characters(&self, corpus: &Corpus) -> usize {
        let known: BTreeSet<char> = self.characters().map(|(c, _)| c).collect();
        corpus.alphabet.iter().filter(|c| !known.contains(c)).count()
    }

    /// New characters and pieces, characters first: little more than `wanted`.
    fn learn(
        &self,
        corpus: &Corpus,
        wanted: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Vec<(String, f64)>> {
        let (trainer, threads) = (self.trainer, self.trainer.threads);
        let n = trainer.seed_size.saturating_sub(self.new_characters(corpus));
        let excluded: BTreeSet<&str> =
            self.known.iter().map(String::as_str).chain(self.left_out.iter().copied()).collect();
        let longest_word = (0..corpus.len()).map(|index| corpus.word(index).len()).max().unwrap_or(0);
        let of_base: Vec<(Vec<u32>, f64)> = self
            .in_text
            .iter()
            .filter_map(|&(piece, score)| Some((corpus.codes_of(piece)?, score)))
            .filter(|(codes, _)| (2..=longest_word.min(LONGEST)).contains(&codes.len()))
            .collect();
        let longest = of_base.iter().map(|(codes, _)| codes.len()).max().unwrap_or(0);
        let mut suffixes = Suffixes::new(corpus, trainer.max_piece_length as u16, threads, on_progress)?;
        let mut candidates =
            suffixes.best(corpus, n, trainer.seed_filter(&excluded), threads, on_progress)?;
        if longest > trainer.max_piece_length {
            let longer = Suffixes::new(corpus, longest as u16, threads, on_progress)?;
            candidates = candidates
                .iter()
                .filter_map(|seed| {
                    let found = longer.find(corpus, suffixes.codes_of(corpus, seed))?;
                    Some(Seed { count: seed.count, ..found })
                })
                .collect();
            suffixes = longer;
        }
        let mut base = Base { characters: vec![None; corpus.alphabet.len()], ..Base::default() };
        for (c, score) in self.characters() {
            if let Ok(code) = corpus.alphabet.binary_search(&c) {
                base.characters[code] = Some(score);
            }
        }
        let mut seeds = Vec::with_capacity(of_base.len() + candidates.len());
        for (codes, score) in of_base {
            if let Some(seed) = suffixes.find(corpus, &codes) {
                seeds.push(seed);
                base.seeds.push(score);
            }
        }
        seeds.append(&mut candidates);
        let mut pieces = Pieces::new(corpus, &suffixes, &seeds, &base, threads, on_progress)?;
        drop((suffixes, seeds));
        trainer.shrink(&mut pieces, wanted, on_progress)?;
        Ok(pieces.texts())
    }
}
