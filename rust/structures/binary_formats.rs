//! Files whose first bytes tell that they hold no plain text. Read as text they would give tokens of bytes, without an error if bytes
//! that are not UTF-8 are replaced.
//!
//! Each rule needs a byte that text does not have, or more bytes than a text begins with by chance: `PAR1` alone is a text.
//!
//! Sources: the specifications of the formats, and the "File signatures" of Wikipedia.

/// First bytes of a file that are looked at: as many as a tar header has, whose mark is near its end.
pub const START: usize = 512;

/// Formats by a prefix that no text has.
const PREFIXES: [(&[u8], &str); 50] = [
    (b"\x04\x22\x4d\x18", "is compressed with lz4"),
    (b"\xff\x06\0\0sNaPpY", "is compressed with snappy"),
    (b"\x1f\x9d", "is compressed with compress (.Z)"),
    (b"LZIP\x01", "is compressed with lzip"),
    (b"\x5d\0\0", "is compressed with lzma"),
    (b"\x89LZO\0\r\n", "is compressed with lzop"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive"),
    (b"Rar!\x1a\x07", "is a RAR archive"),
    (b"PK\x03\x04", "is a zip archive, or a document or a checkpoint within one"),
    (b"PK\x05\x06", "is an empty zip archive"),
    (b"PK\x07\x08", "is a zip archive in parts"),
    (b"ARROW1\0\0", "is an Arrow file"),
    (b"FEA1\0\0\0\0", "is a Feather file of version 1"),
    (b"Obj\x01", "is an Avro file"),
    (b"SQLite format 3\0", "is a SQLite database"),
    (b"\x89HDF\r\n\x1a\n", "is an HDF5 file"),
    (b"\x93NUMPY", "is a .npy array"),
    (b"\x80\x02", "is a Python pickle"),
    (b"\x80\x03", "is a Python pickle"),
    (b"\x80\x04", "is a Python pickle"),
    (b"\x80\x05", "is a Python pickle"),
    (b"GGUF\x02\0\0", "is a GGUF model"),
    (b"GGUF\x03\0\0", "is a GGUF model"),
    (b"MMIDIDX\0\0", "is an index of token files"),
    (b"\0\0\xfe\xff", "is text in UTF-32, not UTF-8"),
    (b"\xff\xfe\0\0", "is text in UTF-32, not UTF-8"),
    (b"\xff\xfe", "is text in UTF-16, not UTF-8"),
    (b"\xfe\xff", "is text in UTF-16, not UTF-8"),
    (b"\x7fELF", "is an ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "is a Mach-O program or library"),
    (b"\xce\xfa\xed\xfe", "is a Mach-O program or library"),
    (b"\xfe\xed\xfa\xcf", "is a Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "is a Java class or a Mach-O program"),
    (b"\0asm", "is a WebAssembly module"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a document of older Microsoft Office"),
    (b"\x89PNG\r\n\x1a\n", "is a PNG image"),
    (b"\xff\xd8\xff", "is a JPEG image"),
    (b"II*\0", "is a TIFF image"),
    (b"MM\0*", "is a TIFF image"),
    (b"OggS\0", "is an Ogg recording"),
    (b"fLaC\0", "is a FLAC recording"),
    (b"ID3\x02\0", "is an MP3 recording"),
    (b"ID3\x03\0", "is an MP3 recording"),
    (b"ID3\x04\0", "is an MP3 recording"),
    (b"\x1a\x45\xdf\xa3", "is a Matroska or WebM recording"),
    (b"\0\x01\0\0\0", "is a TrueType font"),
    (b"OTTO\0", "is an OpenType font"),
    (b"wOFF\0\x01\0\0", "is a WOFF font"),
    (b"wOF2\0\x01\0\0", "is a WOFF2 font"),
    (b"dex\n035\0", "is a DEX program"),
];

/// A compression that files of texts may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip, of one member or several.
    Gzip,
    /// zstd, also with a skippable frame first.
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
}

impl Compression {
    /// The kind of a file so compressed, as the end of a sentence.
    fn kind(self) -> &'static str {
        match self {
            Self::Gzip => "is compressed with gzip",
            Self::Zstd => "is compressed with zstd",
            Self::Bzip2 => "is compressed with bzip2",
            Self::Xz => "is compressed with xz",
        }
    }

    /// The compression of a file that begins with these bytes. None of these beginnings is UTF-8, but for bzip2's, of which more has to
    /// be there.
    pub fn of(start: &[u8]) -> Option<Self> {
        let is_bzip2 = |start: &[u8]| {
            start.starts_with(b"BZh") && matches!(start.get(4..10), Some(b"1AY&SY" | b"\x17rE8P\x90"))
        };
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            start if is_bzip2(start) => Some(Self::Bzip2),
            _ => None,
        }
    }
}

/// The kind of a file that begins with these bytes, as the end of a sentence; none if it may be text in UTF-8.
pub fn binary_format(start: &[u8]) -> Option<&'static str> {
    if let Some(compression) = Compression::of(start) {
        return Some(compression.kind());
    }
    if let Some((_, kind)) = PREFIXES.iter().find(|(prefix, _)| start.starts_with(prefix)) {
        return Some(kind);
    }
    let at = |from: usize, bytes: &[u8]| start.get(from..).is_some_and(|rest| rest.starts_with(bytes));
    let any = |from: usize, to: usize, is: fn(&u8) -> bool| {
        start.get(from..to.min(start.len())).is_some_and(|bytes| bytes.iter().any(is))
    };
    let is_control = |byte: &u8| *byte < 0x20 && !byte.is_ascii_whitespace();
    Some(match start {
        // A page's header, or the footer of a file without pages, begins with a Thrift field.
        [b'P', b'A', b'R', b'1' | b'E', ..] if any(4, 5, is_control) => "is a Parquet file",
        [b'O', b'R', b'C', ..] if any(3, 4, |byte| *byte < 0x20 || *byte >= 0x80) => "is an ORC file",
        [0xff, 0xff, 0xff, 0xff, ..] if at(6, b"\0\0") => "is an Arrow stream",
        [b'%', b'P', b'D', b'F', b'-', b'1' | b'2', b'.', ..] => "is a PDF document",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] if any(6, 13, is_control) => "is a GIF image",
        [b'B', b'M', ..] if at(6, b"\0\0\0\0") => "is a BMP image",
        [b'R', b'I', b'F', b'F', ..] if at(8, b"WEBPVP8") => "is a WebP image",
        [b'R', b'I', b'F', b'F', ..] if at(8, b"WAVE") || at(8, b"AVI ") => "is a WAV or AVI recording",
        [0, 0, 0, _, b'f', b't', b'y', b'p', ..] => "is an MP4 recording",
        [b'M', b'Z', _, 0, ..] => "is a Windows program or library",
        [_, _, _, _, 0, 0, 0, 0, b'{', b'"', ..] => "is a safetensors file",
        _ if at(257, b"ustar\0") || at(257, b"ustar  \0") => "is a tar archive",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        let mut tar = [0; START];
        tar[..5].copy_from_slice(b"a.txt");
        tar[257..263].copy_from_slice(b"ustar\0");
        let cases: [(&[u8], &str); 19] = [
            (b"\x1f\x8b\x08", "gzip"),
            (b"\x50\x2a\x4d\x18", "zstd"),
            (b"BZh91AY&SY", "bzip2"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"ARROW1\0\0\xff\xff\xff\xff", "Arrow file"),
            (b"\xff\xff\xff\xff\x10\x01\0\0", "Arrow stream"),
            (b"ORC\x08\x03", "ORC"),
            (b"PK\x03\x04\x14", "zip"),
            (&tar, "tar"),
            (b"%PDF-1.7\n", "PDF"),
            (b"SQLite format 3\0\x10", "SQLite"),
            (b"\xff\xfea\0b\0", "UTF-16"),
            (b"\xff\xfe\0\0a\0\0\0", "UTF-32"),
            (b"\x7fELF\x02\x01", "ELF"),
            (b"MZ\x90\0\x03", "Windows"),
            (b"\x89PNG\r\n\x1a\n\0", "PNG"),
            (b"GIF89a\x01\0\x01\0\x80", "GIF"),
            (b"\x50\0\0\0\0\0\0\0{\"a", "safetensors"),
            (b"\x80\x04\x95\x10", "pickle"),
        ];
        for (start, kind) in cases {
            assert!(binary_format(start).is_some_and(|found| found.contains(kind)), "{kind}");
        }
    }

    #[test]
    fn texts_are_no_other_format() {
        let texts = [
            "",
            "PAR1",
            "PAR1 is a mark",
            "PARE\n",
            "ORC",
            "ORCs and elves",
            "BM",
            "BMW drives on",
            "MZ",
            "MZ\r\n",
            "GIF89a is old",
            "GIF87a\n",
            "RIFF and WAVE",
            "%PDF- is a mark",
            "PK",
            "Rar!",
            "II*",
            "ID3 tags",
            "Obj",
            "GGUF files",
            "fLaC",
            "\u{feff}text",
            "BZh",
            "7z",
            "\0\0",
            "LZIP",
            "wOFF",
            "日本語",
            "MMIDIDX",
        ];
        for text in texts {
            assert_eq!(binary_format(text.as_bytes()), None, "{text}");
        }
    }
}
