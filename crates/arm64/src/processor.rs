//! Processors by name, as sets of features.

use crate::Features;

/// A processor whose features a machine may have.
///
/// ```
/// use kvrm_arm64::Processor;
///
/// let processor = Processor::from_name("neoverse-n1").expect("it is a processor");
/// assert!(processor.features().lse && !Processor::CortexA72.features().lse);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Processor {
    /// Arm Cortex-A53, of Armv8.0 with the cryptographic instructions.
    CortexA53,
    /// Arm Cortex-A72, of Armv8.0 with the cryptographic instructions.
    CortexA72,
    /// Arm Neoverse N1, of Armv8.2.
    NeoverseN1,
    /// No processor that exists: all features that KVRM has.
    Max,
}

impl Processor {
    /// All processors, those with the fewest features first.
    pub const ALL: [Self; 4] = [Self::CortexA53, Self::CortexA72, Self::NeoverseN1, Self::Max];

    /// Returns the name, as GCC and QEMU have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CortexA53 => "cortex-a53",
            Self::CortexA72 => "cortex-a72",
            Self::NeoverseN1 => "neoverse-n1",
            Self::Max => "max",
        }
    }

    /// Looks up a processor by its name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|processor| processor.name() == name)
    }

    /// Returns the optional features of the processor that KVRM has.
    #[must_use]
    pub const fn features(self) -> Features {
        let armv8_0 =
            Features { fp: true, aes: true, pmull: true, sha1: true, sha256: true, ..Features::ARMV8_0 };
        match self {
            Self::CortexA53 | Self::CortexA72 => armv8_0,
            Self::NeoverseN1 => Features {
                lse: true,
                rdm: true,
                fp16: true,
                dotprod: true,
                lrcpc: true,
                ssbs: true,
                ..armv8_0
            },
            Self::Max => Features::ALL,
        }
    }
}
