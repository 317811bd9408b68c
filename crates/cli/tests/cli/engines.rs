//! Engines: they are named, they change no result, and missing ones are refused.

use serde_json::Value;

use crate::support::{Folder, NO_DRIVERS, Outcome, command, guest, kvrm, outcome, refusal, without_drivers};

/// Whether Vulkan is the only API of this host, so that a test can hide all adapters.
const ONLY_VULKAN: bool = cfg!(target_os = "linux");

/// The beginning of the line on standard error if the CPU was chosen for lack of a GPU.
const FALLBACK: &str = "no GPU: ";
/// The end of the same line.
const CONCLUSION: &str = "; running on the CPU";

#[test]
fn the_chosen_device_is_named_in_one_line() {
    let plain = kvrm(&["run", &guest("vm"), "3"]);
    assert_eq!((plain.status, &*plain.stderr), (0, ""), "nothing is said of the CPU if it was asked for");
    let run = kvrm(&["run", "--engine", "auto", &guest("vm"), "3"]);
    assert_eq!((run.status, &run.stdout), (0, &plain.stdout), "on any engine: {}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    let fell_back = run.stderr.starts_with(FALLBACK) && run.stderr.trim_end().ends_with(CONCLUSION);
    assert!(fell_back || run.stderr.starts_with("running on "), "{}", run.stderr);

    let json = kvrm(&["run", "--engine", "auto", &guest("vm"), "3", "--json"]);
    assert_eq!(json.stderr, "", "the report has it");
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let (engine, device) = (json["engine"].as_str().unwrap(), json["device"].as_str());
    if fell_back {
        assert_eq!((engine, device), ("jit", None), "{json}");
        assert_eq!(json["fallback"].as_str(), Some(run.stderr.trim_end()), "the same reason");
    } else {
        assert_eq!((engine, &json["fallback"]), ("gpu", &Value::Null), "{json}");
        assert_eq!(format!("running on {}\n", device.unwrap()), run.stderr, "the same device");
    }
}

#[test]
fn without_drivers_the_cpu_runs_lanes_unless_a_gpu_is_required() {
    if !ONLY_VULKAN {
        return;
    }
    let plain = kvrm(&["run", &guest("vm"), "3"]);
    let run = without_drivers(&["run", "--engine", "auto", &guest("vm"), "3"]);
    assert_eq!((run.status, &run.stdout), (0, &plain.stdout), "{}", run.stderr);
    let expected = "no GPU: no Vulkan, Metal or DX12 driver is installed (`kvrm doctor` says more); running on \
                    the CPU\n";
    assert_eq!(run.stderr, expected, "why");
    for arguments in [
        &["run", "--engine", "gpu", &guest("vm")][..],
        &["run", "--adapter", "llvmpipe", &guest("vm")],
        &["bench", "--engine", "gpu"],
    ] {
        let Outcome { status, stdout, stderr } = without_drivers(arguments);
        assert_eq!((status, &*stdout), (2, ""), "{arguments:?}");
        assert!(stderr.starts_with("error: there is no GPU, nor a software one"), "{arguments:?}: {stderr}");
        assert!(stderr.contains("mesa-vulkan-drivers"), "what to install: {stderr}");
    }
}

#[test]
fn an_adapter_that_does_not_exist_is_refused() {
    let vm = guest("vm");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/manual.jsonl");
    for arguments in [
        &["run", "--adapter", "Voodoo", &vm][..],
        &["run", "--adapter", "Voodoo", "--engine", "gpu", &vm],
        &["vectors", "run", "--adapter", "Voodoo", "--engine", "gpu", file],
        &["bench", "--adapter", "Voodoo"],
    ] {
        let message = refusal(arguments);
        assert!(message.contains("\"Voodoo\"") || message.contains("there is no GPU"), "{message}");
    }
    // An adapter contradicts the CPU engine.
    for arguments in [
        &["run", "--adapter", "x", "--engine", "reference", &vm][..],
        &["vectors", "run", "--adapter", "x", file],
    ] {
        let message = refusal(arguments);
        assert!(message.contains("--adapter 'x'") && message.contains("--engine gpu"), "{message}");
    }
    // If KVRM_ADAPTER names no adapter, --engine auto falls back to the CPU, and says so.
    let mut auto = command(&["run", "--engine", "auto", &vm, "3"]);
    let run = outcome(auto.env("KVRM_ADAPTER", "Voodoo").output().unwrap());
    assert!(run.status == 0 && run.stderr.starts_with(FALLBACK), "{}", run.stderr);
    let mut gpu = command(&["run", "--engine", "gpu", &vm, "3"]);
    let run = outcome(gpu.env("KVRM_ADAPTER", "Voodoo").envs(NO_DRIVERS).output().unwrap());
    assert!(run.status == 2 && run.stderr.starts_with("error: "), "{}", run.stderr);
}

#[test]
fn an_engine_that_does_not_exist_is_refused() {
    for command in ["run", "bench"] {
        let message = refusal(&[command, "--engine", "warp"]);
        assert!(message.contains("warp") && message.contains("auto, gpu, gpus, jit, reference"), "{message}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn guests_print_the_same_on_a_gpu() {
    let arguments = ["--lanes", "5", "--lane-arg", "4", "--lane-arg", "{lane}"];
    for name in ["vm", "sieve", "mix"] {
        let file = guest(name);
        let run = |engine: &str| kvrm(&[&["run", "--engine", engine, &file], &arguments[..]].concat());
        let (gpu, reference) = (run("gpu"), run("reference"));
        assert_eq!((gpu.status, &gpu.stdout), (0, &reference.stdout), "{name}: {}", gpu.stderr);
        assert!(gpu.stderr.starts_with("running on ") && gpu.stderr.lines().count() == 1, "{}", gpu.stderr);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn reports_of_a_gpu_are_those_of_the_reference() {
    let file = guest("vm");
    let report = |engine: &str| -> Value {
        let run = kvrm(&["run", "--engine", engine, &file, "--lanes", "3", "--lane-arg", "{lane}", "--json"]);
        assert_eq!((run.status, &*run.stderr), (0, ""), "on {engine}");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let (mut gpu, mut reference) = (report("gpu"), report("reference"));
    assert_eq!(gpu["engine"], "gpu", "the engine");
    assert!(gpu["device"].is_string() && gpu["dispatches"].as_u64() > Some(0), "{gpu}");
    for key in ["engine", "device", "dispatches", "wall_seconds"] {
        gpu[key].take();
        reference[key].take();
    }
    assert_eq!(gpu, reference, "everything else");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn stops_are_the_same_on_a_gpu() {
    let folder = Folder::new();
    let ldr = folder.file("ldr", 0xf940_0400_u32.to_le_bytes()); // ldr x0, [x0, #8]
    let vm = guest("vm");
    for arguments in [
        &["--raw", &*ldr, "--lanes", "10"][..],
        &["--raw", &*ldr],
        &[&*vm, "--budget", "0"],
        &[&*vm, "--budget", "1"],
        &[&*vm, "--frames", "0"],
        &[&*vm, "x"],
    ] {
        let reference = kvrm(&[&["run", "--engine", "reference"], arguments].concat());
        let gpu = kvrm(&[&["run", "--engine", "gpu"], arguments].concat());
        let stderr = gpu.stderr.split_once('\n').map_or("", |(_, rest)| rest);
        let found = (gpu.status, &*gpu.stdout, stderr);
        assert_eq!(found, (reference.status, &*reference.stdout, &*reference.stderr), "{arguments:?}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn vectors_pass_on_a_gpu() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/manual.jsonl");
    let run = kvrm(&["vectors", "run", "--engine", "gpu", file]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    assert!(run.stdout.ends_with(" passed, 0 failed\n"), "{}", run.stdout);
    assert!(run.stderr.starts_with("running on "), "{}", run.stderr);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_that_do_not_fit_a_gpu_are_refused_with_the_maximum() {
    for lanes in ["0xffff_ffff_ffff_ffff", "0x1000_0000_0000"] {
        let message = refusal(&["run", "--engine", "gpu", &guest("vm"), "--lanes", lanes]);
        let (_, rest) = message.rsplit_once("room for ").expect(&message);
        let (max, _) = rest.split_once(';').expect(&message);
        assert!(max.parse::<u64>().is_ok_and(|max| max >= 1024), "{message}");
    }
    let message = refusal(&["run", "--engine", "gpu", &guest("vm"), "--lanes", "0"]);
    assert!(message.contains("at least 1 lane"), "{message}");
}
