//! Runs the examples in Rust, and compares what they print with the table of `examples/README.md`.
//!
//! `cargo test` compiles the examples before it runs this test.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Returns the rows of the table of examples in Rust: name, command and last line.
fn rows() -> Vec<(String, String, String)> {
    let readme = fs::read_to_string(folder().join("README.md")).expect("the README exists");
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| ["));
    let rows = rows.filter_map(|row| {
        let (name, rest) = row.split_once(".rs](")?;
        let cells: Vec<&str> = rest.split(" | ").map(|cell| cell.trim_matches(['`', ' ', '|'])).collect();
        let [_, _, command, line] = cells[..] else { panic!("the row of {name} has four cells: {row}") };
        Some((name.to_owned(), command.to_owned(), line.to_owned()))
    });
    rows.collect()
}

#[test]
fn the_table_lists_every_example_with_its_command() {
    let rows = rows();
    let listed: BTreeSet<String> = rows.iter().map(|(name, _, _)| format!("{name}.rs")).collect();
    let names = fs::read_dir(folder())
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder can be listed").file_name().to_string_lossy().into_owned());
    let on_disk: BTreeSet<String> = names.filter(|name| name.ends_with(".rs")).collect();
    assert_eq!(listed, on_disk, "the table and the folder");
    for (name, command, _) in rows {
        assert_eq!(command, format!("cargo run --release --package kvrm --example {name}"), "of {name}");
        let source = fs::read_to_string(folder().join(format!("{name}.rs"))).expect("the example exists");
        assert!(source.contains(&format!("//! $ {command}\n")), "the head of {name}.rs has the command");
    }
}

#[test]
fn every_example_prints_the_line_of_the_table() {
    let this = env::current_exe().expect("a test has a path");
    let examples = this.ancestors().nth(2).expect("tests lie in target/debug/deps").join("examples");
    for (name, _, line) in rows() {
        let example = examples.join(&name).with_extension(env::consts::EXE_EXTENSION);
        assert!(example.exists(), "{} is missing; `cargo test -p kvrm` compiles it", example.display());
        let output = Command::new(&example).output().expect("the example can be run");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} fails: {printed}{errors}");
        assert_eq!(printed.lines().last(), Some(&*line), "the last line of {name}: {printed}");
    }
}
