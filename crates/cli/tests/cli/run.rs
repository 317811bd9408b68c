//! `kvrm run` with one lane.

use std::collections::BTreeMap;

use kvrm::arm64::asm::{Arg, Assembler, X0, X1, at};
use serde_json::Value;

use crate::support::{CODE, Folder, Outcome, calling_program, guest, kvrm, refusal, words};

#[test]
fn a_guest_prints_its_line_and_ends_with_its_status() {
    let run = kvrm(&["run", &guest("vm")]);
    let line = "vm size=400 seed=1 steps=20160 longest=143 at=327 executed=153003 ok\n";
    assert_eq!(
        run,
        Outcome { status: 0, stdout: line.to_owned(), stderr: String::new() },
        "without arguments"
    );
    let run = kvrm(&["run", &guest("vm"), "4", "7"]);
    let line = "vm size=4 seed=7 steps=42 longest=19 at=9 executed=365 ok\n";
    assert_eq!(run, Outcome { status: 0, stdout: line.to_owned(), stderr: String::new() }, "with arguments");
    assert_eq!(kvrm(&["run", &guest("vm"), "x"]).status, 2, "with an argument the guest refuses");
    assert_eq!(kvrm(&["run", &guest("relocs"), "10"]).status, 0, "a position independent guest");
}

#[test]
fn the_status_is_the_low_byte_of_the_guests() {
    let folder = Folder::new();
    for (exit, status) in [(0, 0), (1, 1), (42, 42), (255, 255), (256, 0), (0x1_0003, 3), (u64::MAX, 255)] {
        let program = folder.file("program", calling_program(&[], &[], exit));
        let run = kvrm(&["run", "--raw", &program]);
        assert_eq!(run, Outcome { status, stdout: String::new(), stderr: String::new() }, "exit {exit:#x}");
    }
}

#[test]
fn arguments_after_two_dashes_are_for_the_guest() {
    for arguments in [&["--", "--budget", "1"][..], &["4", "--", "--json"], &["--", "-x"]] {
        let run = kvrm(&[&["run", &guest("vm")], arguments].concat());
        assert_eq!(run.status, 2, "the guest refuses {arguments:?}");
        assert!(!run.stderr.starts_with("error: "), "the guest, not the command: {}", run.stderr);
    }
    let plain = kvrm(&["run", &guest("vm"), "4"]);
    for arguments in [&["--", "4"][..], &["4", "--budget", "1M"], &["4", "--"]] {
        assert_eq!(kvrm(&[&["run", &guest("vm")], arguments].concat()), plain, "{arguments:?}");
    }
}

#[test]
fn the_two_streams_of_the_guest_stay_separate() {
    let folder = Folder::new();
    let [out, error, write_out, write_error, name, text] =
        [0x800, 0x820, 0x840, 0x860, 0x880, 0x890].map(|offset| CODE + offset);
    let calls = [(1, out), (1, error), (5, write_out), (5, write_error)];
    let data = [
        (out, &words(&[name, 4, 3])[..]),
        (error, &words(&[name, 8, 3])),
        (write_out, &words(&[1, text, 4])),
        (write_error, &words(&[2, text + 4, 4])),
        (name, b":tt"),
        (text, b"out\nerr\n"),
    ];
    let program = folder.file("program", calling_program(&calls, &data, 0));
    let run = kvrm(&["run", "--raw", &program]);
    assert_eq!((run.status, &*run.stdout, &*run.stderr), (0, "out\n", "err\n"), "one lane");
    let run = kvrm(&["run", "--raw", &program, "--lanes", "2"]);
    assert_eq!((&*run.stdout, &*run.stderr), ("[0] out\n[1] out\n", "[0] err\n[1] err\n"), "two lanes");
    let run = kvrm(&["run", "--raw", &program, "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let lane = &json["lanes"][0];
    assert_eq!((&lane["output"], &lane["error_output"]), (&"out\n".into(), &"err\n".into()), "as JSON");
    assert_eq!(run.stderr, "", "and nowhere else");
}

#[test]
fn the_budget_ends_a_run_with_status_124() {
    let folder = Folder::new();
    let endless = folder.program(|a| {
        let again = a.label();
        a.nop();
        a.bind(again);
        a.add(X0, X0, 1).b(again);
    });
    for (budget, pc, text) in [
        ("0", 0, "nop"),
        ("1", 4, "add x0, x0, #0x1"),
        ("0x2", 8, "b 0x10004"),
        ("1K", 8, "b 0x10004"),
        ("0x1k", 8, "b 0x10004"),
    ] {
        let run = kvrm(&["run", "--raw", &endless, "--budget", budget]);
        let hint = if budget == "0" { "hint: --budget 0 allows no step\n" } else { "" };
        let message =
            format!("lane 0 stopped: the budget of steps is used up; pc {:#x}: {text}\n{hint}", CODE + pc);
        assert_eq!(
            run,
            Outcome { status: 124, stdout: String::new(), stderr: message },
            "a budget of {budget}"
        );
    }
    let run = kvrm(&["run", &guest("sieve"), "--budget", "100000"]);
    assert_eq!((run.status, &*run.stdout), (124, ""), "a guest that is not done");
    let place = run.stderr.split_once(" <").and_then(|(_, rest)| rest.split_once(">: ")).unwrap().0;
    let (function, offset) = place.split_once("+0x").unwrap();
    assert!(function.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "a function: {}", run.stderr);
    assert!(u64::from_str_radix(offset, 16).is_ok_and(|offset| offset % 4 == 0), "an offset: {}", run.stderr);
}

#[test]
fn faults_of_guests_are_explained_with_status_125() {
    let folder = Folder::new();
    let run = |write: Write| {
        let run = kvrm(&["run", "--raw", &folder.program(write)]);
        assert_eq!((run.status, &*run.stdout), (125, ""), "{}", run.stderr);
        run.stderr
    };
    let cases: [(Write, &str); 8] = [
        (
            |a| drop_ref(a.mov(X1, 0x1234).ldr(X0, at(X1, 8))),
            "read from unmapped memory at 0x123c; pc 0x10004: ldr x0, [x1, #8]",
        ),
        (
            |a| drop_ref(a.mov(X1, -8).str(X0, at(X1, 0))),
            "write to unmapped memory at 0xfffffffffffffff8; pc 0x10004: str x0, [x1]",
        ),
        (|a| drop_ref(a.blr(X1)), "execution of unmapped memory at 0x0; pc 0x0: unmapped"),
        (
            |a| drop_ref(a.mov(X1, 0x1_0002).br(X1)),
            "execution of a misaligned address at 0x10002; pc 0x10002: ",
        ),
        (|a| drop_ref(a.word(0xd69f_03e0)), "undefined instruction 0xd69f03e0; pc 0x10000: eret"),
        (|a| drop_ref(a.brk(5)), "breakpoint (brk #0x5); pc 0x10000: brk #0x5"),
        (|a| drop_ref(a.svc(6)), "system call (svc #0x6); pc 0x10004: udf #0"),
        (
            |a| drop_ref(a.b(Arg::Offset(0x10_0000))),
            "execution of unmapped memory at 0x110000; pc 0x110000: unmapped",
        ),
    ];
    for (write, expected) in cases {
        let stderr = run(write);
        assert!(stderr.starts_with(&format!("lane 0 stopped: {expected}")), "{stderr} for {expected}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

/// Writes a program.
type Write = fn(&mut Assembler);

/// For closures that assemble and return nothing.
fn drop_ref<T>(_: &mut T) {}

#[test]
fn an_audit_reports_on_standard_error_that_memory_is_consistent() {
    let plain = kvrm(&["run", &guest("mix"), "100"]);
    let audited = kvrm(&["run", &guest("mix"), "100", "--audit"]);
    assert_eq!((audited.status, &audited.stdout), (0, &plain.stdout), "the run is the same");
    assert!(audited.stderr.contains("audit: the memory of all lanes is consistent"), "{}", audited.stderr);
    // Lanes that stopped before their exit are audited, too.
    let stopped = kvrm(&["run", &guest("mix"), "100", "--audit", "--budget", "50"]);
    assert_eq!(stopped.status, 124, "the budget ran out");
    assert!(stopped.stderr.contains("audit: the memory"), "{}", stopped.stderr);
}

#[test]
fn stats_go_to_standard_error_and_agree_with_json() {
    let plain = kvrm(&["run", &guest("mix"), "100"]);
    let stats = kvrm(&["run", &guest("mix"), "100", "--stats"]);
    assert_eq!((stats.status, &stats.stdout), (0, &plain.stdout), "standard output is the guest's");
    let rows: Vec<(&str, &str)> =
        stats.stderr.lines().map(|line| line.split_once(' ').unwrap()).map(|(a, b)| (a, b.trim())).collect();
    let names: Vec<&str> = rows.iter().map(|row| row.0).collect();
    assert_eq!(names, ["engine", "lanes", "stops", "steps", "services", "frames", "time", "speed"], "rows");
    let rows: BTreeMap<&str, &str> = rows.into_iter().collect();
    let run = kvrm(&["run", &guest("mix"), "100", "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    for name in ["steps", "services", "frames"] {
        assert_eq!(rows[name], json[name].to_string(), "{name}");
    }
    assert_eq!((rows["engine"], rows["lanes"], rows["stops"]), ("reference", "1", "1 exit"), "the rest");
    assert!(rows["time"].ends_with(" s") && rows["speed"].ends_with(" MIPS"), "units");
}

#[test]
fn json_is_one_object_with_everything() {
    let line = kvrm(&["run", &guest("vm"), "4"]).stdout;
    let run = kvrm(&["run", &guest("vm"), "4", "--json"]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "it says nothing else");
    assert_eq!(run.stdout.lines().count(), 1, "one line");
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    let expected = [
        "device",
        "dispatches",
        "engine",
        "fallback",
        "frames",
        "lanes",
        "services",
        "steps",
        "stops",
        "wall_seconds",
    ];
    assert_eq!(keys, expected, "keys");
    assert_eq!((&json["engine"], &json["fallback"]), (&"reference".into(), &Value::Null), "as asked for");
    assert!(json["device"].is_null() && json["dispatches"] == 0, "which uses no device");
    assert_eq!(json["stops"], serde_json::json!({ "exit": 1 }), "stops");
    assert!(json["wall_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "seconds");
    let lane = &json["lanes"][0];
    // The entry of an exit has these keys and no others.
    let expected = serde_json::json!({
        "lane": 0, "stop": "exit", "code": 0, "detail": "exit with status 0", "steps": json["steps"],
        "pc": lane["pc"], "output": line, "error_output": "",
    });
    assert_eq!(*lane, expected, "the lane");
    let pc = lane["pc"].as_str().and_then(|pc| pc.strip_prefix("0x")).unwrap();
    assert!(u64::from_str_radix(pc, 16).is_ok(), "pc is a hexadecimal number");
}

#[test]
fn json_has_the_same_statuses() {
    let folder = Folder::new();
    let program = folder.program(|a| {
        a.nop().brk(1);
    });
    for (budget, status, stop) in [("1", 124, "budget"), ("2", 125, "breakpoint")] {
        let run = kvrm(&["run", "--raw", &program, "--json", "--budget", budget]);
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.status, &*run.stderr), (status, ""), "a budget of {budget}");
        let lane = &json["lanes"][0];
        assert_eq!(
            (&lane["stop"], &lane["steps"], lane.get("code")),
            (&stop.into(), &1.into(), None),
            "{lane}"
        );
    }
}

#[test]
fn json_has_the_details_of_a_stop() {
    let folder = Folder::new();
    let details = |words: &[u32]| {
        let program =
            folder.file("program", words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
        let run = kvrm(&["run", "--raw", &program, "--json"]);
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        let mut lane = json["lanes"][0].as_object().unwrap().clone();
        for key in ["lane", "detail", "steps", "pc", "output", "error_output"] {
            assert!(lane.remove(key).is_some(), "{key} is always there");
        }
        Value::Object(lane)
    };
    let stop = |stop: &str, key: &str, value: Value| serde_json::json!({ "stop": stop, key: value });
    assert_eq!(details(&[0xd440_0540]), stop("halt", "imm", 42.into()), "hlt #42");
    assert_eq!(details(&[0xd420_0540]), stop("breakpoint", "imm", 42.into()), "brk #42");
    assert_eq!(details(&[0xd400_0541]), stop("syscall", "imm", 42.into()), "svc #42");
    assert_eq!(details(&[0xd69f_03e0]), stop("undefined", "word", "d69f03e0".into()), "eret");
    assert_eq!(details(&[7]), stop("undefined", "word", "00000007".into()), "udf #7");
    let fault = |kind: &str, access: &str, address: &str| {
        stop("fault", "fault", serde_json::json!({ "kind": kind, "access": access, "address": address }))
    };
    assert_eq!(details(&[0xf940_0400]), fault("translation", "read", "0x8"), "ldr x0, [x0, #8]");
    assert_eq!(details(&[0xf900_0400]), fault("translation", "write", "0x8"), "str x0, [x0, #8]");
    assert_eq!(details(&[0xd61f_0000]), fault("translation", "execute", "0x0"), "br x0");
    assert_eq!(details(&[0xd280_0020, 0xd61f_0000]), fault("alignment", "execute", "0x1"), "to 1");
    assert_eq!(details(&[0xd280_0020, 0xc8df_fc00]), fault("alignment", "read", "0x1"), "ldar x0, [x0]");
    assert_eq!(details(&[0x9100_03e0, 0xd100_4000, 0xd61f_0000]), {
        let sp = kvrm(&["run", "--raw", &folder.path("program").display().to_string(), "--json"]);
        let json: Value = serde_json::from_str(&sp.stdout).unwrap();
        fault("permission", "execute", json["lanes"][0]["pc"].as_str().unwrap())
    });
}

#[test]
fn json_has_output_that_is_not_utf_8_in_hexadecimal_too() {
    let folder = Folder::new();
    for (bytes, text, hex) in [
        (&b"plain"[..], "plain", None),
        ("\u{e9}\u{1f600}".as_bytes(), "\u{e9}\u{1f600}", None),
        (b"a\xffb", "a\u{fffd}b", Some("61ff62")),
        (b"\xc3", "\u{fffd}", Some("c3")),
    ] {
        let data = [bytes, b"\0"].concat();
        let program =
            folder.file("program", calling_program(&[(4, CODE + 0x800)], &[(CODE + 0x800, &data)], 0));
        let run = kvrm(&["run", "--raw", &program, "--json"]);
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        let lane = &json["lanes"][0];
        assert_eq!(lane["output"], text, "{bytes:?}");
        assert_eq!(lane.get("output_hex").and_then(Value::as_str), hex, "{bytes:?}");
        assert_eq!(lane.get("error_output_hex"), None, "nothing was written there");
    }
}

#[test]
fn arguments_with_white_space_are_refused_for_semihosting() {
    for argument in ["", "a b", "a\tb", "\n"] {
        let message = refusal(&["run", &guest("vm"), "4", argument]);
        assert!(message.contains(&format!("{argument:?}")), "{message}");
    }
    let message = refusal(&["run", &guest("vm"), "--lanes", "3", "--lane-arg", "{lane} {lane}"]);
    assert!(message.starts_with("error: lane 0 cannot have the argument \"0 0\""), "{message}");
}

#[test]
fn lanes_stop_at_breakpoints_watchpoints_and_system_calls() {
    let folder = Folder::new();
    // adr x1, .; str x0, [x1]; mov w0, #4; hlt #0xf000
    let code = words(&[0xf900_0020_1000_0001, 0xd45e_0000_5280_0080]);
    let program = folder.file("program", code);
    let stderr = |options: &[&str]| {
        let run = kvrm(&[&["run", "--raw", &program], options].concat());
        assert_eq!(run.status, 125, "{options:?}: {}", run.stderr);
        run.stderr
    };
    for (options, expected) in [
        (&["--break", "0x10004"][..], "breakpoint set by the host; pc 0x10004"),
        (&["--stop-at-call", "4"], "before system call 4; pc 0x1000c"),
        (&["--stop-at-call", "5"], "undefined instruction 0x00000000; pc 0x10010"),
        (&["--watch", "w:0x10006+4"], "watchpoint set by the host: write to 0x10006; pc 0x10004"),
    ] {
        assert!(stderr(options).contains(expected), "{options:?}: {}", stderr(options));
    }
    let json = kvrm(&["run", "--raw", &program, "--json", "--watch", "0x10000"]);
    let json: Value = serde_json::from_str(&json.stdout).expect("the output is JSON");
    let seen = &json["lanes"][0]["watchpoint"];
    assert_eq!((&seen["access"], &seen["address"]), (&"write".into(), &"0x10000".into()), "{json}");
    let run = kvrm(&["run", &guest("vm"), "--break", "interpret"]);
    assert!(run.stderr.contains("<interpret+0x0>"), "a function: {}", run.stderr);
    let run = kvrm(&["run", &guest("vm"), "--watch", "w:line"]);
    assert!(run.stderr.contains("watchpoint set by the host: write to"), "a variable: {}", run.stderr);
    for (options, expected) in [
        (&["--watch", "lien"][..], "--watch 'lien': expected an address such as 0x10000, or one of the"),
        (&["--break", "line"], "--break 'line': expected an address such as 0x10000, or one of the"),
        (&["--break", "mian"], "--break 'mian': expected an address such as 0x10000, or one of the"),
        (&["--break", "0x10002"], "instructions begin at multiples of 4"),
        (&["--watch", "x:1"], "'x:' is neither r: for loads nor w: for stores"),
        (&["--stop-at-call", "write"], "give the number of an operation, such as 5 for SYS_WRITE"),
    ] {
        let refused = refusal(&[&["run", &guest("vm")], options].concat());
        assert!(refused.contains(expected), "{options:?}: {refused}");
    }
}
