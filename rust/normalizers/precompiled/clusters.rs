//! Fast tests for the boundaries of grapheme clusters, without segmenting the text.
//!
//! Most characters are *simple graphemes*: between two of them a cluster always ends. A bitmap knows these characters,
//! so only the rest needs rules. Clusters are as in Unicode Standard Annex 29.

/// Simple graphemes below U+10000, as closed ranges.
const ALONE: &[(char, char)] = &[
    ('\0', '\u{C}'),
    ('\u{E}', '\u{7E}'),
    ('\u{A1}', '\u{2FF}'),
    ('\u{370}', '\u{482}'),
    ('\u{48A}', '\u{590}'),
    ('\u{5D0}', '\u{5FF}'),
    ('\u{606}', '\u{60F}'),
    ('\u{61B}', '\u{64A}'),
    ('\u{660}', '\u{66F}'),
    ('\u{671}', '\u{6D5}'),
    ('\u{6EE}', '\u{70E}'),
    ('\u{712}', '\u{72F}'),
    ('\u{74B}', '\u{7A5}'),
    ('\u{7B1}', '\u{7EA}'),
    ('\u{904}', '\u{939}'),
    ('\u{958}', '\u{961}'),
    ('\u{964}', '\u{980}'),
    ('\u{984}', '\u{9BB}'),
    ('\u{9E4}', '\u{9FD}'),
    ('\u{A04}', '\u{A3B}'),
    ('\u{A52}', '\u{A6F}'),
    ('\u{A84}', '\u{ABB}'),
    ('\u{B04}', '\u{B3B}'),
    ('\u{B64}', '\u{B81}'),
    ('\u{B83}', '\u{BBD}'),
    ('\u{BD8}', '\u{BFF}'),
    ('\u{C05}', '\u{C3B}'),
    ('\u{C64}', '\u{C80}'),
    ('\u{C84}', '\u{CBB}'),
    ('\u{D04}', '\u{D3A}'),
    ('\u{D64}', '\u{D80}'),
    ('\u{D84}', '\u{DC9}'),
    ('\u{E01}', '\u{E30}'),
    ('\u{E3F}', '\u{E46}'),
    ('\u{E4F}', '\u{EB0}'),
    ('\u{EBD}', '\u{EC7}'),
    ('\u{ECF}', '\u{F17}'),
    ('\u{F1A}', '\u{F34}'),
    ('\u{F40}', '\u{F70}'),
    ('\u{FC7}', '\u{102A}'),
    ('\u{103F}', '\u{1055}'),
    ('\u{109E}', '\u{10FF}'),
    ('\u{1200}', '\u{135C}'),
    ('\u{1360}', '\u{1711}'),
    ('\u{1774}', '\u{17B3}'),
    ('\u{17DE}', '\u{180A}'),
    ('\u{1810}', '\u{1884}'),
    ('\u{1E00}', '\u{200B}'),
    ('\u{200E}', '\u{20CF}'),
    ('\u{20F1}', '\u{2CEE}'),
    ('\u{2CF2}', '\u{2D7E}'),
    ('\u{2D80}', '\u{2DDF}'),
    ('\u{2E00}', '\u{3029}'),
    ('\u{3030}', '\u{3098}'),
    ('\u{309B}', '\u{A66E}'),
    ('\u{AC00}', '\u{D7A3}'),
    ('\u{F900}', '\u{FB1D}'),
    ('\u{FB1F}', '\u{FDFF}'),
    ('\u{FE30}', '\u{FF9D}'),
    ('\u{FFA0}', '\u{FFFF}'),
];

/// [`ALONE`] as a bitmap: some texts look up every character.
static IS_ALONE: [u64; 1 << 10] = {
    let (mut bits, mut at) = ([0; 1 << 10], 0);
    while at < ALONE.len() {
        let (mut code, last) = (ALONE[at].0 as usize, ALONE[at].1 as usize);
        while code <= last {
            bits[code / 64] |= 1 << (code % 64);
            code += 1;
        }
        at += 1;
    }
    bits
};

/// True for a simple grapheme: a cluster ends between any two of these, and after one at the end of a text.
///
/// Covers the frequent characters: letters, ideographs, syllables and punctuation that nothing joins by itself. False
/// for some that would qualify.
#[inline]
pub fn is_simple_grapheme(c: char) -> bool {
    let code = c as usize;
    match IS_ALONE.get(code / 64) {
        Some(bits) => bits >> (code % 64) & 1 == 1,
        None => matches!(
            c,
            '\u{12000}'..='\u{1343F}'
                | '\u{1F300}'..='\u{1F3FA}'
                | '\u{1F400}'..='\u{1FAFF}'
                | '\u{20000}'..='\u{323AF}'
        ),
    }
}

/// True if `c` forms one cluster with any character after it, except a control character.
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

/// True if `c` may join a consonant before it with a consonant after it.
fn is_linker(c: char) -> bool {
    matches!(
        c,
        '\u{94D}'
            | '\u{9CD}'
            | '\u{ACD}'
            | '\u{B4D}'
            | '\u{C4D}'
            | '\u{D4D}'
            | '\u{1039}'
            | '\u{17D2}'
            | '\u{1A60}'
            | '\u{1B44}'
            | '\u{1BAB}'
            | '\u{A9C0}'
            | '\u{AAF6}'
            | '\u{10A3F}'
            | '\u{11133}'
            | '\u{113D0}'
            | '\u{1193E}'
            | '\u{11A47}'
            | '\u{11A99}'
            | '\u{11F42}'
    )
}

/// True if, after `c`, even a simple grapheme may join the cluster before it.
#[inline]
pub fn is_joint(c: char) -> bool {
    !is_simple_grapheme(c)
        && (joins_next(c)
            || is_linker(c)
            || matches!(c, '\r' | '\u{200D}' | '\u{1F1E6}'..='\u{1F1FF}')
            || is_jamo(c))
}

/// True if `c` is a jamo, a letter of a decomposed Hangul syllable.
fn is_jamo(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97C}' | '\u{D7B0}'..='\u{D7FB}')
}

/// Length of the first character of `text` with everything that may join it: up to the next simple grapheme, and beyond
/// that one if a character before it may join the two.
pub fn cluster_len(text: &str) -> usize {
    let mut has_joint = false;
    for (at, c) in text.char_indices() {
        if at > 0 && !has_joint && is_simple_grapheme(c) {
            return at;
        }
        has_joint = is_joint(c) || has_joint && !is_simple_grapheme(c);
    }
    text.len()
}

/// True if `text` is delimited: beside other delimited texts, a cluster begins at its start, and a cluster ends at its
/// end.
///
/// Such a text begins with a simple grapheme or with a leading consonant of Hangul, and nothing at its end may join
/// the text after it.
pub fn is_cluster(text: &str) -> bool {
    let mut is_first = true;
    let mut has_joint = false;
    for c in text.chars() {
        let is_lead = matches!(c, '\u{1100}'..='\u{115F}' | '\u{A960}'..='\u{A97C}');
        if std::mem::take(&mut is_first) && !is_simple_grapheme(c) && !is_lead {
            return false;
        }
        // Vowels and trailing consonants join only other jamo, and nothing joins across them.
        has_joint = if is_jamo(c) { is_lead } else { is_joint(c) || has_joint && !is_simple_grapheme(c) };
    }
    !is_first && !has_joint
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
    fn table_of_simple_graphemes_matches_naive() {
        for c in '\0'..='\u{FFFF}' {
            let naive = ALONE.iter().any(|&(first, last)| (first..=last).contains(&c));
            assert_eq!(is_simple_grapheme(c), naive, "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn every_character_is_as_the_clusters_have_it() {
        for c in '\0'..=char::MAX {
            // A character that joins any neighbour joins a letter or another copy of itself.
            if is_simple_grapheme(c) {
                assert_eq!(clusters(&['a', c, c, 'a']), 4, "U+{:04X}", c as u32);
            }
            assert_eq!(joins_next(c), clusters(&[c, ' ']) == 1, "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn every_character_that_links_consonants_is_known() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_linker(c), clusters(&['\u{915}', c, '\u{915}']) == 1, "U+{:04X}", c as u32);
        }
    }

    /// One character for each way of joining in Unicode, and some that join nothing.
    const KINDS: &[char] = &[
        'a',
        '日',
        '가',
        '각',
        '\u{1100}',
        '\u{1161}',
        '\u{11A8}',
        '\u{301}',
        '\u{323}',
        '\u{915}',
        '\u{94D}',
        '\u{903}',
        '\u{1039}',
        '\u{600}',
        '\u{200B}',
        '\u{200C}',
        '\u{200D}',
        '👍',
        '\u{1F3FD}',
        '🇦',
        '\u{FE0F}',
        '\u{A97C}',
        '\u{D7FB}',
        'が',
        ',',
        '\r',
        '\n',
    ];

    fn any_chars() -> impl Strategy<Value = Vec<char>> {
        let kind = prop::sample::select(KINDS);
        prop::collection::vec(prop_oneof![4 => kind, 1 => any::<char>()], 1..12)
    }

    proptest! {
        #![proptest_config(crate::testing::cases(4000))]

        #[test]
        fn a_cluster_ends_with_each_group(parts in prop::collection::vec(any_chars(), 2..6)) {
            let clusters: Vec<String> = parts.iter().map(String::from_iter).filter(|text| is_cluster(text)).collect();
            let text = clusters.concat();
            let ends: Vec<usize> = text.grapheme_indices(true).map(|(start, cluster)| start + cluster.len()).collect();
            let mut end = 0;
            for cluster in &clusters {
                end += cluster.len();
                prop_assert!(ends.contains(&end), "{:?} at {}", text, end);
            }
        }

        #[test]
        fn cluster_len_matches_naive(chars in any_chars()) {
            let text = String::from_iter(&chars);
            let ends: Vec<usize> = text.grapheme_indices(true).map(|(start, cluster)| start + cluster.len()).collect();
            let len = cluster_len(&text);
            prop_assert!(len > 0 && ends.contains(&len), "{:?} at {}", text, len);
            prop_assert!(len == text.len() || text[len..].starts_with(is_simple_grapheme));
        }
    }

    proptest! {
        #[test]
        fn is_simple_grapheme_matches_naive(chars in prop::collection::vec(any::<char>(), 0..60)) {
            let text = String::from_iter(&chars);
            let ends: Vec<usize> = text.grapheme_indices(true).map(|(start, cluster)| start + cluster.len()).collect();
            let mut end = 0;
            for (at, &c) in chars.iter().enumerate() {
                end += c.len_utf8();
                if is_simple_grapheme(c) && chars.get(at + 1).copied().is_none_or(is_simple_grapheme) {
                    prop_assert!(ends.contains(&end), "{:?} at {}", text, end);
                }
            }
        }
    }
}
