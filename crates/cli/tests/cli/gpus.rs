//! `--gpus`: lanes that are divided among several GPUs.

use kvrm_records::read;
use serde_json::Value;

use crate::support::{Folder, guest, kvrm, refusal, without_drivers};

/// Returns the list of a single GPU: the one that would be used, which may be software.
fn one_listed() -> String {
    let json: Value = serde_json::from_str(&kvrm(&["doctor", "--json"]).stdout).unwrap();
    format!("{},", json["chosen"]["index"])
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_listed_gpu_runs_lanes_as_the_reference_does() {
    let (gpus, vm) = (one_listed(), guest("vm"));
    let lanes = ["--lanes", "3", "--lane-arg", "4", "--lane-arg", "{lane}"];
    let reference = kvrm(&[&["run", &vm], &lanes[..]].concat());
    for engine in ["auto", "gpu", "gpus"] {
        let run = kvrm(&[&["run", "--engine", engine, "--gpus", &gpus, &vm], &lanes[..]].concat());
        assert_eq!((run.status, &run.stdout), (0, &reference.stdout), "{engine}: {}", run.stderr);
        assert!(run.stderr.starts_with("running on ") && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
    let json = kvrm(&["run", "--gpus", &gpus, &vm, "3", "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["engine"], json["device"].is_string()), (&"gpu".into(), true), "{json}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn other_options_of_gpus_work_with_it() {
    let (gpus, vm) = (one_listed(), guest("vm"));
    let plain = kvrm(&["run", &vm, "3"]);
    for options in [
        &["--class-selection", "memo-word"][..],
        &["--translate", "off"],
        &["--loops", "networks", "--translate", "off"],
    ] {
        let run = kvrm(&[&["run", "--gpus", &gpus], options, &[&vm, "3"]].concat());
        assert_eq!((run.status, &run.stdout), (0, &plain.stdout), "{options:?}: {}", run.stderr);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn records_name_the_gpus() {
    let (gpus, folder) = (one_listed(), Folder::new());
    let path = folder.path("records.jsonl");
    let file = path.display().to_string();
    let bench = ["bench", "--guest", "mix", "--lanes", "3", "--seconds", "0.01", "--translate", "off"];
    let run = kvrm(&[&bench[..], &["--gpus", &gpus, "--record", &file, "--commit", "0efd351"]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    let record = &read(&path).expect("records are written")[0];
    let adapter = record.adapter.as_ref().expect("it ran on a GPU");
    assert!(run.stderr.contains(&adapter.name), "{adapter:?} is the device of {}", run.stderr);
    assert!(record.command.contains(&format!("--gpus {gpus}")), "{}", record.command);
}

#[test]
fn selections_that_cannot_be_are_refused() {
    let vm = guest("vm");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/manual.jsonl");
    for selection in ["0", "", ",", "0,,1"] {
        let message = refusal(&["run", "--gpus", selection, &vm]);
        assert!(message.contains("expected `all`, a number of GPUs from 1, or a list"), "{message}");
    }
    for (arguments, parts) in [
        (&["run", "--gpus", "all", "--adapter", "x", &vm][..], ["--gpus", "--adapter"]),
        (&["run", "--gpus", "all", "--engine", "jit", &vm], ["--gpus 'all'", "--engine gpus"]),
        (&["run", "--engine", "gpus", "--adapter", "x", &vm], ["--adapter 'x'", "--engine gpu"]),
        (&["vectors", "run", "--gpus", "2", file], ["--gpus '2'", "--engine gpus"]),
    ] {
        let message = refusal(arguments);
        assert!(parts.iter().all(|part| message.contains(part)), "{arguments:?}: {message}");
    }
}

#[test]
fn gpus_that_do_not_exist_are_refused() {
    let vm = guest("vm");
    for arguments in [
        &["run", "--gpus", "1000", &vm][..],
        &["run", "--gpus", "Voodoo", &vm],
        &["run", "--gpus", "1000,1001", &vm],
        &["bench", "--gpus", "1000"],
    ] {
        let message = refusal(arguments);
        let wanted =
            message.contains("1000") || message.contains("Voodoo") || message.contains("there is no GPU");
        assert!(wanted, "{arguments:?}: {message}");
    }
    if cfg!(target_os = "linux") {
        for arguments in [&["run", "--engine", "gpus", &vm][..], &["run", "--gpus", "all", &vm]] {
            let run = without_drivers(arguments);
            assert_eq!((run.status, &*run.stdout), (2, ""), "{arguments:?}");
            assert!(run.stderr.starts_with("error: there is no GPU, nor a software one"), "{}", run.stderr);
        }
    }
}
