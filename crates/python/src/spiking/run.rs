//! Runs in parts of some tenths of a second, between which Python looks for Ctrl-C and shows the progress.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kvrm::spiking::{Error, Simulation};

/// The approximate time of a part. The call for a part takes microseconds on a CPU, and some milliseconds on a GPU.
const PART: Duration = Duration::from_millis(200);
/// The number of steps of the first part.
const FIRST_STEPS: u64 = 16;

/// The number of steps of the next part. It follows the speed of the network, from run to run.
#[derive(Debug)]
pub(super) struct Pace(u64);

impl Default for Pace {
    fn default() -> Self {
        Self(FIRST_STEPS)
    }
}

impl Pace {
    fn adapt(&mut self, steps: u64, took: Duration) {
        if took > 2 * PART {
            self.0 = (steps / 2).max(1);
        } else if steps == self.0 && took < PART / 2 {
            self.0 = self.0.saturating_mul(2);
        }
    }
}

/// Runs `steps` steps in parts. `look` is called after each part, and may end the run. The state after the run does not depend on
/// the parts.
///
/// # Errors
/// [`Error::RecordingOverflow`] after all steps if spikes were lost; or the engine failed, after the parts before.
pub(super) fn run(
    simulation: &mut Simulation,
    pace: &mut Pace,
    steps: u64,
    mut look: impl FnMut(u64, Duration) -> ControlFlow<()>,
) -> Result<(), Error> {
    let (whole, mut done, mut overflow) = (Instant::now(), 0, Ok(()));
    while done < steps {
        let part = pace.0.min(steps - done);
        let begin = Instant::now();
        match simulation.run(part) {
            // As in one run, the steps after the first lost spike are executed, too.
            Err(error @ Error::RecordingOverflow { .. }) => overflow = Err(error),
            other => other?,
        }
        pace.adapt(part, begin.elapsed());
        done += part;
        if look(done, whole.elapsed()).is_break() {
            break;
        }
    }
    overflow
}
