//! Tests that failed loads and stores stop with the exact fault at their instruction and change nothing else.

use kvrm_arm64::asm::{Arg, Assembler, Mode, SP, X0, X1, X2, X29, X30, at};
use kvrm_machine::{Access, FaultKind, Machine, PAGE_BYTES, Permissions, Segment, Stop};

use crate::support::{CODE, DATA, PAGE, fault, run, text_and_data, word};

const END: u64 = 1 << 48;

/// Runs one instruction after two others and returns its stop. Checks that it has not changed any register or memory.
fn run_one(x1: u64, write: impl FnOnce(&mut Assembler)) -> Stop {
    let program = text_and_data(|a| {
        a.mov(X0, 0x77).mov(X2, 0x88);
        write(a);
    });
    let (stop, cpu, mut machine) = run(program, x1);
    assert_eq!(
        (cpu.pc, cpu.steps),
        (CODE + 8, 2),
        "the lane stops at the third instruction, which has not retired"
    );
    assert_eq!((cpu.x(0), cpu.x(1), cpu.x(2)), (0x77, x1, 0x88), "no register has changed");
    assert!(machine.private_pages(0).unwrap().is_empty(), "nothing is written");
    stop
}

/// Returns addresses of eight bytes that are not all mapped, each with the first unmapped byte.
fn unmapped(machine: &Machine) -> Vec<(u64, u64)> {
    let layout = machine.layout();
    let single = [
        0,
        8,
        CODE - 8,
        CODE + PAGE,
        DATA + PAGE,
        layout.stack.start - PAGE,
        layout.stack.start - 8,
        layout.stack.end,
        layout.heap.end,
        END - 8,
        END,
        END + CODE,
        1 << 63,
        u64::MAX - 7,
    ];
    let crossing = [
        (CODE - 4, CODE - 4),
        (CODE + PAGE - 4, CODE + PAGE),
        (DATA - 1, DATA - 1),
        (DATA + PAGE - 7, DATA + PAGE),
        (DATA + PAGE - 1, DATA + PAGE),
        (layout.stack.start - 4, layout.stack.start - 4),
        (layout.stack.end - 4, layout.stack.end),
        (layout.heap.start - 1, layout.heap.start - 1),
        (layout.heap.end - 1, layout.heap.end),
        (END - 4, END - 4),
        (u64::MAX - 3, u64::MAX - 3),
        (u64::MAX, u64::MAX),
    ];
    single.into_iter().map(|address| (address, address)).chain(crossing).collect()
}

#[test]
fn faults_name_the_first_unmapped_byte() {
    let machine = Machine::builder(text_and_data(|a| {
        a.nop();
    }))
    .build()
    .unwrap();
    for (address, first) in unmapped(&machine) {
        let read = fault(FaultKind::Translation, Access::Read, first);
        // The first bytes may be mapped read-only.
        let write = if (CODE..CODE + PAGE).contains(&address) {
            fault(FaultKind::Permission, Access::Write, address)
        } else {
            fault(FaultKind::Translation, Access::Write, first)
        };
        assert_eq!(
            run_one(address, |a| {
                a.ldr(X0, at(X1, 0));
            }),
            read,
            "ldr from {address:#x}"
        );
        assert_eq!(
            run_one(address, |a| {
                a.str(X0, at(X1, 0));
            }),
            write,
            "str to {address:#x}"
        );
        let post = Arg::Address(X1, Mode::Post(8));
        assert_eq!(
            run_one(address, |a| {
                a.ldr(X0, post);
            }),
            read,
            "ldr with write-back from {address:#x}"
        );
        assert_eq!(
            run_one(address, |a| {
                a.str(X0, post);
            }),
            write,
            "str with write-back to {address:#x}"
        );
    }
}

#[test]
fn a_pair_whose_second_half_is_unmapped_changes_nothing() {
    let end = DATA + PAGE;
    let read = fault(FaultKind::Translation, Access::Read, end);
    let write = fault(FaultKind::Translation, Access::Write, end);
    assert_eq!(
        run_one(end - 8, |a| {
            a.ldp(X0, X2, at(X1, 0));
        }),
        read,
        "ldp"
    );
    assert_eq!(
        run_one(end - 8, |a| {
            a.stp(X0, X2, at(X1, 0));
        }),
        write,
        "stp"
    );
}

#[test]
fn code_cannot_be_written() {
    for address in [CODE, CODE + 8, CODE + PAGE - 8] {
        let expected = fault(FaultKind::Permission, Access::Write, address);
        assert_eq!(
            run_one(address, |a| {
                a.str(X0, at(X1, 0));
            }),
            expected,
            "a store to {address:#x}"
        );
    }
}

#[test]
fn every_permission_is_checked_separately() {
    let page = |address, permissions| Segment { address, bytes: PAGE, data: Vec::new(), permissions };
    let [none, read, write, execute] = [0x3_0000, 0x4_0000, 0x5_0000, 0x6_0000];
    let all = |read, write, execute| Permissions { read, write, execute };
    let cases = [
        (none, all(false, false, false)),
        (read, all(true, false, false)),
        (write, all(false, true, false)),
        (execute, all(false, false, true)),
    ];
    for (address, permissions) in cases {
        let mut program = text_and_data(|a| {
            a.cbz(X2, Arg::Offset(12)).ldr(X0, at(X1, 0)).hlt(1).str(X0, at(X1, 0)).hlt(2);
        });
        program.segments.extend(cases.map(|(address, permissions)| page(address, permissions)));
        for (x2, access, done) in [(1, Access::Read, 1), (0, Access::Write, 2)] {
            let prepare = move |lane: &mut kvrm_machine::LaneSetup<'_>| {
                lane.set_x(1, address);
                lane.set_x(2, x2);
            };
            let mut machine = Machine::builder(program.clone()).prepare(prepare).build().unwrap();
            machine.run(10).unwrap();
            let refused = fault(FaultKind::Permission, access, address);
            let expected = if permissions.permit(access) { Stop::Halt { imm: done } } else { refused };
            assert_eq!(
                machine.stop(0).unwrap(),
                Some(expected),
                "{access:?} of memory that is {permissions}"
            );
        }
        // The memory is zeros, which are undefined instructions if it is executable.
        program.entry = address;
        let mut machine = Machine::builder(program).build().unwrap();
        machine.run(10).unwrap();
        let refused = fault(FaultKind::Permission, Access::Execute, address);
        let expected = if permissions.execute { Stop::Undefined { word: 0 } } else { refused };
        assert_eq!(machine.stop(0).unwrap(), Some(expected), "execution of memory that is {permissions}");
    }
}

#[test]
fn an_endless_recursion_stops_at_the_guard_page_below_the_stack() {
    for bytes in [1, 4096, 0x1_0001] {
        let program = text_and_data(|a| {
            let again = a.label();
            a.bind(again);
            a.stp(X29, X30, Arg::Address(SP, Mode::Pre(-16))).bl(again);
        });
        let mut machine = Machine::builder(program).stack_bytes(bytes).build().unwrap();
        machine.run(u64::MAX).unwrap();
        let stack = machine.layout().stack.clone();
        assert_eq!(stack.end - stack.start, bytes.next_multiple_of(PAGE), "the stack is whole pages");
        let expected = fault(FaultKind::Translation, Access::Write, stack.start - 16);
        assert_eq!(machine.stop(0).unwrap(), Some(expected), "with a stack of {bytes} bytes");
        let cpu = machine.cpu(0).unwrap();
        assert_eq!((cpu.sp, cpu.pc), (stack.start, CODE), "SP has its value before the push");
        assert_eq!(cpu.steps, 2 * (stack.end - stack.start) / 16, "every push before that has retired");
        let private_pages = machine.private_pages(0).unwrap();
        assert!(private_pages.into_iter().eq(stack.step_by(PAGE_BYTES)), "the whole stack is used");
    }
}

#[test]
fn an_empty_stack_faults_at_the_first_push() {
    let program = text_and_data(|a| {
        a.stp(X29, X30, Arg::Address(SP, Mode::Pre(-16)));
    });
    let mut machine = Machine::builder(program).stack_bytes(0).heap_bytes(0).build().unwrap();
    machine.run(10).unwrap();
    let sp = machine.cpu(0).unwrap().sp;
    assert_eq!(machine.layout().stack, sp..sp, "an empty stack");
    let expected = fault(FaultKind::Translation, Access::Write, sp - 16);
    assert_eq!(machine.stop(0).unwrap(), Some(expected), "the push");
}

#[test]
fn stack_and_heap_are_zero_and_can_be_used_to_their_last_byte() {
    let program = || {
        text_and_data(|a| {
            a.ldr(X0, at(X1, 0)).str(X1, at(X1, 0)).hlt(0);
        })
    };
    let layout = Machine::builder(program()).build().unwrap().layout().clone();
    for address in [layout.stack.start, layout.stack.end - 8, layout.heap.start, layout.heap.end - 8] {
        let (stop, cpu, mut machine) = run(program(), address);
        assert_eq!((stop, cpu.x(0)), (Stop::Halt { imm: 0 }, 0), "{address:#x}");
        assert_eq!(word(&mut machine, 0, address), address, "what was written to {address:#x}");
    }
}
