//! What can run lanes.

use kvrm_arm64::{Access, Cpu, Stop};

use crate::error::Error;

/// Something that runs many lanes of one program.
///
/// Lanes are numbered from 0. Results never depend on the engine: for the same inputs every engine gives the
/// same registers, flags, memory, stops and steps as the [`Reference`](crate::Reference).
pub trait Engine: Send {
    /// A short name for reports.
    fn name(&self) -> &'static str;

    /// How many lanes there are.
    fn lanes(&self) -> usize;

    /// Runs every lane whose stop is `None` until something stops it, or until its steps reach the limit.
    ///
    /// A lane that reaches its limit stops with [`Stop::Budget`]. `limits` has one entry a lane.
    ///
    /// # Errors
    /// If the host or the device fails. Lanes then keep the state they had before.
    fn run(&mut self, limits: &[u64]) -> Result<(), Error>;

    /// Why a lane stopped, or `None` if it can run.
    fn stop(&self, lane: usize) -> Option<Stop>;

    /// Sets or clears the stop of a lane.
    fn set_stop(&mut self, lane: usize, stop: Option<Stop>);

    /// The registers of a lane.
    fn cpu(&self, lane: usize) -> Cpu;

    /// How many steps a lane has retired.
    fn steps(&self, lane: usize) -> u64;

    /// Replaces the registers of a lane.
    fn set_cpu(&mut self, lane: usize, cpu: &Cpu);

    /// Reads a lane's memory, as its guest could (`Some` access) or as the host (`None`: mapped is enough).
    ///
    /// # Errors
    /// The stop the guest would see.
    fn read_memory(
        &self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<(), Stop>;

    /// Writes a lane's memory, as its guest could (`Some` access) or as the host (`None`: mapped is enough).
    ///
    /// # Errors
    /// The stop the guest would see; nothing is written then.
    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<(), Stop>;

    /// The addresses of the pages a lane has written, in order of their first write.
    fn dirty_pages(&self, lane: usize) -> Vec<u64>;

    /// Remembers the state of all lanes. There is one snapshot; a new one replaces it.
    ///
    /// # Errors
    /// If the device fails.
    fn snapshot(&mut self) -> Result<(), Error>;

    /// Takes the given lanes back to the snapshot, at a cost that grows with what they wrote since.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`] if none was taken, or if the device fails.
    fn reset(&mut self, lanes: &[usize]) -> Result<(), Error>;

    /// How many frames all lanes own together.
    fn frames_used(&self) -> usize;

    /// Changes how many frames each lane may own.
    fn set_frames_max(&mut self, frames_max: usize);
}
