//! `cargo xtask records bench`: runs `cargo bench` and records its results.
//!
//! Criterion writes the times of all samples to files below `target/criterion/`. The files written in this run become
//! records.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result, ensure};
use kvrm_records::{Figure, Kind, MeasuredRow, RecordArgs, Value};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::adapter::gpu_adapter;
use super::paths::PROGRAM;
use crate::root::root;
use crate::steps::cargo;

/// Arguments of `cargo xtask records bench`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    record: RecordArgs,
    /// Record the GPU that benchmarks use, the one that `kvrm doctor` chooses.
    #[arg(long)]
    gpu: bool,
    /// The arguments for `cargo bench`, such as --package kvrm-machine.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// A file `benchmark.json` of Criterion.
#[derive(Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
    /// The amount of work per iteration, by the name of its unit.
    throughput: Option<BTreeMap<String, serde_json::Value>>,
}

/// A file `sample.json` of Criterion.
#[derive(Deserialize)]
struct Sample {
    /// The number of iterations of each sample.
    iters: Vec<f64>,
    /// The time of each sample in nanoseconds, for all its iterations.
    times: Vec<f64>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut log = args.record.open(PROGRAM)?;
    let adapter = args.gpu.then(gpu_adapter).transpose()?;
    // On some systems the times of files have a resolution of one second.
    let begin = SystemTime::now() - std::time::Duration::from_secs(1);
    let status = cargo().current_dir(root()).arg("bench").args(&args.arguments).status()?;
    ensure!(status.success(), "cargo bench {} failed", args.arguments.join(" "));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let found = results(&target.join("criterion"), begin)?;
    ensure!(!found.is_empty(), "cargo bench {} measured nothing", args.arguments.join(" "));
    for folder in &found {
        let mut measured = read_benchmark(folder)?;
        measured.adapter.clone_from(&adapter);
        if let Some(log) = &mut log {
            log.append(measured)?;
        }
    }
    println!("{} benchmarks were measured", found.len());
    Ok(())
}

/// Returns the folders with results written since `begin`, sorted.
fn results(folder: &Path, begin: SystemTime) -> Result<Vec<PathBuf>> {
    let (mut results, mut left) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(inside) = left.pop() {
        for entry in fs::read_dir(&inside).with_context(|| format!("cannot list {}", inside.display()))? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                left.push(path);
            } else if path.ends_with("new/benchmark.json") && entry.metadata()?.modified()? >= begin {
                results.push(inside.clone());
            }
        }
    }
    results.sort_unstable();
    Ok(results)
}

/// Reads the results of Criterion in a folder.
fn read_benchmark(folder: &Path) -> Result<MeasuredRow<'static>> {
    let Benchmark { group_id, function_id, value_str, throughput } = json(&folder.join("benchmark.json"))?;
    let Sample { iters, times } = json(&folder.join("sample.json"))?;
    let seconds: Vec<f64> = times.iter().zip(&iters).map(|(time, count)| time / count / 1e9).collect();
    ensure!(!seconds.is_empty(), "{} has no samples", folder.display());
    let text = |text: Option<String>| text.map(Value::Text);
    let parameters =
        [("group", Some(group_id.into())), ("function", text(function_id)), ("value", text(value_str))];
    let mut figures = vec![("seconds", Figure::of("s", &seconds))];
    if let Some(elements) = throughput.as_ref().and_then(|units| units.get("Elements")?.as_f64()) {
        let speeds: Vec<f64> = seconds.iter().map(|seconds| elements / seconds).collect();
        figures.push(("elements", Figure::once("elements", elements)));
        figures.push(("elements_a_second", Figure::of("elements/s", &speeds)));
    }
    Ok(MeasuredRow {
        kind: Kind::Criterion,
        adapter: None,
        parameters: parameters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        figures: figures.into_iter().collect(),
    })
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not what Criterion writes", path.display()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns a temporary folder, and in it a folder with Criterion's results for two samples of 2 ms and 1 ms.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("there is room");
        let new = folder.path().join("reference/mix/lanes=1/new");
        fs::create_dir_all(&new).expect("there is room");
        let benchmark = r#"{"group_id":"reference","function_id":"mix","value_str":"lanes=1",
            "throughput":{"Elements":3000},"full_id":"reference/mix/lanes=1"}"#;
        fs::write(new.join("benchmark.json"), benchmark).expect("there is room");
        let sample = r#"{"sampling_mode":"Flat","iters":[1.0,2.0],"times":[2000000.0,2000000.0]}"#;
        fs::write(new.join("sample.json"), sample).expect("there is room");
        (folder, new)
    }

    #[test]
    fn samples_of_criterion_become_figures() {
        let (_folder, new) = folder();
        let MeasuredRow { parameters, figures, .. } =
            read_benchmark(&new).expect("it is as Criterion leaves it");
        assert_eq!(parameters["value"], "lanes=1".into(), "{parameters:?}");
        let Figure { min, median, max, .. } = figures["elements_a_second"];
        assert_eq!((min, median, max), (Some(1.5e6), 3e6, Some(3e6)), "3,000 in 2 ms and in 1 ms");
        let bytes = fs::read_to_string(new.join("benchmark.json")).expect("it is there");
        fs::write(new.join("benchmark.json"), bytes.replace("Elements", "Bytes")).expect("there is room");
        let MeasuredRow { figures, .. } = read_benchmark(&new).expect("it has a time");
        assert_eq!(figures.into_keys().collect::<Vec<_>>(), ["seconds"], "bytes are not elements");
        fs::write(new.join("sample.json"), "{}").expect("there is room");
        let error = read_benchmark(&new).expect_err("no samples").to_string();
        assert!(error.contains("sample.json is not what Criterion writes"), "{error}");
    }

    #[test]
    fn results_of_earlier_runs_are_left_alone() {
        let (folder, new) = folder();
        let hour = Duration::from_secs(3600);
        assert_eq!(
            results(folder.path(), SystemTime::now() - hour).expect("it can be listed"),
            [new],
            "written now"
        );
        let later = results(folder.path(), SystemTime::now() + hour).expect("it can be listed");
        assert_eq!(later, [""; 0].map(PathBuf::from), "nothing is newer");
    }
}
