//! What a guest does wrong is a stop with its exact cause, at the instruction that did it, and nothing else.

use kvrm_arm64::asm::{Arg, Assembler, Mode, SP, W2, W3, X0, X1, X2, X4, X29, X30, XZR, at};
use kvrm_machine::{Access, Cpu, Fault, FaultKind, Machine, PAGE_BYTES, Permissions, Program, Segment, Stop};

use crate::support::{CODE, DATA, assemble, raw, text_and_data, word};

const PAGE: u64 = PAGE_BYTES as u64;
const END: u64 = 1 << 48;

fn fault(kind: FaultKind, access: Access, address: u64) -> Stop {
    Stop::Fault(Fault { kind, access, address })
}

/// Runs a program with x1 as given; says how it ended.
fn run(program: Program, x1: u64) -> (Stop, Cpu, Machine) {
    let mut machine = Machine::builder(program).prepare(move |lane| lane.set_x(1, x1)).build().unwrap();
    let report = machine.run(1_000_000).unwrap();
    let (stop, cpu) = (machine.stop(0).unwrap().unwrap(), machine.cpu(0).unwrap());
    assert_eq!(report.stops.into_iter().collect::<Vec<_>>(), [(stop.name(), 1)], "the report says so too");
    assert_eq!(report.steps, cpu.steps, "and counts what has retired");
    // A second run does not get any further.
    if stop != Stop::Budget {
        assert_eq!(machine.run(1000).unwrap().steps, 0, "a stop is final");
        assert_eq!(
            (machine.stop(0).unwrap(), machine.cpu(0).unwrap()),
            (Some(stop), cpu.clone()),
            "and stays"
        );
    }
    (stop, cpu, machine)
}

/// Runs one instruction after two others, of which it must undo nothing, and says how it ended.
fn run_one(x1: u64, write: impl FnOnce(&mut Assembler)) -> Stop {
    let program = text_and_data(|a| {
        a.mov(X0, 0x77).mov(X2, 0x88);
        write(a);
    });
    let (stop, cpu, machine) = run(program, x1);
    assert_eq!(
        (cpu.pc, cpu.steps),
        (CODE + 8, 2),
        "it stops at the third instruction, which has not retired"
    );
    assert_eq!((cpu.x(0), cpu.x(1), cpu.x(2)), (0x77, x1, 0x88), "no register has changed");
    assert!(machine.dirty_pages(0).unwrap().is_empty(), "nothing is written");
    stop
}

/// Addresses of eight bytes that are not mapped, with the first one of those bytes.
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
fn reading_and_writing_unmapped_memory_names_the_first_byte_that_is_not_there() {
    let machine = Machine::builder(text_and_data(|a| {
        a.nop();
    }))
    .build()
    .unwrap();
    for (address, first) in unmapped(&machine) {
        let read = fault(FaultKind::Translation, Access::Read, first);
        // The first bytes may be there and read-only.
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
fn a_pair_whose_second_half_is_not_there_does_nothing() {
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
fn permissions_are_kept_apart() {
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
        // All of it is zeros, which are undefined if they may be executed.
        let mut machine = Machine::builder(Program { entry: address, ..program }).build().unwrap();
        machine.run(10).unwrap();
        let refused = fault(FaultKind::Permission, Access::Execute, address);
        let expected = if permissions.execute { Stop::Undefined { word: 0 } } else { refused };
        assert_eq!(machine.stop(0).unwrap(), Some(expected), "execution of memory that is {permissions}");
    }
}

#[test]
fn a_jump_stops_where_it_lands_and_has_retired() {
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
        // Misaligned before unmapped.
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
    assert_eq!((cpu.pc, cpu.x(30), cpu.steps), (0, CODE + 8, 2), "and x30 says who called");
}

#[test]
fn running_off_the_end_of_the_code_stops_behind_it() {
    let data = assemble(|a| {
        a.nop().nop();
    });
    let code = Segment { address: CODE + PAGE - 8, bytes: 8, data, permissions: Permissions::RX };
    let entry = code.address;
    let program = Program { name: String::new(), entry, segments: vec![code], symbols: Vec::new() };
    let (stop, cpu, _) = run(program, 0);
    assert_eq!(stop, fault(FaultKind::Translation, Access::Execute, CODE + PAGE), "the next page");
    assert_eq!((cpu.pc, cpu.steps), (CODE + PAGE, 2), "after both");
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
        assert_eq!((cpu.sp, cpu.pc), (stack.start, CODE), "sp is that before the push");
        assert_eq!(cpu.steps, 2 * (stack.end - stack.start) / 16, "every push before that has retired");
        let mut dirty = machine.dirty_pages(0).unwrap();
        dirty.reverse();
        assert!(
            dirty.into_iter().eq(stack.step_by(PAGE_BYTES)),
            "all of the stack is used, from its end down"
        );
    }
}

#[test]
fn a_stack_of_nothing_faults_at_the_first_push() {
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
        let (stop, cpu, machine) = run(program(), address);
        assert_eq!((stop, cpu.x(0)), (Stop::Halt { imm: 0 }, 0), "{address:#x}");
        assert_eq!(word(&machine, 0, address), address, "what was written to {address:#x}");
    }
}

#[test]
fn an_endless_loop_ends_with_its_budget_and_goes_on_with_the_next() {
    let program = raw(|a| {
        let again = a.label();
        a.bind(again);
        a.add(X0, X0, 1).b(again);
    });
    let mut machine = Machine::builder(program).build().unwrap();
    let mut steps = 0;
    for budget in [1, 2, 999, 100_000, 0, 1] {
        let report = machine.run(budget).unwrap();
        steps += budget;
        assert_eq!((report.steps, report.stops.get("budget")), (budget, Some(&1)), "a budget of {budget}");
        let cpu = machine.cpu(0).unwrap();
        assert_eq!((cpu.steps, cpu.x(0)), (steps, steps.div_ceil(2)), "after {steps} steps");
        assert_eq!(cpu.pc, CODE + 4 * (steps % 2), "in the middle of the loop or at its start");
    }
}

#[test]
fn exceptions_stop_with_their_immediate() {
    for imm in [0, 1, 0x1234, 0xefff, 0xf001, 0xffff_u16] {
        let stop = |write: fn(&mut Assembler, i64)| {
            let (stop, cpu, _) = run(raw(|a| write(a, imm.into())), 0);
            (stop, cpu.pc - CODE, cpu.steps)
        };
        assert_eq!(
            stop(|a, imm| {
                a.hlt(imm);
            }),
            (Stop::Halt { imm }, 0, 0),
            "hlt #{imm:#x}"
        );
        assert_eq!(
            stop(|a, imm| {
                a.brk(imm);
            }),
            (Stop::Breakpoint { imm }, 0, 0),
            "brk #{imm:#x}"
        );
        // As the architecture has it, SVC retires.
        assert_eq!(
            stop(|a, imm| {
                a.svc(imm);
            }),
            (Stop::Syscall { imm }, 4, 1),
            "svc #{imm:#x}"
        );
        let udf = Stop::Undefined { word: imm.into() };
        assert_eq!(
            stop(|a, imm| {
                a.word(imm as u32);
            }),
            (udf, 0, 0),
            "udf #{imm:#x}"
        );
    }
}

#[test]
fn atomics_are_undefined_until_the_machine_has_them() {
    let (swp, crc) = (0xf822_8020_u32, 0x9ac2_4c20_u32); // swp x2, x0, [x1]; crc32x w0, w1, x2
    let stop = |word: u32, features| {
        let program = text_and_data(|a| {
            a.word(word).hlt(0);
        });
        let builder = Machine::builder(program).features(features).prepare(|lane| lane.set_x(1, DATA));
        let mut machine = builder.build().unwrap();
        machine.run(10).unwrap();
        machine.stop(0).unwrap().unwrap()
    };
    let none = kvrm_machine::Features { crc32: false, lse: false };
    let halt = Stop::Halt { imm: 0 };
    assert_eq!(stop(swp, kvrm_machine::Features::ARMV8_0), Stop::Undefined { word: swp }, "swp without");
    assert_eq!(stop(swp, kvrm_machine::Features::ALL), halt, "swp with");
    assert_eq!(stop(crc, none), Stop::Undefined { word: crc }, "crc32x without");
    assert_eq!(stop(crc, kvrm_machine::Features::ARMV8_0), halt, "crc32x with");
}

#[test]
fn code_that_a_guest_writes_is_executed_as_written() {
    // Writes `mov x0, #k; ret` for each k to one place, calls it, and adds up what comes back.
    let program = raw(|a| {
        let again = a.label();
        a.mov(X1, (CODE + 0x8000) as i64).mov(W2, 0xd280_0000).mov(W3, 0xd65f_03c0);
        a.str(W3, at(X1, 4));
        a.bind(again);
        a.str(W2, at(X1, 0)).blr(X1).add(X4, X4, X0).add(W2, W2, 1 << 5);
        a.subs(XZR, X0, 99).b_cond("ne", again).hlt(0);
    });
    let (stop, cpu, _) = run(program, 0);
    assert_eq!((stop, cpu.x(4)), (Stop::Halt { imm: 0 }, 99 * 100 / 2), "the sum of 0 to 99");
}
