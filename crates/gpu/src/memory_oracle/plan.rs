//! The dispatches that evaluate a memory oracle, one for each layer.

use kvrm_models::inputs::WINDOW_ACCESSES_MAX;
use kvrm_shaders::interface::networks::{AccessLayer, AccessesGroup, LayersGroup};

use super::kernels::Kernels;
use super::packing::PackedOracle;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::layers::arena::{Arena, Matrix, SEQUENCES, Size, TOKENS};
use crate::layers::kernels::WORKGROUP;
use crate::layers::packing::Dense;
use crate::layers::plan::{Extent, Pass, Plan, Planner};

/// The most windows of a submission.
const WINDOWS_MAX: usize = 1024;
/// The number of vectors of the features of an access.
const FEATURE_VECTORS: u32 = 3;
/// The number of vectors of a token.
const TOKEN: u32 = 16;
/// The number of vectors of the outputs of an LSTM.
const UNITS: u32 = 32;
/// The number of vectors of the gates of an LSTM.
const GATES: u32 = 4 * UNITS;

/// The columns of the results of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results {
    pub(super) deltas: Matrix,
    pub(super) confidences: Matrix,
    pub(super) pattern_logits: Matrix,
    /// All of these.
    pub(super) row: Matrix,
}

/// The division of the buffer of values.
#[derive(Clone, Copy, Debug)]
struct Places {
    results: Results,
    /// The features, the hidden values of the encoder, and then the gates.
    projected: Matrix,
    /// The tokens, and then the outputs of the first layer of the LSTM.
    outputs: Matrix,
    /// The last outputs of the second layer.
    state: Matrix,
    /// The hidden values of a head.
    hidden: Matrix,
}

impl Places {
    fn new(arena: &mut Arena) -> Self {
        let row = arena.place(SEQUENCES, 5);
        let results = Results {
            deltas: row.columns(0, 2),
            confidences: row.columns(2, 2),
            pattern_logits: row.columns(4, 1),
            row,
        };
        Self {
            results,
            projected: arena.place(TOKENS, GATES),
            outputs: arena.place(TOKENS, UNITS),
            state: arena.place(SEQUENCES, UNITS),
            hidden: arena.place(SEQUENCES, UNITS),
        }
    }
}

/// Returns the most windows of a submission if a buffer has so many bytes at most.
pub(super) fn windows_at_once(buffer_bytes: u64) -> usize {
    let bytes = |windows: usize| {
        let size = Size { sequences: windows as u32, tokens: (windows * WINDOW_ACCESSES_MAX) as u32 };
        let mut arena = Arena::new(size);
        Places::new(&mut arena);
        u64::from(arena.vectors()) * LayersGroup::VALUES_STRIDE
    };
    let mut windows = WINDOWS_MAX;
    while windows > 1 && bytes(windows) > buffer_bytes {
        windows /= 2;
    }
    windows
}

/// Plans what `MemoryOracle::predict` computes, for batches up to a size.
pub(super) fn plan(
    device: &Device,
    kernels: &Kernels,
    packed: &PackedOracle,
    accesses: &Buffer,
    size: Size,
) -> Result<(Plan, Results), Error> {
    let mut arena = Arena::new(size);
    let Places { results, projected, outputs, state, hidden } = Places::new(&mut arena);
    let mut planner = Planner::new(device, &kernels.layers, arena);

    let (features, encoded) =
        (projected.columns(0, FEATURE_VECTORS), projected.columns(FEATURE_VECTORS, TOKEN));
    let layer = planner.parameters(AccessLayer { output: features.at, output_stride: features.stride })?;
    let extents = [Extent::rows(TOKENS, WORKGROUP), Extent::constant(1, 1)];
    planner.push(&kernels.access_features, AccessesGroup { access_layer: &layer, accesses }, extents)?;
    let tokens = outputs.columns(0, TOKEN);
    planner.linear(packed.encoder[0], Pass::new(TOKENS, features, encoded).relu())?;
    planner.linear(packed.encoder[1], Pass::new(TOKENS, encoded, tokens))?;
    planner.lstm(packed.sequence[0], projected, Pass::new(TOKENS, tokens, outputs))?;
    planner.lstm(packed.sequence[1], projected, Pass::new(SEQUENCES, outputs, state))?;

    let mut head = |[first, second]: [Dense; 2], pass: Pass| {
        let hidden = hidden.columns(0, first.outputs);
        planner.linear(first, Pass::new(SEQUENCES, state, hidden).relu())?;
        planner.linear(second, Pass { input: hidden, ..pass })
    };
    head(packed.deltas, Pass::new(SEQUENCES, hidden, results.deltas))?;
    head(packed.confidences, Pass::new(SEQUENCES, hidden, results.confidences).logistic())?;
    head(packed.pattern, Pass::new(SEQUENCES, hidden, results.pattern_logits))?;
    Ok((planner.finish(), results))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_fit_in_the_buffers_of_a_device() {
        assert_eq!(windows_at_once(u64::MAX), WINDOWS_MAX, "without a limit");
        assert_eq!(windows_at_once(128 << 20), WINDOWS_MAX, "with the least limit of WebGPU");
        assert_eq!(
            windows_at_once(16 << 20),
            WINDOWS_MAX / 8,
            "128 windows take 10.6 MB, and twice as many 21 MB"
        );
        assert_eq!(windows_at_once(0), 1, "the buffer is refused when it is made");
    }
}
