//! `kvrm networks`.

use kvrm::models::{Architecture, Dtype, Weights};
use serde_json::Value;

use crate::support::{Folder, kvrm, refusal};

/// Saves weights in a folder and returns the path.
fn save(folder: &Folder, name: &str, architecture: Architecture, values: Vec<f32>) -> String {
    let path = folder.path(name);
    Weights::from_flat(architecture, values)
        .and_then(|weights| weights.save(&path, Dtype::F32))
        .expect("the folder can be written");
    path.display().to_string()
}

/// Returns the JSON of `kvrm networks` with some arguments, and its exit status.
fn networks(args: &[&str]) -> (i32, Value) {
    let run = kvrm(&[&["networks", "--json"], args].concat());
    assert_eq!(run.stderr, "", "{args:?}");
    (run.status, serde_json::from_str(&run.stdout).expect("the output is JSON"))
}

/// Returns what the JSON says about a network.
fn of<'a>(json: &'a Value, name: &str) -> &'a Value {
    let mut all = json["networks"].as_array().expect("a list").iter();
    all.find(|network| network["network"] == name).expect("it is listed")
}

#[test]
fn networks_are_listed_in_a_table_with_their_sum() {
    let run = kvrm(&["networks"]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "{}", run.stdout);
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0].join(" "), "network parameters bytes multiply-adds source proof", "the head");
    let names: Vec<&str> = rows[1..].iter().map(|row| row[0]).collect();
    let expected = Architecture::ALL.map(Architecture::name);
    assert_eq!(names, [&expected[..], &["total"]].concat(), "a line each");
    assert_eq!(rows[1].join(" "), "dispatch 10279 41116 2032 built in unproved", "dispatch");
    assert_eq!(rows[4][..3], ["loop-detector", "1083397", "2166794"], "in half precision");
    assert_eq!(rows[8].join(" "), "total 1909368 3861162", "the sums");
}

#[test]
fn files_and_folders_replace_networks() {
    let folder = Folder::new();
    let predictor = Architecture::IterationPredictor;
    let file = save(&folder, "mine.safetensors", predictor, vec![0.25; predictor.parameters()]);
    let (status, json) = networks(&["--weights", &file]);
    assert_eq!(status, 0, "{json}");
    let mine = of(&json, "iteration-predictor");
    assert_eq!((&mine["source"], &mine["file"]), (&"file".into(), &(*file).into()), "{mine}");
    assert_ne!(mine["sha256"], of(&networks(&[]).1, "iteration-predictor")["sha256"], "other weights");
    let oracle = of(&json, "memory-oracle");
    assert_eq!((&oracle["source"], &oracle["file"]), (&"built-in".into(), &Value::Null), "{oracle}");
    let cost = &oracle["multiply_adds"];
    assert_eq!((&cost["tokens"], &cost["tokens_max"]), (&"access".into(), &32.into()), "{cost}");
    let number = |name: &str| cost[name].as_u64().expect("a number");
    assert_eq!(number("longest"), number("fixed") + 32 * number("token"), "{cost}");

    let path = folder.path("").display().to_string();
    let (_, json) = networks(&["--weights", &path]);
    assert_eq!(of(&json, "iteration-predictor")["sha256"], mine["sha256"], "the same file");
    let table = kvrm(&["networks", "--weights", &file]).stdout;
    assert!(
        table.lines().any(|line| line.starts_with("iteration-predictor") && line.contains(&file)),
        "{table}"
    );
}

#[test]
fn weights_that_cannot_be_loaded_are_refused_with_their_path() {
    let folder = Folder::new();
    let message = refusal(&["networks", "--weights", "no/such.safetensors"]);
    assert!(message.contains("--weights 'no/such.safetensors': cannot read"), "{message}");
    let path = folder.path("").display().to_string();
    let message = refusal(&["networks", "--weights", &path]);
    assert!(
        message.contains("expected a folder with .safetensors files of weights, found none"),
        "{message}"
    );
    let file = folder.file("rubbish.safetensors", "no weights");
    let message = refusal(&["networks", "--weights", &file]);
    assert!(message.contains("rubbish.safetensors: expected a safetensors file"), "{message}");
}
