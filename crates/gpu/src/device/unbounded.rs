//! Kernels without bounds of loops: the only module of this crate with `unsafe`.
//!
//! Naga ends every loop after 2^64 iterations, because compilers may assume that loops end, and draw conclusions for the
//! code around one that does not. The counters for this take up to ten instructions of an NVIDIA GPU in each step of a lane
//! (docs/translation.md), and as many in each iteration of a loop of a translated region.
#![allow(unsafe_code, reason = "wgpu trusts its caller that loops end")]

use kvrm_shaders::Linked;
use kvrm_shaders::kernel::Root;

use super::error::Error;
use super::logical::Device;
use super::pipeline::Shader;

/// Compiles a kernel whose loops have no bounds. All other checks of wgpu remain.
///
/// # Errors
///
/// The modules of the kernel do not compile. The error has module and line.
pub(super) fn compile<R: Root>(device: &Device, linked: &Linked) -> Result<Shader, Error> {
    let locate = |line| {
        let place = linked.locate(line).map(|(path, line)| (path.to_owned(), line));
        place.unwrap_or_else(|| (R::MODULE.to_owned(), line))
    };
    Shader::create(device, &linked.source, &locate, |device, descriptor| {
        let checks =
            wgpu::ShaderRuntimeChecks { force_loop_bounding: false, ..wgpu::ShaderRuntimeChecks::checked() };
        // SAFETY: the text is that of a kernel in the table of `kvrm_shaders`, perhaps with regions of `kvrm_translate`.
        // All loops of the modules end, whatever buffers contain; shaders.md has the rule. In a region, each way around a
        // loop passes a block that leaves the region when the budget is spent.
        unsafe { device.create_shader_module_trusted(descriptor, checks) }
    })
}
