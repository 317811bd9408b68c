//! Tests of resuming a lane after a stop.

use kvrm_arm64::asm::{X0, X1, at};
use kvrm_machine::{Machine, Program, Stop};

use crate::support::{CODE, DATA, raw, text_and_data};

fn machine(program: Program) -> Machine {
    Machine::builder(program).build().unwrap()
}

/// Moves lane 0 past the instruction that stopped it.
fn skip(machine: &mut Machine) {
    let mut cpu = machine.cpu(0).unwrap();
    cpu.pc += 4;
    machine.set_cpu(0, &cpu).unwrap();
    machine.resume(0).unwrap();
}

#[test]
fn a_breakpoint_is_hit_again_unless_the_caller_moves_the_pc() {
    let mut machine = machine(raw(|a| {
        a.mov(X0, 1).brk(7).add(X0, X0, 1).brk(8);
    }));
    for _ in 0..3 {
        machine.run(100).unwrap();
        let cpu = machine.cpu(0).unwrap();
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::Breakpoint { imm: 7 }), "the first breakpoint");
        assert_eq!((cpu.pc, cpu.steps, cpu.x(0)), (CODE + 4, 1, 1), "the breakpoint has not retired");
        machine.resume(0).unwrap();
        assert_eq!(machine.stop(0).unwrap(), None, "the lane can run");
    }
    skip(&mut machine);
    machine.run(100).unwrap();
    let cpu = machine.cpu(0).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Breakpoint { imm: 8 }), "the second one");
    assert_eq!((cpu.steps, cpu.x(0)), (2, 2), "skipping is no step");
}

#[test]
fn after_a_system_call_a_lane_continues_at_the_next_instruction() {
    // The host adds 100 to X0 for each call.
    let mut machine = machine(raw(|a| {
        a.mov(X0, 1).svc(0).add(X0, X0, 1).svc(1).add(X0, X0, 1).hlt(0);
    }));
    for (imm, x0, steps) in [(0, 1, 2), (1, 102, 4)] {
        machine.run(100).unwrap();
        let mut cpu = machine.cpu(0).unwrap();
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::Syscall { imm }), "call {imm}");
        assert_eq!((cpu.x(0), cpu.steps), (x0, steps), "the call has retired");
        cpu.set_x(0, x0 + 100);
        machine.set_cpu(0, &cpu).unwrap();
        machine.resume(0).unwrap();
    }
    machine.run(100).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Halt { imm: 0 }), "the end");
    assert_eq!(
        (machine.cpu(0).unwrap().x(0), machine.cpu(0).unwrap().steps),
        (203, 5),
        "the result of both calls"
    );
}

#[test]
fn a_lane_continues_after_the_caller_fixes_the_cause_of_a_fault() {
    let mut machine = machine(text_and_data(|a| {
        a.ldr(X0, at(X1, 0)).hlt(0);
    }));
    machine.run(100).unwrap();
    assert_eq!(machine.stop(0).unwrap().unwrap().name(), "fault", "x1 is 0");
    let mut cpu = machine.cpu(0).unwrap();
    cpu.set_x(1, DATA);
    machine.set_cpu(0, &cpu).unwrap();
    machine.write(0, DATA, &[0x12, 0x34]).unwrap();
    machine.resume(0).unwrap();
    machine.run(100).unwrap();
    let cpu = machine.cpu(0).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Halt { imm: 0 }), "X1 is a valid pointer now");
    assert_eq!((cpu.x(0), cpu.steps), (0x3412, 1), "the load has retired once");
}

#[test]
fn code_that_the_host_changes_takes_effect() {
    // The host sets and removes a breakpoint, as a debugger does.
    let mut machine = machine(text_and_data(|a| {
        let again = a.label();
        a.bind(again);
        a.add(X0, X0, 1).b(again);
    }));
    machine.run(1000).unwrap();
    let mut old = [0; 4];
    machine.read(0, CODE, &mut old).unwrap();
    machine.write(0, CODE, &0xd420_0120_u32.to_le_bytes()).unwrap(); // brk #9
    machine.run(1000).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Breakpoint { imm: 9 }), "the breakpoint");
    machine.write(0, CODE, &old).unwrap();
    machine.resume(0).unwrap();
    machine.run(1000).unwrap();
    assert_eq!(machine.cpu(0).unwrap().x(0), 1000, "500 rounds before and 500 after the breakpoint");
}

#[test]
fn a_lane_can_be_resumed_after_an_exit() {
    // SYS_EXIT with an unreadable parameter block exits with status 1.
    let mut machine = machine(raw(|a| {
        a.mov(X0, 0x18).mov(X1, 0).hlt(0xf000).mov(X0, 5).hlt(0);
    }));
    machine.run(100).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Exit { code: 1 }), "the exit");
    machine.resume(0).unwrap();
    machine.run(100).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Halt { imm: 0 }), "the instruction after the exit");
    assert_eq!((machine.cpu(0).unwrap().x(0), machine.cpu(0).unwrap().steps), (5, 4), "the call was a step");
}

#[test]
fn only_the_resumed_lane_continues() {
    let program = raw(|a| {
        a.brk(0).hlt(0);
    });
    let mut machine = Machine::builder(program).lanes(3).build().unwrap();
    machine.run(100).unwrap();
    let mut cpu = machine.cpu(1).unwrap();
    cpu.pc += 4;
    machine.set_cpu(1, &cpu).unwrap();
    machine.resume(1).unwrap();
    let report = machine.run(100).unwrap();
    assert_eq!(report.stops.into_iter().collect::<Vec<_>>(), [("breakpoint", 2), ("halt", 1)], "stops");
    assert_eq!(machine.stop(1).unwrap(), Some(Stop::Halt { imm: 0 }), "lane 1");
}
