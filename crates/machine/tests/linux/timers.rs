//! Tests of timers and of files of signals, whose results were not those of Linux.

use crate::support::{Caller, DATA};

const EINVAL: i64 = -22;
const SIGNAL: u64 = 40;
const CREATE: u64 = 107;
const GETTIME: u64 = 108;
const OVERRUN: u64 = 109;
const SETTIME: u64 = 110;
const TIMEDWAIT: u64 = 137;

impl Caller {
    fn words<const N: usize>(&mut self, address: u64) -> [u32; N] {
        let bytes = self.read(address, 4 * N);
        std::array::from_fn(|at| {
            u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four bytes"))
        })
    }

    /// Sleeps for a number of milliseconds.
    fn sleep(&mut self, milliseconds: u64) {
        self.write(DATA + 0x800, &[0, milliseconds * 1_000_000].map(u64::to_le_bytes).concat());
        assert_eq!(self.call(101, &[DATA + 0x800, 0]), 0, "nanosleep");
    }

    /// Blocks the signal and makes a timer that sends it, with the value 7.
    fn timer(&mut self) -> u64 {
        self.write(DATA, &(1_u64 << (SIGNAL - 1)).to_le_bytes());
        assert_eq!(self.call(135, &[0, DATA, 0, 8]), 0, "the signal is blocked");
        self.write(DATA + 64, &[7, SIGNAL].map(u64::to_le_bytes).concat());
        assert_eq!(self.call(CREATE, &[1, DATA + 64, DATA + 128]), 0, "a timer");
        let [timer] = self.words(DATA + 128);
        timer.into()
    }

    /// Sets a timer: the interval and the first time, in milliseconds.
    fn set(&mut self, timer: u64, interval: u64, first: u64) {
        let times = [0, interval * 1_000_000, 0, first * 1_000_000].map(u64::to_le_bytes).concat();
        self.write(DATA + 64, &times);
        assert_eq!(self.call(SETTIME, &[timer, 0, DATA + 64, 0]), 0, "timer_settime");
    }
}

#[test]
fn a_timer_has_one_pending_signal_that_tells_how_often_it_expired() {
    let mut caller = Caller::new();
    let timer = caller.timer();
    caller.set(timer, 1, 1);
    for _ in 0..5 {
        caller.sleep(2);
    }
    assert_eq!(caller.call(OVERRUN, &[timer]), 0, "no signal was taken");
    assert_eq!(caller.call(TIMEDWAIT, &[DATA, DATA + 256, 0, 8]), SIGNAL as i64, "the signal");
    let [code, _, _, overrun, value] = caller.words(DATA + 264);
    assert_eq!((code as i32, value), (-2, 7), "SI_TIMER and the value");
    assert_eq!(overrun, 9, "ten milliseconds have passed");
    assert_eq!(caller.call(OVERRUN, &[timer]), 9, "timer_getoverrun");
    caller.write(DATA + 0x800, &[0; 16]);
    assert_eq!(caller.call(TIMEDWAIT, &[DATA, 0, DATA + 0x800, 8]), -11, "no other signal waits");
}

#[test]
fn a_file_of_signals_tells_what_linux_tells() {
    let mut caller = Caller::new();
    let timer = caller.timer();
    let file = caller.call(74, &[u64::MAX, DATA, 8, 0o4000]) as u64;
    caller.set(timer, 1, 1);
    caller.sleep(3);
    caller.set(timer, 0, 0);
    let own = caller.call(172, &[]) as u64;
    caller.write(
        DATA + 256,
        &[SIGNAL, u64::from(u32::MAX), own, 0x1122_3344_5566].map(u64::to_le_bytes).concat(),
    );
    assert_eq!(caller.call(138, &[own, SIGNAL, DATA + 256]), 0, "rt_sigqueueinfo");
    assert_eq!(caller.call(63, &[file, DATA + 1024, 1000]), 256, "both signals at once");
    let record: [u32; 14] = caller.words(DATA + 1024);
    let number = SIGNAL as u32;
    assert_eq!(
        record,
        [number, 0, -2_i32 as u32, 0, 0, 0, timer as u32, 0, 0, 0, 0, 7, 7, 0],
        "of the timer"
    );
    let record: [u32; 14] = caller.words(DATA + 1024 + 128);
    let expected = [number, 0, u32::MAX, own as u32, 0, 0, 0, 0, 0, 0, 0, 0x3344_5566, 0x3344_5566, 0x1122];
    assert_eq!(record, expected, "of the process, without a status");
}

#[test]
fn a_stopped_timer_has_the_interval_that_linux_shows() {
    let mut caller = Caller::new();
    let timer = caller.timer();
    caller.set(timer, 3, 0);
    assert_eq!(caller.call(GETTIME, &[timer, DATA + 64]), 0, "timer_gettime");
    assert_eq!(caller.read(DATA + 64, 32), [0; 32], "a timer of a process has none");
    assert_eq!(caller.call(SETTIME, &[timer, 0, 0, 0]), EINVAL, "no times");
    let (get, set) = (102, 103);
    for (which, expected) in [(0, 0), (1, 5), (2, 5)] {
        caller.write(DATA + 64, &[5_u64, 0, 0, 0].map(u64::to_le_bytes).concat());
        assert_eq!(caller.call(set, &[which, DATA + 64, 0]), 0, "setitimer");
        assert_eq!(caller.call(get, &[which, DATA + 64]), 0, "getitimer");
        assert_eq!(caller.words(DATA + 64), [expected, 0, 0, 0], "the interval of timer {which}");
    }
}
