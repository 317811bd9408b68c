//! The service of semihosting calls.

use kvrm_arm64::{Access, Cpu, Stop};

use super::super::lane_state::LaneState;
use super::Rounds;
use crate::error::Error;
use crate::semihosting::{Guest, Outcome, SEMIHOSTING, memory_to_read};

impl Rounds<'_> {
    /// Serves the semihosting calls for which `lanes` have stopped, in the order of their numbers. Returns the number of calls.
    pub(super) fn serve_semihosting(&mut self, lanes: &[usize]) -> Result<u64, Error> {
        let stops = self.executor.stops()?;
        let mut calls = Vec::new();
        for &lane in lanes {
            if stops[lane] == Some(Stop::Halt { imm: SEMIHOSTING }) {
                let cpu = self.executor.cpu(lane)?;
                if let Some(stop) = self.stop_before_call(lane, cpu.x(0)) {
                    self.executor.set_stop(lane, Some(stop))?;
                } else {
                    calls.push((lane, cpu));
                }
            }
        }
        if calls.is_empty() {
            return Ok(0);
        }
        self.prefetch(&calls)?;
        let count = calls.len() as u64;
        for (lane, cpu) in calls {
            self.serve_lane(lane, cpu)?;
        }
        Ok(count)
    }

    /// Prefetches the memory that calls will read: their parameter blocks, and then the data that these point to.
    fn prefetch(&mut self, calls: &[(usize, Cpu)]) -> Result<(), Error> {
        let blocks: Vec<_> = calls.iter().flat_map(|(lane, cpu)| memory_to_read(*lane, cpu, None)).collect();
        self.executor.prefetch(&blocks)?;
        let mut named = Vec::new();
        for (lane, cpu) in calls {
            for (_, address, bytes) in memory_to_read(*lane, cpu, None) {
                let mut block = vec![0; bytes];
                // If the block cannot be read, the guest gets the error when it is served.
                if self.executor.read_memory(*lane, address, &mut block, Some(Access::Read))?.is_ok() {
                    let field = |bytes: &[u8]| {
                        bytes.iter().rev().fold(0, |field, &byte| field << 8 | u64::from(byte))
                    };
                    let fields: Vec<u64> = block.chunks_exact(8).map(field).collect();
                    named.extend(memory_to_read(*lane, cpu, Some(&fields)));
                }
            }
        }
        self.executor.prefetch(&named)
    }

    /// Serves the semihosting call for which `lane` has stopped. The call counts as a step.
    fn serve_lane(&mut self, lane: usize, mut cpu: Cpu) -> Result<(), Error> {
        let LaneState { services, output: collected, console: told, .. } = &mut self.lanes[lane];
        let output = &mut self.output;
        let mut write = |stream, bytes: &[u8]| output.write(lane, collected, stream, bytes);
        let mut guest = Guest { executor: &mut *self.executor, lane };
        let outcome = services.serve(self.host, &mut guest, &cpu, &mut write)?;
        // Calls open and close handles.
        let handles = services.console();
        if told.is_some_and(|told| told != handles) {
            self.executor.set_console(lane, handles)?;
            *told = Some(handles);
        }
        let stop = match outcome {
            Outcome::Stop(stop) => return self.executor.set_stop(lane, Some(stop)),
            Outcome::Return(value) => {
                cpu.set_x(0, value);
                None
            }
            Outcome::Exit(code) => Some(Stop::Exit { code }),
        };
        cpu.pc = cpu.pc.wrapping_add(4);
        cpu.steps += 1;
        // As an exception would, the service has lost the exclusive reservation.
        cpu.monitor = None;
        self.executor.set_cpu(lane, &cpu)?;
        self.executor.set_stop(lane, stop)
    }
}
