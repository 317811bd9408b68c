//! `--loops`, `kvrm loops` and `kvrm bench loops`.

use serde_json::Value;

use crate::support::{Folder, guest, kvrm, refusal};

/// A number of iterations that nobody waits for.
const MANY: i64 = 1 << 40;

#[test]
fn a_long_countdown_ends_at_once_with_all_its_steps() {
    let folder = Folder::new();
    let program = folder.countdown(MANY);
    for engine in ["reference", "jit"] {
        let run = kvrm(&["run", "--raw", "--engine", engine, "--loops", "checker", "--json", &program]);
        let report: Value = serde_json::from_str(&run.stdout).expect("one object");
        let loops = &report["loops"];
        let steps = report["steps"].as_u64().expect("a number");
        assert!(steps > 2 << 40, "{report}");
        assert_eq!((&loops["mode"], &loops["proved"]), (&"checker".into(), &1.into()), "{report}");
        let credited = loops["credited_steps"].as_u64().expect("a number");
        assert!(credited < steps && steps - credited < steps / 100, "{credited} of {steps}");
    }
}

#[test]
fn hot_loops_are_listed_with_the_verdict_of_the_checker() {
    let folder = Folder::new();
    let program = folder.countdown(1 << 30);
    let run = kvrm(&["loops", "--raw", &program]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("0x10004: 100.0 % of the steps, "), "{}", run.stdout);
    let expected = ["  checker: proved", "    0x10004  subs x0, x0, #0x1", "    0x10008  b.ne 0x10004"];
    assert_eq!(lines[1..], expected, "of the only loop");
    assert!(run.stderr.contains("1 candidates, 1 proposed, 1 proved"), "{}", run.stderr);

    let run = kvrm(&["loops", "--json", &guest("sieve"), "100000"]);
    let all: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shares: Vec<f64> = all.iter().filter_map(|of| of["share"].as_f64()).collect();
    assert!(shares.len() > 1 && shares.is_sorted_by(|x, y| x >= y), "{shares:?}");
}

#[test]
fn all_modes_give_the_same_results() {
    let program = guest("sieve");
    let run = |mode: &str| {
        let run = kvrm(&["run", "--engine", "reference", "--loops", mode, "--json", &program, "300000"]);
        let mut report: Value = serde_json::from_str(&run.stdout).expect("one object");
        let loops = report["loops"].take();
        ((report["steps"].clone(), report["stops"].clone(), run.stderr), loops)
    };
    let (expected, loops) = run("off");
    assert_eq!(loops, Value::Null);
    for mode in ["checker", "networks", "random", "adversarial"] {
        let (results, loops) = run(mode);
        assert_eq!((&results, &loops["mode"]), (&expected, &mode.into()), "{loops}");
    }
}

#[test]
fn opinions_of_networks_are_listed_and_drawn() {
    let folder = Folder::new();
    let program = folder.countdown(1 << 30);
    let plot = folder.path("loops.svg").display().to_string();
    let run = kvrm(&["loops", "--raw", "--networks", "--plot", &plot, &program]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[1].starts_with("  loop detector: countdown with x0 ("), "{}", run.stdout);
    assert!(lines[2].starts_with("  pattern recogniser: "), "{}", run.stdout);
    assert!(run.stdout.contains("  networks: proposed\n  checker: proved\n"), "{}", run.stdout);
    let text = std::fs::read_to_string(plot).expect("the picture was written");
    assert!(text.starts_with("<svg") && text.contains("100.0 %, proved"), "{text}");
}

#[test]
fn whole_programs_are_measured_in_all_modes() {
    let measure = ["bench", "loops", "--engine", "reference", "--programs", "no-such-folder", "--json"];
    let options = ["--loop", "strings", "--steps", "3000000", "--repetitions", "1"];
    let run = kvrm(&[&measure[..], &options].concat());
    let all: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let modes: Vec<_> = all.iter().filter_map(|row| row["mode"].as_str()).collect();
    assert_eq!(modes, ["off", "checker", "networks"], "{}{}", run.stdout, run.stderr);
    assert!(all.iter().all(|row| row["steps"] == all[0]["steps"]), "{all:?}");
    assert!(all[1]["in_loops"].as_f64() > Some(0.5), "{all:?}");

    let text = refusal(&[&measure[..], &["--loop", "memset"]].concat());
    assert!(text.contains("--loop 'memset': expected one of bubble_sort, "), "{text}");
}

#[test]
fn bare_loops_are_measured() {
    let measure = ["bench", "loops", "--engine", "reference", "--json", "--iterations", "20000"];
    let run = kvrm(&[&measure[..], &["--loops", "checker", "--loop", "memset", "--lanes", "1,3"]].concat());
    let all: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: Vec<_> = all.iter().map(|row| (row["loop"].as_str(), row["lanes"].as_u64())).collect();
    assert_eq!(rows, [(Some("memset"), Some(1)), (Some("memset"), Some(3))], "{}", run.stderr);
    assert!(all.iter().all(|row| row["credited"].as_f64() > Some(0.5)), "{all:?}");

    let drawing = ["--loops", "checker", "--networks", "--loop", "doom-column", "--pixels", "512"];
    let run = kvrm(&[&measure[..], &drawing].concat());
    let row: Value = serde_json::from_str(&run.stdout).expect("there is one row");
    let columns = 20_000_u64.div_ceil(512);
    assert_eq!(row["steps"], columns * (5 + 8 * 512), "{}", run.stdout);
    let found = &row["found"][0];
    assert_eq!((&found["head"], &found["checker"]), (&"0x10008".into(), &"proved".into()), "{row}");
    let said: Vec<_> = found["opinions"].as_array().into_iter().flatten().collect();
    assert!(said.iter().any(|opinion| opinion["source"] == "loop detector"), "{row}");
    let text = refusal(&[&measure[..], &drawing[..drawing.len() - 1], &["12"]].concat());
    assert!(text.contains("--pixels 12: expected a multiple of 8 up to 1048576"), "{text}");

    let text = refusal(&measure);
    assert!(text.contains("--loops off measures nothing"), "{text}");
    let text = refusal(&[&measure[..], &["--loops", "checker", "--loop", "quicksort"]].concat());
    assert!(text.contains("--loop 'quicksort': expected one of memset, "), "{text}");
    let text = refusal(&["bench", "loops", "--iterations", "0"]);
    assert!(text.contains("--iterations 0: expected 1 to "), "{text}");
}
