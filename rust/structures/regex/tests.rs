//! The matches of Oniguruma as Hugging Face tokenizers 0.23.3 runs it; every expected value was queried from it.

use super::Pattern;

/// The text of each match; an empty match as its position.
fn found(pattern: &str, text: &str) -> Vec<String> {
    let pattern = Pattern::new(pattern).expect(pattern);
    let matches = pattern.find_iter(text).expect(text);
    let show = |&(start, end): &(usize, usize)| {
        if start == end { format!("@{start}") } else { text[start..end].into() }
    };
    matches.iter().map(show).collect()
}

#[test]
fn line_anchors_hold_everywhere() {
    assert_eq!(found("^", "a\nb\n"), ["@0", "@2"]);
    assert_eq!(found("$", "a\nb\n"), ["@1", "@3", "@4"]);
    assert_eq!(found(r"\Z", "a\n\n"), ["@2", "@3"]);
    assert_eq!(found(r"\z", "a\n"), ["@2"]);
    assert_eq!(found(r"(?<!\n)^", "a\nb"), ["@0"]);
    assert_eq!(found("(?<=^|,)x", "x,x\nx"), ["x", "x", "x"]);
    assert_eq!(found("(?<!^|,)x", "xx,x\nxx"), ["x", "x"]);
}

#[test]
fn dots_and_flags() {
    assert_eq!(found(".", "a\n\r"), ["a", "\r"]);
    assert_eq!(found("(?m).+", "a\n\r"), ["a\n\r"]);
    assert_eq!(found("a(?i)b|c", "aC aB c"), ["aC", "aB"]);
    assert_eq!(found("(?x) a b # c\n", "ab"), ["ab"]);
    assert_eq!(found("(?i)a(?-i)b", "AB Ab"), ["Ab"]);
}

#[test]
fn quantifiers() {
    assert_eq!(found("a{,2}", "aaab"), ["aa", "a", "@4"]);
    assert_eq!(found("a{2}+", "aaaaab"), ["aaaa"]);
    assert_eq!(found("a{1,3}+", "aaaaaaa b"), ["aaaaaaa"]);
    assert_eq!(found("a{2}?", "aaa"), ["aa", "@3"]);
    assert_eq!(found("a{1,2}?", "aaa"), ["a", "a", "a"]);
    assert_eq!(found("a++a", "aaa"), Vec::<String>::new());
    assert_eq!(found("a**", "baa"), ["@0", "aa"]);
    assert_eq!(found("a{x}{,}", "a{x}{,}"), ["a{x}{,}"]);
}

#[test]
fn empty_matches_never_follow_a_match() {
    assert_eq!(found("x*", "axxb"), ["@0", "xx", "@4"]);
    assert_eq!(found("", "ab"), ["@0", "@1", "@2"]);
    assert_eq!(found("(?=x)", "axbx"), ["@1", "@3"]);
    assert_eq!(found("x*", ""), Vec::<String>::new());
    assert_eq!(found("(?:|a)+", "aa"), ["@0", "@1", "@2"]);
}

#[test]
fn word_characters_depend_on_brackets() {
    assert_eq!(found(r"\w+", "a²\u{200c}b"), ["a²", "b"]);
    assert_eq!(found(r"[\w]+", "a²b"), ["a", "b"]);
    assert_eq!(found(r"\b", "a² b"), ["@0", "@3", "@4", "@5"]);
    assert_eq!(found(r"\p{Punct}", "+-"), ["-"]);
    assert_eq!(found("[[:punct:]]", "+-"), ["+", "-"]);
    assert_eq!(found(r"\h\H", "aFg1"), ["Fg"]);
}

#[test]
fn brackets() {
    assert_eq!(found("[]a]", "]a"), ["]", "a"]);
    assert_eq!(found("[a-c-e]+", "abc-de"), ["abc-", "e"]);
    assert_eq!(found("[^a&&b]", "abc"), ["a", "b", "c"]);
    assert_eq!(found("[a-z&&[^b]]", "abc"), ["a", "c"]);
    assert_eq!(found("[a&&]", "a&"), Vec::<String>::new());
    assert_eq!(found("[[:^alpha:]]", "a1"), ["1"]);
    assert_eq!(found("[[:alpha]]", "a]:"), ["a", ":"]);
    assert_eq!(found("(?x)[a b] c", "a c c"), [" c", " c"]);
    assert_eq!(found(r"[\b\p{^L}]", "a\u{8}1"), ["\u{8}", "1"]);
    assert_eq!(found(r"\R", "a\r\n\n\u{2028}"), ["\r\n", "\n", "\u{2028}"]);
}

#[test]
fn case_folds_to_several_characters() {
    assert_eq!(found("(?i:ss)", "ß SS ſs ẞ"), ["ß", "SS", "ſs", "ẞ"]);
    assert_eq!(found("(?i:ß)", "ß SS ſſ"), ["ß", "SS", "ſſ"]);
    assert_eq!(found("(?i:[ß])", "SS"), ["SS"]);
    assert_eq!(found("(?i:ffi)", "ﬃ ﬀi fﬁ"), ["ﬃ"]);
    assert_eq!(found("(?i:st+)", "st ﬆ"), ["st"]);
    assert_eq!(found("(?i)(?<=st)x", "stx ﬆx"), ["x"]);
    assert_eq!(found(r"(?i:\p{Lu})", "aA"), ["A"]);
    assert_eq!(found(r"(?i:[\p{Lu}])", "aA"), ["a", "A"]);
    assert_eq!(found("(?i:[^ſ])", "sSſb"), ["b"]);
}

#[test]
fn refuses_what_it_cannot_say() {
    let malformed = [
        "(",
        ")",
        "[",
        "[]",
        "[^]",
        "[z-a]",
        r"[a-\d]",
        r"[\d-a]",
        "+",
        "a|*",
        "{2}a",
        "^*",
        "(?=a)+",
        r"a\",
        "(?s)a",
        "(?P<n>a)",
        "(?a)",
        r"\p{sc=Greek}",
        r"\p{Nope}",
        "a{100001}",
        "[[:foo:]]",
        r"\u12",
        r"\x{D800}",
    ];
    let unsupported = [
        r"(a)\1",
        r"(?<n>a)\k<n>",
        r"(?<n>a)\g<n>",
        "(?(1)a|b)",
        "(?~a)",
        "(?{x})",
        "(*FAIL)",
        r"\G",
        r"\K",
        r"\X",
        r"\y",
        r"\cA",
        r"\xff",
        "(?W:a)",
        "a{2,1}",
        "(?i:[a-z&&[^b]])",
        "(?i:[[^b]])",
        r"(?i:[\P{Lu}])",
        r"(?<=a|\b)c",
        "(?<=(?>a))b",
        "(?<=a++)b",
        "(?<=a(?=b))b",
    ];
    for pattern in malformed.into_iter().chain(unsupported) {
        let error = Pattern::new(pattern).expect_err(pattern).to_string();
        assert!(error.starts_with(&format!("regex `{pattern}`: ")), "{error}");
    }
    assert!(Pattern::new(&"(".repeat(100_000)).is_err());
    assert!(Pattern::new(&format!("{}a{}", "(?:".repeat(1000), ")".repeat(1000))).is_err());
    assert!(Pattern::new(&"[".repeat(100_000)).is_err());
}

#[test]
fn gives_up_with_an_error() {
    let spaces = Pattern::new(r"\s+(?!\Sx)").expect("a pattern");
    let error = spaces.find_iter(&(" ".repeat(1_100_000) + "ax")).expect_err("a choice for each space");
    assert!(error.to_string().contains("more than 1000000 choices"), "{error}");
    assert_eq!(spaces.find_iter(&(" ".repeat(100_000) + "ax")).expect("matches"), [(0, 99_999)]);
}

#[test]
fn shared_between_threads() {
    fn assert_shared<T: Clone + Send + Sync>() {}
    assert_shared::<Pattern>();
}
