//! Translates Oniguruma's pattern language to the language of `fancy_regex`.
//!
//! The translation avoids everything that the two engines might read differently. It writes characters as themselves or
//! as `\x{..}`, flags only as groups around the text they apply to, sets in full, and groups without capture. A
//! construct without an equivalent is refused by name; a pattern that compiles means the same in both languages.

use super::fold::{self, FoldItem};

/// The reason why a pattern is refused.
pub(super) struct Refused(pub(super) String);

impl Refused {
    pub(super) fn new(message: &str) -> Self {
        Self(message.to_owned())
    }
}

/// The options that hold at one position of a pattern.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    /// `(?m)`: a dot also matches a newline; other engines call this `(?s)`.
    dot_all: bool,
    extended: bool,
}

/// A part of the pattern, without the quantifiers after it.
pub(super) enum Atom {
    Char(char),
    /// An expression that may be repeated, in the target language.
    Target(String),
    /// An assertion, which Oniguruma does not repeat.
    Assertion(String),
    /// The rest of the enclosing group, after a flag such as `(?i)`; it includes the branches that follow.
    Rest(String),
}

/// Limit of nested groups. Rust's engines accept deeper nesting, but every group costs stack here as well.
const MAX_DEPTH: usize = 50;

/// A line begins after a newline, but not at the very end of the text.
const LINE_START: &str = r"(?:\A|(?<=\x{A})(?!\z))";

/// A parser and the rest of its pattern.
pub(super) struct Parser<'a> {
    rest: &'a [char],
    depth: usize,
    in_look_behind: bool,
}

/// Translates `pattern` to the language of `fancy_regex`.
pub(super) fn translate(pattern: &str) -> Result<String, Refused> {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut parser = Parser { rest: &pattern, depth: 0, in_look_behind: false };
    let translated = parser.branches(Flags::default())?;
    if parser.rest.is_empty() { Ok(translated) } else { Err(Refused::new("unmatched close parenthesis")) }
}

/// Appends `character` so that it stands for itself, in brackets or not.
pub(super) fn push_char(out: &mut String, character: char) {
    if character.is_ascii_alphanumeric() {
        out.push(character);
    } else {
        out.extend(["\\x{", &format!("{:X}", u32::from(character)), "}"]);
    }
}

pub(super) fn push_all(out: &mut String, characters: &[char]) {
    for &character in characters {
        push_char(out, character);
    }
}

impl<'a> Parser<'a> {
    pub(super) fn next(&mut self) -> Option<char> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    pub(super) fn rest(&self) -> &'a [char] {
        self.rest
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.rest = &self.rest[count..];
    }

    pub(super) fn eat(&mut self, expected: char) -> bool {
        let found = self.rest.first() == Some(&expected);
        if found {
            self.skip(1);
        }
        found
    }

    /// Translates branches up to the end of the pattern or of the group, whose closing parenthesis is left.
    fn branches(&mut self, flags: Flags) -> Result<String, Refused> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refused(format!("groups are nested more than {MAX_DEPTH} deep")));
        }
        let mut out = String::new();
        let mut text = Vec::new();
        loop {
            self.skip_blanks(flags);
            if matches!(self.rest.first(), None | Some(')')) {
                break;
            }
            if self.eat('|') {
                self.push_text(&mut out, &mut text, flags)?;
                out.push('|');
                continue;
            }
            let atom = self.atom(flags)?;
            self.skip_blanks(flags);
            if let Atom::Char(character) = atom
                && !self.at_quantifier()
            {
                text.push(character);
                continue;
            }
            self.push_text(&mut out, &mut text, flags)?;
            match atom {
                Atom::Char(character) => {
                    let mut target = String::new();
                    self.push_text(&mut target, &mut vec![character], flags)?;
                    out.push_str(&self.quantified(target, flags)?);
                }
                Atom::Target(target) => out.push_str(&self.quantified(target, flags)?),
                Atom::Assertion(_) if self.at_quantifier() => {
                    return Err(Refused::new("target of repeat operator is invalid"));
                }
                Atom::Assertion(target) | Atom::Rest(target) => out.push_str(&target),
            }
        }
        self.push_text(&mut out, &mut text, flags)?;
        self.depth -= 1;
        Ok(out)
    }

    /// Appends plain text and empties `text`; under `(?i)`, with its case variants.
    fn push_text(&self, out: &mut String, text: &mut Vec<char>, flags: Flags) -> Result<(), Refused> {
        if !flags.ignore_case {
            text.drain(..).for_each(|character| push_char(out, character));
            return Ok(());
        }
        for item in fold::fold_items(text) {
            match item {
                FoldItem::Single(character) => {
                    out.push_str("(?i:");
                    push_char(out, character);
                    out.push(')');
                }
                // Oniguruma needs a look-behind of fixed length, so it does not fold to several characters there.
                FoldItem::Several(fold, _) if self.in_look_behind => {
                    if text.iter().any(|&character| fold::source_item(character).is_some()) {
                        return Err(Refused::new(
                            "a character that folds to several in a look-behind under (?i)",
                        ));
                    }
                    for character in fold {
                        out.push_str("(?i:");
                        push_char(out, character);
                        out.push(')');
                    }
                }
                FoldItem::Several(fold, sources) => {
                    out.push_str("(?:(?i:");
                    push_all(out, &fold);
                    out.push_str(")|[");
                    push_all(out, sources);
                    out.push_str("])");
                }
            }
        }
        text.clear();
        Ok(())
    }

    /// Skips white space and comments, which count only under the flag `x`, and `(?#...)` comments.
    pub(super) fn skip_blanks(&mut self, flags: Flags) {
        loop {
            if flags.extended && self.rest.first().is_some_and(|blank| matches!(blank, ' ' | '\t'..='\r')) {
                self.skip(1);
            } else if flags.extended && self.eat('#') {
                while self.next().is_some_and(|character| character != '\n') {}
            } else if let ['(', '?', '#', ..] = self.rest {
                // A backslash keeps a parenthesis from ending the comment.
                while let Some(character) = self.next() {
                    if character == ')' {
                        break;
                    }
                    if character == '\\' {
                        self.next();
                    }
                }
            } else {
                return;
            }
        }
    }

    fn atom(&mut self, flags: Flags) -> Result<Atom, Refused> {
        let Some(first) = self.next() else { return Err(Refused::new("the pattern ends too early")) };
        Ok(match first {
            '.' => Atom::Target(if flags.dot_all { "(?s:.)" } else { r"[^\x{A}]" }.to_owned()),
            '^' => {
                self.refuse_in_look_behind("^ other than in front")?;
                Atom::Assertion(LINE_START.to_owned())
            }
            '$' => {
                self.refuse_in_look_behind("$")?;
                Atom::Assertion(r"(?=\x{A}|\z)".to_owned())
            }
            '[' => Atom::Target(self.bracketed(flags, self.in_look_behind)?),
            '(' => self.group(flags)?,
            '\\' => self.escape()?,
            '*' | '+' | '?' => return Err(Refused::new("target of repeat operator is not specified")),
            '{' if self.at_interval_after_brace() => {
                return Err(Refused::new("target of repeat operator is not specified"));
            }
            other => Atom::Char(other),
        })
    }

    /// Translates a group, whose opening parenthesis has been read.
    fn group(&mut self, flags: Flags) -> Result<Atom, Refused> {
        if let ['*', ..] = self.rest {
            return Err(Refused::new("callouts (*...) are not supported"));
        }
        if !self.eat('?') {
            return self.group_body("(?:", flags).map(Atom::Target);
        }
        match self.next() {
            Some(':') => self.group_body("(?:", flags).map(Atom::Target),
            Some('>') => {
                self.refuse_in_look_behind("an atomic group")?;
                self.group_body("(?>", flags).map(Atom::Target)
            }
            Some('=') => self.look_around("(?=", flags),
            Some('!') => self.look_around("(?!", flags),
            Some('<') if self.eat('=') => self.look_around("(?<=", flags),
            Some('<') if self.eat('!') => self.look_around("(?<!", flags),
            Some('<') => self.named_group('>', flags),
            Some('\'') => self.named_group('\'', flags),
            Some(first @ ('i' | 'm' | 'x' | '-')) => self.flags(first, flags),
            Some('~') => Err(Refused::new("absent operators (?~...) are not supported")),
            Some('(') => Err(Refused::new("conditions (?(...)...) are not supported")),
            Some('{') => Err(Refused::new("callouts (?{...}) are not supported")),
            Some(option @ ('W' | 'D' | 'S' | 'P' | 'y' | 'I' | 'L' | 'C')) => {
                Err(Refused(format!("the group option {option} is not supported")))
            }
            _ => Err(Refused::new("undefined group option")),
        }
    }

    fn group_body(&mut self, opening: &str, flags: Flags) -> Result<String, Refused> {
        let body = self.branches(flags)?;
        if self.eat(')') {
            Ok(format!("{opening}{body})"))
        } else {
            Err(Refused::new("end pattern with unmatched parenthesis"))
        }
    }

    fn look_around(&mut self, opening: &str, flags: Flags) -> Result<Atom, Refused> {
        self.refuse_in_look_behind("another look-around")?;
        self.in_look_behind = opening.starts_with("(?<");
        let is_line_start_alone = self.in_look_behind && matches!(self.rest, ['^', ')', ..]);
        let line_start = is_line_start_alone || self.in_look_behind && matches!(self.rest, ['^', '|', ..]);
        if line_start {
            self.skip(if is_line_start_alone { 1 } else { 2 });
        }
        let mut body = self.group_body(opening, flags)?;
        self.in_look_behind = false;
        // A line start has no width, so it may stand beside the look-behind as well as inside.
        body = match (line_start, is_line_start_alone, opening == "(?<=") {
            (false, ..) => body,
            (true, true, true) => LINE_START.to_owned(),
            (true, true, false) => format!("(?!{LINE_START})"),
            (true, false, true) => format!("(?:{LINE_START}|{body})"),
            (true, false, false) => format!("(?:(?!{LINE_START}){body})"),
        };
        Ok(Atom::Assertion(body))
    }

    /// Refuses `what` in a look-behind.
    ///
    /// At the start of the text, `fancy_regex` mishandles a look-behind that it cannot hand to a plain automaton.
    /// Oniguruma refuses most of these as well.
    pub(super) fn refuse_in_look_behind(&self, what: &str) -> Result<(), Refused> {
        if self.in_look_behind {
            return Err(Refused(format!("{what} in a look-behind is not supported")));
        }
        Ok(())
    }

    /// Translates a named group to a plain one: a name matters only to back references, which are refused.
    fn named_group(&mut self, closing: char, flags: Flags) -> Result<Atom, Refused> {
        let mut length = 0;
        loop {
            match self.next() {
                Some(end) if end == closing && length > 0 => break,
                Some(letter)
                    if letter == '_' || letter.is_alphabetic() || length > 0 && letter.is_alphanumeric() =>
                {
                    length += 1;
                }
                _ => return Err(Refused::new("invalid group name")),
            }
        }
        self.group_body("(?:", flags).map(Atom::Target)
    }

    /// Translates `(?imx-imx)` or `(?imx-imx:...)`, after its first letter or sign has been read.
    fn flags(&mut self, first: char, mut flags: Flags) -> Result<Atom, Refused> {
        let (mut next, mut value) = (Some(first), true);
        loop {
            match next {
                Some('-') => value = false,
                Some('i') => flags.ignore_case = value,
                Some('m') => flags.dot_all = value,
                Some('x') => flags.extended = value,
                Some(':') => return self.group_body("(?:", flags).map(Atom::Target),
                // `a(?i)b|c` is `a(?i:b|c)`: the flags apply to the branches that follow as well.
                Some(')') => return Ok(Atom::Rest(format!("(?:{})", self.branches(flags)?))),
                _ => return Err(Refused::new("undefined group option")),
            }
            next = self.next();
        }
    }
}
