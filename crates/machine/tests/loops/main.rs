//! Iterations that are executed at once give what stepping gives.

mod advice;

use std::sync::Arc;

use kvrm_machine::{
    AddressSpace, Cpu, Features, Hooks, Image, Interpreter, LoopRunner, Loops, Machine, Permissions, Runner,
    Segment, Stop,
};
use kvrm_testkit::guests::{GUESTS, guest};
use kvrm_testkit::loops::any_loop;
use kvrm_testkit::loops::memory::{CODE, DATA, PAGES, image, lane};
use proptest::prelude::*;

const PAGE: u64 = 4096;

/// A runner that looks for loops after so many steps, and what it knows about them.
fn runner(steps: u64) -> (Loops, LoopRunner<Interpreter>) {
    let loops = Loops::checker();
    (loops.clone(), LoopRunner::with_slices(Interpreter, Some(loops), steps))
}

/// The private pages in the order of addresses.
fn pages(memory: &AddressSpace) -> Vec<(u64, Vec<u8>)> {
    let mut pages: Vec<_> = memory.private_pages().map(|(page, bytes)| (page, bytes.to_vec())).collect();
    pages.sort();
    pages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn random_loops_end_as_if_stepped(
        words in any_loop(),
        start in lane(),
        frames in prop_oneof![3 => Just(100_usize), 1 => 0..5_usize],
        budgets in prop::collection::vec(prop_oneof![1..200_u64, 1..20_000_u64], 1..4),
        slice in 1..40_u64,
    ) {
        let image = image(&words);
        let [mut cpu, mut stepped] = [start.clone(), start];
        let [mut memory, mut stepped_memory] = [0, 1].map(|_| AddressSpace::new(Arc::clone(&image), frames));
        let (loops, mut runner) = runner(slice);
        for budget in budgets {
            let stop = runner.run(&mut cpu, &mut memory, budget);
            let expected = Interpreter.run(&mut stepped, &mut stepped_memory, budget);
            prop_assert_eq!(stop, expected, "{} steps at once", loops.report().credited_steps);
            prop_assert_eq!(&cpu, &stepped, "{} steps at once", loops.report().credited_steps);
            prop_assert!(pages(&memory) == pages(&stepped_memory), "memory, {} at once", loops.report().credited_steps);
        }
    }
}

/// A delay in a delay has 2^55 steps, and ends.
#[test]
fn delays_in_delays_end() {
    // mov x5, x3; subs x5, x5, #1; b.ne; subs x4, x4, #1; b.ne to the first; hlt #0
    let words: [u32; 6] = [0xaa03_03e5, 0xf100_04a5, 0x54ff_ffe1, 0xf100_0484, 0x54ff_ff81, 0xd440_0000];
    let image = image(&words);
    let mut memory = AddressSpace::new(image, 1);
    let mut cpu = Cpu::new(CODE, 0);
    let iterations = 1 << 27;
    cpu.set_x(3, iterations);
    cpu.set_x(4, iterations);
    let (_, mut runner) = runner(1 << 10);
    let stop = runner.run(&mut cpu, &mut memory, u64::MAX);
    assert!(matches!(stop, Stop::Halt { .. }), "{stop:?}");
    assert_eq!((cpu.x(4), cpu.x(5), cpu.steps), (0, 0, iterations * (3 + 2 * iterations)));
}

/// Loops of a million iterations: nearly all steps are executed at once.
#[test]
fn bare_loops_are_executed_at_once() {
    let loops: [(&str, &[u32]); 7] = [
        ("countdown", &[0xd100_0484, 0xb5ff_ffe4]), // sub x4, x4, #1; cbnz x4
        ("fill", &[0x3800_1403, 0xf100_0484, 0x54ff_ffc1]), // strb w3, [x0], #1; subs x4, x4, #1; b.ne
        ("copy", &[0x3840_1423, 0x3800_1403, 0xf100_0484, 0x54ff_ffa1]), // ldrb w3, [x1], #1; strb w3, [x0], #1; ...
        // ldp w3, w5, [x0]; cmp w3, w5; b.le to the add; stp w5, w3, [x0]; add x0, x0, #4; subs x4, x4, #1; b.ne
        (
            "pass",
            &[0x2940_1403, 0x6b05_007f, 0x5400_004d, 0x2900_0c05, 0x9100_1000, 0xf100_0484, 0x54ff_ff41],
        ),
        // mov x6, x0; movz x5, #100; strb w3, [x6], #1; subs x5, x5, #1; b.ne; add x0, x0, #128; subs x4, x4, #1; b.ne
        (
            "rectangle",
            &[
                0xaa00_03e6,
                0xd280_0c85,
                0x3800_14c3,
                0xf100_04a5,
                0x54ff_ffc1,
                0x9102_0000,
                0xf100_0484,
                0x54ff_ff21,
            ],
        ),
        // The same, with ldrb w8, [x7], #1; strb w8, [x6], #1.
        (
            "copy of a rectangle",
            &[
                0xaa00_03e6,
                0xaa01_03e7,
                0xd280_0c85,
                0x3840_14e8,
                0x3800_14c8,
                0xf100_04a5,
                0x54ff_ffa1,
                0x9101_9021, // add x1, x1, #100
                0x9102_0000,
                0xf100_0484,
                0x54ff_fec1,
            ],
        ),
        ("addresses", &[0xf800_8400, 0xf100_0484, 0x54ff_ffc1]), // str x0, [x0], #8: the address itself
    ];
    for (name, words) in loops {
        let data =
            |address, permissions| Segment { address, bytes: 8 << 20, data: vec![5, 6, 7], permissions };
        let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code = Segment { address: CODE, bytes: PAGE, data: code, permissions: Permissions::RX };
        let segments = [code, data(0x100_0000, Permissions::RW), data(0x200_0000, Permissions::R)];
        let image = Arc::new(Image::new(&segments, Features::BASE).expect("the segments are apart"));
        let mut start = Cpu::new(CODE, 0);
        start.set_x(0, 0x100_0000);
        start.set_x(1, 0x200_0000);
        start.set_x(3, 0x55);
        start.set_x(4, 1_000_000);
        let [mut cpu, mut stepped] = [start.clone(), start];
        let [mut memory, mut stepped_memory] = [0, 1].map(|_| AddressSpace::new(Arc::clone(&image), 10_000));
        let (loops, mut runner) = runner(1 << 14);
        let budget = 1_000_000 * words.len() as u64;
        runner.run(&mut cpu, &mut memory, budget);
        Interpreter.run(&mut stepped, &mut stepped_memory, budget);
        assert_eq!(cpu, stepped, "{name}");
        assert!(pages(&memory) == pages(&stepped_memory), "{name}: memory");
        assert!(
            loops.report().credited_steps > budget / 10 * 9,
            "{name}: {} of {budget}",
            loops.report().credited_steps
        );
    }
}

/// Loops without an end, up or down, that stop at the end of the pages or of the frames.
#[test]
fn loops_without_an_end_fault_as_if_stepped() {
    let loops: [&[u32]; 4] = [
        &[0xf800_8403, 0x17ff_ffff], // str x3, [x0], #8; b
        &[0xf81f_8403, 0x17ff_ffff], // str x3, [x0], #-8; b
        &[0xf840_8403, 0x17ff_ffff], // ldr x3, [x0], #8; b
        &[0xf85f_8403, 0x17ff_ffff], // ldr x3, [x0], #-8; b
    ];
    for words in loops {
        let image = image(words);
        for (frames, offset) in [(100, 0), (100, 3), (5, 0), (1, 4)] {
            let mut start = Cpu::new(CODE, 0);
            start.set_x(0, DATA + (PAGES / 2 + 4) * PAGE + offset);
            let [mut cpu, mut stepped] = [start.clone(), start];
            let [mut memory, mut stepped_memory] =
                [0, 1].map(|_| AddressSpace::new(Arc::clone(&image), frames));
            let (loops, mut runner) = runner(10);
            let stop = runner.run(&mut cpu, &mut memory, u64::MAX);
            let expected = Interpreter.run(&mut stepped, &mut stepped_memory, u64::MAX);
            assert_eq!((stop, &cpu), (expected, &stepped), "{words:x?}, {frames} frames");
            assert!(pages(&memory) == pages(&stepped_memory), "{words:x?}, {frames} frames: memory");
            if frames == 100 {
                let (credited, steps) = (loops.report().credited_steps, stepped.steps);
                assert!(credited > steps / 2, "{words:x?}: {credited} of {steps} steps at once");
            }
        }
    }
}

#[test]
fn code_that_has_changed_is_read_again() {
    // sub x4, x4, #1 or #2; cbnz x4
    let image = image(&[0xd100_0484, 0xb5ff_ffe4]);
    let [mut memory, mut stepped_memory] = [0, 1].map(|_| AddressSpace::new(Arc::clone(&image), 1));
    let [mut cpu, mut stepped] = [0, 1].map(|_| Cpu::new(CODE, 0));
    let (loops, mut runner) = runner(10);
    for word in [0xd100_0484_u32, 0xd100_0884, 0xd100_0484] {
        for memory in [&mut memory, &mut stepped_memory] {
            memory.write_bytes(CODE, &word.to_le_bytes(), None).expect("the page may be written");
        }
        for cpu in [&mut cpu, &mut stepped] {
            cpu.pc = CODE;
            cpu.set_x(4, 100_000);
        }
        runner.run(&mut cpu, &mut memory, 20_000);
        Interpreter.run(&mut stepped, &mut stepped_memory, 20_000);
        assert_eq!(cpu, stepped, "with {word:#x}");
    }
    assert!(loops.report().credited_steps > 50_000, "only {} steps at once", loops.report().credited_steps);
}

/// Regression test: the steps to the beginning of an iteration may store to the loop, of which the words were compared before.
#[test]
fn steps_to_the_head_may_change_the_code() {
    let cases: [(&[u32], [u64; 5], u32); 2] = [
        // ldr x3, [x1], #8; strh w2, [x1], #2; subs x4, x4, #1; cbnz x4
        (
            &[0xf840_8423, 0x7800_2422, 0xf100_0484, 0xb5ff_ffa4],
            [0x10_aeae, 0x10_0000, 0x10_e970, 0x0811_1006_764c_f5ae, 0x201],
            0,
        ),
        // add x0, x0, #11; sub x0, x0, #2; add x0, x0, #9; stp w4, w1, [x0, #4]!; cbnz w3
        (
            &[0x9100_2c00, 0xd100_0800, 0x9100_2400, 0x2980_8404, 0x35ff_ff83],
            [0xf_ffeb, 0xffff_ffff_0010_1000, 0xffff_fe74, 0x35a3_a377_6c03_aea0, 0xb17],
            1,
        ),
    ];
    for (words, registers, nzcv) in cases {
        let image = image(words);
        for (slice, frames) in (1..40).flat_map(|slice| [(slice, 100), (slice, 3)]) {
            let mut start = Cpu::new(CODE, 0x8000);
            (0..).zip(registers).for_each(|(register, value)| start.set_x(register, value));
            start.nzcv = nzcv;
            let [mut cpu, mut stepped] = [start.clone(), start];
            let [mut memory, mut stepped_memory] =
                [0, 1].map(|_| AddressSpace::new(Arc::clone(&image), frames));
            let mut runner = runner(slice).1;
            let stop = runner.run(&mut cpu, &mut memory, 4_000);
            let expected = Interpreter.run(&mut stepped, &mut stepped_memory, 4_000);
            assert_eq!((stop, &cpu), (expected, &stepped), "{words:x?}, after {slice} steps");
            assert!(pages(&memory) == pages(&stepped_memory), "{words:x?}, after {slice} steps: memory");
        }
    }
}

#[test]
fn a_hook_stops_a_lane_in_the_middle_of_a_loop() {
    // strb w3, [x0], #1; subs x4, x4, #1; b.ne
    let image = image(&[0x3800_1403, 0xf100_0484, 0x54ff_ffc1]);
    let target = DATA + 6 * PAGE;
    for hooks in
        [Hooks::new().watch_writes(target + 5_000..target + 5_001), Hooks::new().breakpoint(CODE + 4)]
    {
        let hooks = Arc::new(hooks);
        let mut start = Cpu::new(CODE, 0);
        start.set_x(0, target);
        start.set_x(4, 20_000);
        let [mut cpu, mut stepped] = [start.clone(), start];
        let [mut memory, mut stepped_memory] = [0, 1].map(|_| AddressSpace::new(Arc::clone(&image), 100));
        for memory in [&mut memory, &mut stepped_memory] {
            memory.set_hooks(Some(Arc::clone(&hooks)));
        }
        let stop = runner(10).1.run(&mut cpu, &mut memory, 100_000);
        let expected = Interpreter.run(&mut stepped, &mut stepped_memory, 100_000);
        assert_ne!(expected, Stop::Budget, "the hook is reached");
        assert_eq!((stop, cpu), (expected, stepped));
    }
}

#[test]
fn every_guest_ends_as_on_the_reference() {
    for (name, size) in GUESTS {
        let machine = || {
            Machine::builder(guest(name))
                .lanes(3)
                .arguments(|lane| vec![size.to_owned(), (lane + 1).to_string()])
        };
        let mut at_once = machine().loops(Loops::checker()).build().expect("the guest fits");
        let mut stepped = machine().build().expect("the guest fits");
        for budget in [1000, 100_003, u64::MAX] {
            let (report, expected) = (at_once.run(budget), stepped.run(budget));
            let (report, expected) = (report.expect("it works"), expected.expect("it works"));
            assert_eq!((report.steps, report.stops), (expected.steps, expected.stops), "{name}");
            for lane in 0..3 {
                let [cpu, expected] =
                    [&mut at_once, &mut stepped].map(|machine| machine.cpu(lane).expect("there"));
                assert_eq!(cpu, expected, "{name}, lane {lane}");
            }
        }
    }
}
