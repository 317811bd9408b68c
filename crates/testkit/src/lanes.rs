//! The observable state of lanes, with which tests compare engines.

use std::fmt;

use kvrm_machine::{Cpu, Error, Executor, Machine, PAGE_BYTES, Stop, Stream};

/// The observable state of a lane.
#[derive(Clone, PartialEq)]
pub struct Lane {
    /// The lane's stop, if it has stopped.
    pub stop: Option<Stop>,
    /// The registers and the number of steps.
    pub cpu: Cpu,
    /// The addresses of the written pages, in rising order.
    pub private_pages: Vec<u64>,
    /// The content of each page in `private_pages`; empty if the page is no longer mapped.
    pub memory: Vec<Vec<u8>>,
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stop, cpu, private_pages, memory } = self;
        write!(f, "{stop:?}\n{cpu:?}")?;
        for (page, bytes) in private_pages.iter().zip(memory) {
            // A checksum instead of the whole page, for readable messages.
            let sum = bytes.iter().fold(0_u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            writeln!(f, "page {page:x} with sum {sum:016x}")?;
        }
        Ok(())
    }
}

/// Returns the state of each lane of an executor.
///
/// # Errors
/// If the engine fails.
pub fn of_executor(executor: &mut dyn Executor) -> Result<Vec<Lane>, Error> {
    let lanes = 0..executor.lanes();
    let private_pages =
        lanes.clone().map(|lane| executor.private_pages(lane)).collect::<Result<Vec<_>, _>>()?;
    let ranges: Vec<_> = lanes
        .flat_map(|lane| private_pages[lane].iter().map(move |&page| (lane, page, PAGE_BYTES)))
        .collect();
    executor.prefetch(&ranges)?;
    let seen = private_pages.into_iter().enumerate().map(|(lane, private_pages)| {
        let memory = pages(&private_pages, |page, bytes| executor.read_memory(lane, page, bytes, None))?;
        Ok(Lane { stop: executor.stop(lane)?, cpu: executor.cpu(lane)?, private_pages, memory })
    });
    seen.collect()
}

/// A lane with the bytes it has written to the standard output and the standard error output.
pub type LaneWithOutputs = (Lane, [Vec<u8>; 2]);

/// Returns the state and the outputs of each lane of a machine.
///
/// # Errors
/// If the engine fails.
pub fn of_machine(machine: &mut Machine) -> Result<Vec<LaneWithOutputs>, Error> {
    let seen = (0..machine.lanes()).map(|lane| {
        let private_pages = machine.private_pages(lane)?;
        let memory = pages(&private_pages, |page, bytes| match machine.read(lane, page, bytes) {
            Ok(()) => Ok(Ok(())),
            Err(Error::Memory { stop, .. }) => Ok(Err(stop)),
            Err(error) => Err(error),
        })?;
        let output = machine.output(lane, Stream::Output)?.to_vec();
        let error_output = machine.output(lane, Stream::Error)?.to_vec();
        let seen = Lane { stop: machine.stop(lane)?, cpu: machine.cpu(lane)?, private_pages, memory };
        Ok((seen, [output, error_output]))
    });
    seen.collect()
}

/// Returns the content of each page; empty if the page is not mapped.
fn pages(
    addresses: &[u64],
    mut read: impl FnMut(u64, &mut [u8]) -> Result<Result<(), Stop>, Error>,
) -> Result<Vec<Vec<u8>>, Error> {
    let page = |&address: &u64| {
        let mut bytes = vec![0; PAGE_BYTES];
        Ok(if read(address, &mut bytes)?.is_ok() { bytes } else { Vec::new() })
    };
    addresses.iter().map(page).collect()
}
