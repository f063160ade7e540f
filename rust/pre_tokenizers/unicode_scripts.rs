//! Cuts text where the script changes, as in Hugging Face: kana and the prolonged sound mark count as Han.

use std::ops::Range;

use super::script_ranges::RANGES;

/// Script of characters that join any neighbour.
const ANY: u8 = 0;

fn script(c: char) -> u8 {
    let code = u32::from(c);
    let at = RANGES.partition_point(|&(_, last, _)| last < code);
    RANGES.get(at).filter(|&&(first, ..)| first <= code).map_or(ANY, |&(_, _, script)| script)
}

/// Calls `found` with the runs of one script. Characters of [`ANY`] script at the beginning are dropped.
pub(super) fn for_each_span(piece: &str, found: &mut dyn FnMut(Range<usize>)) {
    let (mut current, mut start) = (ANY, 0);
    for (at, c) in piece.char_indices() {
        let script = script(c);
        if script == ANY || script == current {
            continue;
        }
        if current != ANY {
            found(start..at);
        }
        (current, start) = (script, at);
    }
    if current != ANY {
        found(start..piece.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut out = Vec::new();
        for_each_span(text, &mut |span| out.push(span));
        out.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn scripts_are_kept_apart_and_spaces_stay_after() {
        assert_eq!(pieces("  hi Жы 日本ー1"), ["hi ", "Жы ", "日本ー", "1"]);
        assert_eq!(pieces("ひらカタ漢字"), ["ひらカタ漢字"]);
        assert!(pieces("   ").is_empty());
    }
}
