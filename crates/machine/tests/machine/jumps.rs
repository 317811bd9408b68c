//! Tests of jumps to addresses that cannot be executed: the branch retires, and the lane stops at its target.

use kvrm_arm64::asm::{X0, X1, XZR};
use kvrm_machine::{Access, FaultKind, Machine, Permissions, Program, Segment, Stop};

use crate::support::{CODE, DATA, PAGE, assemble, fault, run, text_and_data};

const END: u64 = 1 << 48;

#[test]
fn a_jump_retires_and_the_lane_stops_at_its_target() {
    let translation = |target| fault(FaultKind::Translation, Access::Execute, target);
    let alignment = |target| fault(FaultKind::Alignment, Access::Execute, target);
    let permission = |target| fault(FaultKind::Permission, Access::Execute, target);
    let cases = [
        (0, translation(0)),
        (0xdead_0000, translation(0xdead_0000)),
        (CODE + PAGE, translation(CODE + PAGE)),
        (END - 4, translation(END - 4)),
        (END, translation(END)),
        (END | CODE, translation(END | CODE)),
        (u64::MAX - 3, translation(u64::MAX - 3)),
        (CODE + 1, alignment(CODE + 1)),
        (CODE + 2, alignment(CODE + 2)),
        (CODE + 3, alignment(CODE + 3)),
        // Misaligned and unmapped: the alignment fault comes first.
        (1, alignment(1)),
        (u64::MAX, alignment(u64::MAX)),
        (DATA, permission(DATA)),
        (DATA + PAGE - 4, permission(DATA + PAGE - 4)),
        (CODE + 0x800, Stop::Undefined { word: 0 }),
    ];
    for (target, expected) in cases {
        let (stop, cpu, _) = run(
            text_and_data(|a| {
                a.br(X1);
            }),
            target,
        );
        assert_eq!((stop, cpu.pc, cpu.steps), (expected, target, 1), "br to {target:#x}");
        let (stop, cpu, _) = run(
            text_and_data(|a| {
                a.nop().blr(X1);
            }),
            target,
        );
        assert_eq!((stop, cpu.pc, cpu.steps), (expected, target, 2), "blr to {target:#x}");
        assert_eq!(cpu.x(30), CODE + 8, "the link register is set all the same");
    }
}

#[test]
fn the_stack_and_the_heap_cannot_be_executed() {
    let program = || {
        text_and_data(|a| {
            a.br(X1);
        })
    };
    let layout = Machine::builder(program()).build().unwrap().layout().clone();
    for target in [layout.stack.start, layout.stack.end - 16, layout.heap.start, layout.heap.end - 4] {
        let (stop, ..) = run(program(), target);
        assert_eq!(stop, fault(FaultKind::Permission, Access::Execute, target), "a jump to {target:#x}");
    }
}

#[test]
fn a_call_of_a_null_pointer_stops_at_address_zero() {
    let program = text_and_data(|a| {
        a.mov(X0, 5).blr(XZR);
    });
    let (stop, cpu, _) = run(program, 0);
    assert_eq!(stop, fault(FaultKind::Translation, Access::Execute, 0), "nothing is at 0");
    assert_eq!((cpu.pc, cpu.x(30), cpu.steps), (0, CODE + 8, 2), "X30 is the return address");
}

#[test]
fn running_off_the_end_of_the_code_stops_after_it() {
    let data = assemble(|a| {
        a.nop().nop();
    });
    let code = Segment { address: CODE + PAGE - 8, bytes: 8, data, permissions: Permissions::RX };
    let entry = code.address;
    let program = Program::builder().entry(entry).segment(code).build().expect("the segment is valid");
    let (stop, cpu, _) = run(program, 0);
    assert_eq!(stop, fault(FaultKind::Translation, Access::Execute, CODE + PAGE), "the next page");
    assert_eq!((cpu.pc, cpu.steps), (CODE + PAGE, 2), "both instructions have retired");
}
