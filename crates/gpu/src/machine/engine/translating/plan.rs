//! The ways that are tried: regions of hot code, sizes of workgroups, and votes on stages.

use std::sync::Arc;

use kvrm_translate::{Region, to_wgsl};

use super::super::lanes::GpuExecutor;
use super::super::translator::{HotCode, RegionSet, Way};
use crate::device::error::Error;
use crate::machine::store::regions::RegionCode;
use crate::machine::translation::Translation;

/// The largest number of instructions in regions together, and the largest number of edges between hot blocks and others
/// of their region, for up to so many lanes: of a small and of a large choice of regions. Fewer lanes have more of the
/// GPU's registers.
const SIZES: [(usize, [(usize, usize); 2]); 2] =
    [(4096, [(300, 3), (1200, 16)]), (usize::MAX, [(150, 3), (400, 12)])];
/// The same for the only choice of regions on a CPU that runs shaders. Mesa's llvmpipe crashes if code is nested deeper
/// than 80 conditions, and it nests what is behind a `return` in a condition.
const SIZE_ON_CPU: (usize, usize) = (100, 3);
/// The number of workgroups of a few lanes each. Translated code gains more than the interpreter if lanes do not share
/// workgroups.
const SMALL_WORKGROUPS: usize = 1 << 14;

impl GpuExecutor {
    /// Makes regions of hot code, decides which ways to try, and has them compiled.
    pub(super) fn plan(&mut self, hot: HotCode) -> Result<(), Error> {
        let sizes = match self.translator.bounds {
            Some(bounds) => vec![(bounds.instructions, bounds.distance)],
            None if self.store.device.info().is_software() => vec![SIZE_ON_CPU],
            None => {
                let of = SIZES.iter().find(|(lanes, _)| self.store.lanes <= *lanes);
                of.map_or(Vec::new(), |(_, sizes)| sizes.to_vec())
            }
        };
        let sets = self.region_sets(&Arc::new(hot), &sizes, false)?;
        let plan = self.ways_with(&sets);
        let translator = &mut self.translator;
        let is_new = !plan.iter().map(Way::id).eq(translator.plan.iter().map(Way::id));
        let cost = translator.busy - translator.sampling_began;
        translator.drift.sampled(translator.busy, cost, is_new);
        translator.probe = HotCode::default();
        if is_new {
            translator.plan = plan;
            self.order();
        }
        Ok(())
    }

    /// Makes sets of regions of several sizes from samples: the largest number of instructions, and the largest number of
    /// edges between hot blocks and others. A set with the text of an earlier one is that one.
    pub(super) fn region_sets(
        &mut self,
        hot: &Arc<HotCode>,
        sizes: &[(usize, usize)],
        is_remembered: bool,
    ) -> Result<Vec<Arc<RegionSet>>, Error> {
        let mut sets: Vec<Arc<RegionSet>> = Vec::new();
        for &size in sizes {
            let (regions, covered) = self.hot_regions(hot, size)?;
            let translation = to_wgsl(&regions);
            let is_this = |set: &&Arc<RegionSet>| *set.text == *translation.text;
            if regions.is_empty() || sets.iter().any(|set| is_this(&set)) {
                continue;
            }
            let known = self.translator.plan.iter().chain(&self.translator.ways);
            let set = match known.filter_map(|way| way.set.as_ref()).find(is_this) {
                Some(set) => Arc::clone(set),
                None => Arc::new(RegionSet {
                    code: RegionCode::new(&self.store.device, &translation)?,
                    text: translation.text.into(),
                    instructions: regions.iter().map(Region::instructions).sum(),
                    regions,
                    covered,
                    hot: Arc::clone(hot),
                    size,
                    is_remembered,
                }),
            };
            sets.push(set);
        }
        Ok(sets)
    }

    /// Returns the ways to run lanes with some sets of regions, in the order in which they are compiled.
    fn ways_with(&self, sets: &[Arc<RegionSet>]) -> Vec<Way> {
        let way = |set: Option<&Arc<RegionSet>>, workgroup| Way::new(set.cloned(), workgroup);
        let usual = self.workgroup;
        if self.translator.translation == Translation::Always {
            return sets.last().map(|set| way(Some(set), usual)).into_iter().collect();
        }
        let lanes = self.store.lanes.div_ceil(SMALL_WORKGROUPS).next_power_of_two();
        let small = usual.min(u32::try_from(lanes).unwrap_or(usual));
        let mut ways = Vec::new();
        for set in sets {
            if small < usual {
                ways.push(way(Some(set), small));
            }
            ways.push(way(Some(set), usual));
        }
        if sets.is_empty() {
            return ways;
        }
        if usual > 2 {
            ways.push(way(None, usual / 2));
        }
        if self.store.may_vote(usual) {
            ways.push(Way { votes: true, ..way(None, usual) });
        }
        ways
    }
}
