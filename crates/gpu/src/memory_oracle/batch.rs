//! The inputs of a batch as kernels read them.

use kvrm_models::inputs::Access;
use kvrm_shaders::interface::networks::{TokenSequence, WindowAccess};
use kvrm_shaders::layout;

/// The inputs of a batch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) windows: Vec<TokenSequence>,
    /// The accesses of all windows, window by window.
    pub(super) accesses: Vec<WindowAccess>,
}

impl Batch {
    /// Takes windows of one to 32 accesses, longest first.
    pub(super) fn new<'a>(windows: impl Iterator<Item = &'a [Access]>) -> Self {
        let mut batch = Self::default();
        for window in windows {
            let first = batch.accesses.len() as u32;
            batch.windows.push(TokenSequence { first, tokens: window.len() as u32 });
            batch.accesses.extend(window.iter().map(packed));
        }
        batch
    }
}

/// Returns an access as kernels read it.
fn packed(access: &Access) -> WindowAccess {
    let load = if access.is_load { layout::ACCESS_LOAD } else { 0 };
    let kind = access.pc as u32 & layout::ACCESS_PC_MASK | load;
    WindowAccess { delta: access.delta as u64, size: access.size, kind }
}
