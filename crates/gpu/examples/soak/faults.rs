//! Faults, and how they are injected into a call.

use kvrm_gpu::{Device, GpuEngine};
use kvrm_testkit::random::Random;

use crate::report::{Kind, Tally};

/// What goes wrong in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The device is lost before it.
    LostBefore,
    /// The device is lost at its call of wgpu of this number, from 1.
    LostAt(u32),
    /// The device is lost when the observer of a run has been called so often; other calls are as with `None`.
    LostAfterSlices(u32),
    /// After so many buffers, so many are refused.
    Refused { made: u32, count: u32 },
}

impl Fault {
    /// A fault, most often none. A loss takes far longer than others, as all kernels have to be compiled again.
    pub(crate) fn random(random: &mut Random) -> Self {
        match random.below(100) {
            0 => Self::LostBefore,
            1 => Self::LostAt(1 + random.below(90) as u32),
            2 => Self::LostAfterSlices(1 + random.below(6) as u32),
            3..70 => Self::Refused { made: random.below(6) as u32, count: 1 + random.below(4) as u32 },
            _ => Self::None,
        }
    }

    /// Injects it into what the device is asked to do next.
    pub(crate) fn arm(self, device: &Device) -> Armed {
        let armed = Armed {
            device: device.clone(),
            was_lost: device.check("injecting a fault").is_err(),
            refusals: device.refusals(),
        };
        match self {
            Self::None | Self::LostAfterSlices(_) => {}
            Self::LostBefore => device.raw().destroy(),
            Self::LostAt(calls) => device.lose_at(calls),
            Self::Refused { made, count } => device.refuse_buffers(made, count),
        }
        armed
    }
}

/// A device into which a fault was injected.
#[derive(Debug)]
pub(crate) struct Armed {
    device: Device,
    was_lost: bool,
    refusals: u32,
}

impl Armed {
    /// The device.
    pub(crate) const fn device(&self) -> &Device {
        &self.device
    }

    /// Takes the fault back if it has not struck, and counts it if it has. Says whether memory was refused.
    pub(crate) fn disarm(self, tally: &mut Tally) -> bool {
        self.device.lose_at(0);
        self.device.refuse_buffers(0, 0);
        if !self.was_lost && self.device.check("looking for a fault").is_err() {
            tally.fault(Kind::DeviceLost);
        }
        let was_refused = self.device.refusals() != self.refusals;
        if was_refused {
            tally.fault(Kind::MemoryRefused);
        }
        was_refused
    }
}

/// The device that the process has open, or another one if that was lost.
pub(crate) fn open() -> Result<Device, String> {
    Ok(GpuEngine::open(None).map_err(|error| format!("no device can be opened: {error}"))?.device().clone())
}
