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

#[test]
fn parting_counts_the_instructions_that_lanes_of_a_group_are_at() {
    let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/bin/mix.elf");
    let options = ["--lanes", "64", "--start", "10000", "--rounds", "2", guest, "1000000", "{lane}"];
    let printed = run(env!("CARGO_BIN_EXE_parting"), &options);
    let row = |steps: &str| -> Vec<f64> {
        let line = printed.lines().find(|line| line.split_whitespace().next() == Some(steps));
        let line = line.unwrap_or_else(|| panic!("a line for {steps} steps: {printed}"));
        line.split_whitespace().skip(1).map(|cell| cell.parse().expect("a number")).collect()
    };
    let (first, last) = (row("0"), row("16384"));
    assert_eq!(first[1], first[2], "groups that were just made are new: {printed}");
    assert!(
        first[1] < first[0] && first[1] < last[1],
        "grouped lanes are together, and part again: {printed}"
    );
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn dump_writes_a_slice_with_its_kernel() {
    let folder = std::env::temp_dir().join(format!("kvrm-dump-{}", std::process::id()));
    let out = folder.to_str().expect("the path is text");
    let options = ["slice", "mix", "--lanes", "2", "--steps", "100", "--out", out];
    run(env!("CARGO_BIN_EXE_dump"), &options);
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).expect("the file was written");
    let slice: serde_json::Value =
        serde_json::from_str(&read("slices/mix-2/slice.json")).expect("it is JSON");
    let kernel = slice["kernels"][0]["name"].as_str().expect("it names its kernel");
    let hlsl = read(&format!("kernels/{kernel}/kernel.hlsl"));
    assert!(hlsl.contains("[numthreads(1, 1, 1)]"), "a workgroup has one lane");
    let parameters = std::fs::read(folder.join("slices/mix-2/parameters.bin")).expect("it was written, too");
    assert_eq!(&parameters[..8], [2, 0, 0, 0, 100, 0, 0, 0], "the numbers of lanes and of steps");
    std::fs::remove_dir_all(&folder).expect("it was made here");
}

/// Executes a run of quicksort in intervals on an engine.
fn execute_intervals(engine: &str) {
    let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/bin/quicksort.elf");
    let options = ["--engine", engine, "--lanes", "3", "--steps", "10000", guest, "500", "0"];
    let output = Command::new(env!("CARGO_BIN_EXE_intervals")).args(options).output();
    let output = output.expect("the program can be run");
    let [printed, note] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    // docs/architecture.md shows the same line.
    assert_eq!(printed, "quicksort size=500 seed=0 hash=0xc16c861ba86f63b5 ok\n", "{note}");
    let intervals: u64 = note.split(' ').next().and_then(|count| count.parse().ok()).expect("their number");
    assert!(intervals > 3, "there is more than one batch: {note}");
}

#[test]
fn intervals_executes_a_run_on_the_reference() {
    execute_intervals("reference");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn intervals_executes_a_run_on_a_gpu() {
    execute_intervals("gpu");
}
