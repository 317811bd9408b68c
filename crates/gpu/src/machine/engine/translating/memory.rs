//! Choices of earlier processes: they are tried first, and stored for the next process.

use std::path::Path;
use std::sync::Arc;

use super::super::lanes::GpuExecutor;
use super::super::remembered::{Choice, ChoiceFile};
use super::super::translator::{HotCode, RegionSet, Translator, Way};
use crate::device::error::Error;
use crate::machine::translation::Translation;
use crate::stored;

impl GpuExecutor {
    /// Looks for the choice of an earlier process, and has its way compiled. Returns whether there is one.
    pub(super) fn recall(&mut self) -> Result<bool, Error> {
        let folder = match self.translator.bounds {
            Some(bounds) => bounds.folder.map(Path::to_owned),
            None => stored::folder(),
        };
        // Lanes with different images are hardly ever run again with the same ones.
        let [image] = &self.images[..] else { return Ok(false) };
        let Some(folder) = folder.filter(|_| self.translator.translation == Translation::Auto) else {
            return Ok(false);
        };
        let adapter = self.store.device.info().to_string();
        let file = self.translator.file.insert(ChoiceFile::new(&folder, &adapter, self.store.lanes, image));
        let Some(choice) = file.read() else { return Ok(false) };
        let Choice { instructions, distance, workgroup, samples, .. } = choice;
        let hot = HotCode { images: [(Arc::as_ptr(image) as usize, (0, samples))].into() };
        // The regions are made from the code that is there now.
        let sets = self.region_sets(&Arc::new(hot), &[(instructions, distance)], true)?;
        let way = |set| Way::new(Some(set), workgroup.min(self.workgroup));
        self.translator.plan = sets.into_iter().map(way).collect();
        self.translator.is_unproven = !self.translator.plan.is_empty();
        self.order();
        Ok(self.translator.is_unproven)
    }

    /// Stores the choice, if it is another than before. The next process begins with the code that was hot first, so
    /// choices for code that is hot later do not count.
    pub(super) fn remember(&mut self) {
        let Translator { file: Some(file), noted, ways, .. } = &self.translator else { return };
        let chosen = &ways[self.translator.chosen()];
        let is_known = |noted: &Way| match (&noted.set, &chosen.set) {
            (Some(first), Some(set)) => noted.is_same(chosen) || !Arc::ptr_eq(&first.hot, &set.hot),
            (first, _) => first.is_some() || chosen.set.is_none(),
        };
        let was_tried = ways.iter().any(|way| way.set.is_some());
        if !was_tried || noted.as_ref().is_some_and(is_known) {
            return;
        }
        let choice = |set: &Arc<RegionSet>| {
            let ((instructions, distance), (_, samples)) = (set.size, set.hot.images.values().next()?);
            let (workgroup, samples) = (chosen.workgroup, samples.clone());
            Some(Choice { instructions, distance, workgroup, speeds: self.translator.speeds()?, samples })
        };
        file.write(chosen.set.as_ref().and_then(choice).as_ref());
        self.translator.noted = Some(chosen.clone());
    }
}
