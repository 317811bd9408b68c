//! Compilation of kernels without loop bounds: the only module of this crate with `unsafe`.
//!
//! Compilers may assume that every loop ends, and an endless loop is undefined behaviour. So naga adds a counter to each
//! loop, which ends it after 2^64 iterations: the loop bound. In the loop of an interpreter it takes up to ten instructions
//! of an NVIDIA GPU in each step (docs/translation.md).
#![allow(unsafe_code, reason = "the caller of wgpu has to make sure that all loops end")]

use kvrm_shaders::Linked;
use kvrm_shaders::kernel::Root;

use super::error::Error;
use super::logical::Device;
use super::pipeline::Shader;

/// Compiles a kernel without loop bounds. All other checks of wgpu remain.
///
/// # Errors
///
/// The errors of [`Shader::compile`].
pub(super) fn compile<R: Root>(device: &Device, linked: &Linked) -> Result<Shader, Error> {
    let locate = |line| {
        let place = linked.locate(line).map(|(path, line)| (path.to_owned(), line));
        place.unwrap_or_else(|| (R::MODULE.to_owned(), line))
    };
    Shader::create(device, &linked.source, &locate, |device, descriptor| {
        let checks =
            wgpu::ShaderRuntimeChecks { force_loop_bounding: false, ..wgpu::ShaderRuntimeChecks::checked() };
        // SAFETY: the source is a kernel of `kvrm_shaders`, which may include regions of `kvrm_translate`. Every loop of the
        // modules ends, whatever the buffers contain: docs/shaders.md requires it. Every loop of a region contains a block
        // that leaves the region when the budget is spent.
        unsafe { device.create_shader_module_trusted(descriptor, checks) }
    })
}
