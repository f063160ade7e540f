//! Chooses the language of each merge; with [`Variant::Window`](super::Variant::Window) it passes over languages that had too
//! many of the last turns.

use std::collections::VecDeque;

use super::super::scores::nearest_f64;

/// The outcome of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// The language at this index merges.
    Of(usize),
    /// The turn passes without a merge.
    Pass,
    /// All languages are out.
    End,
}

/// How many of the last turns a language may have had.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    size: u128,
    most: usize,
}

impl Window {
    /// A window of `size` turns, of which a language may have `alpha` times its share.
    pub(super) fn new(size: usize, alpha: f64, languages: usize) -> Self {
        // The quotients that Hugging Face compares; the products may round otherwise.
        let share = alpha / nearest_f64(languages as u64);
        let (mut most, mut above) = (0, size.saturating_add(1));
        while above - most > 1 {
            let middle = most + (above - most) / 2;
            if nearest_f64(middle as u64) / nearest_f64(size as u64) <= share {
                most = middle;
            } else {
                above = middle;
            }
        }
        Self { size: size as u128, most }
    }
}

/// A language's record.
#[derive(Clone, Debug, Default)]
struct Language {
    is_out: bool,
    /// The turns that the language has had; turns before the window are dropped.
    had: VecDeque<u128>,
}

/// The turns so far.
#[derive(Debug)]
pub(super) struct Turns {
    languages: Vec<Language>,
    window: Option<Window>,
    // Wide enough for windows of any size: each passed turn adds at most one window.
    now: u128,
}

impl Turns {
    /// No turns yet.
    pub(super) fn new(languages: usize, window: Option<Window>) -> Self {
        Self { languages: vec![Language::default(); languages], window, now: 0 }
    }

    /// Chooses the language of the next turn; `badness` is highest for the one that is compressed worst.
    ///
    /// Of equals the first is the worst.
    pub(super) fn next(&mut self, badness: impl Fn(usize) -> f64) -> Turn {
        let (mut worst, mut least) = (None::<(usize, f64)>, None::<(usize, f64)>);
        for at in 0..self.languages.len() {
            if self.languages[at].is_out {
                continue;
            }
            let bad = badness(at);
            if least.is_none_or(|(_, other)| bad <= other) {
                least = Some((at, bad));
            }
            if worst.is_none_or(|(_, other)| bad > other) && self.may_have_another(at) {
                worst = Some((at, bad));
            }
        }
        let Some((least, _)) = least else { return Turn::End };
        let chosen = match worst {
            Some((worst, _)) => worst,
            None if self.languages.iter().any(|language| language.is_out) => {
                self.pass();
                return Turn::Pass;
            }
            None => least,
        };
        if self.window.is_some() {
            self.languages[chosen].had.push_back(self.now);
            self.now += 1;
        }
        Turn::Of(chosen)
    }

    /// Takes a language out for good.
    pub(super) fn retire(&mut self, at: usize) {
        self.languages[at].is_out = true;
    }

    /// True if the window leaves room for another turn of a language.
    fn may_have_another(&mut self, at: usize) -> bool {
        let Some(window) = self.window else { return true };
        let had = &mut self.languages[at].had;
        while had.front().is_some_and(|&turn| turn + window.size < self.now) {
            had.pop_front();
        }
        had.len() <= window.most
    }

    /// Passes as many turns as it takes until the window leaves room for some language.
    fn pass(&mut self) {
        let Some(window) = self.window else { return };
        let languages = self.languages.iter().filter(|language| !language.is_out);
        let free_at = |language: &Language| {
            let excess = language.had.len().checked_sub(window.most + 1)?;
            language.had.get(excess).map(|&turn| turn + window.size + 1)
        };
        self.now = languages.filter_map(free_at).min().unwrap_or(self.now + 1);
    }
}
