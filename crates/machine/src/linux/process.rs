//! The kernel's side of a lane.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::descriptors::{Descriptors, Object};
use super::files::{Files, Number};
use super::save::save;
use super::settings::Settings;
use super::signals::Signals;
use crate::call_table::ProcessState;
use crate::console::Stream;
use crate::error::Error;

/// What a lane has written by one call, and where to.
pub(crate) type Written = Vec<(Stream, Vec<u8>)>;

/// The kernel's side of a lane.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(super) lane: u64,
    pub(super) files: Files,
    pub(super) descriptors: Descriptors,
    /// The current directory.
    pub(super) directory: Number,
    pub(super) umask: u32,
    pub(super) input: Arc<[u8]>,
    pub(super) input_position: usize,
    pub(super) settings: Arc<Settings>,
    /// What the executor keeps for the process, while a call is served.
    pub(super) state: ProcessState,
    pub(super) signals: Signals,
    /// How often calls were made that are not served, by number.
    pub(super) unknown: BTreeMap<u64, u64>,
}

impl Process {
    pub(crate) fn new(
        lane: usize,
        files: Files,
        directory: Number,
        settings: Arc<Settings>,
        input: Arc<[u8]>,
    ) -> Self {
        let mut name = [0; 16];
        name[..4].copy_from_slice(b"kvrm");
        Self {
            lane: lane as u64,
            files,
            descriptors: Descriptors::new(),
            directory,
            umask: 0o022,
            input,
            input_position: 0,
            state: ProcessState { heap_end: settings.areas.heap.start, name, ..ProcessState::default() },
            settings,
            signals: Signals::new(),
            unknown: BTreeMap::new(),
        }
    }

    /// Writes what a directory holds to a new one of the host.
    pub(crate) fn save(&self, guest: &str, host: &Path) -> Result<(), Error> {
        let number = self.files.directory(guest);
        let number = number.ok_or_else(|| Error::GuestDirectory { path: guest.to_owned() })?;
        let all = || {
            std::fs::create_dir_all(host.parent().unwrap_or(host))?;
            std::fs::create_dir(host)?;
            save(&self.files, number, &Dir::open_ambient_dir(host, ambient_authority())?, 0)
        };
        all().map_err(|source| Error::Save { guest: guest.to_owned(), host: host.to_owned(), source })
    }

    /// Replaces the console input, of which nothing has been read then.
    pub(crate) fn set_input(&mut self, input: Arc<[u8]>) {
        (self.input, self.input_position) = (input, 0);
    }

    /// The descriptors from 1 to 31 whose output is the console's, a bit each; and bit 0, which lets there be any.
    pub(crate) fn console(&self) -> u32 {
        let is_console = |number: &u32| {
            let found = self.descriptors.get(u64::from(*number));
            found.is_ok_and(|found| found.writes() && found.object == Object::Output(Stream::Output))
        };
        (1..32).filter(is_console).fold(1, |bits, number| bits | 1 << number)
    }

    /// The calls that nobody served since this was last asked.
    pub(crate) fn take_unknown(&mut self) -> BTreeMap<u64, u64> {
        std::mem::take(&mut self.unknown)
    }

    /// Randomness from a position on, which stays: a hash of seed, lane and position.
    pub(super) fn random_bytes(&self, bytes: usize) -> Vec<u8> {
        let byte = |at: u64| {
            let mut hash = self.settings.seed ^ self.lane.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Twice the finalizer of SplitMix64: once for the lane, once for the position.
            for word in [0, at / 8] {
                hash = hash.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
                hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                hash ^= hash >> 31;
            }
            hash.to_le_bytes()[at as usize % 8]
        };
        (0..bytes as u64).map(|at| byte(self.state.random.wrapping_add(at))).collect()
    }
}
