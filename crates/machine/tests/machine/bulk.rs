//! All lanes at once: the same as lane by lane.

use kvrm_arm64::asm::{X0, X1, X2, at};
use kvrm_machine::{Access, Cpu, FaultKind, Machine, Register, Stop};

use crate::support::{CODE, DATA, fault, text_and_data};

const LANES: usize = 9;

/// Each lane stores its own number, adds it to itself, and halts, all but every third, which runs for ever.
fn machine() -> Machine {
    let program = text_and_data(|a| {
        let forever = a.label();
        a.mov(X2, DATA as i64).str(X0, at(X2, 8)).adds(X0, X0, X0);
        a.bind(forever);
        a.cbz(X1, forever).hlt(3);
    });
    let builder = Machine::builder(program).lanes(LANES).prepare(|lane| {
        lane.set_x(0, lane.number() as u64);
        lane.set_x(1, u64::from(lane.number() % 3 != 0));
        lane.cpu.tpidr_el0 = 1 << lane.number();
        (lane.cpu.fpcr, lane.cpu.fpsr) = (lane.number() as u32, 7);
    });
    let mut machine = builder.build().unwrap();
    machine.run(100).unwrap();
    machine
}

#[test]
fn a_register_of_all_lanes_is_that_register_of_each() {
    type Get = fn(&Cpu) -> u64;
    let mut registers: Vec<(Register, Get)> = vec![
        (Register::Sp, |cpu| cpu.sp),
        (Register::Pc, |cpu| cpu.pc),
        (Register::Nzcv, |cpu| cpu.nzcv.into()),
        (Register::Fpcr, |cpu| cpu.fpcr.into()),
        (Register::Fpsr, |cpu| cpu.fpsr.into()),
        (Register::TpidrEl0, |cpu| cpu.tpidr_el0),
        (Register::Steps, |cpu| cpu.steps),
    ];
    registers.extend([(Register::X(0), (|cpu| cpu.x(0)) as Get), (Register::X(2), |cpu| cpu.x(2))]);
    registers.push((Register::X(31), |_| 0));
    let mut machine = machine();
    let cpus: Vec<Cpu> = (0..LANES).map(|lane| machine.cpu(lane).unwrap()).collect();
    for (register, get) in registers {
        let expected: Vec<u64> = cpus.iter().map(get).collect();
        assert_eq!(machine.registers(register).unwrap(), expected, "{register:?}");
    }
    assert_eq!(cpus[5].x(0), 10, "and not all of them are zero");
}

#[test]
fn the_stops_of_all_lanes_are_the_stop_of_each() {
    let mut machine = machine();
    let stops = machine.stops().unwrap();
    for (lane, stop) in stops.into_iter().enumerate() {
        let expected = if lane % 3 == 0 { Stop::Budget } else { Stop::Halt { imm: 3 } };
        assert_eq!((stop, machine.stop(lane).unwrap()), (Some(expected), Some(expected)), "lane {lane}");
    }
}

#[test]
fn memory_of_all_lanes_is_that_of_each_one_after_the_other() {
    let mut machine = machine();
    let bytes = machine.memory_of_all(DATA + 8, 8).unwrap().unwrap();
    let expected: Vec<u8> = (0..LANES as u64).flat_map(u64::to_le_bytes).collect();
    assert_eq!(bytes, expected, "what they have written");
    assert_eq!(machine.memory_of_all(0, 0).unwrap(), Ok(Vec::new()), "nothing is anywhere");
    let code = machine.memory_of_all(CODE, 4).unwrap().unwrap();
    assert!(code.chunks(4).all(|word| word == &code[..4]), "what they share");
}

#[test]
fn memory_that_lanes_have_not_is_of_none_of_them() {
    let unmapped = fault(FaultKind::Translation, Access::Read, DATA + 0x1000);
    let read = machine().memory_of_all(DATA + 0xffc, 8).unwrap();
    assert_eq!(read, Err((0, unmapped)), "the first lane, and the first byte that is not there");
}
