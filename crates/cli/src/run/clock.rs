//! Programs that wait for a time by looking at the clock again and again.

use anyhow::Result;
use kvrm::{Engine, Fork, Machine, Stop};

/// The steps of a lane that are looked at, from where its budget was used up.
const STEPS: u64 = 20_000;
/// The least number of looks at the clock among them: one in a thousand steps.
const LOOKS_MIN: u64 = STEPS / 1000;

/// `svc #0`, and the instructions that read a counter, without their register.
const SYSTEM_CALL: u32 = 0xd400_0001;
const COUNTERS: [u32; 2] = [0xd53b_e020, 0xd53b_e040];
/// `clock_gettime` and `gettimeofday`.
const CLOCK_CALLS: [u64; 2] = [113, 169];
/// The calls that let time pass: `epoll_pwait`, `pselect6`, `ppoll`, `futex`, `nanosleep` and `clock_nanosleep`.
const SLEEPS: [u64; 6] = [22, 72, 73, 98, 101, 115];

/// Returns whether a lane whose budget is used up looks at the clock all the time, and does not sleep.
///
/// It counts in a copy of the lane, so the lane stays as it is, whichever engine it ran on.
pub(super) fn waits_by_clock(machine: &mut Machine, lane: usize) -> Result<bool> {
    let fork = Fork::new(1).engine(Engine::Reference).console(|_, _, _| {});
    let mut copy = machine.fork_with(lane, fork)?;
    let mut looks = 0;
    for _ in 0..STEPS {
        let cpu = copy.cpu(0)?;
        let mut word = [0; 4];
        if copy.read(0, cpu.pc, &mut word).is_err() {
            break;
        }
        let word = u32::from_le_bytes(word);
        let call = (word == SYSTEM_CALL).then(|| cpu.x(8));
        if call.is_some_and(|number| SLEEPS.contains(&number)) {
            return Ok(false);
        }
        if COUNTERS.contains(&(word & !0x1f)) || call.is_some_and(|number| CLOCK_CALLS.contains(&number)) {
            looks += 1;
        }
        copy.run(1)?;
        if copy.stop(0)? != Some(Stop::Budget) {
            break;
        }
    }
    Ok(looks >= LOOKS_MIN)
}
