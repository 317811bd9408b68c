//! The state of a lane between two intervals of a run.

use std::collections::{BTreeMap, BTreeSet};

use kvrm_machine::{Cpu, Error, Machine, PAGE_BYTES, Stop, Stream};

/// The two streams of a program.
const STREAMS: [Stream; 2] = [Stream::Output, Stream::Error];

/// The state of a lane, as a difference from the lane that was forked.
pub(crate) struct State {
    pub(crate) cpu: Cpu,
    pub(crate) stop: Option<Stop>,
    /// The pages that the lane has written, by their addresses.
    pages: BTreeMap<u64, Vec<u8>>,
    /// All bytes that the lane has written to each stream.
    streams: [Vec<u8>; 2],
}

impl State {
    /// Reads the state of a lane of a fork.
    pub(crate) fn of(machine: &mut Machine, lane: usize) -> Result<Self, Error> {
        let pages = machine.private_pages(lane)?.into_iter().collect();
        let pages = read_pages(machine, lane, &pages)?;
        let stream = |stream| machine.output(lane, stream).map(<[u8]>::to_vec);
        let [output, error_output] = STREAMS.map(stream);
        let streams = [output?, error_output?];
        Ok(Self { cpu: machine.cpu(lane)?, stop: machine.stop(lane)?, pages, streams })
    }

    /// Gives a lane this state. The lane has to be as it was when it was forked; its output stays empty.
    pub(crate) fn load(&self, machine: &mut Machine, lane: usize) -> Result<(), Error> {
        for run in runs(self.pages.keys().copied()) {
            let bytes: Vec<u8> =
                run.clone().step_by(PAGE_BYTES).flat_map(|page| &self.pages[&page]).copied().collect();
            machine.write(lane, run.start, &bytes)?;
        }
        machine.set_cpu(lane, &self.cpu)
    }

    /// Returns the first difference of a lane that began in the state `before` from this state, in which it should be now.
    /// `base` is the machine that was forked.
    pub(crate) fn difference(
        &self,
        before: &Self,
        machine: &mut Machine,
        lane: usize,
        base: &mut Machine,
    ) -> Result<Option<String>, Error> {
        let Self { cpu, stop, streams, .. } = Self::of(machine, lane)?;
        if stop != self.stop {
            return Ok(Some(format!("the stop is {stop:?}: expected {:?}", self.stop)));
        }
        if cpu != self.cpu {
            return Ok(Some(format!("the registers are {cpu:?}: expected {:?}", self.cpu)));
        }
        for (ours, (all, old)) in streams.iter().zip(self.streams.iter().zip(&before.streams)) {
            let [ours, theirs] = [ours, &all[old.len()..]].map(String::from_utf8_lossy);
            if ours != theirs {
                return Ok(Some(format!("it printed {ours:?}: expected {theirs:?}")));
            }
        }
        // A page that only one of them has written may still have the same contents.
        let written: BTreeSet<u64> =
            machine.private_pages(lane)?.into_iter().chain(self.pages.keys().copied()).collect();
        let ours = read_pages(machine, lane, &written)?;
        let others = written.iter().filter(|page| !self.pages.contains_key(page)).copied().collect();
        let unwritten = read_pages(base, 0, &others)?;
        let wrong = ours.into_iter().find(|(page, bytes)| {
            let expected = self.pages.get(page).or_else(|| unwritten.get(page));
            expected.is_none_or(|expected| expected != bytes)
        });
        Ok(wrong.map(|(page, _)| format!("the memory at {page:#x} differs")))
    }
}

/// Returns the contents of pages of a lane.
fn read_pages(
    machine: &mut Machine,
    lane: usize,
    pages: &BTreeSet<u64>,
) -> Result<BTreeMap<u64, Vec<u8>>, Error> {
    let mut contents = BTreeMap::new();
    for run in runs(pages.iter().copied()) {
        let mut bytes = vec![0; (run.end - run.start) as usize];
        machine.read(lane, run.start, &mut bytes)?;
        contents.extend(run.step_by(PAGE_BYTES).zip(bytes.chunks_exact(PAGE_BYTES).map(<[u8]>::to_vec)));
    }
    Ok(contents)
}

/// Returns the ranges of addresses of pages that follow one another. The pages have to rise.
fn runs(pages: impl IntoIterator<Item = u64>) -> Vec<std::ops::Range<u64>> {
    let mut runs: Vec<std::ops::Range<u64>> = Vec::new();
    for page in pages {
        let end = page + PAGE_BYTES as u64;
        match runs.last_mut() {
            Some(run) if run.end == page => run.end = end,
            _ => runs.push(page..end),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use kvrm_machine::{Program, Register};

    use super::*;

    #[test]
    fn differences_of_memory_and_registers_are_found() {
        let count = [0x9100_0400, 0x17ff_ffff]; // add x0, x0, #1; b back to it
        let program = Program::from_code(0x1000, &count).expect("it is a program");
        let mut base = Machine::builder(program).build().expect("a machine");
        base.run(0).expect("it runs");
        let mut leader = base.fork(0, 1).expect("a fork");
        leader.write(0, 0x1800, &[7]).expect("the page is mapped");
        let before = State::of(&mut leader, 0).expect("a state");
        leader.run(10).expect("it runs");
        leader.write(0, 0x1801, &[8]).expect("the page is mapped");
        let after = State::of(&mut leader, 0).expect("a state");

        let mut lanes = base.fork(0, 2).expect("a fork");
        before.load(&mut lanes, 1).expect("the state fits");
        let mut difference = |lanes: &mut Machine| {
            let difference = after.difference(&before, lanes, 1, &mut base).expect("it can be read");
            difference.unwrap_or_default()
        };
        assert!(difference(&mut lanes).starts_with("the registers are"), "before the interval");
        lanes.run(10).expect("it runs");
        assert_eq!(difference(&mut lanes), "the memory at 0x1000 differs");
        lanes.write(1, 0x1801, &[8]).expect("the page is mapped");
        assert_eq!(difference(&mut lanes), "", "as the leader");
        lanes.set_registers(1, Register::X(5), &[1]).expect("there is such a lane");
        assert!(difference(&mut lanes).starts_with("the registers are"), "after a change");
    }

    #[test]
    fn pages_that_follow_one_another_are_a_run() {
        assert_eq!(runs([0x1000, 0x2000, 0x5000]), [0x1000..0x3000, 0x5000..0x6000]);
        assert_eq!(runs([]), []);
    }
}
