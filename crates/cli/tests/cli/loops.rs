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
fn bare_loops_are_measured() {
    let measure = ["bench", "loops", "--engine", "reference", "--json", "--iterations", "20000"];
    let run = kvrm(&[&measure[..], &["--loops", "checker", "--loop", "memset", "--lanes", "1,3"]].concat());
    let all: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows: Vec<_> = all.iter().map(|row| (row["loop"].as_str(), row["lanes"].as_u64())).collect();
    assert_eq!(rows, [(Some("memset"), Some(1)), (Some("memset"), Some(3))], "{}", run.stderr);
    assert!(all.iter().all(|row| row["credited"].as_f64() > Some(0.5)), "{all:?}");

    let text = refusal(&measure);
    assert!(text.contains("--loops off measures nothing"), "{text}");
    let text = refusal(&[&measure[..], &["--loops", "checker", "--loop", "quicksort"]].concat());
    assert!(text.contains("--loop 'quicksort': expected one of memset, "), "{text}");
    let text = refusal(&["bench", "loops", "--iterations", "0"]);
    assert!(text.contains("--iterations 0: expected 1 to "), "{text}");
}
