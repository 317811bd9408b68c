//! `--learn` and `--save-weights` with `--loops networks`.

use std::path::Path;

use kvrm::arm64::assemble;
use kvrm::models::{Architecture, Weights, sha256_of};
use serde_json::Value;

use crate::support::{CODE, Folder, kvrm, refusal};

/// Countdowns of 40,000, 49,973, 59,946 and so on.
const COUNTDOWNS: &str = "
    mov x1, #40000
    mov x2, #0x200000
again:
    mov x0, x1
inner:
    subs x0, x0, #1
    b.ne inner
    mov x3, #9973
    add x1, x1, x3
    cmp x1, x2
    b.lo again
    hlt #0
";

#[test]
fn the_iteration_predictor_learns_the_same_in_each_run_and_changes_no_result() {
    let folder = Folder::new();
    let words = assemble(CODE, COUNTDOWNS).expect("the instructions exist");
    let program = folder.file("countdowns", words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>());
    let run = |more: &[&str]| -> Value {
        let run = ["run", "--raw", "--engine", "reference", "--loops", "networks", "--json"];
        let run = kvrm(&[&run[..], more, &[&program]].concat());
        serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
    };
    let results = |report: &Value| [report["steps"].clone(), report["lanes"].clone()];
    let learn = |folder: &str| run(&["--learn", "--learn-seed", "5", "--save-weights", folder]);
    let [first, second] = ["first", "second"].map(|name| folder.path(name).display().to_string());
    let (expected, learned, again) = (run(&[]), learn(&first), learn(&second));
    assert_eq!(results(&learned), results(&expected), "with and without learning");
    assert_eq!(expected["learning"], Value::Null, "nobody learns");
    let found = &learned["learning"]["iteration_predictor"];
    assert!(found["rounds"].as_u64() > Some(1) && found["adopted"].as_u64() > Some(0), "{found}");
    assert!(found["log10_error"].as_f64() < found["log10_error_without_learning"].as_f64(), "{found}");
    assert_eq!(learned["learning"], again["learning"], "the same seed");

    let file = |folder: &str| Path::new(folder).join("iteration-predictor.safetensors");
    let [bytes, same] = [&first, &second].map(|folder| std::fs::read(file(folder)).expect("it was saved"));
    assert!(bytes == same, "the same file, bit for bit");
    let weights = Weights::load(&file(&first)).expect("a file of weights");
    let (builtin, _) = Weights::builtin(Architecture::IterationPredictor).unwrap().expect("KVRM has them");
    let metadata = &weights.metadata;
    assert_eq!(metadata.config["parent"], sha256_of(builtin.values()), "the weights without learning");
    assert_eq!(metadata.config["entries"], found["entries"].to_string(), "the origin");
    assert!(
        metadata.data_hash.is_some() && metadata.metrics.contains_key("learning_log10_error"),
        "{metadata:?}"
    );
    let manifest = std::fs::read_to_string(format!("{first}/manifest.toml")).expect("it was saved");
    assert!(manifest.contains("iteration-predictor.safetensors"), "{manifest}");
    let used = run(&["--loops-weights", &file(&first).display().to_string()]);
    assert_eq!(results(&used), results(&expected), "with the weights that were learned");

    let stats = kvrm(&[
        "run",
        "--raw",
        "--engine",
        "reference",
        "--loops",
        "networks",
        "--learn",
        "--stats",
        &program,
    ]);
    assert!(stats.stderr.contains("learning      iteration predictor: "), "{}", stats.stderr);
}

#[test]
fn learning_of_nothing_is_refused() {
    let folder = Folder::new();
    let program = folder.countdown(9);
    let run = ["run", "--raw", "--engine", "reference", &program];
    for more in [&["--learn"][..], &["--learn", "--loops", "checker"], &["--learn", "--loops", "random"]] {
        let text = refusal(&[&run[..], more].concat());
        assert!(text.contains("--learn: no network that can learn is asked with --prefetch none"), "{text}");
        assert!(text.contains("use --prefetch oracle, or --loops networks"), "{text}");
    }
    let weights = folder.path("x").display().to_string();
    let text = refusal(&[&run[..], &["--loops", "checker", "--loops-weights", &weights]].concat());
    assert!(text.contains("--loops checker does not use them; use --loops networks"), "{text}");
    let text = refusal(&[&run[..], &["--loops", "networks", "--loops-weights", &weights]].concat());
    assert!(text.contains(&format!("--loops-weights '{weights}': ")), "{text}");
    let text = refusal(&[&run[..], &["--loops", "networks", "--save-weights", &weights]].concat());
    assert!(text.contains("--learn"), "{text}");
}
