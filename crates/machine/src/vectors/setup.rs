//! Validation of vectors, and the machine state before the first step.

use kvrm_arm64::{Cpu, Feature, Features, Processor};

use super::{Bytes, Vector};
use crate::pages::{ADDRESS_BITS, PAGE_BYTES};
use crate::permissions::Permissions;
use crate::segment::Segment;

/// The largest number of steps that a vector may request, so that every vector file finishes.
pub const STEPS_MAX: u64 = 1 << 24;

/// Returns the features that a vector may request.
fn optional() -> impl Iterator<Item = Feature> {
    Features::ALL.without(Features::ARMV8_0)
}

impl Vector {
    /// Checks the conditions that the types do not express: alignment, address ranges, limits, and names of features.
    ///
    /// # Errors
    /// A message that describes the first problem.
    pub fn validate(&self) -> Result<(), String> {
        let fits =
            |at: u64, bytes: usize| at.checked_add(bytes as u64).is_some_and(|end| end <= 1 << ADDRESS_BITS);
        if self.code.is_empty() {
            return Err("`code` is empty, expected at least one word".into());
        }
        if !self.pc.0.is_multiple_of(4) {
            return Err(format!("`pc` is {:#x}, expected a multiple of 4", self.pc.0));
        }
        if !fits(self.pc.0, 4 * self.code.len()) {
            return Err(format!("`code` at {:#x} leaves the {ADDRESS_BITS}-bit address space", self.pc.0));
        }
        if let Some(Bytes { at, .. }) = self.init.mem.iter().find(|mem| !fits(mem.at.0, mem.bytes.len())) {
            return Err(format!("`init.mem` at {:#x} leaves the {ADDRESS_BITS}-bit address space", at.0));
        }
        if let Some(Bytes { at, .. }) = self.expected.mem.iter().find(|mem| !fits(mem.at.0, mem.bytes.len()))
        {
            return Err(format!("`final.mem` at {:#x} leaves the {ADDRESS_BITS}-bit address space", at.0));
        }
        if self.steps > STEPS_MAX {
            return Err(format!("`steps` is {}, expected at most {STEPS_MAX}", self.steps));
        }
        if self.init.pc.is_some() || self.init.stop.is_some() {
            return Err("`init` has a `pc` or a `stop`, which are allowed only in `final`".into());
        }
        if let Some(nzcv) =
            [self.init.nzcv, self.expected.nzcv].into_iter().flatten().find(|nzcv| nzcv.0 > 15)
        {
            return Err(format!("`nzcv` is {:#x}, expected at most four bits", nzcv.0));
        }
        let is_optional = |name: &&String| {
            optional().any(|feature| feature.name() == **name) || Processor::from_name(name).is_some()
        };
        if let Some(feature) = self.features.iter().find(|name| !is_optional(name)) {
            let names: Vec<&str> =
                optional().map(Feature::name).chain(Processor::ALL.map(Processor::name)).collect();
            return Err(format!("unknown feature `{feature}`, expected one of {}", names.join(", ")));
        }
        Ok(())
    }

    /// Returns the features of the machine for this vector.
    #[must_use]
    pub fn machine_features(&self) -> Features {
        self.features.iter().fold(Features::ARMV8_0, |features, name| {
            let processor =
                Processor::from_name(name).map_or(features, |processor| features.union(processor.features()));
            Feature::from_name(name).map_or(processor, |feature| processor.with(feature))
        })
    }

    /// Returns the memory before the first step: code, `init.mem`, and the page of `init.sp`.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        const PAGE: u64 = PAGE_BYTES as u64;
        let code: Vec<u8> = self.code.iter().flat_map(|word| word.0.to_le_bytes()).collect();
        let mut segments = Vec::new();
        let permissions = if self.code_writable { Permissions::RWX } else { Permissions::RX };
        segments.push(Segment { address: self.pc.0, bytes: code.len() as u64, data: code, permissions });
        for Bytes { at, bytes } in &self.init.mem {
            let (address, data) = (at.0, bytes.clone());
            segments.push(Segment { address, bytes: data.len() as u64, data, permissions: Permissions::RW });
        }
        if let Some(sp) = self.init.sp.filter(|sp| sp.0 < 1 << ADDRESS_BITS) {
            let (address, permissions) = (sp.0 & !(PAGE - 1), Permissions::RW);
            segments.push(Segment { address, bytes: PAGE, data: Vec::new(), permissions });
        }
        segments
    }

    /// Returns the registers before the first step.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        let init = &self.init;
        let mut cpu = Cpu::new(self.pc.0, init.sp.map_or(0, |sp| sp.0));
        for (n, value) in &init.x {
            cpu.set_x(n.0, value.0);
        }
        for (n, value) in &init.v {
            cpu.v[n.0 as usize] = value.0;
        }
        cpu.nzcv = init.nzcv.map_or(0, |nzcv| nzcv.0);
        cpu.fpcr = init.fpcr.map_or(0, |fpcr| fpcr.0);
        cpu.fpsr = init.fpsr.map_or(0, |fpsr| fpsr.0);
        cpu.tpidr_el0 = init.tpidr_el0.map_or(0, |tpidr| tpidr.0);
        cpu
    }
}

/// Returns the addresses of the pages that a segment touches.
pub(super) fn pages(segment: &Segment) -> impl Iterator<Item = u64> + use<> {
    let range = segment.range();
    (range.start & !(PAGE_BYTES as u64 - 1)..range.end).step_by(PAGE_BYTES)
}
