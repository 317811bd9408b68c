//! Tests that accesses to all lanes at once give the same results as lane by lane.

use kvrm_arm64::asm::{X0, X1, X2, at};
use kvrm_machine::{Access, Cpu, Error, FaultKind, Machine, Register, Stop};

use crate::support::{CODE, DATA, fault, text_and_data};

const LANES: usize = 9;

/// Returns a machine in which each lane stores its number, doubles it, and halts, except every third, which never ends.
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
fn registers_of_all_lanes_equal_those_of_each_lane() {
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
    assert_eq!(cpus[5].x(0), 10, "the registers are not all zero");
}

#[test]
fn stops_of_all_lanes_equal_the_stop_of_each_lane() {
    let mut machine = machine();
    let stops = machine.stops().unwrap();
    for (lane, stop) in stops.into_iter().enumerate() {
        let expected = if lane % 3 == 0 { Stop::Budget } else { Stop::Halt { imm: 3 } };
        assert_eq!((stop, machine.stop(lane).unwrap()), (Some(expected), Some(expected)), "lane {lane}");
    }
}

#[test]
fn memory_of_all_lanes_is_the_concatenated_memory_of_each_lane() {
    let mut machine = machine();
    let bytes = machine.read_all(DATA + 8, 8).unwrap();
    let expected: Vec<u8> = (0..LANES as u64).flat_map(u64::to_le_bytes).collect();
    assert_eq!(bytes, expected, "the numbers that lanes have stored");
    assert_eq!(machine.read_all(0, 0).unwrap(), [0_u8; 0], "an empty range is valid at every address");
    let code = machine.read_all(CODE, 4).unwrap();
    assert!(code.chunks(4).all(|word| word == &code[..4]), "the code that lanes share");
}

#[test]
fn reading_unmapped_memory_of_all_lanes_is_a_fault_of_the_first() {
    let unmapped = fault(FaultKind::Translation, Access::Read, DATA + 0x1000);
    let read = machine().read_all(DATA + 0xffc, 8);
    let is_expected = matches!(&read, Err(Error::Memory { lane: 0, stop }) if *stop == unmapped);
    assert!(is_expected, "expected the first lane and the first unmapped byte, found {read:?}");
}
