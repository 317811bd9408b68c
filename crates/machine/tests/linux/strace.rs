//! Tests of the trace of system calls.

use std::sync::{Arc, Mutex};

use kvrm_machine::{Builder, Machine, Stop, Stream};

use crate::support::{AT_FDCWD, CODE, Caller, DATA, guest, program};

/// The lines of a trace, with the lanes.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<(usize, String)>>>);

impl Lines {
    /// Traces the even lanes.
    fn of<'a>(&self, builder: Builder<'a>) -> Builder<'a> {
        let lines = Arc::clone(&self.0);
        builder.trace(
            |lane| lane % 2 == 0,
            move |lane, text| {
                assert!(text.ends_with('\n'), "whole lines: {text:?}");
                lines.lock().unwrap().extend(text.lines().map(|line| (lane, line.to_owned())));
            },
        )
    }

    /// Takes the lines of a lane.
    fn take(&self, lane: usize) -> Vec<String> {
        let mut lines = self.0.lock().unwrap();
        let (own, others) = lines.drain(..).partition(|(other, _)| *other == lane);
        *lines = others;
        own.into_iter().map(|(_, line)| line).collect()
    }
}

#[test]
fn a_call_has_a_line_with_its_arguments_and_its_result() {
    let lines = Lines::default();
    let mut caller = Caller::of(lines.of(Machine::builder(program())));
    let line = |caller: &mut Caller, number, arguments: &[u64]| {
        let _ = caller.try_call(number, arguments);
        let mut found = lines.take(0);
        assert_eq!(found.len(), 1, "one line: {found:?}");
        found.remove(0)
    };
    let path = caller.path("/tmp/a \"file\"");
    let expected = "openat(AT_FDCWD, \"/tmp/a \\\"file\\\"\", O_RDWR|O_CREAT|O_CLOEXEC, 0640) = 3";
    assert_eq!(line(&mut caller, 56, &[AT_FDCWD, path, 0o2_000_102, 0o640]), expected, "flags and a mode");
    let expected =
        "openat(AT_FDCWD, \"/tmp/a \\\"file\\\"\", O_RDONLY|O_DIRECTORY) = -1 ENOTDIR (Not a directory)";
    assert_eq!(line(&mut caller, 56, &[AT_FDCWD, path, 0o40_000, 0o640]), expected, "an error, and no mode");
    caller.write(DATA, b"forty bytes, of which thirty-two are shown");
    let expected = "write(3, \"forty bytes, of which thirty-two\"..., 42) = 42";
    assert_eq!(line(&mut caller, 64, &[3, DATA, 42]), expected, "data");
    let expected = "pread64(3, \"bytes\", 5, 6)               = 5";
    assert_eq!(line(&mut caller, 67, &[3, DATA + 100, 5, 6]), expected, "data that is known afterwards");
    let expected = "read(3, 0x8, 5)                         = -1 EFAULT (Bad address)";
    assert_eq!(
        line(&mut caller, 62, &[3, 0, 0]),
        format!("{:39} = 0", "lseek(3, 0, SEEK_SET)"),
        "a constant"
    );
    assert_eq!(line(&mut caller, 63, &[3, 8, 5]), expected, "an address that cannot be read");
    let expected = "fstat(3, {st_mode=S_IFREG|0640, st_size=42, ...}) = 0";
    assert_eq!(line(&mut caller, 80, &[3, DATA]), expected, "a structure");
    let expected = "pipe2([4, 5], O_NONBLOCK)               = 0";
    assert_eq!(line(&mut caller, 59, &[DATA, 0o4000]), expected, "descriptors");
    let expected = "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x";
    let mapped = line(&mut caller, 222, &[0, 4096, 3, 0x22, u64::MAX, 0]);
    assert!(mapped.starts_with(expected), "an address: {mapped}");
    caller.write(DATA, &[CODE, 0x1000_0004, 0, 1 << 1].map(u64::to_le_bytes).concat());
    let expected = "rt_sigaction(SIGUSR1, {sa_handler=0x10000, sa_mask=[INT], sa_flags=SA_SIGINFO|SA_RESTART}, NULL, 8) = 0";
    assert_eq!(line(&mut caller, 134, &[10, DATA, 0, 8]), expected, "an action");
    let expected = "syscall_0x3e7(0x1, 0, 0, 0, 0, 0)       = -1 ENOSYS (Function not implemented)";
    assert_eq!(line(&mut caller, 999, &[1]), expected, "an unknown call");
    // Calls with a constant answer, and those that an engine could serve.
    assert_eq!(line(&mut caller, 174, &[]), format!("{:39} = 0", "getuid()"), "a constant");
    assert_eq!(line(&mut caller, 172, &[]), format!("{:39} = 2", "getpid()"), "an ID");
    assert_eq!(caller.try_call(94, &[3]), Err(Stop::Exit { code: 3 }), "exit");
    let expected = [format!("{:39} = ?", "exit_group(3)"), "+++ exited with 3 +++".to_owned()];
    assert_eq!(lines.take(0), expected, "the end");
}

#[test]
fn a_fault_is_a_signal_that_ends_the_lane() {
    let lines = Lines::default();
    let mut caller = Caller::of(lines.of(Machine::builder(program())));
    let mut cpu = caller.machine.cpu(0).unwrap();
    cpu.pc = 0x7000;
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.run(1).unwrap();
    let expected = [
        "--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x7000} ---",
        "+++ killed by SIGSEGV (core dumped) +++",
    ];
    assert_eq!(lines.take(0), expected, "signal and end");
}

/// The lines of the guest `processes` in lane 0, without the names of threads.
fn run(lines: &Lines, lanes: usize, name: &str) -> Machine {
    let arguments = |_| vec!["/tmp/a".to_owned()];
    let builder = Machine::builder(guest(name)).lanes(lanes).arguments(arguments);
    let mut machine = lines.of(builder).build().expect("the guest fits");
    machine.run(10_000_000).expect("the engine works");
    machine
}

#[test]
fn a_trace_changes_nothing_but_is_complete() {
    for name in ["deadlock", "files", "memory", "processes", "race", "signals", "threads", "tls"] {
        let lines = Lines::default();
        let mut traced = run(&lines, 3, name);
        let mut plain = Machine::builder(guest(name))
            .lanes(3)
            .arguments(|_| vec!["/tmp/a".to_owned()])
            .build()
            .expect("the guest fits");
        let report = plain.run(10_000_000).expect("the engine works");
        for lane in 0..3 {
            assert_eq!(traced.stop(lane).unwrap(), plain.stop(lane).unwrap(), "the stop of {name}");
            assert_eq!(traced.cpu(lane).unwrap(), plain.cpu(lane).unwrap(), "the registers of {name}");
            let output = |machine: &Machine| machine.output(lane, Stream::Output).unwrap().to_vec();
            assert_eq!(output(&traced), output(&plain), "the output of {name}");
        }
        let found = lines.take(0);
        assert_eq!(lines.take(2), found, "both traced lanes of {name} do the same");
        assert_eq!(lines.take(1), Vec::<String>::new(), "lane 1 is not traced");
        let begun = found.iter().filter(|line| line.ends_with(" <unfinished ...>")).count();
        let resumed = found.iter().filter(|line| line.contains("<... ")).count();
        assert!(resumed <= begun, "{name}: what goes on was begun: {found:#?}");
        let text: String = found.iter().filter(|line| line.contains("write(1, \"")).cloned().collect();
        assert!(text.contains("= "), "{name} prints something");
        if report.unknown_calls.is_empty() {
            assert!(!found.iter().any(|line| line.contains("syscall_0x")), "{name}: all calls have names");
        }
    }
}

#[test]
fn children_and_signals_are_traced() {
    let lines = Lines::default();
    run(&lines, 1, "processes");
    let found = lines.take(0);
    for line in [
        "clone(SIGCHLD, NULL, NULL, NULL, NULL)  = 3",
        "[pid 3] exit_group(9)                   = ?",
        "[pid 3] +++ exited with 9 +++",
        "[pid 2] --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=3, si_uid=0, si_status=9, si_utime=0, si_stime=0} ---",
        "[pid 2] wait4(3, [{WIFEXITED(s) && WEXITSTATUS(s) == 9}], 0, NULL) = 3",
        "[pid 2] kill(5, SIGTERM <unfinished ...>",
        "[pid 5] +++ killed by SIGTERM +++",
    ] {
        assert!(found.iter().any(|other| other == line), "{line} in {found:#?}");
    }
    let lines = Lines::default();
    run(&lines, 1, "signals");
    let found = lines.take(0);
    assert!(found.iter().any(|line| line.starts_with("--- SIGSEGV {")), "a handled fault: {found:#?}");
    assert!(found.iter().any(|line| line.contains("rt_sigreturn()")), "the end of a handler: {found:#?}");
}

#[test]
fn forks_and_saved_machines_are_not_traced() {
    let lines = Lines::default();
    let mut caller = Caller::of(lines.of(Machine::builder(program())));
    caller.call(172, &[]);
    assert_eq!(lines.take(0).len(), 1, "the machine itself");
    let mut bytes = Vec::new();
    caller.machine.save(&mut bytes).unwrap();
    let load = Machine::load(&bytes[..], kvrm_machine::ReferenceEngine, None).unwrap();
    let fork = caller.machine.fork(0, 2).unwrap();
    for machine in [load, fork] {
        let mut caller = Caller { machine };
        assert_eq!(caller.call(172, &[]), 2, "it goes on");
        assert!(lines.take(0).is_empty(), "without a trace");
    }
}

#[test]
fn a_vector_of_strings_at_the_last_address_is_shown_as_a_pointer() {
    let lines = Lines::default();
    let mut caller = Caller::of(lines.of(Machine::builder(program())));
    let path = caller.path("/dev/null");
    assert_eq!(caller.call(221, &[path, u64::MAX, 0]), -14, "EFAULT, without an overflow");
    let expected = "execve(\"/dev/null\", 0xffffffffffffffff, NULL) = -1 EFAULT (Bad address)";
    assert_eq!(lines.take(0), [expected], "the line of the call");
}
