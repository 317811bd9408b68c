//! Tests of vector files: lines, compression, and unreadable files.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use kvrm_machine::vectors::{OpenError, open, parse};

const LINE: &str = r#"{"name":"n","pc":"0x10000","code":["d503201f"],"steps":1}"#;

fn pack(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn blank_lines_and_either_line_ending_make_no_difference() {
    let cases = [
        ("", 0),
        ("\n \n\t\n", 0),
        ("\r\n\r\n", 0),
        ("L", 1),
        ("L\n", 1),
        ("L\r\n", 1),
        ("\n\nL\n\n \nL", 2),
        ("L\r\n\r\nL\r\n", 2),
        (" L \n\tL\t", 2),
    ];
    for (text, count) in cases {
        let vectors = parse("file", &text.replace('L', LINE)).unwrap();
        assert_eq!(vectors.len(), count, "{text:?}");
        assert!(vectors.iter().all(|vector| *vector == parse("file", LINE).unwrap()[0]), "{text:?}");
    }
}

#[test]
fn lines_are_counted_with_blank_ones_and_either_line_ending() {
    for text in ["L\n\n \nbad", "L\r\n\r\n\r\nbad\r\n", "\n\n\nbad\nL"] {
        let error = parse("file", &text.replace('L', LINE)).unwrap_err();
        assert_eq!(error.line, 4, "{text:?}");
    }
}

#[test]
fn a_name_that_ends_in_gz_means_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = format!("{LINE}\n").repeat(3);
    std::fs::write(path("plain.jsonl"), &text).unwrap();
    std::fs::write(path("packed.jsonl.gz"), pack(&text)).unwrap();
    // Two compressed streams in one file, as `cat a.gz b.gz` writes them.
    std::fs::write(path("twice.gz"), [pack(&text), pack(LINE)].concat()).unwrap();
    for (name, count) in [("plain.jsonl", 3), ("packed.jsonl.gz", 3), ("twice.gz", 4)] {
        assert_eq!(open(&path(name)).unwrap().len(), count, "{name}");
    }
    std::fs::write(path("bad.jsonl.gz"), pack("\nbad\n")).unwrap();
    let error = open(&path("bad.jsonl.gz")).unwrap_err();
    let begin = format!("{}:2: ", path("bad.jsonl.gz").display());
    assert!(matches!(error, OpenError::Line(_)) && error.to_string().starts_with(&begin), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("not_packed.gz"), LINE).unwrap();
    let packed = pack(&LINE.repeat(100));
    std::fs::write(path("cut.gz"), &packed[..packed.len() / 2]).unwrap();
    std::fs::write(path("not_text.jsonl"), [LINE.as_bytes(), b"\xff"].concat()).unwrap();
    std::fs::write(path("not_text.gz"), pack("\u{0}").iter().map(|byte| byte ^ 1).collect::<Vec<_>>())
        .unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    for name in
        ["missing", "missing.gz", "not_packed.gz", "cut.gz", "not_text.jsonl", "not_text.gz", "folder"]
    {
        let error = open(&path(name)).unwrap_err();
        assert!(matches!(error, OpenError::Read(_)), "{name}: {error:?}");
        assert!(error.to_string().contains(&path(name).display().to_string()), "{name}: {error}");
    }
}
