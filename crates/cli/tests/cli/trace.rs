//! `kvrm trace`.

use kvrm::arm64::asm::{X1, X2, XZR};
use serde_json::Value;

use crate::support::{CODE, Folder, calling_program, guest, kvrm, refusal};

const LINES: [&str; 6] = [
    "       0  0x00010000  d2800040  mov x0, #0x2                          x0=0x2",
    "       1  0x00010004  f1000400  subs x0, x0, #0x1                     x0=0x1  nzcv=0x2",
    "       2  0x00010008  54ffffe1  b.ne 0x10004                          pc=0x10004",
    "       3  0x00010004  f1000400  subs x0, x0, #0x1                     x0=0x0  nzcv=0x6",
    "       4  0x00010008  54ffffe1  b.ne 0x10004",
    "       5  0x0001000c  d4000061  svc #0x3",
];

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_step_is_a_line_with_its_changes() {
    let folder = Folder::new();
    let run = kvrm(&["trace", "--raw", &folder.countdown(2)]);
    assert_eq!((run.status, &*run.stdout), (125, &*lines(&LINES)), "all of it");
    assert_eq!(run.stderr, "stopped after 6 steps: system call (svc #0x3)\n", "why it ended");
}

#[test]
fn a_part_of_a_run_can_be_traced() {
    let folder = Folder::new();
    let program = folder.countdown(2);
    for skip in 0..8_usize {
        for budget in 0..8_usize {
            let (skip_text, budget_text) = (skip.to_string(), budget.to_string());
            let run = kvrm(&["trace", "--raw", &program, "--skip", &skip_text, "--budget", &budget_text]);
            let expected = lines(LINES.get(skip..budget.min(6)).unwrap_or_default());
            let status = if budget < 6 { 124 } else { 125 };
            assert_eq!((run.status, run.stdout), (status, expected), "after {skip} steps, up to {budget}");
        }
    }
}

#[test]
fn json_has_a_line_per_step() {
    let folder = Folder::new();
    let run = kvrm(&["trace", "--raw", &folder.countdown(2), "--json"]);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), LINES.len(), "lines");
    let expected = serde_json::json!({
        "step": 1, "pc": "0x10004", "word": "f1000400", "text": "subs x0, x0, #0x1",
        "changes": { "x0": "0x1", "nzcv": "0x2" },
    });
    assert_eq!(lines[1], expected, "the second step");
    assert_eq!(lines[2]["changes"], serde_json::json!({ "pc": "0x10004" }), "a branch that is taken");
    assert_eq!(lines[4]["changes"], serde_json::json!({}), "a branch that is not");
}

#[test]
fn the_instruction_that_does_not_retire_is_the_last_line() {
    let folder = Folder::new();
    let program = folder.program(|a| {
        a.mov(X1, 0x123).br(X1);
    });
    let run = kvrm(&["trace", "--raw", &program]);
    assert_eq!(run.stdout.lines().count(), 2, "where the branch goes there is no word: {}", run.stdout);
    let expected = "stopped after 2 steps: execution of a misaligned address at 0x123\n";
    assert_eq!((run.status, &*run.stderr), (125, expected), "why it ended");
    let program = folder.program(|a| {
        a.mov(X2, 1).word(0xffff_ffff);
    });
    let run = kvrm(&["trace", "--raw", &program]);
    assert!(
        run.stdout.lines().last().unwrap().contains("       1  0x00010004  ffffffff  "),
        "{}",
        run.stdout
    );
    assert_eq!(run.stderr, "stopped after 1 steps: undefined instruction 0xffffffff\n", "why it ended");
}

#[test]
fn every_register_that_changes_is_shown() {
    let folder = Folder::new();
    let program = folder.program(|a| {
        let system = |name| kvrm::arm64::asm::system_register(name).unwrap();
        a.mov(X1, -1).msr(system("nzcv"), X1).msr(system("fpcr"), X1).msr(system("fpsr"), X1);
        a.msr(system("tpidr_el0"), X1).add(kvrm::arm64::asm::SP, X1, 1).subs(XZR, X1, 0).brk(0);
    });
    let run = kvrm(&["trace", "--raw", &program]);
    let shown: Vec<&str> = run.stdout.lines().map(|line| line.get(64..).unwrap_or_default().trim()).collect();
    let expected = [
        "x1=0xffffffffffffffff",
        "nzcv=0xf",
        "fpcr=0x7c80000",
        "fpsr=0x800009f",
        "tpidr_el0=0xffffffffffffffff",
        "sp=0x0",
        "nzcv=0xa",
        "",
    ];
    assert_eq!(shown, expected, "{}", run.stdout);
}

#[test]
fn output_of_the_guest_goes_to_standard_error() {
    let folder = Folder::new();
    let program =
        folder.file("program", calling_program(&[(4, CODE + 0x800)], &[(CODE + 0x800, b"hello\n\0")], 7));
    let run = kvrm(&["trace", "--raw", &program]);
    assert_eq!(run.stderr, "hello\nstopped after 8 steps: exit with status 7\n", "both");
    assert_eq!(run.status, 7, "as if it had been run");
    let calls: Vec<&str> = run.stdout.lines().filter(|line| line.contains("hlt #0xf000")).collect();
    assert_eq!(calls.len(), 2, "a call is a step: {}", run.stdout);
    assert!(calls[0].ends_with("x0=0x0"), "with the result in x0: {}", calls[0]);
}

#[test]
fn the_traced_lane_can_be_chosen() {
    let trace = |extra: &[&str]| kvrm(&[&["trace", &guest("vm"), "2"], extra].concat());
    let seven = trace(&["--lane-arg", "{lane}", "--lane", "7"]);
    assert!(seven.stderr.starts_with("vm size=2 seed=7 "), "{}", seven.stderr);
    assert_eq!(seven, trace(&["7"]), "as if that were its argument");
    let run = kvrm(&["run", &guest("vm"), "2", "7", "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["steps"], seven.stdout.lines().count(), "a line a step");
}

#[test]
fn a_trace_has_the_options_of_a_run() {
    let missing = "/no/such/folder";
    assert!(refusal(&["trace", &guest("vm"), "--dir", missing]).contains(missing), "the folder is named");
    let run = kvrm(&["trace", &guest("vm"), "3", "--frames", "0"]);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(lines[lines.len() - 2].ends_with("steps: out of memory frames"), "{}", run.stderr);
    assert_eq!(lines[lines.len() - 1], "hint: raise --frames", "the last line");
}
