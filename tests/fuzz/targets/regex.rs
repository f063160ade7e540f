//! Users' patterns: a pattern, a zero byte, and a text.

use lexmill::normalized::{Normalized, PreTokenized};
use lexmill::normalizers::Normalizer;
use lexmill::pre_tokenizers::{Behavior, PreTokenizer, Split};
use lexmill::structures::finder::{Replacement, TextPattern};
use lexmill::structures::regex::Pattern;
use std::sync::Arc;

pub(crate) fn run(data: &[u8]) {
    let Ok(data) = std::str::from_utf8(data) else { return };
    let (source, text) = data.split_once('\0').unwrap_or((data, "ab 12é\n日a a\r\n"));
    let Ok(pattern) = Pattern::new(source) else { return };
    let matches = pattern.find_iter(text);
    if let Ok(matches) = &matches {
        let mut last = 0;
        for &(start, end) in matches {
            assert!(last <= start && start <= end && text.get(start..end).is_some(), "{start}..{end}");
            last = end;
        }
    }
    let pattern = || TextPattern::Regex(source.to_owned());
    let replacement = Replacement::new(pattern(), "x".to_owned()).expect("the pattern compiles");
    let replaced = Normalizer::Replace(Arc::new(replacement)).normalize_str(text).map(|_| ());
    let split = Split::new(pattern(), Behavior::Isolated, false).expect("the pattern compiles");
    let mut cut = PreTokenized::new(Normalized::new(text, 0, false));
    let cut = PreTokenizer::Split(Arc::new(split)).pre_tokenize(&mut cut);
    assert_eq!(matches.is_err(), cut.is_err());
    assert_eq!(matches.is_err(), replaced.is_err());
    if let Err(error) = matches {
        let message = error.to_string();
        assert!(message.starts_with(&format!("regex `{source}`: ")), "{message}");
    }
}
