//! The compiled kernels that the networks share, and pipelines with the layouts of their groups.

use kvrm_shaders::interface::networks::{
    LayersGroup, Linear, LinearGroup, LinearGroups, Lstm, LstmGroup, LstmGroups,
};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::kernel::{Kernel, Layout};

/// The invocations of the workgroups whose size is not fixed.
pub(crate) const WORKGROUP: u32 = 32;

/// A pipeline, and the layout of the group that has its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) pipeline: wgpu::ComputePipeline,
    pub(crate) layout: Layout,
}

/// Returns the stage of an entry point.
macro_rules! stage {
    ($device:ident, $layers:expr, $kernel:expr, $entry:expr, $group:ident, $groups:ident { $field:ident }, $overrides:expr) => {{
        let layout = $crate::device::kernel::Layout::of::<$group<()>>($device, 0)?;
        let groups = $groups { layers: $layers, $field: &layout };
        $crate::layers::kernels::Stage { pipeline: $kernel.pipeline($entry, groups, $overrides)?, layout }
    }};
}

pub(crate) use stage;

/// The kernels of the layers that all networks have.
#[derive(Debug)]
pub(crate) struct LayerKernels {
    /// The layout of the group of buffers that all kernels share.
    pub(crate) group: Layout,
    pub(crate) linear: Stage,
    pub(crate) lstm: Stage,
}

impl LayerKernels {
    pub(crate) fn new(device: &Device) -> Result<Self, Error> {
        let group = Layout::of::<LayersGroup<()>>(device, 0)?;
        let linear = Kernel::compile(device, Linear)?;
        let lstm = Kernel::compile(device, Lstm)?.without_zeroes();
        Ok(Self {
            linear: stage!(device, &group, linear, Linear::LINEAR, LinearGroup, LinearGroups { linear }, ()),
            lstm: stage!(device, &group, lstm, Lstm::RUN_SEQUENCES, LstmGroup, LstmGroups { lstm }, ()),
            group,
        })
    }
}
