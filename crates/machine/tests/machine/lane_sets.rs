//! Tests of calls that act on several lanes, compared with calls for one lane after the other.

use kvrm_machine::{Cpu, Error, LaneSet, Machine, Register, Stop};
use proptest::prelude::*;

use crate::support::{DATA, PAGE, lane, text_and_data};

const LANES: usize = 6;

const REGISTERS: [Register; 10] = [
    Register::X(0),
    Register::X(30),
    Register::X(31),
    Register::Sp,
    Register::Pc,
    Register::Nzcv,
    Register::Fpcr,
    Register::Fpsr,
    Register::TpidrEl0,
    Register::Steps,
];

fn machine() -> Machine {
    let program = text_and_data(|a| {
        a.brk(7);
    });
    let builder = Machine::builder(program).lanes(LANES).frames_max(2);
    let mut machine = builder.prepare(|lane| lane.cpu.v[9] = 1 << lane.number()).build().unwrap();
    machine.run(10).unwrap();
    machine
}

/// Returns the set of the listed lanes as a slice, a mask or a range, whichever can express it.
fn forms(listed: &[usize]) -> (Vec<bool>, Option<std::ops::Range<usize>>) {
    let flags = (0..LANES).map(|lane| listed.contains(&lane)).collect();
    let (first, last) = (listed.iter().min(), listed.iter().max());
    let range = first.zip(last).map(|(first, last)| *first..last + 1);
    (flags, range.filter(|range| range.clone().eq(listed.iter().copied())))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn sets_name_the_same_lanes_in_every_form(
        listed in prop::collection::btree_set(0..LANES, 0..=LANES),
        register in prop::sample::select(&REGISTERS[..]),
        values in prop::collection::vec(any::<u64>(), LANES),
        offset in 0..PAGE - 40,
        bytes in 0..40usize,
    ) {
        let listed: Vec<usize> = listed.into_iter().collect();
        let (flags, range) = forms(&listed);
        let values = &values[..listed.len()];
        let rows: Vec<u8> = (0..bytes * listed.len()).map(|at| at as u8 + 1).collect();

        let mut expected = machine();
        for (index, &number) in listed.iter().enumerate() {
            let mut cpu: Cpu = expected.cpu(number).unwrap();
            register.set(&mut cpu, values[index]);
            prop_assert_eq!(register.of(&cpu), register.bits_of(values[index]));
            expected.set_cpu(number, &cpu).unwrap();
            expected.write(number, DATA + offset, &rows[bytes * index..][..bytes]).unwrap();
            expected.resume(number).unwrap();
        }
        let expected: Vec<_> = (0..LANES).map(|number| lane(&mut expected, number)).collect();
        let stopped = (0..LANES).filter(|number| expected[*number].stop.is_some()).count();
        prop_assert_eq!(stopped, LANES - listed.len(), "the lanes of the set are resumed");

        let mut sets = vec![LaneSet::from(&listed), LaneSet::mask(&flags)];
        sets.extend(range.map(LaneSet::from));
        if listed.len() == LANES {
            sets.push(LaneSet::from(..));
        }
        for set in sets {
            let mut machine = machine();
            machine.set_registers(set.clone(), register, values).unwrap();
            machine.write_rows(set.clone(), DATA + offset, &rows).unwrap();
            machine.resume(set.clone()).unwrap();
            let seen: Vec<_> = (0..LANES).map(|number| lane(&mut machine, number)).collect();
            prop_assert_eq!(&seen, &expected, "{:?}", set);
        }
    }
}

#[test]
fn a_write_that_fails_in_one_lane_is_made_in_none() {
    let mut machine = machine();
    // Lane 4 has a frame left, and the others two.
    machine.write(4, DATA, &[1]).unwrap();
    let stack = machine.layout().stack.start;
    let pages = [1; 0x1008];
    let error = machine.write(.., stack, &pages).unwrap_err();
    assert!(matches!(error, Error::Memory { lane: 4, stop: Stop::OutOfFrames }), "{error}");
    let error = machine.write_rows(&[1, 5], DATA + PAGE - 2, &[1; 8]).unwrap_err();
    assert!(matches!(error, Error::Memory { lane: 1, stop: Stop::Fault(_) }), "{error}");
    for number in (0..LANES).filter(|number| *number != 4) {
        assert!(machine.private_pages(number).unwrap().is_empty(), "lane {number}");
    }
    machine.write(0..4, stack, &pages).unwrap();
    assert_eq!(machine.private_pages(3).unwrap(), [stack, stack + PAGE], "the others have room");
}

#[test]
fn wrong_sets_are_refused_and_change_nothing() {
    let mut machine = machine();
    machine.snapshot().unwrap();
    machine.resume(..).unwrap();
    let flags = [true; LANES + 1];
    let sets: [(LaneSet<'_>, &str); 6] = [
        (LANES.into(), "there is no lane 6: the machine has 6, numbered from 0"),
        (usize::MAX.into(), "there is no lane 18446744073709551615: the machine has 6, numbered from 0"),
        ((4..8).into(), "there is no lane 6: the machine has 6, numbered from 0"),
        ((9..usize::MAX).into(), "there is no lane 9: the machine has 6, numbered from 0"),
        ((&[0, 7]).into(), "there is no lane 7: the machine has 6, numbered from 0"),
        (
            LaneSet::mask(&flags),
            "a mask of 7 flags does not name lanes of a machine with 6: expected 6 flags",
        ),
    ];
    for (set, message) in sets {
        assert_eq!(machine.reset(set.clone()).unwrap_err().to_string(), message, "{set:?}");
        assert_eq!(machine.resume(set.clone()).unwrap_err().to_string(), message, "{set:?}");
        assert_eq!(machine.write(set.clone(), DATA, &[1]).unwrap_err().to_string(), message, "{set:?}");
        let error = machine.set_registers(set.clone(), Register::Sp, &[1]).unwrap_err();
        assert_eq!(error.to_string(), message, "{set:?}");
    }
    let error = machine.set_registers(0..3, Register::Sp, &[1]).unwrap_err();
    assert_eq!(error.to_string(), "1 values cannot be set in 3 lanes: expected 3 values", "values");
    let error = machine.write_rows(.., DATA, &[0; 16]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "16 bytes cannot be divided among 6 lanes: expected a multiple of 6",
        "rows"
    );
    let error = machine.write_rows(&[], DATA, &[0; 16]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "16 bytes cannot be divided among 0 lanes: expected a multiple of 0",
        "rows"
    );
    assert_eq!(machine.stops().unwrap(), [None; LANES], "no lane is reset");
    machine.reset(3..3).unwrap();
    machine.reset(1..2).unwrap();
    let stops = machine.stops().unwrap();
    assert_eq!((stops[0], stops[1]), (None, Some(Stop::Breakpoint { imm: 7 })), "lane 1 alone is reset");
}
