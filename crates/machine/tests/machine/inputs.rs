//! Tests of lanes with different arguments, input, and initial registers and memory.

use std::sync::{Arc, Mutex};

use kvrm_arm64::asm::{X0, X1, X19, at};
use kvrm_machine::{Builder, LaneSetup, Machine, Program, Stop, Stream};

use crate::support::{CODE, lane, raw, word};

/// Returns a program that prints its command line and its console input, and exits with the status in X19.
fn echo_program() -> Program {
    let [block, text, exit] = [0x100, 0x800, 0x200].map(|offset| CODE + offset);
    let mut program = raw(|a| {
        let (again, end) = (a.label(), a.label());
        a.mov(X0, 0x15).mov(X1, block as i64).hlt(0xf000); // SYS_GET_CMDLINE
        a.mov(X0, 0x04).mov(X1, text as i64).hlt(0xf000); // SYS_WRITE0
        a.bind(again);
        a.mov(X0, 0x07).hlt(0xf000); // SYS_READC
        a.tbnz(X0, 63, end);
        a.mov(X1, text as i64).str(X0, at(X1, 0)).mov(X0, 0x03).hlt(0xf000).b(again); // SYS_WRITEC
        a.bind(end);
        a.mov(X1, exit as i64).str(X19, at(X1, 8)).mov(X0, 0x18).hlt(0xf000); // SYS_EXIT
    });
    let data = &mut program.segments[0].data;
    data.resize(0x210, 0);
    data[0x100..0x108].copy_from_slice(&text.to_le_bytes());
    data[0x108..0x110].copy_from_slice(&0x400_u64.to_le_bytes());
    data[0x200..0x208].copy_from_slice(&0x2_0026_u64.to_le_bytes());
    program
}

fn echo_builder(lanes: usize) -> Builder<'static> {
    Machine::builder(echo_program())
        .lanes(lanes)
        .arguments(|lane| (0..lane % 4).map(|n| format!("{lane}.{n}")).collect())
        .input(|lane| format!(" <{}>", "in".repeat(lane)).into_bytes())
        .prepare(|lane| lane.set_x(19, 1000 - lane.number() as u64))
}

#[test]
fn every_lane_gets_its_own_arguments_input_and_registers() {
    let mut machine = echo_builder(50).build().unwrap();
    let report = machine.run(u64::MAX).unwrap();
    assert_eq!((report.lanes, report.stops["exit"]), (50, 50), "all exit");
    for number in 0..50 {
        let arguments =
            ["", " N.0", " N.0 N.1", " N.0 N.1 N.2"][number % 4].replace('N', &number.to_string());
        let expected = format!("raw{arguments} <{}>", "in".repeat(number));
        let lane = lane(&mut machine, number);
        assert_eq!((lane.output, lane.error_output), (expected, String::new()), "lane {number}");
        assert_eq!(lane.stop, Some(Stop::Exit { code: 1000 - number as i32 }), "lane {number}");
    }
}

#[test]
fn a_lane_behaves_the_same_alone_and_among_others() {
    let mut many = echo_builder(20).build().unwrap();
    many.run(u64::MAX).unwrap();
    for number in 0..20 {
        let mut alone = Machine::builder(echo_program())
            .arguments(move |_| (0..number % 4).map(|n| format!("{number}.{n}")).collect())
            .input(move |_| format!(" <{}>", "in".repeat(number)).into_bytes())
            .prepare(move |lane| lane.set_x(19, 1000 - number as u64))
            .build()
            .unwrap();
        alone.run(u64::MAX).unwrap();
        assert_eq!(lane(&mut many, number), lane(&mut alone, 0), "lane {number}");
    }
}

#[test]
fn a_console_gets_each_lanes_output_in_order_and_nothing_is_collected() {
    let heard = Arc::new(Mutex::new(vec![String::new(); 5]));
    let console = {
        let heard = Arc::clone(&heard);
        move |lane: usize, stream, bytes: &[u8]| {
            assert_eq!(stream, Stream::Output, "SYS_WRITE0 and SYS_WRITEC write to output");
            heard.lock().unwrap()[lane].push_str(std::str::from_utf8(bytes).unwrap());
        }
    };
    let mut machine = echo_builder(5).console(console).build().unwrap();
    machine.run(u64::MAX).unwrap();
    let mut collected = echo_builder(5).build().unwrap();
    collected.run(u64::MAX).unwrap();
    for number in 0..5 {
        assert_eq!(heard.lock().unwrap()[number], lane(&mut collected, number).output, "lane {number}");
        assert_eq!(
            machine.output(number, Stream::Output).unwrap(),
            b"",
            "output of lane {number} is not collected"
        );
    }
}

#[test]
fn a_lane_is_prepared_once_with_its_number_before_its_first_step() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let prepare = {
        let seen = Arc::clone(&seen);
        move |lane: &mut LaneSetup<'_>| {
            seen.lock().unwrap().push((lane.number(), lane.cpu.pc, lane.cpu.sp, lane.cpu.steps));
            // The host can write to code, because guest permissions do not apply to it.
            lane.write(CODE + 0x1ffe, &[lane.number() as u8; 4]);
            lane.cpu.nzcv = 15;
        }
    };
    let mut machine = Machine::builder(echo_program()).lanes(4).prepare(prepare).build().unwrap();
    let sp = machine.layout().stack.end;
    let expected: Vec<_> = (0..4).map(|number| (number, CODE, sp, 0)).collect();
    assert_eq!(*seen.lock().unwrap(), expected, "registers before");
    assert_eq!(sp % 16, 0, "the procedure call standard requires an aligned stack pointer");
    for number in 0..4 {
        assert_eq!(machine.cpu(number).unwrap().nzcv, 15, "the flags that were set");
        let expected = u64::from(number as u32 * 0x0101_0101) << 16;
        assert_eq!(
            word(&mut machine, number, CODE + 0x1ffc),
            expected,
            "the memory that was written in lane {number}"
        );
        assert_eq!(
            machine.private_pages(number).unwrap(),
            [CODE + 0x1000, CODE + 0x2000],
            "written pages are private"
        );
        assert_eq!(machine.stop(number).unwrap(), None, "a lane has no stop before its first run");
    }
}
