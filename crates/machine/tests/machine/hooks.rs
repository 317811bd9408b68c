//! Hooks on the reference: which stops there are, in which order, and how lanes go on.

use kvrm_arm64::asm::{Assembler, X0, X1, X2, X8, at};
use kvrm_machine::{Access, Hooks, LinuxProgram, Machine, Permissions, Program, Segment, Stop, Stream};
use kvrm_testkit::guests::{LINUX_GUESTS, guest, linux_guest};

use crate::support::{CODE, DATA, PAGE, assemble, lane, raw, text_and_data};

/// Returns the steps, the pc and the stop of lane 0.
fn place(machine: &mut Machine) -> (u64, u64, Option<Stop>) {
    let cpu = machine.cpu(0).unwrap();
    (cpu.steps, cpu.pc, machine.stop(0).unwrap())
}

/// Runs a machine until no lane stops at a hook any more; returns how often lanes did.
fn run_to_end(machine: &mut Machine) -> usize {
    let mut hits = 0;
    loop {
        machine.run(u64::MAX).unwrap();
        match machine.resume_hooked().unwrap() {
            0 => return hits,
            some => hits += some,
        }
    }
}

/// Hooks on everything there is.
fn everywhere() -> Hooks {
    Hooks::new().breakpoints(0..u64::MAX).watch(0..u64::MAX).all_system_calls()
}

/// Returns a Linux program.
fn linux(write: impl FnOnce(&mut Assembler)) -> Program {
    let text = Segment { address: CODE, bytes: PAGE, data: assemble(write), permissions: Permissions::RX };
    let data = Segment { address: DATA, bytes: PAGE, data: b"text".to_vec(), permissions: Permissions::RW };
    let linux = LinuxProgram { headers: 0, count: 0, has_executable_stack: false };
    Program::builder()
        .entry(CODE)
        .segments([text, data])
        .linux(linux)
        .build()
        .expect("the segments are valid")
}

#[test]
fn hooks_of_one_instruction_stop_the_lane_one_after_the_other() {
    // Adds X0 to memory, and then makes system call 178, gettid.
    let program = linux(|a| {
        a.emit("ldadd", &[X0.into(), X2.into(), at(X1, 0)]).mov(X8, 178).svc(0).brk(7);
    });
    let builder = Machine::builder(program).features(kvrm_machine::Features::ALL).hooks(everywhere());
    let mut machine = builder.prepare(|lane| lane.set_x(1, DATA)).build().unwrap();
    let breakpoint = Stop::HardwareBreakpoint;
    let watchpoint = Stop::Watchpoint { access: Access::Read, address: DATA };
    for (steps, stop) in [
        (0, breakpoint),
        (0, watchpoint),
        (1, breakpoint),
        (2, breakpoint),
        (2, Stop::SystemCall { number: 178 }),
        (3, breakpoint),
    ] {
        machine.run(100).unwrap();
        assert_eq!(place(&mut machine), (steps, CODE + 4 * steps, Some(stop)), "steps, pc and stop");
        machine.resume(0).unwrap();
    }
    machine.run(100).unwrap();
    assert_eq!(place(&mut machine), (3, CODE + 12, Some(Stop::Breakpoint { imm: 7 })), "BRK itself");
}

#[test]
fn watchpoints_name_the_first_watched_byte_of_the_access() {
    for (start, end, hit) in [
        (0, 8, None),
        (0, 9, Some(8)),
        (11, 12, Some(11)),
        (23, 24, Some(23)),
        (24, 64, None),
        (20, 100, Some(20)),
        (0, 4096, Some(8)),
    ] {
        for (access, word) in [(Access::Read, 0xa940_8440_u32), (Access::Write, 0xa900_8440)] {
            // A pair of registers, 16 bytes at X2 + 8.
            let code = [word, 0xd440_0000].map(u32::to_le_bytes).concat();
            let program = Program::builder()
                .segment(Segment { address: CODE, bytes: PAGE, data: code, permissions: Permissions::RX })
                .segment(Segment {
                    address: DATA,
                    bytes: PAGE,
                    data: Vec::new(),
                    permissions: Permissions::RW,
                })
                .entry(CODE)
                .build()
                .unwrap();
            let mut machine = Machine::builder(program).prepare(|lane| lane.set_x(2, DATA)).build().unwrap();
            let (same, other) = match access {
                Access::Read => (Hooks::watch_reads as fn(_, _) -> _, Hooks::watch_writes as fn(_, _) -> _),
                _ => (Hooks::watch_writes as fn(_, _) -> _, Hooks::watch_reads as fn(_, _) -> _),
            };
            machine.set_hooks(other(Hooks::new(), DATA..DATA + PAGE)).unwrap();
            machine.snapshot().unwrap();
            machine.run(10).unwrap();
            assert_eq!(machine.stop(0).unwrap(), Some(Stop::Halt { imm: 0 }), "the other kind of access");
            machine.reset(&[0]).unwrap();
            machine.set_hooks(same(Hooks::new(), DATA + start..DATA + end)).unwrap();
            machine.run(10).unwrap();
            let expected = match hit {
                Some(at) => Stop::Watchpoint { access, address: DATA + at },
                None => Stop::Halt { imm: 0 },
            };
            assert_eq!(machine.stop(0).unwrap(), Some(expected), "{access:?}, bytes {start} to {end}");
            assert_eq!(
                machine.private_pages(0).unwrap().is_empty(),
                hit.is_some() || access == Access::Read,
                "pages"
            );
        }
    }
}

#[test]
fn a_fault_comes_before_a_hook() {
    let program = text_and_data(|a| {
        a.str(X0, at(X1, 0)).hlt(0);
    });
    let builder = Machine::builder(program).hooks(everywhere());
    let mut machine = builder.prepare(|lane| lane.set_x(1, CODE)).build().unwrap();
    machine.run(10).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::HardwareBreakpoint), "the instruction can be fetched");
    machine.resume(0).unwrap();
    machine.run(10).unwrap();
    let stop = machine.stop(0).unwrap().unwrap();
    assert_eq!(stop.name(), "fault", "code cannot be written: {stop}");
    let mut cpu = machine.cpu(0).unwrap();
    for (pc, name) in [(CODE + 2, "fault"), (DATA, "fault"), (CODE + 4, "hardware-breakpoint")] {
        cpu.pc = pc;
        machine.set_cpu(0, &cpu).unwrap();
        machine.resume(0).unwrap();
        machine.run(10).unwrap();
        assert_eq!(machine.stop(0).unwrap().unwrap().name(), name, "at {pc:#x}");
    }
}

#[test]
fn guests_with_hooks_everywhere_end_as_without_them() {
    for (name, arguments) in [("quicksort", ["5"]), ("decimal", ["2"])] {
        let builder = || {
            Machine::builder(guest(name)).lanes(2).arguments(move |_| arguments.map(str::to_owned).to_vec())
        };
        compare(&mut builder().hooks(everywhere()).build().unwrap(), &mut builder().build().unwrap(), name);
    }
    let (name, arguments) = LINUX_GUESTS.iter().find(|(name, _)| *name == "process").unwrap();
    let builder = || {
        let builder = Machine::builder(linux_guest(name)).lanes(2);
        builder.arguments(|_| arguments.iter().map(|&word| word.to_owned()).collect())
    };
    // Every instruction stops the lanes, so only some of this longer program are hooked.
    let hooks = Hooks::new().watch_writes(0..u64::MAX).all_system_calls();
    compare(&mut builder().hooks(hooks).build().unwrap(), &mut builder().build().unwrap(), name);
}

fn compare(hooked: &mut Machine, plain: &mut Machine, name: &str) {
    let hits = run_to_end(hooked);
    plain.run(u64::MAX).unwrap();
    for number in 0..plain.lanes() {
        assert_eq!(lane(hooked, number), lane(plain, number), "lane {number} of {name}");
    }
    let steps = plain.cpu(0).unwrap().steps as usize;
    assert!(hits > steps / 20, "{name} takes {steps} steps and hits {hits} hooks");
}

#[test]
fn a_filtered_call_can_be_made_or_replaced() {
    // write(1, "text", 4), twice.
    let program = linux(|a| {
        for _ in 0..2 {
            a.mov(X0, 1).mov(X1, DATA as i64).mov(X2, 4).mov(X8, 64).svc(0);
        }
        a.brk(0);
    });
    let mut machine = Machine::builder(program).hooks(Hooks::new().system_call(64)).build().unwrap();
    let report = machine.run(100).unwrap();
    assert_eq!((report.stops["system-call"], report.services), (1, 0), "the call is not made");
    assert_eq!(place(&mut machine), (4, CODE + 16, Some(Stop::SystemCall { number: 64 })), "before the call");
    machine.resume(0).unwrap();
    let report = machine.run(100).unwrap();
    assert_eq!(report.services, 1, "the first call is made, and the second one is not");
    assert_eq!(machine.output(0, Stream::Output).unwrap(), b"text", "the first call");
    let mut cpu = machine.cpu(0).unwrap();
    cpu.pc += 4;
    cpu.set_x(0, 1234);
    machine.set_cpu(0, &cpu).unwrap();
    machine.resume(0).unwrap();
    machine.run(100).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Breakpoint { imm: 0 }), "the end");
    assert_eq!(machine.cpu(0).unwrap().x(0), 1234, "the result that the host gave");
    assert_eq!(machine.output(0, Stream::Output).unwrap(), b"text", "the second call was replaced");
}

#[test]
fn operations_of_semihosting_are_filtered() {
    // SYS_WRITE0 of the text at X1, and then SYS_CLOCK.
    let mut machine = Machine::builder(raw(|a| {
        a.mov(X0, 4).hlt(0xf000).mov(X0, 0x10).hlt(0xf000).brk(0);
    }))
    .hooks(Hooks::new().system_call(4))
    .prepare(|lane| {
        lane.write(CODE + PAGE, b"hello\0");
        lane.set_x(1, CODE + PAGE);
    })
    .build()
    .unwrap();
    machine.run(100).unwrap();
    assert_eq!(place(&mut machine), (1, CODE + 4, Some(Stop::SystemCall { number: 4 })), "before the call");
    assert_eq!(machine.output(0, Stream::Output).unwrap(), b"", "nothing is written yet");
    machine.resume(0).unwrap();
    machine.run(100).unwrap();
    assert_eq!(
        machine.stop(0).unwrap(),
        Some(Stop::Breakpoint { imm: 0 }),
        "the other operation is not filtered"
    );
    assert_eq!(machine.output(0, Stream::Output).unwrap(), b"hello", "the operation was done");
}

#[test]
fn a_lane_passes_a_hook_only_where_it_was_resumed() {
    let program = || {
        raw(|a| {
            a.add(X0, X0, 1).add(X0, X0, 1).add(X0, X0, 1).brk(0);
        })
    };
    let mut machine =
        Machine::builder(program()).hooks(Hooks::new().breakpoints(CODE..CODE + 12)).build().unwrap();
    machine.run(100).unwrap();
    // Without a resumption the stop is final.
    machine.run(100).unwrap();
    assert_eq!(place(&mut machine), (0, CODE, Some(Stop::HardwareBreakpoint)), "still there");
    machine.snapshot().unwrap();
    machine.resume(0).unwrap();
    machine.run(0).unwrap();
    assert_eq!(place(&mut machine), (0, CODE, Some(Stop::Budget)), "a budget of nothing passes nothing");
    machine.run(1).unwrap();
    assert_eq!(place(&mut machine), (1, CODE + 4, Some(Stop::Budget)), "the resumption is not lost");
    machine.run(1).unwrap();
    assert_eq!(place(&mut machine), (1, CODE + 4, Some(Stop::HardwareBreakpoint)), "the next breakpoint");
    machine.resume(0).unwrap();
    let mut cpu = machine.cpu(0).unwrap();
    cpu.pc = CODE + 8;
    machine.set_cpu(0, &cpu).unwrap();
    machine.run(100).unwrap();
    assert_eq!(place(&mut machine), (1, CODE + 8, Some(Stop::HardwareBreakpoint)), "resumed elsewhere");
    machine.resume(0).unwrap();
    machine.reset(&[0]).unwrap();
    machine.resume(0).unwrap();
    machine.set_hooks(Hooks::new()).unwrap();
    machine.run(100).unwrap();
    assert_eq!(place(&mut machine), (3, CODE + 12, Some(Stop::Breakpoint { imm: 0 })), "without hooks");
}

#[test]
fn system_calls_do_not_hit_watchpoints() {
    // getrandom(DATA, 8, 0)
    let program = linux(|a| {
        a.mov(X0, DATA as i64).mov(X1, 8).mov(X2, 0).mov(X8, 278).svc(0).brk(0);
    });
    let mut machine = Machine::builder(program).hooks(Hooks::new().watch(DATA..DATA + PAGE)).build().unwrap();
    machine.run(100).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Breakpoint { imm: 0 }), "no watchpoint");
    assert_eq!(machine.cpu(0).unwrap().x(0), 8, "eight bytes are written");
}
