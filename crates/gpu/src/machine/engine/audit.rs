//! The audit of the memory on the device: it checks that page tables, chains, frames and code are consistent.
//!
//! The audit copies the memory to the host and checks the copy there, with code that the engine does not use. It
//! checks these rules:
//!
//! - Each frame belongs to the image, or is in the chain of one lane, once (`chains`).
//! - Each entry of a page table leads to the frame that the image has there, or to a frame of the lane for this page
//!   and level. Frames that the lane has taken since the snapshot are marked as owned, and exactly one entry leads to
//!   each. No other frame is marked. The same holds for the pipe windows of the lane (`trees`).
//! - Pages are mapped as in the host's page map. As many pages are marked as written as the lane counts (`trees`).
//! - The host's copies of the state of lanes are those of the device.
//! - The TLBs that lanes keep have entries of their page tables only (`tlb`).
//! - The frames of the image have not changed. Frames and code pages name each other. Each micro-op is stale, or is the
//!   lowering of the word in its frame (`frames`).

mod chains;
mod copy;
mod frames;
mod tlb;
mod trees;

use kvrm_machine::{Damage, Violation};
use kvrm_shaders::layout::{
    COLUMN_BASE, COLUMN_CONSOLE, COLUMN_HEAD, COLUMN_ROOT, COLUMN_TAIL, COLUMN_WINDOW,
};
use rayon::prelude::*;

use self::chains::Chains;
use self::copy::{State, VIOLATIONS_MAX};
use self::trees::Tree;
use super::lanes::GpuExecutor;
use super::words::halves;
use crate::device::error::Error;

/// The columns that say where the memory of a lane is.
const STATE_COLUMNS: [u32; 4] = [COLUMN_ROOT, COLUMN_WINDOW, COLUMN_TAIL, COLUMN_BASE];

impl GpuExecutor {
    /// Checks all memory and returns the violations; see [`kvrm_machine::Executor::audit`].
    pub(super) fn violations(&mut self) -> Result<Vec<Violation>, Error> {
        self.flush_memory()?;
        self.store.columns.flush()?;
        self.remove_markers()?;
        let capacity = self.store.capacity();
        let (used, shared) = (self.frames, self.frames_shared);
        if used > capacity || shared > used {
            return Ok(vec![Violation::new(Damage::FrameCount { used, shared, capacity })]);
        }
        let (memory, mut violations) = self.copy_memory()?;
        let copies = self.store.columns.wrong_copies()?.into_iter();
        violations.extend(
            copies.map(|(column, lane, is, copy)| {
                Violation::new(Damage::Copy { column, is, copy }).of_lane(lane)
            }),
        );
        let (now, before) = (self.states_now()?, self.states_before()?);
        let tlbs = self.copy_tlbs()?;
        let columns = &self.store.columns;
        let heads = columns.cached(COLUMN_HEAD);
        let first = heads.iter().map(|head| halves(*head).1);
        let chains = Chains::follow(&memory, first, &mut violations);

        let lanes = (0..self.store.lanes).into_par_iter().flat_map_iter(|lane| {
            let mut found = Vec::new();
            let before = before.as_ref().map(|states| (states[lane].tail as u32, &states[lane]));
            let shared = before.map_or(0, |(tail, _)| chains.uses(lane, tail, 0, &mut found));
            let used = chains.uses(lane, now[lane].tail as u32, shared, &mut found);
            let image = if self.images.len() == 1 { 0 } else { lane };
            let tree = Tree {
                memory: &memory,
                chains: &chains,
                lane,
                root: memory.roots[image],
                image: self.images[image].map(),
                shared,
                used,
            };
            let allowed = (halves(heads[lane]).0, self.frames_max);
            found.extend(tree.check(&now[lane], &self.maps[lane], false, allowed));
            if let (Some((_, state)), Some(snapshot)) = (before, &self.snapshot) {
                found.extend(tree.check(state, &snapshot.maps[lane], true, allowed));
            }
            found.extend(tlbs.check(&memory, lane, &now[lane]));
            let (waiting, room) = (halves(columns.cached(COLUMN_CONSOLE)[lane]).1, self.store.console_room());
            if waiting > room {
                found.push(Violation::new(Damage::Console { waiting, room }).of_lane(lane));
            }
            found.truncate(VIOLATIONS_MAX);
            found
        });
        violations.extend(lanes.collect::<Vec<_>>());
        violations.truncate(VIOLATIONS_MAX);
        Ok(violations)
    }

    /// Returns the current state of all lanes.
    fn states_now(&mut self) -> Result<Vec<State>, Error> {
        let columns = &mut self.store.columns;
        columns.fetch(STATE_COLUMNS.into_iter().chain([COLUMN_HEAD, COLUMN_CONSOLE]))?;
        let all = STATE_COLUMNS.map(|column| columns.cached(column));
        Ok(states(all))
    }

    /// Returns the state of all lanes in the snapshot, if there is one.
    fn states_before(&self) -> Result<Option<Vec<State>>, Error> {
        let Some(snapshot) = &self.snapshot else { return Ok(None) };
        let bytes = 8 * self.store.lanes as u64;
        let ranges = STATE_COLUMNS.map(|column| {
            let first = u64::from(column) * bytes;
            (&snapshot.state, first..first + bytes)
        });
        let contents = self.store.device.download(&ranges)?;
        let all: Vec<Vec<u64>> = contents.iter().map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect();
        Ok(Some(states([&all[0], &all[1], &all[2], &all[3]])))
    }
}

/// Groups columns by lane.
fn states([roots, windows, tails, bases]: [&[u64]; 4]) -> Vec<State> {
    let words = roots.iter().zip(windows).zip(tails).zip(bases);
    words.map(|(((&root, &window), &tail), &base)| State { root, window, tail, base }).collect()
}
