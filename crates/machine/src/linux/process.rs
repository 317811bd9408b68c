//! The process of a lane: what Linux keeps for a running program.

use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use super::descriptors::{Descriptors, Object};
use super::files::{Files, InodeNumber};
use super::save::save;
use super::settings::Settings;
use super::signals::Signals;
use super::unserved::UnservedCall;
use crate::call_table::ProcessState;
use crate::console::Stream;
use crate::error::Error;
use crate::shared::share;

/// The console output of a lane during one service, in order: stream and bytes.
pub(super) type ConsoleOutput = Vec<(Stream, Vec<u8>)>;

/// The effects of a service outside of its lane.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) console: ConsoleOutput,
    /// The system call, if KVRM did not serve it.
    pub(crate) unserved: Option<UnservedCall>,
}

/// The process of a lane: its files, descriptors, signals and settings.
///
/// It does not hold the [`ProcessState`], which belongs to the executor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Process {
    /// The number of the lane, from which its random numbers follow.
    pub(super) lane: u64,
    pub(super) files: Files,
    pub(super) descriptors: Descriptors,
    /// The current directory.
    pub(super) directory: InodeNumber,
    pub(super) umask: u32,
    /// The console input.
    #[serde(with = "crate::interned")]
    pub(super) input: Arc<[u8]>,
    /// The number of bytes of the console input that have been read.
    pub(super) input_position: usize,
    #[serde(with = "crate::interned")]
    pub(super) settings: Arc<Settings>,
    /// The process state, copied from the executor while a call is served.
    pub(super) state: ProcessState,
    pub(super) signals: Signals,
}

impl Process {
    /// Makes this equal to `source` without needless writes; see [`shared`](crate::shared).
    pub(crate) fn assign(&mut self, source: &Self) {
        let Self { lane, files, descriptors, directory, umask, input, .. } = source;
        let Self { input_position, settings, state, signals, .. } = source;
        self.files.assign(files);
        share(&mut self.input, input);
        share(&mut self.settings, settings);
        // In most cases these are equal, and a comparison allocates no memory.
        if self.descriptors != *descriptors {
            self.descriptors.clone_from(descriptors);
        }
        if self.signals != *signals {
            self.signals.clone_from(signals);
        }
        (self.lane, self.directory, self.umask) = (*lane, *directory, *umask);
        (self.input_position, self.state) = (*input_position, *state);
    }

    pub(crate) fn new(
        lane: u64,
        files: Files,
        directory: InodeNumber,
        settings: Arc<Settings>,
        input: Arc<[u8]>,
    ) -> Self {
        let mut name = [0; 16];
        name[..4].copy_from_slice(b"kvrm");
        Self {
            lane,
            files,
            descriptors: Descriptors::new(),
            directory,
            umask: 0o022,
            input,
            input_position: 0,
            state: ProcessState { heap_end: settings.areas.heap.start, name, ..ProcessState::default() },
            settings,
            signals: Signals::new(),
        }
    }

    /// Returns whether the position is within the input, and all inodes and descriptions that are named exist. A process from a file
    /// may break that.
    pub(crate) fn is_valid(&self) -> bool {
        self.input_position <= self.input.len()
            && self.files.is_valid()
            && self.files.inode(self.directory).is_some()
            && self.descriptors.is_valid()
    }

    /// Copies the guest directory `guest` to `host`, a directory that must not exist yet.
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

    /// Replaces the console input; reading starts at its beginning.
    pub(crate) fn set_input(&mut self, input: Arc<[u8]>) {
        (self.input, self.input_position) = (input, 0);
    }

    /// Returns the descriptors from 1 to 31 that write to console output, as a mask for
    /// [`Executor::set_console`](crate::Executor::set_console). Bit 0 is always set: it permits the executor to serve
    /// console output at all.
    pub(crate) fn console(&self) -> u32 {
        let is_console = |number: &u32| {
            let found = self.descriptors.get(u64::from(*number));
            found.is_ok_and(|found| found.is_writable() && found.object == Object::Output(Stream::Output))
        };
        (1..32).filter(is_console).fold(1, |bits, number| bits | 1 << number)
    }

    /// Returns the next random bytes, a hash of seed, lane and position, without advancing the position.
    pub(super) fn random_bytes(&self, bytes: usize) -> Vec<u8> {
        let byte = |at: u64| {
            let mut hash = self.settings.seed ^ self.lane.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // The finalizer of SplitMix64, applied twice: once for the lane, once for the position.
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

#[cfg(test)]
mod tests {
    use kvrm_arm64::Features;

    use super::super::files::{Inode, Kind, ROOT};
    use super::super::settings::Areas;
    use super::super::signals::Action;
    use super::*;

    #[test]
    fn an_assignment_leaves_nothing_as_it_was() {
        let process = |lane| {
            let areas = Areas { heap: 0..lane, arena: 0..0, stack_bytes: 0, trampoline: 0 };
            let settings =
                Settings { areas, features: Features::ALL, seed: lane, real_time: None, terminal: false };
            Process::new(lane, Files::new(1000 + lane), ROOT, Arc::new(settings), vec![lane as u8].into())
        };
        let (source, mut changed) = (process(3), process(4));
        // All fields are named here, so that none is forgotten.
        let Process {
            lane: _,
            files,
            descriptors,
            directory,
            umask,
            input: _,
            input_position,
            settings: _,
            state,
            signals,
        } = &mut changed;
        let place = files.walk(ROOT, b"/new", true).expect("the root exists");
        *directory =
            files.add(&place, Inode::new(Kind::Symlink(b"to".to_vec()), 0o777, 5)).expect("there is room");
        descriptors.close(0).expect("it is open");
        signals.set_action(1, Action { handler: 0x1000, ..Action::default() });
        (*umask, *input_position, state.slept) = (0, 1, 7);
        assert_ne!(format!("{changed:?}"), format!("{source:?}"), "they differ");
        changed.assign(&source);
        assert_eq!(format!("{changed:?}"), format!("{source:?}"), "they are equal");
        assert!(Arc::ptr_eq(&changed.settings, &source.settings), "what does not change is shared");
    }
}
