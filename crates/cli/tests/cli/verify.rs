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
