//! What can be told of clusters of characters without looking for them: most characters stand alone.

/// Whether between two characters of which both are such, or behind one at the end of a text, a cluster ends.
///
/// Said of many that are common: letters, ideographs, syllables and punctuation that nothing joins by itself.
#[inline]
pub fn stands_alone(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{C}'
            | '\u{E}'..='\u{7E}'
            | '\u{A1}'..='\u{2FF}'
            | '\u{370}'..='\u{482}'
            | '\u{48A}'..='\u{590}'
            | '\u{5D0}'..='\u{5FF}'
            | '\u{606}'..='\u{60F}'
            | '\u{61B}'..='\u{64A}'
            | '\u{660}'..='\u{66F}'
            | '\u{671}'..='\u{6D5}'
            | '\u{904}'..='\u{939}'
            | '\u{958}'..='\u{961}'
            | '\u{964}'..='\u{980}'
            | '\u{985}'..='\u{9BB}'
            | '\u{B83}'..='\u{BBD}'
            | '\u{C05}'..='\u{C3B}'
            | '\u{E01}'..='\u{E30}'
            | '\u{E3F}'..='\u{E46}'
            | '\u{E4F}'..='\u{EB0}'
            | '\u{10A0}'..='\u{10FF}'
            | '\u{1200}'..='\u{135C}'
            | '\u{1E00}'..='\u{200B}'
            | '\u{200E}'..='\u{20CF}'
            | '\u{20F1}'..='\u{2CEE}'
            | '\u{2CF2}'..='\u{2D7E}'
            | '\u{2D80}'..='\u{2DDF}'
            | '\u{2E00}'..='\u{3029}'
            | '\u{3030}'..='\u{3098}'
            | '\u{309B}'..='\u{A66E}'
            | '\u{AC00}'..='\u{D7A3}'
            | '\u{F900}'..='\u{FB1D}'
            | '\u{FB1F}'..='\u{FDFF}'
            | '\u{FE30}'..='\u{FF9D}'
            | '\u{FFA0}'..='\u{FFFF}'
            | '\u{1F300}'..='\u{1F3FA}'
            | '\u{1F400}'..='\u{1FAFF}'
            | '\u{20000}'..='\u{323AF}'
    )
}

/// Whether a cluster may go on behind `c` with any character but a control character.
pub fn joins_next(c: char) -> bool {
    matches!(
        c,
        '\u{600}'..='\u{605}'
            | '\u{6DD}'
            | '\u{70F}'
            | '\u{890}'..='\u{891}'
            | '\u{8E2}'
            | '\u{D4E}'
            | '\u{110BD}'
            | '\u{110CD}'
            | '\u{111C2}'..='\u{111C3}'
            | '\u{113D1}'
            | '\u{1193F}'
            | '\u{11941}'
            | '\u{11A84}'..='\u{11A89}'
            | '\u{11D46}'
            | '\u{11F02}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    fn clusters(chars: &[char]) -> usize {
        String::from_iter(chars).graphemes(true).count()
    }

    #[test]
    fn every_character_is_as_the_clusters_have_it() {
        for c in '\0'..=char::MAX {
            // Whatever joins at all joins with a letter or with its own kind.
            if stands_alone(c) {
                assert_eq!(clusters(&['a', c, c, 'a']), 4, "U+{:04X}", c as u32);
            }
            assert_eq!(joins_next(c), clusters(&[c, ' ']) == 1, "U+{:04X}", c as u32);
        }
    }

    proptest! {
        #[test]
        fn stands_alone_matches_naive(chars in prop::collection::vec(any::<char>(), 0..60)) {
            let text = String::from_iter(&chars);
            let ends: Vec<usize> = text.grapheme_indices(true).map(|(start, cluster)| start + cluster.len()).collect();
            let mut end = 0;
            for (at, &c) in chars.iter().enumerate() {
                end += c.len_utf8();
                if stands_alone(c) && chars.get(at + 1).copied().is_none_or(stands_alone) {
                    prop_assert!(ends.contains(&end), "{:?} at {}", text, end);
                }
            }
        }
    }
}
