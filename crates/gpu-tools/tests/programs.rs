//! Small forms of the programs. The soak has a test of its own.

use std::process::Command;

/// Runs a program and returns what it prints.
fn run(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().expect("the program can be run");
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} {args:?}: {printed}{errors}");
    printed.into_owned()
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn memory_resets_lanes_that_have_written_pages() {
    let printed = run(env!("CARGO_BIN_EXE_memory"), &["64"]);
    assert!(printed.contains("64 lanes"), "it prints the number of lanes: {printed}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lowering_sweep_compares_the_blocks_that_are_asked_for() {
    let printed = run(env!("CARGO_BIN_EXE_lowering_sweep"), &["--blocks", "8"]);
    assert!(printed.contains("8192 words"), "it prints the number of words: {printed}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn bursts_measures_the_steps_of_a_network() {
    let printed = run(env!("CARGO_BIN_EXE_bursts"), &["feagi", "0.002", "5", "events", "runs=1"]);
    assert!(printed.contains("\"neurons\": 1000"), "it prints a line of JSON: {printed}");
}
