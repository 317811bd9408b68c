//! Tests of files of records: appended rows read back unchanged, and errors name the file and line.

use std::fs;
use std::path::Path;

use kvrm_records::{Adapter, Commit, Error, Figure, Kind, Log, MeasuredRow, Record, SCHEMA, read};

fn row(lanes: u64) -> MeasuredRow<'static> {
    MeasuredRow {
        kind: Kind::Lanes,
        adapter: Some(Adapter::new("H200", "discrete GPU", "vulkan", "NVIDIA 580")),
        parameters: [("guest", "mix".into()), ("lanes", lanes.into())].into(),
        figures: [("mips", Figure::of("MIPS", &[2.0, 1.0, 4.5]))].into(),
    }
}

fn commit() -> Option<Commit> {
    Some("0efd351-dirty".parse().expect("it is a hash"))
}

#[test]
fn appended_rows_read_back_unchanged() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("new.jsonl");
    for lanes in [1, 128] {
        let mut log = Log::open(&path, "kvrm", commit()).expect("a new file, then one of records");
        log.append(row(lanes)).expect("it can be written");
    }
    let records = read(&path).expect("it was just written");
    assert_eq!(records.len(), 2, "the second log appends");
    let Record { schema, kind, date, host, adapter, commit, command, transcribed, note, parameters, figures } =
        &records[1];
    assert_eq!((*schema, *kind), (SCHEMA, Kind::Lanes), "of this version");
    assert_eq!((*transcribed, note), (false, &None), "by a benchmark");
    assert!(date.len() == 20 && date.ends_with('Z'), "{date}");
    assert!(host.cores.is_some(), "{host:?}");
    assert_eq!(adapter, &row(1).adapter, "the adapter");
    assert_eq!(
        commit.as_ref().map(|commit| (&*commit.id, commit.dirty)),
        Some(("0efd351", true)),
        "as given"
    );
    assert!(command.starts_with("kvrm"), "{command}");
    assert_eq!(parameters["lanes"], 128_u64.into(), "the second row");
    let mips = &figures["mips"];
    assert_eq!(
        (&*mips.unit, mips.min, mips.median, mips.max),
        ("MIPS", Some(1.0), 2.0, Some(4.5)),
        "the figure"
    );
}

/// Returns a file whose first line is a record and whose second is `line`.
fn second_line(folder: &Path, line: &str) -> std::path::PathBuf {
    let path = folder.join("file.jsonl");
    let _ = fs::remove_file(&path);
    let mut log = Log::open(&path, "kvrm", commit()).expect("a new file");
    log.append(row(1)).expect("it can be written");
    let text = fs::read_to_string(&path).expect("it is there") + line + "\n";
    fs::write(&path, text).expect("it can be written");
    path
}

#[test]
fn invalid_records_are_named_by_file_and_line() {
    let folder = tempfile::tempdir().expect("there is room");
    let good = fs::read_to_string(second_line(folder.path(), "")).expect("it is there");
    let good = good.lines().next().expect("a record").to_owned();
    for (line, expected) in [
        ("", "EOF while parsing"),
        ("{", "EOF while parsing"),
        ("{}", "missing field `schema`"),
        (&*good.replace("\"lanes\",", "\"lines\","), "unknown variant `lines`"),
        (&*good.replace("\"date\"", "\"day\""), "unknown field `day`"),
        (&*good.replace("\"median\":2", "\"median\":\"2\""), "invalid type: string \"2\""),
        (&*good.replace("\"schema\":1", "\"schema\":2,\"new\":0"), "a record of schema 2"),
    ] {
        let path = second_line(folder.path(), line);
        let before = fs::read(&path).expect("it is there");
        let error = read(&path).expect_err("the second line is not a record").to_string();
        assert!(error.starts_with(&format!("{}:2: ", path.display())), "{error}");
        assert!(error.contains(expected), "{error} is not about {expected}");
        let error = Log::open(&path, "kvrm", commit()).expect_err("nothing is appended to such a file");
        assert!(error.to_string().contains(":2: "), "{error}");
        assert_eq!(fs::read(&path).expect("it is there"), before, "the file stays as it is");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("missing/file.jsonl");
    let error = Log::open(&path, "kvrm", None).expect_err("the folder does not exist");
    assert!(matches!(error, Error::Write { .. }), "{error:?}");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    assert!(matches!(Log::open(folder.path(), "kvrm", None), Err(Error::Read { .. })), "a folder is no file");
}
