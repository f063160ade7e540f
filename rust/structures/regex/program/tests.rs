use proptest::prelude::*;

use super::naive::Naive;
use super::reach::Reach;
use super::*;
use crate::structures::regex::{Pattern, translate};
use crate::testing::cases;

fn program(pattern: &str) -> Option<Program> {
    Program::new(&expression(pattern)?)
}

fn expression(pattern: &str) -> Option<Expression> {
    Expression::parse(&translate::translate(pattern).ok()?)
}

/// The matches that the specification finds, by the rules of [`Pattern::find_iter`].
fn naive_matches(naive: &Naive<'_>, text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut from, mut last_end) = (Vec::new(), 0, None);
    while from <= text.len() && !text.is_empty() {
        let Some((start, end)) = naive.find(from) else { break };
        if start == end && last_end == Some(end) {
            from += text[from..].chars().next().map_or(1, char::len_utf8);
        } else {
            found.push((start, end));
            from = end;
            last_end = Some(from);
        }
    }
    found
}

fn matches(program: &Program, text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let _ = program.for_each(text, &mut |start, end| {
        found.push((start, end));
        ControlFlow::Continue(())
    });
    found
}

const PUBLISHED: [&str; 14] = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[!-/:-~]?[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"\p{N}{1,3}",
    r"[一-龥\x{3040}-ゟ゠-ヿ]+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
    r"\s?\p{L}+|\s?[^\s\p{L}\p{N}]+|[\r\n]|\p{N}{3}|(?<=\s)x|\b\p{Lu}",
    r"[0-9][0-9][0-9]|\w+(?=:)|^a|b$",
    r"\p{Ps}|\X?x|\R+|[^\S\r\n]+",
];

#[test]
fn published_patterns_are_programs() {
    for pattern in &PUBLISHED[..13] {
        assert!(!program(pattern).expect(pattern).0.states.may_be_empty(), "{pattern}");
    }
}

#[test]
fn searches_that_read_beyond_their_match_take_linear_time() {
    // Each search reads the whole run before it falls back to its first character, or to none.
    let run = "a".repeat(1 << 20);
    for (pattern, count) in
        [("a*b|a", 1 << 20), (r"\w+(?=:)", 0), (r"a*(?:bc)|aa", 1 << 19), ("a*?b|(?<!x)a", 1 << 20)]
    {
        let program = program(pattern).expect(pattern);
        assert_eq!(matches(&program, &run).len(), count, "{pattern}");
    }
}

#[test]
fn a_program_has_bounds() {
    for pattern in ["a{2000}", "(?:a{50}){50}", "(?:(?:a?b?c?){20}d){20}", r"(?:a|b)*a(?:a|b){12}"] {
        let built = std::time::Instant::now();
        assert!(program(pattern).is_none(), "{pattern}");
        assert!(built.elapsed().as_millis() < 500, "{pattern}");
    }
    for pattern in ["(?=ab)a", "(?>a|ab)c", "(?:a*)*", r"(?<=ab)c"] {
        assert!(program(pattern).is_none(), "{pattern}");
    }
}

fn any_pattern() -> impl Strategy<Value = String> {
    let set = prop::sample::select(vec![
        "a",
        "b",
        r"\p{L}",
        r"\s",
        r"\S",
        "[ab]",
        "[^a]",
        r"\p{N}",
        r"[\r\n]",
        r"[^\s\p{L}\p{N}]",
        r"\p{Lu}",
        r"\p{Ll}",
        "'",
        " ",
        r"\w",
        "日",
        "ß",
        "é",
        "(?i:s)",
        "(?i:ſ)",
        r"[\p{L}&&[^ab]]",
        ".",
        r"\d",
    ]);
    let look = prop::sample::select(vec![
        r"(?!\S)",
        r"(?=\S)",
        r"(?<=a)",
        r"(?<!\s)",
        "$",
        "^",
        r"\b",
        r"\B",
        r"\z",
        r"\A",
        r"(?!a|b|\z)",
        r"(?=\p{N}+)",
        r"(?!a*)",
        "(?=)",
    ]);
    let repeat = prop::sample::select(vec![
        "", "", "", "?", "+", "*", "{1,3}", "{2}", "{2,}", "??", "+?", "*?", "++", "?+", "*+", "{1,3}+",
    ]);
    let atom = prop_oneof![8 => (set, repeat).prop_map(|(set, repeat)| format!("{set}{repeat}")), 1 => look.prop_map(str::to_owned)];
    let branch = prop::collection::vec(atom, 1..4).prop_map(|atoms| atoms.concat());
    let group =
        (prop::collection::vec(branch.clone(), 1..3), prop::sample::select(vec!["", "?", "+", "{1,2}", "*"]))
            .prop_map(|(branches, repeat)| format!("(?:{}){repeat}", branches.join("|")));
    let branch = prop_oneof![4 => branch.clone(), 1 => (branch, group).prop_map(|(one, other)| one + &other)];
    let tail = prop::sample::select(vec!["", r"|\s+(?!\S)|\s+", r"|\s+(?!\S)|\s", r"|\s++$|\s+"]);
    (prop::collection::vec(branch, 1..5), tail).prop_map(|(branches, tail)| branches.join("|") + tail)
}

/// Patterns that read few characters, mostly with look-around that no program runs.
fn any_looking_pattern() -> impl Strategy<Value = String> {
    let set =
        prop::sample::select(vec!["1", r"\d", "[12]", "a", "[ab]", "'", r"[^\p{L}\s]", "日", r"\p{Lu}"]);
    let repeat = prop::sample::select(vec!["", "", "?", "+", "*", "{1,3}", "{2}", "+?", "++", "{3}"]);
    let neighbour =
        prop::sample::select(vec![r"\b", r"\B", "^", "$", r"\A", r"\z", r"(?!\S)", r"(?<=a)", r"(?<!\d)"]);
    let atom = prop_oneof![6 => (set, repeat).prop_map(|(set, repeat)| format!("{set}{repeat}")), 1 => neighbour.prop_map(str::to_owned)];
    let branch = prop::collection::vec(atom, 1..4).prop_map(|atoms| atoms.concat());
    let open = prop::sample::select(vec!["(?=", "(?!", "(?<=", "(?<!", "(?>", "(?:"]);
    let end = prop::sample::select(vec![")", ")", ")?", ")+", "){2}"]);
    let group = (open, prop::collection::vec(branch.clone(), 1..3), end)
        .prop_map(|(open, branches, end)| format!("{open}{}{end}", branches.join("|")));
    let part = prop_oneof![branch, group];
    let branch = prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat());
    prop::collection::vec(branch, 1..3).prop_map(|branches| branches.join("|"))
}

const TEXT: &str = "[ ab \\t\\n\\r1'sSſ2AéßÉ日本²!.\u{3000}\u{a0}\u{85}\u{301}🤗]{0,24}";

const LONG_TEXT: &str = "([ ab \\t\\n\\r1'sSſ2AéßÉ日本²!.\u{3000}\u{a0}\u{85}\u{301}🤗]{0,24}|[a-z]{1,9} |'(s|t|re|RE|r|l)| {1,70}|[0-9]{1,9}|[A-Z][a-z]{0,80}|(日|д|\n ){1,40}){0,30}";

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn program_matches_naive(pattern in any_pattern(), text in TEXT) {
        if let (Some(program), Some(expression)) = (program(&pattern), expression(&pattern)) {
            let naive = naive_matches(&Naive::new(&expression, &text), &text);
            prop_assert_eq!(matches(&program, &text), naive, "{}", pattern);
        }
    }

    #[test]
    fn places_beyond_reach_matches_naive(pattern in any_looking_pattern(), text in TEXT) {
        let (Ok(naive), Some(expression)) = (Pattern::by_backtracking(&pattern), expression(&pattern)) else { return Ok(()) };
        let Some(reach) = Reach::new(&expression) else { return Ok(()) };
        let found = |text: &str| naive.find_iter(text).expect("short");
        let whole = found(&text);
        for (at, next) in text.char_indices().skip(1) {
            let last = text[..at].chars().next_back().expect("not the first");
            if !reach.holds(last) && !reach.holds(next) {
                let mut cut = found(&text[..at]);
                cut.extend(found(&text[at..]).iter().map(|&(start, end)| (at + start, at + end)));
                prop_assert_eq!(&cut, &whole, "{} cut at {}", pattern, at);
            }
        }
    }

    #[test]
    fn regions_matches_naive(pattern in any_looking_pattern(), text in TEXT) {
        // Other patterns have a program, and the backtracking engine finds a match of `[12]+1?[12]+` in `1`.
        let reach = expression(&pattern).and_then(|expression| Reach::new(&expression));
        if !reach.is_some_and(|reach| reach.sees_neighbours()) {
            return Ok(());
        }
        let (Ok(fast), Ok(naive)) = (Pattern::new(&pattern), Pattern::by_backtracking(&pattern)) else { return Ok(()) };
        prop_assert_eq!(fast.find_iter(&text).expect("short"), naive.find_iter(&text).expect("short"), "{}", pattern);
    }

    #[test]
    fn published_program_matches_backtracking(index in 0..PUBLISHED.len(), text in prop_oneof![TEXT, LONG_TEXT]) {
        let pattern = PUBLISHED[index];
        if let (Some(program), Ok(naive)) = (program(pattern), Pattern::by_backtracking(pattern)) {
            prop_assert_eq!(matches(&program, &text), naive.find_iter(&text).expect("short"), "{}", pattern);
        }
    }
}
