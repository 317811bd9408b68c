//! `--class-selection`: class selection by networks.

use kvrm::models::{Architecture, DispatchNetwork, Dtype, Weights};
use serde_json::Value;

use crate::support::{Folder, guest, kvrm, refusal};

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_guest_prints_the_same_in_every_mode_and_decisions_are_reported() {
    let sieve = guest("sieve");
    let plain = kvrm(&["run", &sieve, "1000"]);
    for mode in ["table", "memo-domain", "memo-word", "network", "hybrid"] {
        let run = kvrm(&["run", "--engine", "gpu", "--class-selection", mode, "--json", &sieve, "1000"]);
        assert_eq!((run.status, &*run.stderr), (0, ""), "{mode}");
        let json: Value = serde_json::from_str(&run.stdout).expect("the output is JSON");
        assert_eq!(json["lanes"][0]["output"], plain.stdout, "{mode}");
        let decisions = &json["decisions"];
        if mode == "table" {
            assert_eq!(decisions, &Value::Null, "nothing is asked");
            continue;
        }
        assert_eq!(
            (&decisions["mode"], &decisions["tuples_right"]),
            (&mode.into(), &1_048_576.into()),
            "{json}"
        );
        let classes = decisions["classes"].as_array().expect("the array exists");
        let sum = |key: &str| classes.iter().filter_map(|class| class[key].as_u64()).sum::<u64>();
        assert_eq!((classes.len(), sum("mispredicted"), sum("fell_back")), (7, 0, 0), "{mode}");
        assert!(sum("asked") > 0, "{mode}");
    }
    // The engine follows from the mode.
    let run = kvrm(&["run", "--class-selection", "hybrid", "--engine", "auto", "--stats", &sieve, "10"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("decisions   hybrid, dispatch "), "a table: {}", run.stderr);
    assert!(run.stderr.contains("mispredicted") && run.stderr.contains("ARITHMETIC"), "{}", run.stderr);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn wrong_weights_change_no_result_unless_mispredictions_stop_lanes() {
    let folder = Folder::new();
    let file = folder.path("zero.safetensors");
    Weights::from_flat(Architecture::Dispatch, vec![0.0; DispatchNetwork::PARAMETERS])
        .and_then(|weights| weights.save(&file, Dtype::F32))
        .expect("the folder can be written");
    let (file, sieve) = (file.display().to_string(), guest("sieve"));
    let plain = kvrm(&["run", &sieve, "100"]);
    let network = ["run", "--engine", "gpu", "--class-selection", "network", "--weights", &file];
    let run = kvrm(&[&network[..], &[&sieve, "100"]].concat());
    assert_eq!((run.status, &run.stdout), (0, &plain.stdout), "the table decides: {}", run.stderr);
    let run = kvrm(&[&network[..], &["--stop-on-misprediction", &sieve, "100"]].concat());
    assert_eq!((run.status, &*run.stdout), (125, ""), "nothing is printed before it stops");
    assert!(run.stderr.contains("undefined"), "as at an undefined word: {}", run.stderr);
    assert!(run.stderr.contains("hint: the network"), "and why: {}", run.stderr);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_mode_is_measured_after_the_proof() {
    let folder = Folder::new();
    let file = folder.path("small.safetensors");
    let (small, _) = Weights::builtin(Architecture::SmallDispatch)
        .expect("the built-in weights are valid")
        .expect("the built-in weights exist");
    small.save(&file, Dtype::F32).expect("the folder can be written");
    // The certificate of the dispatch network takes long without optimization.
    let file = file.display().to_string();
    let bench = ["bench", "class-selection", "--lanes", "1,2", "--seconds", "0.01", "--weights", &file];
    let run = kvrm(&[&bench[..], &["--json"]].concat());
    assert_eq!((run.status, &*run.stderr), (0, ""), "it measures");
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("the output is JSON")).collect();
    assert_eq!((lines.len(), &lines[0]["tuples"]), (11, &1_048_576.into()), "the proof, and a line each");
    for (index, line) in lines[1..].iter().enumerate() {
        let mode = ["table", "memo-domain", "memo-word", "network", "hybrid"][index % 5];
        assert_eq!((&line["mode"], &line["lanes"]), (&mode.into(), &(1 + index / 5).into()), "{line}");
        assert!(line["mips"].as_f64().is_some_and(|mips| mips > 0.0), "{line}");
        let share = line["of_table"].as_f64().expect("the value is a number");
        assert!(if mode == "table" { share == 1.0 } else { share > 0.0 }, "{line}");
    }
}

#[test]
fn contradicting_options_and_unusable_weights_are_refused() {
    let sieve = guest("sieve");
    let message = refusal(&["run", "--engine", "reference", "--class-selection", "network", &sieve]);
    assert!(message.contains("--class-selection network") && message.contains("--engine gpu"), "{message}");
    let message = refusal(&["run", "--class-selection", "sometimes", &sieve]);
    assert!(message.contains("memo-domain") && message.contains("hybrid"), "the modes: {message}");
    assert!(refusal(&["run", "--weights", "x", &sieve]).contains("--class-selection"), "weights of what");
    let message =
        refusal(&["run", "--engine", "gpu", "--class-selection", "table", "--weights", "x", &sieve]);
    assert!(message.contains("asks no network"), "{message}");
    let hybrid = ["run", "--engine", "gpu", "--class-selection", "hybrid", "--stop-on-misprediction", &sieve];
    assert!(refusal(&hybrid).contains("the table decides"), "it would do nothing");
    let message =
        refusal(&["run", "--engine", "gpu", "--class-selection", "network", "--weights", "no/such", &sieve]);
    assert!(message.contains("no/such"), "{message}");
    let folder = Folder::new();
    let text = folder.file("text", "no weights");
    let message =
        refusal(&["run", "--engine", "gpu", "--class-selection", "network", "--weights", &text, &sieve]);
    assert!(message.contains(&text) && message.contains("safetensors"), "{message}");
    let file = folder.path("decoder.safetensors");
    let (decoder, _) = Weights::builtin(Architecture::Decoder)
        .expect("the built-in weights are valid")
        .expect("the built-in weights exist");
    decoder.save(&file, Dtype::F32).expect("the folder can be written");
    let file = file.display().to_string();
    for command in [
        &["run", "--engine", "gpu", "--class-selection", "network", "--weights", &file, &sieve][..],
        &["bench", "class-selection", "--weights", &file],
    ] {
        let message = refusal(command);
        assert!(message.contains("decoder"), "{message}");
    }
}
