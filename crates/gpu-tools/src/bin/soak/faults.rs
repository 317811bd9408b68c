//! Faults and their injection into calls.

use kvrm_gpu::{Device, GpuEngine};
use kvrm_testkit::random::Random;

use crate::report::{FaultKind, Tally};

/// A fault to inject into a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No fault.
    None,
    /// The device is lost before the call.
    LostBefore,
    /// The device is lost at the `n`th wgpu call, counted from 1.
    LostAt(u32),
    /// The device is lost when the observer of a run is called for the `n`th time. Other calls have no fault.
    LostAfterSlices(u32),
    /// After `made` buffers, `count` buffers are refused.
    Refused { made: u32, count: u32 },
}

impl Fault {
    /// Returns a random fault. Losses are rare, because they take far longer than other faults: all kernels have to be
    /// compiled again.
    pub(crate) fn random(random: &mut Random) -> Self {
        match random.below(100) {
            0 => Self::LostBefore,
            1 => Self::LostAt(1 + random.below(90) as u32),
            2 => Self::LostAfterSlices(1 + random.below(6) as u32),
            3..70 => Self::Refused { made: random.below(6) as u32, count: 1 + random.below(4) as u32 },
            _ => Self::None,
        }
    }

    /// Injects the fault into the next operations of the device.
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
    /// Returns the device.
    pub(crate) const fn device(&self) -> &Device {
        &self.device
    }

    /// Counts the fault if it has happened, and cancels it otherwise. Returns whether memory was refused.
    pub(crate) fn disarm(self, tally: &mut Tally) -> bool {
        self.device.lose_at(0);
        self.device.refuse_buffers(0, 0);
        if !self.was_lost && self.device.check("looking for a fault").is_err() {
            tally.fault(FaultKind::DeviceLost);
        }
        let was_refused = self.device.refusals() != self.refusals;
        if was_refused {
            tally.fault(FaultKind::MemoryRefused);
        }
        was_refused
    }
}

/// Returns the device that the process has open. Opens it again if it was lost.
pub(crate) fn open() -> Result<Device, String> {
    Ok(GpuEngine::open(None).map_err(|error| format!("no device can be opened: {error}"))?.device().clone())
}
