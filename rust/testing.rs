//! Helpers that the tests of several modules share.

use proptest::test_runner::Config;

/// At least `least` random cases; more if `PROPTEST_CASES` asks for more.
pub(crate) fn cases(least: u32) -> Config {
    let asked = Config::default();
    Config { cases: asked.cases.max(least), ..asked }
}
