//! `--record`: the records that benchmarks append to a file.

use kvrm_records::{Kind, Record, read};

use crate::support::{Folder, guest, kvrm, refusal};

/// Runs a benchmark for some hundredths of a second, with a given commit, and returns its records.
fn recorded(arguments: &[&str]) -> Vec<Record> {
    let folder = Folder::new();
    let path = folder.path("records.jsonl");
    let file = path.display().to_string();
    let record = ["--seconds", "0.01", "--record", &file, "--commit", "0efd351"];
    // Options come before the program that `bench processes` runs.
    let at = arguments.iter().position(|argument| argument.starts_with("--")).expect("there is an option");
    let (command, options) = arguments.split_at(at);
    let run = kvrm(&[command, &record, options].concat());
    assert_eq!(run.status, 0, "{arguments:?}: {}", run.stderr);
    let records = read(&path).expect("records are written");
    for record in &records {
        let Record { date, host, commit, command, transcribed, figures, .. } = record;
        assert!(date.starts_with("20") && host.cores.is_some() && !transcribed, "{record:?}");
        assert_eq!(
            commit.as_ref().map(|commit| (&*commit.id, commit.dirty)),
            Some(("0efd351", false)),
            "as given"
        );
        assert!(
            command.starts_with("kvrm ") && command.contains("--seconds 0.01") && !command.contains(&file),
            "without the options for records: {command}"
        );
        for (name, figure) in figures {
            let [min, median, max] = [figure.min, Some(figure.median), figure.max]
                .map(|value| value.expect("the figure has all values"));
            assert!(min <= median && median <= max, "{name}: {figure:?}");
        }
    }
    records
}

#[test]
fn rows_of_bench_are_recorded() {
    let records = recorded(&["bench", "--engine", "reference", "--guest", "mix", "--lanes", "1,3"]);
    assert_eq!(records.len(), 2, "a row for each number of lanes");
    for (record, lanes) in records.iter().zip([1_u64, 3]) {
        assert_eq!((record.kind, &record.adapter), (Kind::Lanes, &None), "on the CPU");
        let parameters =
            ["class_selection", "engine", "guest", "lanes"].map(|name| record.parameters[name].clone());
        assert_eq!(
            parameters,
            ["table".into(), "reference".into(), "mix".into(), lanes.into()],
            "{record:?}"
        );
        let mips = &record.figures["mips"];
        assert!(mips.repetitions == Some(3) && mips.median > 0.0, "{mips:?}");
    }
}

#[test]
fn rows_of_bench_processes_are_recorded() {
    let records = recorded(&[
        "bench",
        "processes",
        "--engine",
        "reference",
        "--lanes",
        "2",
        &guest("lz"),
        "100",
        "{lane}",
    ]);
    assert_eq!((records.len(), records[0].kind), (1, Kind::Processes), "one row");
    assert_eq!(records[0].parameters["program"], "lz.elf 100 {lane}".into(), "without folders");
    assert!(records[0].figures["steps_a_run"].median > 100.0, "{:?}", records[0].figures);
}

#[test]
#[ignore = "needs DOOM: cargo xtask guests --doom, then cargo test -p kvrm-cli doom -- --ignored"]
fn rows_of_bench_doom_are_recorded() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/programs/doom");
    let bench = |options: &[&str]| {
        let all = ["--engine", "jit", "--program", program, "--skip", "1", "--warm-up", "0.01"];
        recorded(&[&["bench", "doom"], &all[..], options].concat())
    };
    let records = bench(&["--lanes", "1,3", "--picture", "half,none", "--tics", "2", "--blocks", "9"]);
    let rows = [("half", 1_u64), ("half", 3), ("none", 1), ("none", 3)];
    assert_eq!(records.len(), rows.len(), "a row for each picture and number of lanes");
    for (record, (picture, lanes)) in records.iter().zip(rows) {
        assert_eq!((record.kind, &record.adapter), (Kind::Environments, &None), "on the CPU");
        let expected = [
            ("blocks", 9_u64.into()),
            ("engine", "jit".into()),
            ("lanes", lanes.into()),
            ("loops", "off".into()),
            ("picture", picture.into()),
            ("share", 0.1.into()),
            ("tics_a_step", 2_u64.into()),
            ("translate", "off".into()),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(record.parameters, expected.into(), "all that identifies the row");
        let names: Vec<&str> = record.figures.keys().map(|name| &**name).collect();
        let always = ["instructions_a_step", "mips", "pages_a_lane", "steps_a_second", "tics_a_second"];
        assert_eq!(names, always, "no shares without translation and loops");
        let [steps, tics] = ["steps_a_second", "tics_a_second"].map(|name| &record.figures[name]);
        assert_eq!((steps.repetitions, tics.median), (Some(3), 2.0 * steps.median), "{record:?}");
    }
    let record = &bench(&["--lanes", "2", "--picture", "none", "--loops", "checker", "--lockstep"])[0];
    assert_eq!(
        [&record.parameters["loops"], &record.parameters["share"]],
        [&"checker".into(), &1.0.into()],
        "as asked for"
    );
    let at_once = record.figures["at_once"].median;
    assert!((0.0..=100.0).contains(&at_once), "a share of the instructions: {at_once}");
}

#[test]
fn rows_of_spike_bench_are_recorded() {
    let options = ["--engine", "parallel", "--threads", "1", "--settle", "1", "--scale", "0.01"];
    let records = recorded(&[&["spike", "bench", "feagi", "vogels-abbott"], &options[..]].concat());
    let names: Vec<_> = records.iter().map(|record| record.parameters["network"].to_string()).collect();
    assert_eq!(names, ["feagi", "vogels-abbott"], "a row for each network");
    assert!(records.iter().all(|record| record.kind == Kind::Spiking), "{records:?}");
    assert_eq!(records[0].parameters["neurons"], 5000_u64.into(), "a hundredth");
    assert_eq!(records[0].parameters.get("drive"), None, "only of vogels-abbott");
    assert_eq!(records[1].parameters["drive"], 1.0.into(), "as published");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn the_adapter_is_recorded() {
    let records = recorded(&["bench", "--engine", "gpu", "--guest", "mix", "--lanes", "1"]);
    let adapter = records[0].adapter.as_ref().expect("the record has an adapter");
    assert!(!adapter.name.is_empty() && !adapter.backend.is_empty(), "{adapter:?}");
    assert_eq!(records[0].parameters["engine"], "gpu-translate-auto".into(), "{records:?}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn modes_of_class_selection_are_recorded_after_the_proof() {
    let weights = concat!(env!("CARGO_MANIFEST_DIR"), "/../../weights/small-dispatch.safetensors");
    let records = recorded(&["bench", "class-selection", "--lanes", "1", "--weights", weights]);
    assert_eq!(
        (records.len(), records[0].kind),
        (6, Kind::Certificate),
        "the proof, and a row for each mode"
    );
    assert_eq!(records[0].figures["tuples"].median, 1_048_576.0, "all tuples");
    assert_eq!(records[0].parameters["network"], "small-dispatch".into(), "which network");
    for (record, mode) in records[1..].iter().zip(["table", "memo-domain", "memo-word", "network", "hybrid"])
    {
        assert_eq!(
            (record.kind, &record.parameters["mode"]),
            (Kind::ClassSelection, &mode.into()),
            "{record:?}"
        );
    }
    assert_eq!(
        records[1].figures["of_table"].median, 100.0,
        "the table is what the others are compared with"
    );
}

#[test]
fn a_file_of_another_kind_is_refused_and_not_changed() {
    let folder = Folder::new();
    let bench = |arguments: &[&str]| refusal(&[&["bench", "--engine", "reference"], arguments].concat());
    let file = folder.file("text", "no record\n");
    let message = bench(&["--record", &file]);
    assert!(message.contains(&format!("{file}:1: no benchmark record")), "{message}");
    assert_eq!(std::fs::read(&file).expect("the file still exists"), b"no record\n", "nothing is appended");
    let missing = folder.path("missing/file").display().to_string();
    assert!(bench(&["--record", &missing]).contains(&missing), "a folder that does not exist");
    assert!(bench(&["--commit", "0efd351"]).contains("--record"), "a commit of nothing");
    let message = bench(&["--record", "x", "--commit", "main"]);
    assert!(message.contains("hexadecimal digits"), "{message}");
}
