//! Tests that hostile lanes cannot change other lanes.

use kvrm_arm64::asm::{Arg, Mode, W0, W1, W2, X3, X4};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_machine::{Features, LaneSetup, Machine, Program, Stop};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;
use proptest::prelude::*;

use crate::support::{CODE, Lane, PAGE, lane, raw};

/// The number of steps that each good lane runs.
const STEPS: u64 = 20_000;

/// Returns a program that repeatedly fills its memory from 0x4000 on with numbers and adds up what it reads there.
fn good_program() -> Program {
    raw(|a| {
        let (again, next) = (a.label(), a.label());
        a.bind(again);
        a.mov(X3, (CODE + 0x4000) as i64).mov(X4, 1024);
        a.bind(next);
        a.ldr(W0, Arg::Address(X3, Mode::Offset(0))).add(W1, W1, W0).eor(W2, W2, W1);
        a.str(W2, Arg::Address(X3, Mode::Post(4))).subs(X4, X4, 1).b_cond("ne", next).b(again);
    })
}

/// Returns the final state of a good lane in a machine of good lanes only.
fn good_lane() -> Lane {
    let mut machine = Machine::builder(good_program()).features(Features::ALL).build().unwrap();
    machine.run(STEPS).unwrap();
    lane(&mut machine, 0)
}

/// Runs three lanes, of which the middle one is hostile. `recover` is called after each of its stops.
fn run_with(
    prepare: impl FnMut(&mut LaneSetup<'_>) + 'static,
    mut recover: impl FnMut(&mut Machine),
) -> Machine {
    let builder = Machine::builder(good_program()).features(Features::ALL).lanes(3).prepare(prepare);
    let mut machine = builder.build().unwrap();
    for _ in 0..STEPS / 100 {
        machine.run(100).unwrap();
        if !matches!(machine.stop(1).unwrap(), Some(Stop::Budget)) {
            recover(&mut machine);
            machine.resume(1).unwrap();
        }
    }
    machine
}

fn check(machine: &mut Machine) {
    let expected = good_lane();
    for number in [0, 2] {
        assert!(lane(machine, number) == expected, "lane {number} is not disturbed");
    }
}

#[test]
fn a_lane_that_writes_all_memory_it_can_changes_no_other() {
    // The hostile lane writes a word to each page from X3 on; after a fault, it continues with the next page.
    let bad = |lane: &mut LaneSetup<'_>| {
        if lane.number() == 1 {
            let store = 0xb900_0060_u32 | 3; // str w3, [x3]
            let next = 0x9140_0463_u32; // add x3, x3, #1, lsl #12
            let back = 0x17ff_fffe_u32; // b . - 8
            lane.write(CODE + 0x2000, &[store, next, back].map(u32::to_le_bytes).concat());
            lane.cpu.pc = CODE + 0x2000;
            lane.set_x(3, CODE + 0x3000);
        }
    };
    let recover = |machine: &mut Machine| {
        let mut cpu = machine.cpu(1).unwrap();
        cpu.pc = CODE + 0x2004;
        machine.set_cpu(1, &cpu).unwrap();
    };
    let mut machine = run_with(bad, recover);
    check(&mut machine);
    let private_pages = machine.private_pages(1).unwrap();
    let layout = machine.layout();
    for page in [
        CODE + 0x4000,
        layout.stack.start,
        layout.stack.end - PAGE,
        layout.heap.start,
        layout.heap.end - PAGE,
    ] {
        assert!(private_pages.contains(&page), "the hostile lane has written {page:#x}");
    }
    assert_eq!(
        machine.private_pages(0).unwrap().len(),
        1,
        "a good lane has only the page that it wrote itself"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_lane_of_random_instructions_changes_no_other(seed in any::<u64>()) {
        let wild = move |lane: &mut LaneSetup<'_>| {
            if lane.number() == 1 {
                let mut random = Random::new(seed);
                let mut word = || words::allocated(random.pick(ENCODINGS), &mut random).to_le_bytes();
                let code: Vec<u8> = (0..2048).flat_map(|_| word()).collect();
                lane.write(CODE, &code);
                for n in 0..31 {
                    lane.set_x(n, CODE + random.below(0x1_0000));
                }
            }
        };
        let mut random = Random::new(!seed);
        let recover = move |machine: &mut Machine| {
            let mut cpu = machine.cpu(1).unwrap();
            cpu.pc = CODE + 4 * random.below(2048);
            for n in 0..31 {
                if random.below(4) == 0 {
                    cpu.set_x(n, CODE + random.below(0x20_0000));
                }
            }
            machine.set_cpu(1, &cpu).unwrap();
        };
        check(&mut run_with(wild, recover));
    }
}
