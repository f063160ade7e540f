//! Patterns without look-around, run by a lazily built deterministic automaton.
//!
//! Published splitters end in `\s+(?!\S)|\s+` and have no other look-around. This tail matches a run of white space,
//! without its last character if other text follows and the run has more than one character. So the automaton searches
//! for `\s+`, and the end of the match is cut afterwards.

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

use super::translate::{Refused, translate};

/// Tails of patterns that get this treatment, if they follow other branches.
const TAILS: [&str; 2] = [r"\s+(?!\S)|\s+", r"\s+(?!\S)|\s"];

/// A pattern compiled to automata.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// The pattern; if it ends in one of [`TAILS`], its other branches, with `\s+` as a second pattern of lower
    /// priority.
    regex: Regex,
}

impl Automaton {
    /// The automaton of `pattern`, given its translation; `None` if an automaton cannot run it.
    pub(super) fn new(pattern: &str, translated: &str) -> Option<Self> {
        let spaces = || translate(r"\s+").ok();
        let regex = match TAILS.iter().find_map(|tail| head(pattern, tail, translated)) {
            Some(head) => Regex::new_many(&[head, spaces()?]),
            None => Regex::new(translated),
        };
        regex.ok().map(|regex| Self { regex })
    }

    /// The first match at or after byte `from` of `text`.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        // Most matches begin where the previous one ended. There an anchored search finds the end, and no second pass
        // has to find the start.
        let here = Input::new(text).range(from..).anchored(Anchored::Yes);
        let found = self.regex.search(&here).or_else(|| self.regex.search(&here.anchored(Anchored::No)))?;
        let (start, mut end) = (found.start(), found.end());
        if found.pattern().as_usize() == 1 && end < text.len() {
            let last = text[..end].chars().next_back().map_or(0, char::len_utf8);
            if end - last > start {
                end -= last;
            }
        }
        Some((start, end))
    }
}

/// The translation of everything before `tail`, if the branches of the tail are branches of the whole pattern.
fn head(pattern: &str, tail: &str, translated: &str) -> Option<String> {
    let head = pattern.strip_suffix(tail)?.strip_suffix('|')?;
    let translated_head = translate(head).ok()?;
    // If the tail is inside a group, after a flag or in brackets, the translation of the whole differs from this.
    let whole = |tail: String| format!("{translated_head}|{tail}");
    let is_apart =
        translate(tail).map(whole).map_err(|Refused(message)| message) == Ok(translated.to_owned());
    is_apart.then_some(translated_head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::structures::regex::Pattern;

    #[test]
    fn automata_take_what_they_can() {
        let is_taken = |pattern: &str| {
            translate(pattern).is_ok_and(|translated| Automaton::new(pattern, &translated).is_some())
        };
        assert!(is_taken(r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"));
        assert!(is_taken(r"\p{L}+|\s+(?!\S)|\s"));
        assert!(is_taken("(?i:a|b)|\\d+"));
        for pattern in [
            r"(a|\s+(?!\S)|\s+)",
            r"a(?i)b|\s+(?!\S)|\s+",
            r"\|\s+(?!\S)|\s+",
            r"\s+(?!\S)|\s+",
            r"\s+(?!\S)",
            "a(?=b)",
            "(?<=a)b",
            "a++",
        ] {
            assert!(!is_taken(pattern), "{pattern}");
        }
    }

    fn any_pattern() -> impl Strategy<Value = String> {
        let branch = prop::sample::select(vec![
            "a",
            "b+",
            "[ab]{1,3}",
            r"\p{L}+",
            r" ?\p{L}+",
            r"\s*[\r\n]+",
            r"\d{1,3}",
            "(?i:'S|é)",
            r"\w+?",
            r"[^\s\p{L}]+",
            "a*",
            "x??",
            r"\b",
            r"b\b",
            r"[ \t]+",
            "日|ß",
            "(?i:ss)",
            ".+",
            "$",
            "^a",
        ]);
        let tail = prop::sample::select(vec!["", r"|\s+(?!\S)|\s+", r"|\s+(?!\S)|\s", r"|\s+"]);
        (prop::collection::vec(branch, 1..5), tail).prop_map(|(branches, tail)| branches.join("|") + tail)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn automaton_matches_naive(pattern in any_pattern(), text in "[ab \\t\\n\\r1'sSéßé日²\u{3000}\u{a0}\u{85}]{0,24}") {
            let (naive, fast) = (Pattern::by_backtracking(&pattern), Pattern::new(&pattern));
            prop_assert!(naive.is_ok() && fast.is_ok());
            if let (Ok(naive), Ok(fast)) = (naive, fast) {
                prop_assert_eq!(fast.find_iter(&text).ok(), naive.find_iter(&text).ok());
            }
        }
    }
}
