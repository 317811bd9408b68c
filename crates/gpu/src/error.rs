//! What can go wrong between the host and a GPU.

use crate::adapter::ADAPTER_VARIABLE;

/// A failure of the GPU, of its driver, or of what was asked of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to run on.
    #[error(
        "there is no GPU, nor a software one, with a Vulkan, Metal or DX12 driver; install the driver of your GPU, \
         or a software one: `mesa-vulkan-drivers` on Debian, Ubuntu and Fedora, `vulkan-swrast` on Arch, \
         `mesa-vulkan-swrast` on Alpine"
    )]
    NoAdapter,
    /// No adapter has the name that was asked for.
    #[error(
        "no adapter has {wanted:?} in its name ({ADAPTER_VARIABLE} or an argument asks for it); there are: {}",
        there.join("; ")
    )]
    NoSuchAdapter {
        /// Part of a name.
        wanted: String,
        /// The adapters there are.
        there: Vec<String>,
    },
    /// An adapter cannot compute with 64-bit integers, which every shader of KVRM does.
    #[error(
        "the adapter {adapter} has no 64-bit integers in shaders (SHADER_INT64), which are needed; choose another \
         one with {ADAPTER_VARIABLE} or renew its driver{}",
        if cfg!(windows) { "; with DX12, `dxcompiler.dll` has to be in PATH" } else { "" }
    )]
    NoInt64 {
        /// The adapter.
        adapter: String,
    },
    /// The driver does not open the adapter.
    #[error("the adapter {adapter} cannot be opened: {reason}")]
    RequestDevice {
        /// The adapter.
        adapter: String,
        /// What the driver says.
        reason: String,
    },
    /// WGSL does not compile.
    #[error("{}{message}", place(.location))]
    Shader {
        /// Module and line, counted from 1, where they are known.
        location: Option<(String, usize)>,
        /// What the compiler says.
        message: String,
    },
    /// A pipeline cannot be made of a shader that compiles.
    #[error("no pipeline can be made of the entry point `{entry}`: {message}")]
    Pipeline {
        /// The entry point.
        entry: String,
        /// What wgpu or the driver says.
        message: String,
    },
    /// A buffer is larger than the device allows.
    #[error("the buffer `{label}` of {bytes} bytes is larger than this GPU allows, which is {max} bytes")]
    TooLarge {
        /// The buffer.
        label: String,
        /// The size asked for.
        bytes: u64,
        /// The largest there can be.
        max: u64,
    },
    /// The memory of the GPU is full.
    #[error(
        "the memory of the GPU is full while {doing}; use fewer lanes or less memory a lane \
         (one buffer could have {max} bytes if there were room)"
    )]
    OutOfMemory {
        /// What needed memory.
        doing: String,
        /// The largest buffer the device allows.
        max: u64,
    },
    /// There is no room for another page that a lane owns.
    #[error(
        "all {frames} frames of 4 KiB that this GPU has room for are in use; use fewer lanes or less memory a lane"
    )]
    OutOfFrames {
        /// How many there are.
        frames: u32,
    },
    /// Bytes outside a buffer, or not whole words of 4 bytes, were to be read or written.
    #[error(
        "bytes {start} to {end} of the buffer `{label}` cannot be {done}: it has {bytes} bytes, written in \
         words of 4"
    )]
    Range {
        /// The buffer.
        label: String,
        /// `"read"` or `"written"`.
        done: &'static str,
        /// The first byte.
        start: u64,
        /// The byte after the last.
        end: u64,
        /// The size of the buffer.
        bytes: u64,
    },
    /// More lanes than the device has room for.
    #[error("{lanes} lanes do not fit on this GPU, which has room for {max}")]
    TooManyLanes {
        /// How many were asked for.
        lanes: usize,
        /// The most there can be.
        max: usize,
    },
    /// The GPU stopped working: reset, unplugged, or a dispatch took longer than its driver allows.
    #[error(
        "the GPU was lost: {reason}{}",
        if *kept {
            "; lanes are kept as they were before the slice or the call that failed, and the next call opens it again"
        } else {
            ""
        }
    )]
    DeviceLost {
        /// What the driver says.
        reason: String,
        /// Whether lanes that were on it can go on.
        kept: bool,
    },
    /// After the loss of a GPU, its lanes cannot be made again as they were.
    #[error("the GPU was lost, and its lanes with it, which have to be built again: {reason}")]
    StateLost {
        /// Why.
        reason: String,
    },
    /// wgpu refuses a call; a mistake in KVRM.
    #[error("wgpu refuses {doing}, which is a mistake in KVRM: {message}")]
    Refused {
        /// What was done.
        doing: String,
        /// What wgpu says.
        message: String,
    },
    /// Weights of another network were given for dispatch.
    #[error(
        "the weights are of a {architecture} network; dispatch takes those of a dispatch or small-dispatch one"
    )]
    NoDispatchNetwork {
        /// What they are of.
        architecture: &'static str,
    },
    /// The weights that come with KVRM cannot be used; a mistake in KVRM.
    #[error("the weights that come with KVRM cannot be used: {reason}")]
    Weights {
        /// Why.
        reason: String,
    },
    /// The device computes wrongly.
    #[error("the GPU computes wrongly: {message}; renew its driver or choose another adapter")]
    WrongResult {
        /// What was wrong.
        message: String,
    },
}

fn place(location: &Option<(String, usize)>) -> String {
    location.as_ref().map_or_else(String::new, |(module, line)| format!("{module}:{line}: "))
}
