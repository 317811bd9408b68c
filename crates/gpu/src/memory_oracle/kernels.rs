//! The compiled kernels of the memory oracle.

use kvrm_shaders::interface::networks::{Accesses, AccessesGroup, AccessesGroups, AccessesOverrides};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::kernel::Kernel;
use crate::layers::kernels::{LayerKernels, Stage, WORKGROUP, stage};

/// All kernels.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) layers: LayerKernels,
    pub(super) access_features: Stage,
}

impl Kernels {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let layers = LayerKernels::new(device)?;
        let accesses = Kernel::compile(device, Accesses)?;
        Ok(Self {
            access_features: stage!(
                device,
                &layers.group,
                accesses,
                Accesses::ACCESS_FEATURES,
                AccessesGroup,
                AccessesGroups { accesses },
                AccessesOverrides { workgroup_size: WORKGROUP }
            ),
            layers,
        })
    }
}
