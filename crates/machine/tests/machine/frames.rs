//! Tests that a lane without free frames stops before it writes, and continues correctly once it has more.

use kvrm_arm64::asm::{X0, X1, X2, X3, at};
use kvrm_machine::{Builder, LaneSetup, Machine, Stop};
use kvrm_testkit::guests::{FP_GUESTS, GUESTS, features, guest};

use crate::support::{CODE, PAGE, lane, raw, word};

/// Runs a machine and gives each lane one more frame whenever all have stopped for lack of frames.
fn run_with_one_more_frame_each_time(builder: Builder<'_>, first: usize) -> (Machine, usize) {
    let mut machine = builder.frames_max(first).build().unwrap();
    let mut frames = first;
    loop {
        machine.run(u64::MAX).unwrap();
        let private_pages = machine.private_pages(0).unwrap().len();
        assert!(private_pages <= frames, "{private_pages} frames of {frames}");
        if machine.stop(0).unwrap() != Some(Stop::OutOfFrames) {
            return (machine, frames);
        }
        // Without another frame the lane stops again, and nothing changes.
        let before = lane(&mut machine, 0);
        let report = machine.run(u64::MAX).unwrap();
        assert_eq!((report.steps, report.stops.get("out-of-frames")), (0, Some(&1)), "the lane stops again");
        assert_eq!(lane(&mut machine, 0), before, "an instruction without a frame changes nothing");
        frames += 1;
        assert!(frames < 100, "the guests need fewer frames");
        machine.set_frames_max(frames).unwrap();
    }
}

#[test]
fn every_guest_ends_the_same_if_frames_come_one_by_one() {
    for (name, size) in GUESTS.into_iter().chain(FP_GUESTS) {
        let builder = || {
            Machine::builder(guest(name)).features(features(name)).arguments(move |_| vec![size.to_owned()])
        };
        let mut unlimited = builder().build().unwrap();
        unlimited.run(u64::MAX).unwrap();
        let expected = lane(&mut unlimited, 0);
        let (mut machine, frames) = run_with_one_more_frame_each_time(builder(), 0);
        assert_eq!(lane(&mut machine, 0), expected, "{name} with frames one by one");
        assert_eq!(frames, expected.private_pages.len(), "{name} needs exactly one frame per written page");
    }
}

#[test]
fn a_lane_stops_at_the_store_that_lacks_a_frame() {
    // Writes the first doubleword of consecutive pages.
    let program = || {
        raw(|a| {
            let again = a.label();
            a.nop().nop();
            a.bind(again);
            a.str(X1, at(X1, 0)).add(X1, X1, 0x1000);
            a.subs(X2, X2, 1).b_cond("ne", again).hlt(0);
        })
    };
    for frames in 0..10 {
        let prepare = |lane: &mut LaneSetup<'_>| {
            lane.set_x(1, CODE + PAGE);
            lane.set_x(2, 10);
        };
        let builder = Machine::builder(program()).prepare(prepare);
        let mut machine = builder.frames_max(frames).build().unwrap();
        let report = machine.run(u64::MAX).unwrap();
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::OutOfFrames), "{frames} frames");
        let cpu = machine.cpu(0).unwrap();
        assert_eq!((cpu.pc, cpu.x(1)), (CODE + 8, CODE + PAGE * (frames as u64 + 1)), "the store stopped");
        let expected: Vec<u64> = (1..=frames as u64).map(|page| CODE + PAGE * page).collect();
        assert_eq!(machine.private_pages(0).unwrap(), expected, "the store has written nothing");
        assert_eq!(report.frames, frames, "the report counts the frames");
    }
}

#[test]
fn a_store_across_two_pages_needs_both_frames_at_once() {
    let border = CODE + 0x3000;
    let program = || {
        raw(|a| {
            a.stp(X1, X1, at(X1, 0)).hlt(0);
        })
    };
    for frames in 0..2 {
        let builder = Machine::builder(program()).prepare(move |lane| lane.set_x(1, border - 8));
        let mut machine = builder.frames_max(frames).build().unwrap();
        machine.run(10).unwrap();
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::OutOfFrames), "two pages and {frames} frames");
        assert!(machine.private_pages(0).unwrap().is_empty(), "not even the first half is written");
        machine.set_frames_max(2).unwrap();
        machine.run(10).unwrap();
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::Halt { imm: 0 }), "two frames are enough");
        assert_eq!(machine.private_pages(0).unwrap(), [border - PAGE, border], "both halves");
    }
}

#[test]
fn private_pages_stay_writable_when_the_limit_is_lowered() {
    let program = raw(|a| {
        a.str(X0, at(X1, 0)).str(X0, at(X2, 0)).str(X0, at(X1, 8)).str(X0, at(X3, 0)).hlt(0);
    });
    let mut machine = Machine::builder(program)
        .prepare(|lane| (1..4).for_each(|n| lane.set_x(n, CODE + PAGE * u64::from(n))))
        .build()
        .unwrap();
    machine.run(2).unwrap();
    machine.set_frames_max(0).unwrap();
    machine.run(10).unwrap();
    assert_eq!(
        machine.cpu(0).unwrap().pc,
        CODE + 12,
        "the third store has a private page, the fourth has not"
    );
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::OutOfFrames), "the fourth store stops");
}

#[test]
fn every_lane_has_its_own_limit_on_frames() {
    // Lane n writes n pages.
    let program = raw(|a| {
        let (again, end) = (a.label(), a.label());
        a.bind(again);
        a.cbz(X2, end).add(X1, X1, 0x1000).str(X2, at(X1, 0)).sub(X2, X2, 1).b(again);
        a.bind(end);
        a.hlt(0);
    });
    let prepare = |lane: &mut LaneSetup<'_>| {
        lane.set_x(1, CODE);
        lane.set_x(2, lane.number() as u64);
    };
    let mut machine = Machine::builder(program).lanes(8).frames_max(4).prepare(prepare).build().unwrap();
    let report = machine.run(u64::MAX).unwrap();
    assert_eq!(
        report.stops.into_iter().collect::<Vec<_>>(),
        [("halt", 5), ("out-of-frames", 3)],
        "lanes 5 to 7"
    );
    assert_eq!(report.frames, 1 + 2 + 3 + 4 * 4, "frames of all lanes together");
    machine.set_frames_max(7).unwrap();
    let report = machine.run(u64::MAX).unwrap();
    assert_eq!(
        (report.stops["halt"], report.frames),
        (8, 1 + 2 + 3 + 4 + 5 + 6 + 7),
        "with enough frames for all lanes"
    );
}

#[test]
fn preparing_a_lane_takes_frames_too() {
    let program = || {
        raw(|a| {
            a.hlt(0);
        })
    };
    let builder = || Machine::builder(program()).prepare(|lane| lane.write(CODE + PAGE - 1, &[1, 2]));
    let error = builder().frames_max(1).build().unwrap_err();
    assert_eq!(error.to_string(), "lane 0 cannot be prepared: out of memory frames", "two pages, one frame");
    let mut machine = builder().frames_max(2).build().unwrap();
    assert_eq!(machine.private_pages(0).unwrap(), [CODE, CODE + PAGE], "two frames");
}

#[test]
fn a_service_that_lacks_a_frame_is_served_later_without_loss() {
    // Reads eight bytes of console input to a page that nothing else writes. X0 is then 0.
    let [buffer, block, open, name] = [0x2000, 0x100, 0x180, 0x200].map(|offset| CODE + offset);
    let before_read = CODE + 0x1c;
    let program = || {
        raw(|a| {
            a.mov(X0, 1).mov(X1, open as i64).hlt(0xf000);
            a.mov(X0, 6).mov(X1, block as i64);
            assert_eq!(a.here(), before_read, "the address of the second call");
            a.hlt(0xf000).hlt(0);
        })
    };
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let prepare = move |lane: &mut LaneSetup<'_>| {
        lane.write(name, b":tt");
        lane.write(open, &words(&[name, 0, 3]));
        lane.write(block, &words(&[1, buffer, 8]));
    };
    let builder = || Machine::builder(program()).input(|_| b"12345678".to_vec()).prepare(prepare);
    let mut machine = builder().frames_max(1).build().unwrap();
    let report = machine.run(100).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::OutOfFrames), "the buffer has no frame");
    let cpu = machine.cpu(0).unwrap();
    assert_eq!((report.services, cpu.x(0), cpu.pc), (2, 6, before_read), "the call has not retired");
    assert_eq!(machine.run(100).unwrap().steps, 0, "the call cannot retire");
    machine.set_frames_max(2).unwrap();
    machine.run(100).unwrap();
    let mut unlimited = builder().build().unwrap();
    unlimited.run(100).unwrap();
    assert_eq!(lane(&mut machine, 0), lane(&mut unlimited, 0), "the lane ends as with unlimited frames");
    assert_eq!(machine.cpu(0).unwrap().x(0), 0, "no bytes are left");
    assert_eq!(&word(&mut machine, 0, buffer).to_le_bytes(), b"12345678", "the input");
}
