//! `kvrm verify`.

use kvrm::models::{Architecture, Dtype, Entry, MANIFEST, Manifest, Weights, dispatch_layout, sha256_of};
use serde_json::Value;

use crate::support::kvrm;

fn dispatch() -> Weights {
    Weights::builtin(Architecture::Dispatch)
        .expect("the built-in weights are valid")
        .expect("the built-in weights exist")
        .0
}

#[test]
fn the_first_wrong_word_of_wrong_weights_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("mine.safetensors");
    // ARITHMETIC gets a bias that is larger than all other logits.
    let mut values = dispatch().into_values();
    values[dispatch_layout::FC3_BIAS] = 256.0;
    let listed = sha256_of(dispatch().values());
    Weights::from_flat(Architecture::Dispatch, values)
        .and_then(|weights| weights.save(&file, Dtype::F32))
        .expect("the folder can be written");
    let bytes = std::fs::read(&file).expect("the file was written");
    let mut entry = Entry::new("mine.safetensors", Architecture::Dispatch, &bytes);
    entry.weights_sha256 = Some(listed.clone());
    let text = Manifest { files: vec![entry] }.to_toml().expect("the manifest can be written as TOML");
    std::fs::write(folder.path().join(MANIFEST), text).expect("the folder can be written");

    let run = kvrm(&["verify", "dispatch", "--json", "--weights", file.to_str().expect("UTF-8")]);
    assert_eq!((run.status, &*run.stderr), (1, ""), "the proof fails, the command does not");
    let json: Value = serde_json::from_str(&run.stdout).expect("the output is JSON");
    let failures = json["failures"].as_array().expect("the array exists");
    let of_kind = |kind: &str| failures.iter().find(|failure| failure["kind"] == kind);
    let word = of_kind("word").expect("a failure of a word is listed");
    assert_eq!(
        (&word["word"], &word["expected"]),
        (&0.into(), &"SYSTEM".into()),
        "the first is `udf #0`: {word}"
    );
    let digest = of_kind("digest").expect("a failure of the digest is listed");
    assert_eq!(digest["expected"], listed.as_str(), "{digest}");
}

#[test]
fn weights_of_another_network_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("mine.safetensors");
    dispatch().save(&file, Dtype::F32).expect("the folder can be written");
    let path = file.to_str().expect("UTF-8");
    let run = kvrm(&["verify", "decoder", "--weights", path]);
    assert_eq!((run.status, &*run.stdout), (2, ""), "nothing is proved");
    assert_eq!(
        run.stderr,
        format!("error: {path}: expected a decoder network, found a dispatch network\n"),
        "why"
    );
    let run = kvrm(&["verify", "--weights", "no/such.safetensors"]);
    assert_eq!((run.status, &*run.stdout), (2, ""), "nothing is proved");
    assert!(run.stderr.starts_with("error: cannot read no/such.safetensors: "), "{}", run.stderr);
}

/// Returns the JSON of `kvrm verify` with some arguments. Its exit status must be 0.
fn verify(network: &str, args: &[&str]) -> Value {
    let run = kvrm(&[&["verify", network, "--json"], args].concat());
    assert_eq!((run.status, &*run.stderr), (0, ""), "{args:?}");
    serde_json::from_str(&run.stdout).expect("the output is JSON")
}

/// Asserts that `kvrm verify` refuses some arguments with a message that has a part.
#[track_caller]
fn refused(args: &[&str], part: &str) {
    let run = kvrm(&[&["verify"], args].concat());
    assert_eq!((run.status, &*run.stdout), (2, ""), "{args:?}");
    assert!(run.stderr.contains(part), "{args:?}: {}", run.stderr);
}

/// Asserts that the outputs of a device are those of the host, and that so many inputs have the same answers.
fn assert_agrees(device: &Value, choices: &[&str], inputs: u64) {
    assert_eq!(device["agrees"], true, "{device}");
    for difference in device["differences"].as_array().expect("a list") {
        assert!(difference["relative"].as_f64().is_some_and(|relative| relative <= 1e-5), "{difference}");
    }
    let choices_there = device["choices"].as_array().expect("a list").iter();
    let same: Vec<_> = choices_there.map(|of| (of["choice"].as_str(), of["same"].as_u64())).collect();
    let expected: Vec<_> = choices.iter().map(|choice| (Some(*choice), Some(inputs))).collect();
    assert_eq!(same, expected, "all inputs");
}

#[test]
fn networks_that_look_at_loops_are_listed_with_the_origin_of_their_weights() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("mine.safetensors");
    let path = file.to_str().expect("UTF-8");
    let architecture = Architecture::IterationPredictor;
    Weights::from_flat(architecture, vec![0.25; architecture.parameters()])
        .and_then(|weights| weights.save(&file, Dtype::F16))
        .expect("the folder can be written");
    let json = verify("loops", &["--bodies", "3", "--words", "5", "--seed", "7", "--weights", path]);
    assert_eq!((&json["bodies"], &json["words"]), (&3.into(), &15.into()), "{json}");
    assert_eq!(json["device"], Value::Null, "no device was asked for");
    let networks = json["networks"].as_array().expect("a list");
    let parameters: Vec<_> = networks.iter().map(|network| network["parameters"].as_u64()).collect();
    assert_eq!(parameters, [Some(1_083_397), Some(508_161), Some(25_473)], "detector, recogniser, predictor");
    assert_eq!(networks[2]["weights"], path, "the file");
    let again = verify("loops", &["--bodies", "3", "--words", "5", "--seed", "7"]);
    assert_eq!(again["networks"][0], json["networks"][0], "other networks do not depend on the file");

    refused(&["loops", "--weights", path, "--weights", path], "expected one file for each network");
    refused(&["dispatch", "--weights", path, "--weights", path], "found a second one");
    refused(&["decoder", "--seed", "2"], "--seed is for `kvrm verify loops`");
    dispatch().save(&file, Dtype::F32).expect("the folder can be written");
    refused(&["loops", "--weights", path], "found a dispatch network");
    let mut values = vec![0.0; architecture.parameters()];
    values[9] = 1e6;
    Weights::from_flat(architecture, values)
        .and_then(|weights| weights.save(&file, Dtype::F32))
        .expect("the folder can be written");
    refused(
        &["loops", "--weights", path],
        "weight 9 is 1000000, but devices store weights in half precision",
    );
}

#[test]
fn loops_are_read_from_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("loops.txt");
    let path = file.to_str().expect("UTF-8");
    let write = |text: &str| std::fs::write(&file, text).expect("the folder can be written");
    write(
        "loop a gcc-O2 400000 1 5 f1000484 54ffffe1\nentry 5 0 4=5 1f=8000\nloop b - 8 1 1 d503201f 17ffffff 0\n",
    );
    let json = verify("loops", &["--file", path]);
    assert_eq!((&json["bodies"], &json["words"]), (&2.into(), &5.into()), "{json}");
    let refused = |text: &str, part: &str| {
        write(text);
        let run = kvrm(&["verify", "loops", "--file", path]);
        assert_eq!(run.status, 2, "{text}");
        assert!(run.stderr.contains(path) && run.stderr.contains(part), "{text}: {}", run.stderr);
    };
    refused("", "expected a line");
    refused("loop a gcc-O2 400000 1 5\n", "line 1: expected");
    refused("loop a - 8 1 1 0\nentry 1 0 20=1\n", "line 2: expected a register");
    refused("loop a - 8 1 1 xyz\n", "found `xyz`");
    refused("entry 1 0\n", "line 1: expected a loop");
    let run = kvrm(&["verify", "dispatch", "--file", path]);
    assert!(run.stderr.contains("--file is for `kvrm verify loops`"), "{}", run.stderr);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn networks_that_look_at_loops_give_the_same_answers_on_a_device() {
    let json = verify("loops", &["--device", "--bodies", "19"]);
    assert_agrees(&json["device"], &["kind", "counter", "pattern"], 19);
}

#[test]
fn a_memory_oracle_is_listed_with_the_origin_of_its_weights() {
    let architecture = Architecture::MemoryOracle;
    let json = verify("memory-oracle", &["--windows", "5", "--accesses", "3", "--seed", "7"]);
    assert_eq!((&json["windows"], &json["accesses"]), (&5.into(), &15.into()), "{json}");
    assert_eq!(json["device"], Value::Null, "no device was asked for");
    assert!(json["host_ms_per_1024_windows"].as_f64().is_some_and(|time| time > 0.0), "{json}");
    assert_eq!(json["networks"][0]["parameters"], 271_124, "{json}");

    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("mine.safetensors");
    let path = file.to_str().expect("UTF-8");
    let save = |value: f32| {
        Weights::from_flat(architecture, vec![value; architecture.parameters()])
            .and_then(|weights| weights.save(&file, Dtype::F32))
            .expect("the folder can be written");
    };
    save(0.01);
    let json = verify("memory-oracle", &["--windows", "2", "--weights", path]);
    assert_eq!(json["networks"][0]["weights"], path, "the file");
    refused(&["loops", "--weights", path], "found a memory-oracle network");
    save(-7e4);
    refused(&["memory-oracle", "--windows", "2", "--weights", path], "weight 0 is -70000, but devices store");
    dispatch().save(&file, Dtype::F32).expect("the folder can be written");
    refused(&["memory-oracle", "--weights", path], "found a dispatch network");

    refused(
        &["memory-oracle", "--bodies", "2"],
        "--bodies is for `kvrm verify loops`, not for memory-oracle",
    );
    refused(&["loops", "--windows", "2"], "--windows is for `kvrm verify memory-oracle`, not for loops");
    refused(&["memory-oracle", "--accesses", "33"], "33 is not in 1..=32");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_memory_oracle_gives_the_same_predictions_on_a_device() {
    let json = verify("memory-oracle", &["--device", "--windows", "21"]);
    assert_agrees(&json["device"], &["pattern"], 21);
}
