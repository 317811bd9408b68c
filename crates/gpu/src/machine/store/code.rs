//! Code pages: the lowering of frames into pages of micro-ops, and the displacement of pages.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use kvrm_arm64::micro_op::MicroOp;
use kvrm_shaders::interface::machine::{DecisionsGroup, DecodeGroup, DigestGroup};
use kvrm_shaders::layout::{DISPATCH_ROW, INFO_AWAY, PAGE_OPS};

use super::limits::{CODE_PAGE_BYTES, OP_BYTES, is_full, sizes};
use super::parameters::Launch;
use super::resident::Store;
use crate::device::buffer::Buffer;
use crate::device::error::{Error, Request};
use crate::machine::kernels::WORKGROUP;

impl Store {
    /// Returns the micro-ops of the first `pages` code pages.
    pub(crate) fn micro_ops(&self, pages: usize) -> Result<Vec<MicroOp>, Error> {
        let bytes = pages as u64 * u64::from(PAGE_OPS) * OP_BYTES;
        let contents = self.device.download(&[(&self.micro_ops, 0..bytes)])?;
        Ok(bytemuck::pod_collect_to_vec(&contents[0]).into_iter().map(MicroOp::from_words).collect())
    }

    /// Returns the micro-ops of some code pages.
    pub(crate) fn micro_ops_of(&self, pages: &[u32]) -> Result<Vec<Vec<MicroOp>>, Error> {
        let place = |page: &u32| u64::from(*page) * CODE_PAGE_BYTES..u64::from(*page + 1) * CODE_PAGE_BYTES;
        let ranges: Vec<_> = pages.iter().map(|page| (&self.micro_ops, place(page))).collect();
        let contents = self.device.download(&ranges)?;
        let ops = |bytes: &Vec<u8>| {
            bytemuck::pod_collect_to_vec::<u8, [u32; 4]>(bytes).into_iter().map(MicroOp::from_words).collect()
        };
        Ok(contents.iter().map(ops).collect())
    }

    /// Returns the frame of each code page.
    pub(crate) fn code_pages(&self) -> &[u32] {
        &self.code_pages
    }

    /// Replaces the host's record of the frame of a code page, for tests. Returns the previous record.
    pub(crate) fn exchange_code_page(&mut self, page: u32, frame: u32) -> u32 {
        std::mem::replace(&mut self.code_pages[page as usize], frame)
    }

    /// Checks that a lane's request to lower a frame names a frame and a code page that exist. The request has the form
    /// of a job of [`Store::decode`].
    pub(crate) fn check_code(&self, (frame, code): (u32, u32), frames: u32) -> Result<(), Request> {
        let pages = self.code_pages.len() as u32;
        if frame >= frames {
            return Err(Request::Frame { frame, frames });
        }
        if code > pages {
            return Err(Request::CodePage { page: code - 1, pages });
        }
        Ok(())
    }

    /// Returns the frames of jobs of [`Store::decode`] that are away.
    pub(crate) fn away(&self, jobs: &[(u32, u32)]) -> Result<Vec<u32>, Error> {
        let frames: BTreeSet<u32> = jobs.iter().map(|job| self.frame_of(*job)).collect();
        let frames: Vec<u32> = frames.into_iter().collect();
        let rows: Vec<_> =
            frames.iter().map(|&frame| (&self.info, self.info_places(&(frame..frame + 1)))).collect();
        let info = self.device.download(&rows)?;
        let is_away = |bytes: &Vec<u8>| {
            let [_, high, ..] = bytemuck::pod_read_unaligned::<[u32; 4]>(bytes);
            high & INFO_AWAY != 0
        };
        Ok(frames.into_iter().zip(&info).filter(|(_, info)| is_away(info)).map(|(frame, _)| frame).collect())
    }

    /// Returns the frame of a job of [`Store::decode`].
    fn frame_of(&self, (frame, code): (u32, u32)) -> u32 {
        let page = code.checked_sub(1).filter(|_| frame == 0);
        page.and_then(|page| self.code_pages.get(page as usize).copied()).unwrap_or(frame)
    }

    /// Lowers frames. A job is the number of a frame and the number of its code page plus one, or 0 if it has none yet.
    /// Frame 0 with a code page stands for the frame of that code page.
    ///
    /// If there is no room for more code pages, other frames lose theirs, and lanes that fetch from them stop and ask
    /// again. If there is no room for all jobs, some are skipped, in turn.
    pub(crate) fn decode(&mut self, jobs: &[(u32, u32)]) -> Result<(), Error> {
        let mut wanted: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        for &(frame, code) in jobs {
            wanted.insert(self.frame_of((frame, code)), code.checked_sub(1));
        }
        let new = wanted.values().filter(|page| page.is_none()).count();
        let room = self.room_for_code(self.code_pages.len() + new)?;
        // Begin after the last frame that was lowered, so that jobs take turns.
        let behind = wanted.range(self.last_lowered.saturating_add(1)..);
        let served: Vec<(u32, Option<u32>)> = behind
            .chain(wanted.range(..=self.last_lowered))
            .take(room)
            .map(|(frame, page)| (*frame, *page))
            .collect();
        let kept: HashSet<u32> = served.iter().filter_map(|(_, page)| *page).collect();
        let there = self.code_pages.len() as u32;
        let (old, victim) = (0..there, self.next_victim as u32);
        let mut free = (there..room as u32)
            .chain(old.map(|page| (page + victim) % there).filter(|page| !kept.contains(page)));
        // The frame, its code page, and the frame that loses this code page, or the same frame again.
        let mut pages: Vec<[u32; 4]> = Vec::with_capacity(served.len());
        let mut next_victim = self.next_victim;
        for &(frame, page) in &served {
            let Some(page) = page.or_else(|| free.next()) else { break };
            let held = self.code_pages.get(page as usize).copied();
            if held.is_some_and(|held| held != frame) {
                next_victim = page as usize + 1;
            }
            pages.push([frame, page, held.unwrap_or(frame), 0]);
        }
        // A dispatch has a limited number of workgroups in its second dimension.
        for pages in pages.chunks(32_768) {
            let list = Buffer::with_contents(&self.device, "pages to decode", pages.as_flattened())?;
            let buffers = DecodeGroup { rows: &self.decode_table, pages: &list };
            let group = self.kernels.layouts.decode.bind(&self.device, buffers)?;
            let launch = Launch { jobs: pages.len() as u32, ..Launch::default() };
            let workgroups = (PAGE_OPS / WORKGROUP, pages.len() as u32, 1);
            let decode = self.kernels.decode(&self.device, self.network_variant())?;
            self.columns.forget_pages();
            self.dispatch(&decode, launch, Some(&group), workgroups)?;
        }
        self.marks_are_old |= !pages.is_empty();
        let used = pages.iter().map(|[_, page, ..]| *page as usize + 1).max().unwrap_or(0);
        self.code_pages.resize(used.max(self.code_pages.len()), 0);
        for [frame, page, ..] in pages {
            self.code_pages[page as usize] = frame;
            self.last_lowered = frame;
        }
        self.next_victim = next_victim;
        Ok(())
    }

    /// Makes room for `wanted` code pages, or for as many as possible. Returns the number of code pages that there is
    /// room for.
    fn room_for_code(&mut self, wanted: usize) -> Result<usize, Error> {
        let there = self.micro_ops.bytes() / CODE_PAGE_BYTES;
        let max = self.code_pages_max as u64;
        let wanted = (wanted as u64).min(max);
        if wanted > there {
            // Rounding up keeps the number of growths small.
            let ample = wanted.next_power_of_two().min(max);
            for pages in std::iter::once(ample).chain(sizes(there, wanted)) {
                match self.try_grow_code(pages) {
                    Ok(()) => break,
                    Err(error) if is_full(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            self.bind()?;
        }
        Ok((self.micro_ops.bytes() / CODE_PAGE_BYTES).min(max) as usize)
    }

    fn try_grow_code(&mut self, pages: u64) -> Result<(), Error> {
        // The words beside the micro-ops grow first, so that there are always enough of them.
        if let Some(bound) = &mut self.network
            && bound.network.variant.is_asked_in_steps()
        {
            bound.network.words.grow(pages * u64::from(PAGE_OPS) * DecisionsGroup::<()>::WORDS_STRIDE)?;
        }
        self.micro_ops.grow(pages * CODE_PAGE_BYTES).map(drop)
    }

    /// Lowers blocks of consecutive words and returns a digest of each, as `machine/digest.wgsl` defines it.
    pub(crate) fn digests(&mut self, blocks: &[u32]) -> Result<Vec<u64>, Error> {
        let list = Buffer::with_contents(&self.device, "blocks", blocks)?;
        let digests = Buffer::zeroed(&self.device, "digests", 8 * blocks.len() as u64)?;
        let buffers = DigestGroup { rows: &self.decode_table, digest_blocks: &list, digests: &digests };
        let group = self.kernels.layouts.digest.bind(&self.device, buffers)?;
        let kernel = self.kernels.digest(&self.device)?;
        let jobs = blocks.len() as u32;
        let workgroups = (jobs.min(DISPATCH_ROW), jobs.div_ceil(DISPATCH_ROW), 1);
        self.dispatch(&kernel, Launch { jobs, ..Launch::default() }, Some(&group), workgroups)?;
        let contents = self.device.download(&[(&digests, 0..8 * blocks.len() as u64)])?;
        Ok(bytemuck::pod_collect_to_vec(&contents[0]))
    }
}
