//! Console output that the device writes without the host: it is the same as with the host, call by call.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use kvrm_arm64::asm::{Assembler, W22, X0, X1, X19, X20, X21, X23, at};
use kvrm_gpu::Bounds;
use kvrm_machine::{
    Builder, Error, Executor, LaneSetup, Machine, Permissions, Program, Report, RunProgress, Segment, Stop,
    Stream,
};

use crate::support::{
    BoundedGpu, CODE, DATA, EnginePair, LOOP_LIMIT, PAGE, assemble, assert_same_machines, segment,
    text_and_data,
};

const OPEN: u64 = 1;
const CLOSE: u64 = 2;
const WRITEC: u64 = 3;
const WRITE0: u64 = 4;
const WRITE: u64 = 5;
const ERRNO: u64 = 0x13;
const EXIT: u64 = 0x18;
/// The immediate of the HLT that makes a semihosting call.
const CALL: i64 = 0xf000;

/// The address of the table of a lane's calls: operation and parameter of each call, and a zero at the end.
const TABLE: u64 = DATA;
/// The address of the results of the calls.
const RESULTS: u64 = DATA + PAGE;
/// The address of two pages for strings and parameter blocks of the calls.
const TEXT: u64 = DATA + 2 * PAGE;
/// The end of the mapped pages.
const END: u64 = DATA + 4 * PAGE;
/// The address of a page that cannot be read.
const WRITE_ONLY: u64 = 0x4_0000;
/// The address of the name of the console, followed by the parameter blocks that open files.
const NAME: u64 = END - 0x80;
const OPEN_INPUT: u64 = NAME + 0x08;
const OPEN_OUTPUT: u64 = NAME + 0x20;
const OPEN_ERROR: u64 = NAME + 0x38;
const OPEN_FILE: u64 = NAME + 0x50;

/// Returns a program that makes the calls of its table, one after the other, and halts.
fn caller() -> Program {
    let code = assemble(|a| {
        let (again, end) = (a.label(), a.label());
        a.mov(X20, TABLE as i64).mov(X21, RESULTS as i64);
        a.bind(again);
        a.ldr(X0, at(X20, 0)).ldr(X1, at(X20, 8)).add(X20, X20, 16).cbz(X0, end);
        a.hlt(CALL).str(X0, at(X21, 0)).add(X21, X21, 8).b(again);
        a.bind(end);
        a.hlt(0);
    });
    program(vec![
        segment(CODE, PAGE, code, Permissions::RX),
        segment(DATA, END - DATA, Vec::new(), Permissions::RW),
        segment(
            WRITE_ONLY,
            PAGE,
            b"secret".to_vec(),
            Permissions { read: false, write: true, execute: false },
        ),
    ])
}

fn program(segments: Vec<Segment>) -> Program {
    Program::builder().name("calls").entry(CODE).segments(segments).build().expect("the segments are valid")
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Writes the table of the calls of a lane, and the parameter blocks that open files.
fn prepare(lane: &mut LaneSetup<'_>, calls: &[(u64, u64)]) {
    let table: Vec<u64> = calls.iter().flat_map(|call| [call.0, call.1]).collect();
    assert!(table.len() < PAGE as usize / 8, "the table and its zero at the end fit in a page");
    lane.write(TABLE, &words(&table));
    lane.write(NAME, b":tt\0file");
    for (block, name, mode, bytes) in [
        (OPEN_INPUT, NAME, 0, 3),
        (OPEN_OUTPUT, NAME, 4, 3),
        (OPEN_ERROR, NAME, 8, 3),
        (OPEN_FILE, NAME + 4, 4, 4),
    ] {
        lane.write(block, &words(&[name, mode, bytes]));
    }
}

/// Returns bounds with a console buffer of `bytes` bytes for each lane.
fn console_room(bytes: u32) -> Bounds {
    Bounds { console_bytes: Some(bytes), ..Bounds::NONE }
}

/// The same machine on both engines.
struct MachinePair {
    gpu: Machine,
    reference: Machine,
}

impl MachinePair {
    fn new<'a>(bounds: Bounds, builder: impl Fn() -> Builder<'a>) -> Self {
        let gpu = builder().engine(BoundedGpu(bounds)).build().expect("the guest fits");
        Self { gpu, reference: builder().build().expect("the guest fits") }
    }

    /// Runs both machines, asserts that their reports agree, and returns the report of the GPU.
    fn run(&mut self, budget: u64) -> Report {
        let gpu = self.gpu.run(budget).expect("the GPU works");
        let reference = self.reference.run(budget).expect("the reference works");
        let figures = |report: &Report| (report.steps, report.stops.clone(), report.services, report.frames);
        assert_eq!(figures(&gpu), figures(&reference), "the GPU on the left, the reference on the right");
        gpu
    }

    fn call_both(&mut self, act: impl Fn(&mut Machine) -> Result<(), Error>) {
        act(&mut self.gpu).expect("the GPU works");
        act(&mut self.reference).expect("the reference works");
    }

    /// Asserts that the visible state of both machines is the same, and returns the output of the lanes.
    fn assert_same(&mut self, when: &str) -> Vec<String> {
        for lane in 0..self.reference.lanes() {
            let seen = |machine: &Machine| {
                let error = machine.output(lane, Stream::Error).expect("the lane exists").to_vec();
                (error, machine.output_truncated(lane).expect("the lane exists"))
            };
            assert_eq!(seen(&self.gpu), seen(&self.reference), "lane {lane} {when}");
        }
        let lanes = assert_same_machines(&mut self.gpu, &mut self.reference, when);
        lanes.into_iter().map(|(_, output)| output).collect()
    }
}

/// Returns calls of every kind, valid and invalid, on a console that is opened, closed and reopened as another stream.
/// Writes their strings and parameter blocks.
fn all_calls(lane: &mut LaneSetup<'_>) -> Vec<(u64, u64)> {
    let (fox, page_end) = (TEXT + 0x20, TEXT + PAGE);
    lane.write(fox, b"The quick brown fox jumps over the lazy dog. 0123456789\0");
    lane.write(page_end - 5, b"across\npages\0");
    lane.write(END - 4, b"open");
    // Strings and bytes with any alignment.
    let mut calls: Vec<_> =
        (0..9).flat_map(|at| [(WRITE0, fox + at), (WRITEC, fox + at), (WRITE0, fox + 47 + at)]).collect();
    calls.extend((0..14).map(|at| (WRITE0, page_end - 5 + at)));
    // Addresses that are not mapped or not readable.
    for bad in [0, END - 4, END - 1, END, WRITE_ONLY, 1 << 47, 1 << 48, u64::MAX] {
        calls.extend([(WRITEC, bad), (WRITE0, bad), (WRITE, bad), (ERRNO, 0)]);
    }
    let mut blocks = Vec::new();
    for (address, bytes) in [
        (fox, 0),
        (fox, 1),
        (fox + 3, 5),
        (fox + 3, 6),
        (fox + 1, 23),
        (page_end - 3, 9),
        (fox, 1023),
        (fox + 5, 1024),
        (fox, 1025),
        (fox, PAGE + 20),
        (END - 8, 8),
        (END - 8, 9),
        (WRITE_ONLY, 3),
        (fox, 1 << 32),
        (fox, u64::MAX),
        (u64::MAX - 3, 8),
    ] {
        blocks.push([1, address, bytes]);
    }
    // Handles of error output, input, a file, closed files, and invalid handles.
    for handle in [0, 2, 3, 4, 5, 31, 32, 33, 63, 65, 1 << 32 | 1, u64::MAX] {
        blocks.push([handle, fox, 10]);
    }
    let mut places: Vec<u64> = (0..).map(|n| TEXT + 0x100 + 24 * n).take(blocks.len()).collect();
    // Blocks at odd addresses and across pages.
    places.extend([TEXT + 0x7fc, page_end + 0x41, TEXT - 8]);
    blocks.extend([[1, fox, 4]; 3]);
    for (place, block) in places.iter().zip(&blocks) {
        lane.write(*place, &words(block));
        calls.extend([(WRITE, *place), (ERRNO, 0)]);
    }
    // The handle 1 is closed, then becomes error output, then output again.
    let first = places[2];
    calls.extend([(CLOSE, first), (WRITE, first), (ERRNO, 0), (OPEN, OPEN_ERROR), (WRITE, first)]);
    calls.extend([(CLOSE, first), (OPEN, OPEN_OUTPUT), (WRITE, first)]);
    // Lanes make different calls at the same time.
    let count = calls.len();
    calls.rotate_left(37 * lane.number() % count);
    calls.splice(..0, [OPEN_OUTPUT, OPEN_ERROR, OPEN_INPUT, OPEN_FILE].map(|block| (OPEN, block)));
    calls
}

fn lanes_of_all_calls<'a>(lanes: usize) -> Builder<'a> {
    Machine::builder(caller()).lanes(lanes).prepare(|lane| {
        let calls = all_calls(lane);
        prepare(lane, &calls);
    })
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_call_ends_as_on_the_host() {
    for (lanes, bytes) in [(1, 64 << 10), (5, 4096), (5, 64), (5, 8)] {
        let mut machines = MachinePair::new(console_room(bytes), || lanes_of_all_calls(lanes));
        let report = machines.run(u64::MAX);
        let output = machines.assert_same(&format!("of {lanes} lanes, with buffers of {bytes} bytes"));
        assert!(output[0].contains("lazy dog") && output[0].contains("across\npages"), "{}", output[0]);
        assert_eq!(report.stops["halt"], lanes, "all lanes have made their calls");
        if lanes == 1 {
            let Report { dispatches, services, .. } = report;
            assert!(dispatches < services - 40, "{dispatches} dispatches for {services} calls");
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn budgets_end_at_calls_too() {
    let mut machines = MachinePair::new(console_room(4096), || lanes_of_all_calls(3));
    for step in 0..90 {
        machines.run(1 + step / 60);
        machines.assert_same(&format!("in run {step}"));
    }
    machines.run(u64::MAX);
    machines.assert_same("at the end");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn snapshots_keep_handles_and_resets_undo_output() {
    let mut machines = MachinePair::new(console_room(256), || lanes_of_all_calls(3));
    // Before the first call, between calls, and after the last one.
    for steps in [0, 60, 900, u64::MAX] {
        machines.run(steps);
        machines.call_both(Machine::snapshot);
        let there = machines.assert_same("at the snapshot");
        for lanes in [&[0][..], &[2, 1], &[0, 1, 2]] {
            machines.run(333);
            machines.assert_same("after the snapshot");
            machines.call_both(|machine| machine.reset(lanes));
            machines.assert_same("after the reset");
        }
        assert_eq!(machines.assert_same("after all resets"), there, "the output of the snapshot");
    }
}

/// Returns a program that prints a character, a string and bytes, x19 times, and exits.
fn printer() -> Program {
    let code = assemble(|a| {
        let (again, end) = (a.label(), a.label());
        let call = |a: &mut Assembler, operation: u64, parameter: u64| {
            a.mov(X0, operation as i64).mov(X1, parameter as i64).hlt(CALL);
        };
        call(a, OPEN, OPEN_OUTPUT);
        a.bind(again);
        a.cbz(X19, end);
        call(a, WRITEC, TEXT);
        call(a, WRITE0, TEXT + 1);
        call(a, WRITE, TEXT + 0x20);
        a.sub(X19, X19, 1).b(again);
        a.bind(end);
        call(a, EXIT, TEXT + 0x40);
    });
    program(vec![
        segment(CODE, PAGE, code, Permissions::RX),
        segment(DATA, END - DATA, Vec::new(), Permissions::RW),
    ])
}

/// Builds a machine whose lanes print the given numbers of lines.
fn printing_lanes<'a>(lanes: usize, lines: impl Fn(usize) -> u64 + 'a) -> Builder<'a> {
    Machine::builder(printer()).lanes(lanes).prepare(move |lane| {
        prepare(lane, &[]);
        lane.write(TEXT, b">line of text\0");
        lane.write(TEXT + 0x10, b", and more\n");
        lane.write(TEXT + 0x20, &words(&[1, TEXT + 0x10, 11]));
        lane.write(TEXT + 0x40, &words(&[0x2_0026, 0]));
        let count = lines(lane.number());
        lane.set_x(19, count);
    })
}

const LINE: &str = ">line of text, and more\n";

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn many_calls_take_few_dispatches() {
    let lines = |lane: usize| 50 * (lane as u64 % 3);
    let mut machines = MachinePair::new(Bounds::NONE, || printing_lanes(70, lines));
    let report = machines.run(u64::MAX);
    let output = machines.assert_same("at the end");
    assert_eq!(output[1], LINE.repeat(50), "the output of lane 1");
    // Code to lower, OPEN and EXIT stop lanes, but the 300 calls that print do not.
    assert!(report.dispatches < 30, "{} dispatches", report.dispatches);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_full_buffer_is_emptied_by_the_host() {
    for bytes in [8, 24, 64, 1000] {
        let mut machines =
            MachinePair::new(console_room(bytes), || printing_lanes(3, |lane| 40 + lane as u64));
        let report = machines.run(u64::MAX);
        let output = machines.assert_same(&format!("with {bytes} bytes"));
        assert_eq!(output[2], LINE.repeat(42), "the whole output");
        assert!(report.dispatches < 42 * 3, "{} dispatches for 42 lines", report.dispatches);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn output_is_truncated_as_on_the_host() {
    for max in [0, 1, 23, 100] {
        let mut machines =
            MachinePair::new(console_room(64), || printing_lanes(2, |lane| 5 * lane as u64).output_max(max));
        machines.run(u64::MAX);
        let output = machines.assert_same(&format!("with room for {max} bytes"));
        assert_eq!(output[1].len(), max.min(5 * LINE.len()), "the length of the output");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_console_gets_both_streams_in_order_while_a_lane_runs() {
    // Makes the calls of its table, and then loops for ever.
    let endless = || {
        let mut program = caller();
        program.segments[0].data = assemble(|a| {
            let (again, end) = (a.label(), a.label());
            a.mov(X20, TABLE as i64);
            a.bind(again);
            a.ldr(X0, at(X20, 0)).ldr(X1, at(X20, 8)).add(X20, X20, 16).cbz(X0, end).hlt(CALL).b(again);
            a.bind(end);
            a.b(end);
        });
        program
    };
    let received = Arc::new(Mutex::new(Vec::new()));
    let write = Arc::clone(&received);
    let mut machine = Machine::builder(endless())
        .engine(BoundedGpu(Bounds { slice_steps: Some(1 << 12), ..console_room(4096) }))
        .prepare(|lane| {
            let (error, text) = (TEXT + 0x20, TEXT);
            lane.write(text, b"one\0two\0");
            lane.write(error, &words(&[1, text, 3]));
            let calls =
                [(WRITE0, text + 4), (OPEN, OPEN_ERROR), (WRITE0, text), (WRITE, error), (WRITE0, text + 4)];
            prepare(lane, &calls);
        })
        .console(move |_, stream, bytes: &[u8]| {
            write.lock().expect("no thread has panicked").push((stream, bytes.to_vec()));
        })
        .build()
        .expect("the guest fits");
    let count = || received.lock().expect("no thread has panicked").len();
    // If the console got output only when the lane stops, this would never end.
    let observe =
        |_: &RunProgress| if count() == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    machine.run_with(u64::MAX, observe).expect("the GPU works");
    let output = |text: &str| (Stream::Output, text.as_bytes().to_vec());
    let expected = [output("two"), output("one"), (Stream::Error, b"one".to_vec()), output("two")];
    assert_eq!(*received.lock().expect("no thread has panicked"), expected, "in the order of the calls");
}

/// Builds a machine whose lanes open a file, and write to it and to the console in turns.
fn file_sharing_lanes<'a>(lanes: usize, folder: &'a Path) -> Builder<'a> {
    Machine::builder(caller()).lanes(lanes).directory(folder).prepare(|lane| {
        let (file, console, text) = (TEXT + 0x20, TEXT + 0x40, TEXT);
        lane.write(text, format!("lane {}\0", lane.number()).as_bytes());
        lane.write(file, &words(&[1, text, 6]));
        lane.write(console, &words(&[2, text, 6]));
        let mut calls = vec![(OPEN, OPEN_FILE), (OPEN, OPEN_OUTPUT)];
        for n in 0..20 {
            calls.extend((0..(n + lane.number()) % 3).map(|_| (WRITE, console)));
            calls.push((WRITE, file));
            // Opening the file again empties it, so its contents depend on the order of the lanes.
            calls.extend((n % 5 == 3).then_some((OPEN, OPEN_FILE)));
        }
        prepare(lane, &calls);
    })
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn files_that_lanes_share_are_written_in_the_same_order() {
    for lanes in [1, 4] {
        let folder = tempfile::tempdir().expect("the temporary folder is writable");
        let [gpu_folder, reference_folder] = ["gpu", "reference"].map(|name| folder.path().join(name));
        let [gpu, reference] = [&gpu_folder, &reference_folder].map(|folder| {
            std::fs::create_dir(folder).expect("the folder is new");
            file_sharing_lanes(lanes, folder)
        });
        let mut machines = MachinePair {
            gpu: gpu.engine(BoundedGpu(Bounds::NONE)).build().expect("the guest fits"),
            reference: reference.build().expect("the guest fits"),
        };
        machines.run(u64::MAX);
        machines.assert_same("at the end");
        let [gpu_folder, reference_folder] = [gpu_folder, reference_folder]
            .map(|folder| std::fs::read(folder.join("file")).expect("the lanes have written the file"));
        assert_eq!(gpu_folder, reference_folder, "the file of {lanes} lanes");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_call_loses_the_exclusive_reservation() {
    let exclusive = |is_console: bool| {
        let code = assemble(|a| {
            a.mov(X20, TEXT as i64).mov(X1, TEXT as i64).mov(X0, WRITEC as i64);
            // ldxr x22, [x20]; a call or a NOP; stxr w22, x0, [x20]
            a.word(0xc85f_7e96);
            if is_console {
                a.hlt(CALL)
            } else {
                a.nop()
            };
            a.word(0xc816_7e80).add(X23, X20, 0).str(W22, at(X23, 8)).hlt(0);
        });
        let data = segment(DATA, END - DATA, Vec::new(), Permissions::RW);
        program(vec![segment(CODE, PAGE, code, Permissions::RX), data])
    };
    for is_console in [false, true] {
        let builder = || Machine::builder(exclusive(is_console)).prepare(|lane| lane.write(TEXT, b"!"));
        let mut machines = MachinePair::new(Bounds::NONE, builder);
        machines.run(u64::MAX);
        machines.assert_same("at the end");
        assert_eq!(
            machines.gpu.cpu(0).expect("the GPU works").x(22),
            u64::from(is_console),
            "STXR returns 1 if it fails"
        );
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_executor_serves_only_lanes_with_a_console() {
    let image = text_and_data(2, |a| {
        // WRITEC twice, then another HLT with the registers of a call.
        a.hlt(CALL).mov(X0, WRITEC as i64).hlt(CALL).mov(X0, WRITEC as i64).hlt(1);
    });
    let start = |executor: &mut dyn Executor| {
        for lane in 0..2 {
            let mut cpu = executor.cpu(lane).expect("the GPU works");
            (cpu.pc, cpu.steps) = (CODE, 0);
            cpu.set_x(0, WRITEC);
            cpu.set_x(1, DATA + lane as u64);
            executor.set_cpu(lane, &cpu).expect("the GPU works");
            executor.set_stop(lane, None).expect("the GPU works");
            executor
                .write_memory(lane, DATA, b"ab", None)
                .expect("the GPU works")
                .expect("the memory is mapped");
        }
        executor.run(&[100; 2], &mut |_| ControlFlow::Continue(())).expect("the GPU works");
        let mut received = Vec::new();
        let served = executor.drain_console(&mut |lane, bytes| received.push((lane, bytes.to_vec())));
        let stops = [0, 1].map(|lane| executor.stop(lane).expect("the GPU works"));
        (served.expect("the GPU works"), received, stops)
    };
    let mut pair = EnginePair::new(&[image], 2, 16);
    let (call, end) = (Some(Stop::Halt { imm: CALL as u16 }), Some(Stop::Halt { imm: 1 }));
    assert_eq!(start(&mut *pair.gpu), (0, vec![], [call, call]), "no lane has a console");
    pair.gpu.set_console(1, 1).expect("the GPU works");
    assert_eq!(start(&mut *pair.gpu), (2, vec![(1, b"bb".to_vec())], [call, end]), "lane 1 has a console");
    pair.gpu.set_console(0, 1).expect("the GPU works");
    let all = (4, vec![(0, b"aa".to_vec()), (1, b"bb".to_vec())], [end, end]);
    assert_eq!(start(&mut *pair.gpu), all, "both lanes have consoles");
    assert_eq!(start(&mut *pair.gpu), all, "both lanes again");
    pair.gpu.set_console(0, 0).expect("the GPU works");
    pair.gpu.set_console(1, 2).expect("the GPU works");
    assert_eq!(start(&mut *pair.gpu), (0, vec![], [call, call]), "handle 1 is the console of no lane");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_reset_drops_pending_output() {
    let image = text_and_data(1, |a| {
        a.hlt(CALL).hlt(1);
    });
    let mut pair = EnginePair::new(&[image], 1, 16);
    pair.change_registers(0, |cpu| {
        cpu.pc = CODE;
        cpu.set_x(0, WRITEC);
        cpu.set_x(1, DATA);
    });
    let gpu = &mut *pair.gpu;
    gpu.set_console(0, 1).expect("the GPU works");
    gpu.snapshot().expect("the GPU works");
    let mut run = |times: usize, bytes: usize| {
        for _ in 0..times {
            gpu.reset(&[0]).expect("the lane has a snapshot");
            gpu.run(&[100], &mut |_| ControlFlow::Continue(())).expect("the GPU works");
        }
        let mut received = 0;
        gpu.drain_console(&mut |_, bytes| received += bytes.len()).expect("the GPU works");
        assert_eq!(received, bytes, "after {times} runs");
    };
    run(1, 1);
    run(3, 1);
    run(0, 0);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn long_texts_count_as_iterations_of_the_loop() {
    // Each text takes 128 iterations, so all together are far beyond the limit of a dispatch.
    let image = text_and_data(2, |a| {
        let again = a.label();
        a.bind(again);
        a.mov(X0, WRITE0 as i64).hlt(CALL).sub(X19, X19, 1).emit("cbnz", &[X19.into(), again.into()]).hlt(0);
    });
    let bounds = Bounds { loop_limit: LOOP_LIMIT, ..console_room(64 << 10) };
    let mut pair = EnginePair::bounded(&[image], 1, 16, bounds);
    pair.change_registers(0, |cpu| {
        cpu.pc = CODE;
        cpu.set_x(1, DATA);
        cpu.set_x(19, 60);
    });
    let gpu = &mut *pair.gpu;
    gpu.set_console(0, 1).expect("the GPU works");
    gpu.write_memory(0, DATA, &[b'x'; 1020], None).expect("the GPU works").expect("the memory is mapped");
    let (mut dispatches, mut received) = (0, 0);
    while gpu.stop(0).expect("the GPU works").is_none() {
        dispatches +=
            gpu.run(&[10_000], &mut |_| ControlFlow::Continue(())).expect("the GPU works").dispatches;
        gpu.drain_console(&mut |_, bytes| received += bytes.len()).expect("the GPU works");
    }
    assert_eq!(received, 60 * 1020, "the whole output");
    assert!(dispatches >= 60 * 128 / 2_000, "{dispatches} dispatches are too few");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_that_write_at_different_times_stay_below_the_loop_limit_together() {
    // In each step, one of eight lanes is at the call, whose text takes 128 iterations. Mesa 22.3 counts the iterations
    // of all eight together.
    const TEXTS: usize = 200;
    let image = text_and_data(2, |a| {
        let again = a.label();
        a.bind(again);
        a.mov(X0, WRITE0 as i64).hlt(CALL).sub(X19, X19, 1).nop().nop().nop().nop();
        a.emit("cbnz", &[X19.into(), again.into()]).hlt(0);
    });
    let lanes = 64;
    let bounds = Bounds { workgroup: Some(64), ..console_room(256 << 10) };
    let mut pair = EnginePair::bounded(&[image], lanes, 16, bounds);
    let mut texts = vec![0; lanes];
    for lane in 0..lanes {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE + 4 * (lane as u64 % 8);
            cpu.set_x(0, WRITE0);
            cpu.set_x(1, DATA);
            cpu.set_x(19, TEXTS as u64);
        });
        let gpu = &mut *pair.gpu;
        gpu.set_console(lane, 1).expect("the GPU works");
        gpu.write_memory(lane, DATA, &[b'x'; 1020], None)
            .expect("the GPU works")
            .expect("the memory is mapped");
    }
    let gpu = &mut *pair.gpu;
    gpu.run(&vec![u64::MAX; lanes], &mut |_| ControlFlow::Continue(())).expect("the GPU works");
    gpu.drain_console(&mut |lane, bytes| texts[lane] += bytes.len()).expect("the GPU works");
    for (lane, bytes) in texts.into_iter().enumerate() {
        // Lanes that begin after the call, at the SUB, make one call less.
        let calls = if lane % 8 == 2 { TEXTS - 1 } else { TEXTS };
        let cpu = gpu.cpu(lane).expect("the GPU works");
        assert_eq!((bytes, cpu.x(19), cpu.pc), (calls * 1020, 0, CODE + 32), "lane {lane}");
    }
}
