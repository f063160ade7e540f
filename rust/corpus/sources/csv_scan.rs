//! Where CSV records end, and where their values are.
//!
//! A value in quotation marks ends with a mark that is not doubled; a delimiter, a line end or the end of the file has to follow, after
//! blanks at most. Everywhere else a quotation mark is a character like others. Lines end with `\n`, `\r` or both; empty lines are no
//! records.
//!
//! Source: RFC 4180, and the crate `csv` where the RFC leaves a choice.

/// A record in the making: its bytes may arrive bit by bit, and each is looked at once.
#[derive(Debug)]
pub(super) struct Scan {
    delimiter: u8,
    state: State,
    /// The first byte not looked at.
    at: usize,
    /// The value at hand.
    value: Span,
    values: Vec<Span>,
}

/// A value's bytes in its record.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: usize,
    end: usize,
    /// Where the closing mark is, and true if marks before it are doubled.
    quoted: Option<(usize, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the record, where line ends are passed over.
    Before,
    /// Before a value.
    Start,
    Plain,
    Quoted,
    /// After a quotation mark within quotation marks.
    Mark,
    /// After blanks after the closing mark.
    Blank,
}

/// Outcome of scanning some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The record is not over.
    More,
    /// There is no other record.
    End,
    /// A record that ends at this byte.
    Record(usize),
    /// The quotation mark at `quote` is never closed.
    Unclosed { quote: usize },
    /// Text follows the value that the quotation mark at `quote` opens.
    TextAfter { quote: usize },
}

impl Scan {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::Before, at: 0, value: Span::default(), values: Vec::new() }
    }

    /// Begins with another record.
    pub(super) fn restart(&mut self) {
        self.state = State::Before;
        self.at = 0;
        self.values.clear();
    }

    /// The quotation mark that is open.
    pub(super) fn open_quote(&self) -> Option<usize> {
        (self.state == State::Quoted).then(|| self.value.start - 1)
    }

    /// Looks at the bytes of the record that are new; `bytes` begin with the record, and are the last ones if `is_end`.
    pub(super) fn advance(&mut self, bytes: &[u8], is_end: bool) -> Step {
        loop {
            let Some(&byte) = bytes.get(self.at) else {
                return if is_end { self.end() } else { Step::More };
            };
            match self.state {
                State::Before if matches!(byte, b'\n' | b'\r') => self.at += 1,
                State::Before => self.state = State::Start,
                State::Start => {
                    let is_quoted = byte == b'"';
                    self.at += usize::from(is_quoted);
                    self.state = if is_quoted { State::Quoted } else { State::Plain };
                    self.value = Span { start: self.at, end: self.at, quoted: None };
                }
                State::Plain => {
                    let found = memchr::memchr3(self.delimiter, b'\n', b'\r', &bytes[self.at..]);
                    self.at = found.map_or(bytes.len(), |found| self.at + found);
                    if let Some(&byte) = bytes.get(self.at)
                        && self.end_value(byte)
                    {
                        return Step::Record(self.at);
                    }
                }
                State::Quoted => match memchr::memchr(b'"', &bytes[self.at..]) {
                    None => self.at = bytes.len(),
                    Some(found) => {
                        self.at += found;
                        let is_doubled = self.value.quoted.is_some();
                        self.value.quoted = Some((self.at, is_doubled));
                        self.at += 1;
                        self.state = State::Mark;
                    }
                },
                State::Mark if byte == b'"' => {
                    self.at += 1;
                    self.state = State::Quoted;
                }
                State::Mark | State::Blank if byte == self.delimiter || matches!(byte, b'\n' | b'\r') => {
                    if self.end_value(byte) {
                        return Step::Record(self.at);
                    }
                }
                State::Mark | State::Blank if matches!(byte, b' ' | b'\t') => {
                    self.at += 1;
                    self.state = State::Blank;
                }
                State::Mark | State::Blank => return Step::TextAfter { quote: self.value.start - 1 },
            }
        }
    }

    /// Ends the value before `byte`; true if the record ends too.
    fn end_value(&mut self, byte: u8) -> bool {
        self.push_value();
        self.at += 1;
        self.state = State::Start;
        byte != self.delimiter
    }

    fn push_value(&mut self) {
        self.value.end = self.at;
        self.values.push(self.value);
    }

    /// Outcome of the record if the file ends here.
    fn end(&mut self) -> Step {
        match self.state {
            State::Before => return Step::End,
            State::Quoted => return Step::Unclosed { quote: self.value.start - 1 },
            State::Start => {
                self.value = Span { start: self.at, end: self.at, quoted: None };
                self.push_value();
            }
            State::Plain | State::Mark | State::Blank => self.push_value(),
        }
        Step::Record(self.at)
    }

    /// How many values the record has.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Appends the value with this number to `out`; false if the record has fewer.
    pub(super) fn push_to(&self, number: usize, record: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(&Span { start, end, quoted }) = self.values.get(number) else { return false };
        match quoted {
            None => out.extend_from_slice(&record[start..end]),
            Some((close, false)) => {
                out.extend_from_slice(&record[start..close]);
                out.extend_from_slice(&record[close + 1..end]);
            }
            Some((close, true)) => {
                let mut inside = &record[start..close];
                while let Some(found) = memchr::memchr(b'"', inside) {
                    out.extend_from_slice(&inside[..=found]);
                    inside = &inside[found + 2..];
                }
                out.extend_from_slice(inside);
                out.extend_from_slice(&record[close + 1..end]);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Records with their values, read `size` bytes at a time; or the step that is no record.
    fn records(bytes: &[u8], size: usize) -> Result<Vec<Vec<Vec<u8>>>, Step> {
        let (mut scan, mut found, mut start, mut end) = (Scan::new(b','), Vec::new(), 0, 0);
        loop {
            match scan.advance(&bytes[start..end], end == bytes.len()) {
                Step::More => end = bytes.len().min(end + size),
                Step::End => return Ok(found),
                Step::Record(len) => {
                    let value = |number| {
                        let mut value = Vec::new();
                        scan.push_to(number, &bytes[start..start + len], &mut value).then_some(value)
                    };
                    found.push((0..scan.len()).filter_map(value).collect());
                    start += len;
                    scan.restart();
                }
                broken => return Err(broken),
            }
        }
    }

    /// The same by the crate `csv`.
    fn naive(bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        let values = |record: csv::ByteRecord| record.iter().map(<[u8]>::to_vec).collect();
        reader.byte_records().map(|record| values(record.expect("bytes in memory"))).collect()
    }

    proptest! {
        #[test]
        fn records_matches_naive(text in "[ab ,\"\r\n]{0,24}", size in 1..9usize) {
            if let Ok(found) = records(text.as_bytes(), size) {
                prop_assert_eq!(found, naive(text.as_bytes()));
            }
        }

        #[test]
        fn what_is_written_is_read(texts in prop::collection::vec(prop::collection::vec("[ab ,\"\r\n]{0,6}", 2..4), 0..5), size in 1..9usize) {
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            for record in &texts {
                writer.write_record(record).expect("room in memory");
            }
            let bytes = writer.into_inner().expect("room in memory");
            let expected: Vec<Vec<Vec<u8>>> =
                texts.iter().map(|record| record.iter().map(|text| text.clone().into_bytes()).collect()).collect();
            prop_assert_eq!(records(&bytes, size), Ok(expected));
        }
    }

    #[test]
    fn marks_that_are_not_closed_are_found() {
        for (text, expected) in [
            ("a,\"b\n", Step::Unclosed { quote: 2 }),
            ("\"\"\"", Step::Unclosed { quote: 0 }),
            ("a,\"b\nc,\"d\"\n", Step::TextAfter { quote: 2 }),
            ("\"b\"c", Step::TextAfter { quote: 0 }),
            ("\"b\" \"", Step::TextAfter { quote: 0 }),
        ] {
            assert_eq!(records(text.as_bytes(), 1), Err(expected), "{text}");
        }
    }
}
