//! Rewrites of clusters by a normalizer that do not depend on the context.
//!
//! A stage sees one character, one character with the marks after it, or one grapheme cluster. Take a cluster whose
//! text, as each stage receives it, begins and ends at boundaries that no stage reaches across. Then the output of the
//! last stage is the same beside any neighbours with the same property. So one trial run of the stages on the cluster
//! gives a rewrite that holds in every text.

use std::ops::Range;

use super::Normalizer;
use super::bert::{Bert, is_mark as is_bert_mark};
use super::clusters::{is_cluster, is_simple_grapheme};
use super::form::Form;
use super::unicode_9::is_mark;
use crate::metaspace::VISIBLE_SPACE;
use crate::normalized::{ByteRange, Normalized};
use crate::scan::bert::is_ideograph;
use crate::structures::finder::{RUN_OF_SPACES, TextPattern};

/// Longer clusters are not tried.
const LONGEST: usize = 32;

/// The rewrite of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new text; never empty.
    pub text: String,
    /// For each character of `text`, the bytes of the cluster that it stands for. The first range starts at 0; each
    /// further range equals the one before or lies after it.
    pub sources: Vec<Range<usize>>,
}

impl Rewritten {
    /// The rewrite of a cluster that stays unchanged.
    pub fn unchanged(cluster: &str) -> Self {
        let own = |(at, c): (usize, char)| at..at + c.len_utf8();
        Self { text: cluster.to_owned(), sources: cluster.char_indices().map(own).collect() }
    }
}

fn is_text(c: char) -> bool {
    !c.is_whitespace() && c != VISIBLE_SPACE
}

impl Normalizer {
    /// The rewrite of `cluster` that holds at either end of a text, after a space, and beside any clusters that have
    /// such a rewrite too. Neither `cluster` nor its rewrite holds white space or U+2581.
    ///
    /// `None` if no such rewrite is known.
    pub fn rewrite_in_isolation(&self, cluster: &str) -> Option<Rewritten> {
        if cluster.len() > LONGEST
            || !cluster.starts_with(is_simple_grapheme)
            || !cluster.chars().all(is_text)
        {
            return None;
        }
        if let Some(form) = self.takes_marks_off(cluster)
            && let Some(made) = without_marks(cluster, form, is_mark, |base| self.rewrite_in_isolation(base))
        {
            return Some(made);
        }
        if !is_cluster(cluster) {
            return None;
        }
        let mut chars = cluster.chars();
        if chars.next().is_some_and(|c| self.leaves_unchanged(c)) && chars.next().is_none() {
            return Some(Rewritten::unchanged(cluster));
        }
        let text = self.rewrite_stage_by_stage(cluster.to_owned())?;
        if text == cluster && self.is_identity(cluster) {
            return Some(Rewritten::unchanged(cluster));
        }
        if !text.chars().all(is_text) {
            return None;
        }
        let twice = [cluster, cluster].concat();
        let normalized = self.normalize(Normalized::new(&twice, 0, true)).ok()?;
        let spaced = [" ", cluster].concat();
        let after = self.normalize(Normalized::new(&spaced, 0, true)).ok()?;
        // A character that is removed at the very beginning of a text shifts the alignment of everything after it. So
        // the alignment is checked after a space as well.
        let is_same = |(at, c): (usize, char)| {
            let (start, end) = after.original(at + 1..at + 1 + c.len_utf8());
            (start.wrapping_sub(1), end.wrapping_sub(1)) == normalized.original(at..at + c.len_utf8())
        };
        let leaves_unchanged =
            after.text().strip_prefix(' ') == Some(&text) && text.char_indices().all(is_same);
        if leaves_unchanged { rewritten_twice(&normalized, cluster, text) } else { None }
    }

    /// The form of decomposition, if the stages decompose `cluster` and then remove all its marks. Before these two
    /// stages there may only be replacements that cannot match in `cluster`.
    fn takes_marks_off(&self, cluster: &str) -> Option<Form> {
        let Self::Sequence(stages) = self else { return None };
        let leaves = |stage: &&Self| match stage {
            Self::Replace(replacement) => match replacement.pattern() {
                TextPattern::Literal(pattern) => {
                    !pattern.is_empty() && !cluster.contains(|c| pattern.contains(c))
                }
                TextPattern::Regex(pattern) => pattern == RUN_OF_SPACES,
            },
            _ => false,
        };
        let before = stages.iter().take_while(leaves).count();
        match stages[before..] {
            [Self::Unicode(form @ (Form::Nfd | Form::Nfkd)), Self::StripAccents, ..] => Some(form),
            _ => None,
        }
    }

    /// The output of all stages for `text`, if the output of each is the same beside any neighbouring clusters.
    fn rewrite_stage_by_stage(&self, text: String) -> Option<String> {
        let leaves_unchanged = match self {
            Self::Sequence(stages) => {
                return stages.iter().try_fold(text, |text, stage| stage.rewrite_stage_by_stage(text));
            }
            Self::Lowercase | Self::StripAccents | Self::Nmt => false,
            Self::Unicode(form) if starts_run(*form, &text) => false,
            Self::Precompiled(charsmap) if !charsmap.is_longest_first() && is_cluster(&text) => false,
            Self::Strip { .. } if !text.contains(char::is_whitespace) => true,
            Self::Replace(replacement) => {
                let is_possible = match replacement.pattern() {
                    TextPattern::Literal(pattern) => {
                        pattern.is_empty() || text.contains(|c| pattern.contains(c))
                    }
                    TextPattern::Regex(pattern) => pattern != RUN_OF_SPACES || text.contains(' '),
                };
                if is_possible {
                    return None;
                }
                true
            }
            Self::Unicode(_)
            | Self::Precompiled(_)
            | Self::Strip { .. }
            | Self::Prepend(_)
            | Self::Bert(_)
            | Self::Metaspace(_)
            | Self::SentencePiece(_)
            | Self::ByteLevel
            | Self::Custom(_) => return None,
        };
        let made = if leaves_unchanged { text } else { self.normalize_str(&text).ok()?.into_owned() };
        (!made.is_empty()).then_some(made)
    }
}

/// True if the first character of `text` neither composes with a character before it nor changes places with marks
/// there.
fn starts_run(form: Form, text: &str) -> bool {
    text.chars().next().is_some_and(|c| form.starts_run(c))
}

/// The rewrite of a cluster by stages that decompose it to `form` and then remove all marks: the concatenated rewrites
/// of the characters that remain, each as `rewrite_in_isolation` returns it. `None` if nothing after the first
/// character vanishes.
///
/// Canonical ordering moves marks past marks only. So the remaining characters keep their order unless one of them is
/// such a mark; then there is no answer.
fn without_marks(
    cluster: &str,
    form: Form,
    is_mark: impl Fn(char) -> bool,
    rewrite_in_isolation: impl Fn(&str) -> Option<Rewritten>,
) -> Option<Rewritten> {
    let vanishes = |(at, c): (usize, char)| at > 0 && form.vanishes(c, &is_mark);
    if !cluster.char_indices().any(vanishes) {
        return None;
    }
    let mut made = Rewritten { text: String::new(), sources: Vec::new() };
    for (at, c) in cluster.char_indices().filter(|&place| !vanishes(place)) {
        let own = rewrite_in_isolation(&cluster[at..at + c.len_utf8()])
            .filter(|_| form.has_no_order(c, &is_mark))?;
        made.text += &own.text;
        made.sources.extend(own.sources.into_iter().map(|source| at + source.start..at + source.end));
    }
    Some(made)
}

impl Bert {
    /// As [`Normalizer::rewrite_in_isolation`], but within a pre-token of the original text, so without the blanks
    /// around an ideograph.
    ///
    /// Every step sees one character at a time, except that marks change places with marks; so all such marks have to
    /// vanish.
    pub fn rewrite_in_isolation(self, cluster: &str) -> Option<Rewritten> {
        let is_possible = cluster.len() <= LONGEST
            && cluster.starts_with(is_simple_grapheme)
            && starts_run(Form::Nfd, cluster);
        let has_blanks = self.handle_chinese_chars && cluster.contains(is_ideograph);
        if !is_possible || !cluster.chars().all(is_text) || has_blanks && cluster.chars().nth(1).is_some() {
            return None;
        }
        let mut made = Rewritten { text: String::new(), sources: Vec::new() };
        for (at, c) in cluster.char_indices() {
            if self.strips_accents() && !Form::Nfd.has_no_order(c, is_bert_mark) {
                return None;
            }
            let (own, before) = (&cluster[at..at + c.len_utf8()], made.text.len());
            if (Self { handle_chinese_chars: false, ..self }).is_identity(own) {
                made.text.push(c);
            } else {
                let normalized = self.normalize(Normalized::new(own, 0, false));
                made.text += normalized.text().trim_matches(' ');
            }
            let count = made.text[before..].chars().count();
            made.sources.extend(std::iter::repeat_n(at..at + c.len_utf8(), count));
        }
        let is_whole = made.sources.first()?.start == 0 && made.text.chars().all(is_text);
        is_whole.then_some(made)
    }
}

/// The rewrite of `cluster` as `text`, given `normalized`, which is the normalization of `cluster` twice in a row.
/// `None` if that is not `text` twice with the same alignment, or if [`Rewritten::sources`] cannot express the
/// alignment.
fn rewritten_twice(normalized: &Normalized<'_>, cluster: &str, text: String) -> Option<Rewritten> {
    let len = cluster.len();
    if normalized.text() != [&*text, &text].concat() {
        return None;
    }
    let places = |start: usize, shift: usize| -> Vec<ByteRange> {
        let place = |(at, c): (usize, char)| {
            let (from, to) = normalized.original(start + at..start + at + c.len_utf8());
            (from.wrapping_sub(shift as u32), to.wrapping_sub(shift as u32))
        };
        text.char_indices().map(place).collect()
    };
    let first = places(0, 0);
    if first != places(text.len(), len) {
        return None;
    }
    let sources: Vec<Range<usize>> =
        first.into_iter().map(|(start, end)| start as usize..end as usize).collect();
    let is_after = |pair: &[Range<usize>]| pair[0] == pair[1] || pair[0].end <= pair[1].start;
    let is_within = sources.first()?.start == 0
        && sources.windows(2).all(is_after)
        && sources.iter().all(|source| !source.is_empty() && source.end <= len);
    is_within.then_some(Rewritten { text, sources })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::charsmap;
    use super::super::clusters::cluster_len;
    use super::*;
    use crate::structures::finder::Replacement;
    use crate::testing::cases;

    fn replace(pattern: TextPattern, content: &str) -> Normalizer {
        Normalizer::Replace(Arc::new(Replacement::new(pattern, content.to_owned()).expect("a plain pattern")))
    }

    fn precompiled() -> Normalizer {
        let rules = [("，", ","), ("ﬀ", "ff"), ("e\u{301}", "é"), ("Q", " q"), ("\u{1}", ""), ("a", "aa")];
        let rules: BTreeMap<String, String> =
            rules.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect();
        Normalizer::Precompiled(charsmap(&rules))
    }

    fn normalizer() -> impl Strategy<Value = Normalizer> {
        let form = |form| Just(Normalizer::Unicode(form));
        let stage = prop_oneof![
            form(Form::Nfc),
            form(Form::Nfd),
            form(Form::Nfkc),
            form(Form::Nfkd),
            Just(Normalizer::Lowercase),
            Just(Normalizer::StripAccents),
            Just(Normalizer::Nmt),
            Just(precompiled()),
            Just(Normalizer::Strip { left: false, right: true }),
            Just(replace(TextPattern::Literal("b日".to_owned()), "x")),
            Just(replace(TextPattern::Regex(RUN_OF_SPACES.to_owned()), " ")),
        ];
        let first = prop::sample::select(&[None, None, Some(Form::Nfd), Some(Form::Nfkd)][..]);
        (first, prop::collection::vec(stage, 0..4)).prop_map(|(first, stages)| {
            let first =
                first.into_iter().flat_map(|form| [Normalizer::Unicode(form), Normalizer::StripAccents]);
            Normalizer::Sequence(first.chain(stages).collect())
        })
    }

    const PIECES: &[&str] = &[
        "a",
        "b",
        "日",
        "e",
        "é",
        "E",
        "\u{301}",
        "\u{323}",
        "が",
        "か\u{3099}",
        "한",
        "하",
        "\u{1112}",
        "\u{1161}",
        "\u{11AB}",
        "ক",
        "\u{1B44}",
        "\u{1B13}",
        "\u{302E}",
        "\u{9CD}",
        "ষ",
        "\u{9BE}",
        "\u{9C7}",
        "စ",
        "\u{1039}",
        "，",
        "ﬀ",
        "Q",
        "ẛ\u{323}",
        "\u{200D}",
        "\u{200B}",
        "👍",
        "\u{1F3FD}",
        "İ",
        "Ω",
        "\u{338}",
        "=",
        "\u{1}",
        "\u{600}",
        "ㄱ",
    ];

    proptest! {
        #![proptest_config(cases(4000))]

        #[test]
        fn rewrite_in_isolation_matches_naive(
            normalizer in normalizer(),
            clusters in prop::collection::vec(prop::collection::vec(prop::sample::select(PIECES), 1..4), 1..8),
            has_space in any::<bool>(),
        ) {
            let (mut text, mut expected, mut places) = (String::new(), String::new(), Vec::new());
            if has_space {
                text.push(' ');
                expected.push(' ');
                places.push((0, 1));
            }
            for cluster in clusters.iter().map(|pieces| pieces.concat()) {
                let Some(made) = normalizer.rewrite_in_isolation(&cluster).filter(|_| cluster_len(&cluster) == cluster.len()) else { continue };
                let at = text.len();
                prop_assert_eq!(made.sources.len(), made.text.chars().count());
                places.extend(made.sources.iter().map(|own| ((at + own.start) as u32, (at + own.end) as u32)));
                expected += &made.text;
                text += &cluster;
            }
            // The guarantee covers a space only before a cluster.
            if text.len() <= 1 {
                return Ok(());
            }
            let naive = normalizer.normalize(Normalized::new(&text, 0, true)).expect("no pattern to give up");
            prop_assert_eq!(naive.text(), expected.as_str());
            let naive_places: Vec<ByteRange> =
                expected.char_indices().map(|(at, c)| naive.original(at..at + c.len_utf8())).collect();
            prop_assert_eq!(naive_places, places);
        }
    }

    #[test]
    fn what_is_common_is_alone() {
        let stages = vec![Normalizer::Unicode(Form::Nfkd), Normalizer::StripAccents, precompiled()];
        let normalizer = Normalizer::Sequence(stages);
        let made =
            |cluster: &str| normalizer.rewrite_in_isolation(cluster).map(|made| (made.text, made.sources));
        assert_eq!(made("日"), Some(("日".to_owned(), vec![0..3; 1])));
        assert_eq!(made("が"), Some(("か".to_owned(), vec![0..3; 1])));
        assert_eq!(made("n\u{303}"), Some(("n".to_owned(), vec![0..1; 1])));
        assert_eq!(made("하"), Some(("\u{1112}\u{1161}".to_owned(), vec![0..3, 0..3])));
        assert_eq!(made("ন\u{9cd}ত"), Some(("নত".to_owned(), vec![0..3, 6..9])));
        assert_eq!([made(" "), made("\u{301}"), made("Q"), made("\u{1112}")], [None, None, None, None]);
    }
}
