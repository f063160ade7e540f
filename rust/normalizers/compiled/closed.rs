//! How far one stage sees: when it may be run on a text by itself.

use crate::normalizers::clusters::{is_cluster, is_simple_grapheme};
use crate::normalizers::form::Form;
use crate::normalizers::{Bert, Normalizer};
use crate::structures::finder::{RUN_OF_SPACES, Replacement, TextPattern};
use crate::structures::regex::Pattern;

/// The characters that a match may hold one after the other.
pub(super) enum Matched<'a> {
    /// The characters of a literal.
    Literal(&'a str),
    /// Any number of spaces.
    Spaces,
    /// Any characters within the reach of a pattern without look-around.
    Reach(&'a Pattern),
}

impl<'a> Matched<'a> {
    /// None if a match may depend on its neighbours, or is empty.
    pub(super) fn of(replacement: &'a Replacement) -> Option<Self> {
        match replacement.pattern() {
            TextPattern::Literal(literal) => (!literal.is_empty()).then_some(Self::Literal(literal)),
            TextPattern::Regex(pattern) if pattern == RUN_OF_SPACES => Some(Self::Spaces),
            TextPattern::Regex(_) => {
                let pattern = replacement.finder().compiled()?;
                pattern.sees_matches_alone().then_some(Self::Reach(pattern))
            }
        }
    }

    /// True if a match may hold `c`.
    pub(super) fn may_hold(&self, c: char) -> bool {
        match self {
            Self::Literal(literal) => literal.contains(c),
            Self::Spaces => c == ' ',
            Self::Reach(pattern) => pattern.may_read(c),
        }
    }

    /// True if `right` may follow another character within a match.
    pub(super) fn may_continue(&self, right: char) -> bool {
        match self {
            Self::Literal(literal) => literal.chars().skip(1).any(|c| c == right),
            Self::Spaces => right == ' ',
            Self::Reach(pattern) => pattern.may_read(right),
        }
    }

    /// True if another character may follow `left` within a match.
    pub(super) fn may_go_on(&self, left: char) -> bool {
        match self {
            Self::Literal(literal) => literal.chars().rev().skip(1).any(|c| c == left),
            Self::Spaces => left == ' ',
            Self::Reach(pattern) => pattern.may_read(left),
        }
    }

    /// True if `right` may follow `left` directly within a match.
    pub(super) fn may_join(&self, left: char, right: char) -> bool {
        match self {
            Self::Literal(literal) => {
                literal.chars().zip(literal.chars().skip(1)).any(|pair| pair == (left, right))
            }
            Self::Spaces => (left, right) == (' ', ' '),
            Self::Reach(pattern) => pattern.may_read(left) && pattern.may_read(right),
        }
    }
}

/// How far a stage sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// One character at a time.
    Characters,
    /// No further than into the next closed text.
    Neighbours,
    /// The ends of a text too.
    Ends,
    /// Any distance.
    Unlimited,
}

/// How far `stage`, which is no sequence, sees.
pub(super) fn sight(stage: &Normalizer) -> Sight {
    match stage {
        Normalizer::Lowercase | Normalizer::StripAccents | Normalizer::Nmt | Normalizer::ByteLevel => {
            Sight::Characters
        }
        Normalizer::Bert(bert) if !bert.strips_accents() => Sight::Characters,
        Normalizer::Bert(_) | Normalizer::Unicode(_) => Sight::Neighbours,
        Normalizer::Precompiled(charsmap) if !charsmap.is_longest_first() => Sight::Neighbours,
        Normalizer::Replace(replacement) => match Matched::of(replacement) {
            Some(Matched::Literal(literal)) if literal.chars().nth(1).is_none() => Sight::Characters,
            Some(_) => Sight::Neighbours,
            None => Sight::Unlimited,
        },
        Normalizer::Strip { .. } | Normalizer::Prepend(_) => Sight::Ends,
        Normalizer::Precompiled(_)
        | Normalizer::Metaspace(_)
        | Normalizer::SentencePiece(_)
        | Normalizer::Sequence(_)
        | Normalizer::Custom(_) => Sight::Unlimited,
    }
}

/// True if `text` is closed for `stage`: in any row of closed texts, `stage` rewrites each as it rewrites that text alone.
/// An empty text always is.
pub(super) fn is_closed(stage: &Normalizer, text: &str) -> bool {
    let Some(first) = text.chars().next() else { return true };
    match stage {
        Normalizer::Unicode(form) => form.starts_run(first),
        Normalizer::Bert(bert) => {
            // The steps before decomposition.
            let before = Bert { strip_accents: Some(false), lowercase: false, ..*bert };
            let starts_run = |text: &str| text.chars().next().is_none_or(|c| Form::Nfd.starts_run(c));
            let made = Normalizer::Bert(before).normalize_str(text);
            !bert.strips_accents() || made.is_ok_and(|made| starts_run(&made))
        }
        Normalizer::Precompiled(_) => is_cluster(text),
        Normalizer::Replace(replacement) => {
            Matched::of(replacement).is_some_and(|matched| !matched.may_continue(first))
        }
        stage => sight(stage) == Sight::Characters,
    }
}

/// True if `stage` sees `c`, a character of ASCII, by itself, but for matches with other characters.
pub(super) fn sees_alone(stage: &Normalizer, c: char) -> bool {
    match stage {
        Normalizer::Precompiled(_) => is_simple_grapheme(c),
        Normalizer::Replace(_) => true,
        stage => is_closed(stage, c.encode_utf8(&mut [0; 4])),
    }
}

/// The number of stages that see more than a character.
pub(super) fn stages_with_neighbours(stages: &[&Normalizer]) -> usize {
    stages.iter().filter(|stage| matches!(sight(stage), Sight::Neighbours | Sight::Ends)).count()
}
