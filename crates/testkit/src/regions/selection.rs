//! Regions that are selected from samples have the hot code, once.

use std::collections::BTreeSet;

use kvrm_translate::{Flow, Limits, Region, Samples};

use super::control_flow::check_form;
use super::program::Program;

/// The number of steps of which samples are taken. With so few samples, all sampled code is hot.
const STEPS: usize = 1000;

/// Samples every so many steps of a program, checks that the regions selected from them have all code that was sampled,
/// once, if the limits permit it, and returns the regions.
///
/// # Panics
///
/// The regions have other code.
#[must_use]
pub fn check_selection(program: &Program, every: usize, limits: &Limits) -> Vec<Region> {
    let mut lane = program.lane();
    let mut samples = Samples::default();
    let mut pcs = BTreeSet::new();
    for step in 0..STEPS {
        if step % every == 0 {
            samples.add(lane.cpu.pc);
            pcs.insert(lane.cpu.pc);
        }
        if !lane.step() {
            break;
        }
    }
    let regions = samples.regions(limits, |pc| program.fetch(pc));
    let mut covered = BTreeSet::new();
    let mut pages = BTreeSet::new();
    for region in &regions {
        check_form(program, region);
        for pc in region.addresses() {
            assert!(covered.insert(pc), "{pc:#x} is in two regions");
        }
        pages.extend(region.pages());
        assert!(region.addresses().any(|pc| pcs.contains(&pc)), "a region has a sample");
    }
    assert!(covered.len() <= limits.instructions, "{} instructions, {limits:?}", covered.len());
    assert!(pages.len() <= limits.pages, "{} pages, {limits:?}", pages.len());
    // The code of a program is in two pages at most.
    let has_room = limits.instructions >= program.instructions() && limits.pages >= 2;
    for pc in pcs {
        let can_translate = program.fetch(pc).is_some_and(|op| Flow::of(pc, op) != Flow::Stop);
        let is_missing = has_room && can_translate && pc.is_multiple_of(4) && !covered.contains(&pc);
        assert!(!is_missing, "the code at {pc:#x} is in no region");
    }
    regions
}
