//! Tests of stops other than faults, and of code that changes.

use kvrm_arm64::asm::{Assembler, W2, W3, X0, X1, X4, XZR, at};
use kvrm_machine::{Features, Machine, Stop};

use crate::support::{CODE, DATA, raw, run, text_and_data};

#[test]
fn an_endless_loop_stops_for_its_budget_and_continues_with_the_next() {
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
        // SVC retires, as the architecture prescribes.
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
fn optional_instructions_are_undefined_without_their_feature() {
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
    let none = Features::BASE;
    let halt = Stop::Halt { imm: 0 };
    assert_eq!(stop(swp, Features::ARMV8_0), Stop::Undefined { word: swp }, "swp without");
    assert_eq!(stop(swp, Features::ALL), halt, "swp with");
    assert_eq!(stop(crc, none), Stop::Undefined { word: crc }, "crc32x without");
    assert_eq!(stop(crc, Features::ARMV8_0), halt, "crc32x with");
}

#[test]
fn code_that_a_guest_writes_takes_effect() {
    // Writes `mov x0, #k; ret` for each k to the same address, calls it, and adds up the results.
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
