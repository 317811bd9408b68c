//! Tests of threads and processes whose results depend on the schedule.

use kvrm_machine::{Builder, LinuxProgram, Machine, Program, ReferenceEngine, Stop, Stream};

use crate::support::{Caller, DATA, guest};

/// Returns a machine whose lanes run a guest in a schedule of their own each.
fn scheduled(name: &str, lanes: usize, first: u64) -> Builder<'static> {
    let builder = Machine::builder(guest(name)).lanes(lanes).quantum(200);
    builder.schedule(move |lane| Some(first + lane as u64))
}

/// The stop, the steps and the output of a lane.
fn end(machine: &mut Machine, lane: usize) -> (Option<Stop>, u64, Vec<u8>) {
    let (stop, cpu) = (machine.stop(lane).unwrap(), machine.cpu(lane).unwrap());
    (stop, cpu.steps, machine.output(lane, Stream::Output).unwrap().to_vec())
}

#[test]
fn a_search_of_schedules_finds_a_race_and_repeats_it() {
    let mut machine = scheduled("race", 300, 0).build().unwrap();
    machine.run(u64::MAX).unwrap();
    let ends: Vec<_> = (0..300).map(|lane| end(&mut machine, lane)).collect();
    let lost = |stop: &Option<Stop>| matches!(stop, Some(Stop::Exit { code: 1.. }));
    let racing: Vec<usize> = (0..300).filter(|lane| lost(&ends[*lane].0)).collect();
    assert!((10..290).contains(&racing.len()), "updates are lost in {} of 300 schedules", racing.len());
    for lane in racing.into_iter().take(5) {
        let mut again = scheduled("race", 1, lane as u64).build().unwrap();
        again.run(u64::MAX).unwrap();
        assert_eq!(end(&mut again, 0), ends[lane], "schedule {lane}");
    }
}

#[test]
fn a_search_of_schedules_finds_a_deadlock_and_repeats_it() {
    let mut machine = scheduled("deadlock", 300, 0).build().unwrap();
    machine.run(u64::MAX).unwrap();
    let ends: Vec<_> = (0..300).map(|lane| end(&mut machine, lane)).collect();
    let stuck: Vec<usize> = (0..300).filter(|lane| ends[*lane].0 == Some(Stop::Deadlock)).collect();
    let done = ends.iter().filter(|(stop, ..)| *stop == Some(Stop::Exit { code: 0 })).count();
    assert_eq!(stuck.len() + done, 300, "each lane ends in one of two ways");
    assert!(stuck.len() >= 10 && done >= 10, "{} schedules of 300 end in a deadlock", stuck.len());
    for lane in stuck.into_iter().take(5) {
        let mut again = scheduled("deadlock", 1, lane as u64).build().unwrap();
        again.run(u64::MAX).unwrap();
        assert_eq!(end(&mut again, 0), ends[lane], "schedule {lane}");
    }
}

#[test]
fn budgets_snapshots_and_saved_machines_do_not_change_the_schedule() {
    for name in ["threads", "processes", "race", "sockets", "shared", "ipc"] {
        let builder = || scheduled(name, 6, 40).arguments(|_| vec!["execute".to_owned()]);
        let mut whole = builder().build().unwrap();
        whole.run(u64::MAX).unwrap();
        let mut sliced = builder().build().unwrap();
        let mut budget = 1;
        while (0..6).any(|lane| !matches!(sliced.stop(lane).unwrap(), Some(Stop::Exit { .. }))) {
            sliced.run(budget).unwrap();
            budget = budget * 7 % 4093 + 1;
            if budget % 5 == 0 {
                sliced.snapshot().unwrap();
                sliced.run(3 * budget).unwrap();
                sliced.reset(..).unwrap();
            }
            if budget % 11 == 0 {
                let mut bytes = Vec::new();
                sliced.save(&mut bytes).unwrap();
                sliced = Machine::load(&bytes[..], ReferenceEngine, None).unwrap();
            }
        }
        for lane in 0..6 {
            assert_eq!(end(&mut sliced, lane), end(&mut whole, lane), "{name} in lane {lane}");
        }
    }
}

#[test]
fn forks_of_a_lane_with_several_processes_go_on_as_it_would() {
    for steps in (1..40).map(|n| n * 173) {
        let builder = Machine::builder(guest("processes")).arguments(|_| vec!["execute".to_owned()]);
        let mut machine = builder.quantum(300).build().unwrap();
        machine.run(steps).unwrap();
        let before = machine.output(0, Stream::Output).unwrap().to_vec();
        let mut fork = machine.fork(0, 2).unwrap();
        let mut second = fork.fork(1, 1).unwrap();
        for machine in [&mut machine, &mut fork, &mut second] {
            machine.run(u64::MAX).unwrap();
        }
        let (stop, retired, output) = end(&mut machine, 0);
        for (own_stop, own_retired, own_output) in [end(&mut fork, 0), end(&mut fork, 1), end(&mut second, 0)]
        {
            assert_eq!((own_stop, own_retired), (stop, retired), "forked after {steps} steps");
            assert_eq!([&before[..], &own_output].concat(), output, "forked after {steps} steps");
        }
    }
}

#[test]
fn flags_of_clone_that_are_not_served_are_refused() {
    const ENOSYS: i64 = -38;
    const EINVAL: i64 = -22;
    let mut caller = Caller::new();
    for flags in [0x200, 0x400, 0x800, 0x700, 0x2000_0000, 0x1000] {
        assert_eq!(caller.call(220, &[flags | 17]), ENOSYS, "processes that share some tables, {flags:#x}");
    }
    assert_eq!(caller.call(220, &[0x1_0000]), EINVAL, "a thread that shares nothing");
    assert_eq!(caller.call(220, &[65]), EINVAL, "no such signal");
    assert_eq!(caller.call(435, &[DATA, 56]), EINVAL, "too small a structure");
}

#[test]
fn a_deadlock_after_the_end_of_the_last_thread_that_ran_takes_back_a_step_of_another() {
    // The first thread waits for ever, and the second one exits. The stop is at the call of the first one.
    let mut program = Program::assemble(
        0x1_0000,
        "        mov     x0, #0x0f00
                 movk    x0, #0x5, lsl #16
                 mov     x8, #220        // clone
                 svc     #0
                 cbz     x0, second
                 mov     x0, sp
                 mov     x1, #128        // FUTEX_WAIT_PRIVATE
                 mov     x2, #0
                 mov     x3, #0
                 mov     x8, #98         // futex
                 svc     #0
         second: mov     x8, #93         // exit
                 svc     #0",
    )
    .expect("the text is right");
    program.linux = Some(LinuxProgram { headers: 0, count: 0, has_executable_stack: false });
    let mut machine = Machine::builder(program).quantum(1).build().expect("the program fits");
    let sp = machine.cpu(0).unwrap().sp;
    machine.write(0, sp, &[0; 4]).unwrap();
    for _ in 0..3 {
        machine.run(100).unwrap();
        let cpu = machine.cpu(0).unwrap();
        assert_eq!(
            (machine.stop(0).unwrap(), cpu.steps, cpu.pc),
            (Some(Stop::Deadlock), 13, 0x1_0028),
            "the futex"
        );
        machine.resume(0).unwrap();
    }
}
