//! The lanes that wait for places of frames.

/// The lanes that wait in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// The number of lanes that wait.
    pub(super) lanes: usize,
    /// The number of lanes that may run together, if there is a limit.
    pub(super) most: Option<usize>,
}
