//! Whether hot code is translated, and the limits of translated regions.

use std::fmt;
use std::path::Path;
use std::time::Duration;

/// When machines on a GPU translate hot code to shaders. Results are the same in every case.
///
/// ```no_run
/// use kvrm_gpu::{GpuEngine, Translation};
/// use kvrm_machine::{Machine, Program};
///
/// let engine = GpuEngine::open(None)?.with_translation(Translation::Off);
/// let mut machine = Machine::builder(Program::open("guests/bin/mix.elf")?).engine(engine).build()?;
/// machine.run(u64::MAX)?;
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Translation {
    /// Never.
    Off,
    /// In runs that take long enough, in the background, and only where it is faster. What is faster is measured on the
    /// running program, and remembered for the next process in the folder that the environment variable `KVRM_CACHE`
    /// names, or in the user's folder for caches. Where the CPU runs the shaders, code is not translated, because
    /// compilers take too long there.
    #[default]
    Auto,
    /// As soon as it is known which code is hot, even if it is slower. Runs wait for the compiler.
    Always,
}

impl Translation {
    /// Returns the name of the value on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Auto => "auto",
            Self::Always => "always",
        }
    }
}

impl fmt::Display for Translation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The sizes of regions, and when they are made, for tests. With these, code is translated without a warm-up, where the CPU
/// runs the shaders, too. Speeds are not measured: a step is taken to be ten times as fast in a region as in the
/// interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionBounds {
    /// The largest number of instructions of a region, and of all regions together.
    pub instructions: usize,
    /// The largest number of edges between hot blocks and others.
    pub distance: usize,
    /// The number of slices at whose ends program counters are sampled. If it is 0, regions begin where lanes are when
    /// the first run starts.
    pub samples: u32,
    /// The largest number of steps that a lane takes in a region before it leaves it.
    pub quantum: u32,
    /// The time over which it is measured whether lanes have got to other code. If they have, code is sampled again, without
    /// pauses. `None` if it is sampled only once.
    pub window: Option<Duration>,
    /// The folder in which choices are remembered, if they are.
    pub folder: Option<&'static Path>,
}
