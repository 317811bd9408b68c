//! What can go wrong between the host and a GPU.

use std::fmt;

/// The environment variable that names the adapter to use, by part of its name.
pub const ADAPTER_VARIABLE: &str = "KVRM_ADAPTER";

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
            "; what ran on it is kept as it was before the slice or the call that failed, and the next call opens the \
             GPU again"
        } else {
            ""
        }
    )]
    DeviceLost {
        /// What the driver says.
        reason: String,
        /// Whether the lanes or the network that were on it can go on.
        kept: bool,
    },
    /// After the loss of a GPU, the lanes or the network on it cannot be made again as they were.
    #[error("the GPU was lost, and the state of what ran on it, which has to be built again: {reason}")]
    StateLost {
        /// Why.
        reason: String,
    },
    /// Work on a network has ended, and the network is not at the step to which the work leads.
    #[error(
        "the GPU took a network from step {from} to step {found} in work that leads to step {expected}{}; renew its \
         driver or choose another adapter",
        if *at_least { " or later" } else { "" }
    )]
    NoProgress {
        /// The step before the work.
        from: u64,
        /// The step after it, by the clock on the GPU.
        found: u64,
        /// The step that was expected.
        expected: u64,
        /// Whether a later step would have been right, too.
        at_least: bool,
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
    /// A lane asks the host for something that does not exist, or for the same thing again and again.
    #[error(
        "lane {lane}, at pc {pc:#x} after {steps} steps, {request}; its memory on the GPU is damaged, by a driver that \
         computes wrongly or by a mistake in KVRM: `kvrm doctor` tests the driver, `kvrm run --audit` finds the damage"
    )]
    BadRequest {
        /// The lane.
        lane: usize,
        /// Its program counter.
        pc: u64,
        /// How many steps it has retired.
        steps: u64,
        /// What it asks for.
        request: Request,
    },
    /// The device computes wrongly.
    #[error("the GPU computes wrongly: {message}; renew its driver or choose another adapter")]
    WrongResult {
        /// What was wrong.
        message: String,
    },
}

/// What a lane asks the host for in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// To lower the code of a frame that does not exist.
    Frame {
        /// The number of the frame.
        frame: u32,
        /// How many frames there are.
        frames: u32,
    },
    /// To lower a page of code again that was never lowered.
    CodePage {
        /// The number of the page.
        page: u32,
        /// How many pages were lowered.
        pages: u32,
    },
    /// For a SIMD unit that does not exist, or that the kernel has already.
    Unit {
        /// The unit.
        unit: u64,
        /// The unit the kernel has.
        has: u64,
        /// How many units there are.
        units: u64,
    },
    /// A stop that no kernel makes.
    Stop {
        /// Its number.
        code: u32,
    },
    /// The same as before, although it got it.
    Again {
        /// The number of its stop.
        code: u32,
        /// What it asks for.
        asks: u64,
        /// How many dispatches no lane has retired a step.
        rounds: u32,
    },
    /// Nothing, but the list of its frames does not end.
    Chain {
        /// The last frame that is in use, where the list should end.
        tail: u32,
        /// How many frames there are.
        frames: u32,
    },
    /// To take more console output than there is room for.
    Console {
        /// How many bytes.
        waiting: usize,
        /// For how many there is room.
        room: usize,
    },
    /// To do a write or mapping of the host, which the kernel does not begin.
    Write {
        /// The address.
        address: u64,
        /// The number of the stop that the kernel gives as the reason.
        code: u32,
    },
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Frame { frame, frames } => {
                write!(f, "asks for the code of frame {frame:#x}, but there are {frames} frames")
            }
            Self::CodePage { page, pages } => {
                write!(f, "asks for code page {page} again, but there are {pages} code pages")
            }
            Self::Unit { unit, has, units } => {
                write!(f, "asks for SIMD unit {unit}, but has unit {has} of {units}")
            }
            Self::Stop { code } => write!(f, "has stopped for reason {code}, which does not exist"),
            Self::Again { code, asks, rounds } => write!(
                f,
                "has stopped for reason {code} with {asks:#x}, and {rounds} dispatches have brought no lane further"
            ),
            Self::Chain { tail, frames } => {
                write!(
                    f,
                    "has a list of frames that does not end at frame {tail:#x}; there are {frames} frames"
                )
            }
            Self::Console { waiting, room } => {
                write!(f, "has {waiting} bytes of console output, where there is room for {room}")
            }
            Self::Write { address, code } => {
                write!(f, "does not take what the host does at {address:#x}, for reason {code}")
            }
        }
    }
}

fn place(location: &Option<(String, usize)>) -> String {
    location.as_ref().map_or_else(String::new, |(module, line)| format!("{module}:{line}: "))
}
