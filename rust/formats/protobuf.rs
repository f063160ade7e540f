//! The wire format of protocol buffers: tags, lengths and values, read in place and written.
//!
//! Source: the encoding guide of Protocol Buffers. Groups, which are obsolete, are refused.

use crate::{Error, Result};

/// A field's value as it is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireValue<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

impl WireValue<'_> {
    /// Its kind, in words.
    fn kind(&self) -> &'static str {
        match self {
            Self::Varint(_) => "a number",
            Self::Fixed64(_) => "8 bytes",
            Self::Bytes(_) => "bytes of a length of their own",
            Self::Fixed32(_) => "4 bytes",
        }
    }
}

/// Reads the fields of one message; error messages carry its name.
#[derive(Clone, Debug)]
pub(crate) struct Message<'a> {
    name: &'static str,
    rest: &'a [u8],
    /// Bytes of the file before `rest`.
    at: usize,
}

impl<'a> Message<'a> {
    pub(crate) fn new(name: &'static str, bytes: &'a [u8]) -> Self {
        Self { name, rest: bytes, at: 0 }
    }

    /// A message within a message.
    pub(super) fn inner(name: &'static str, bytes: &'a [u8], at: usize) -> Self {
        Self { name, rest: bytes, at }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        Error::Format { path: format!("{} at byte {}", self.name, self.at), message: message.into() }
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((taken, rest)) = split else {
            return Err(self.error(format!("{len} bytes announced but only {} are left", self.rest.len())));
        };
        self.rest = rest;
        self.at += taken.len();
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.error("a number of more than 10 bytes"))
    }

    /// The number of the next field, its value, and the value's position in the file; `None` at the end.
    pub(crate) fn next_field(&mut self) -> Result<Option<(u64, WireValue<'a>, usize)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let little_endian =
            |bytes: &[u8]| bytes.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte));
        let mut start = self.at;
        let value = match tag & 7 {
            0 => WireValue::Varint(self.varint()?),
            1 => WireValue::Fixed64(little_endian(self.take(8)?)),
            2 => {
                let len = self.varint()?;
                start = self.at;
                WireValue::Bytes(self.take(len)?)
            }
            5 => WireValue::Fixed32(little_endian(self.take(4)?) as u32),
            kind => return Err(self.error(format!("unknown wire type {kind}"))),
        };
        Ok(Some((tag >> 3, value, start)))
    }

    pub(crate) fn bytes(&self, value: WireValue<'a>) -> Result<&'a [u8]> {
        match value {
            WireValue::Bytes(bytes) => Ok(bytes),
            other => Err(self.error(format!("expected bytes, found {}", other.kind()))),
        }
    }

    pub(super) fn text(&self, value: WireValue<'a>) -> Result<&'a str> {
        std::str::from_utf8(self.bytes(value)?)
            .map_err(|error| self.error(format!("text is not UTF-8 at byte {}", error.valid_up_to())))
    }

    pub(crate) fn number(&self, value: WireValue<'a>) -> Result<u64> {
        match value {
            WireValue::Varint(number) => Ok(number),
            other => Err(self.error(format!("expected a number, found {}", other.kind()))),
        }
    }

    pub(super) fn float(&self, value: WireValue<'a>) -> Result<f32> {
        match value {
            WireValue::Fixed32(bits) => Ok(f32::from_bits(bits)),
            other => Err(self.error(format!("expected a 32-bit float, found {}", other.kind()))),
        }
    }
}

/// Writes the fields of one message.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageWriter(Vec<u8>);

impl MessageWriter {
    /// Appends a bare number.
    pub(crate) fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(crate) fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn number(&mut self, field: u64, number: u64) -> &mut Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    pub(super) fn float(&mut self, field: u64, number: f32) -> &mut Self {
        self.varint(field << 3 | 5);
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(crate) fn finish(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(number: u64, float: f32, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut writer = MessageWriter::default();
            writer.number(1, number).float(200, float).bytes(3, &bytes);
            let mut message = Message::new("test", writer.finish());
            let mut fields = Vec::new();
            while let Some((field, value, _)) = message.next_field().expect("well formed") {
                fields.push((field, value));
            }
            let expected = [
                (1, WireValue::Varint(number)),
                (200, WireValue::Fixed32(float.to_bits())),
                (3, WireValue::Bytes(&bytes)),
            ];
            prop_assert_eq!(fields, expected);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut message = Message::new("test", &bytes);
            while let Ok(Some(_)) = message.next_field() {}
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_refused_at_once() {
        let mut message = Message::new("test", b"\x0a\x80\x80\x80\x80\x28abc");
        let error = message.next_field().expect_err("10 GiB");
        assert_eq!(error.to_string(), "test at byte 6: 10737418240 bytes announced but only 3 are left");
    }
}
