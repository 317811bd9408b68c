//! The errors of GPUs and of their use.

use std::fmt;
use std::path::PathBuf;

/// The environment variable with a part of the name of the adapter to use.
pub const ADAPTER_VARIABLE: &str = "KVRM_ADAPTER";

/// A failure of a GPU or its driver, or an invalid request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The host has no adapter.
    #[error(
        "there is no GPU, nor a software one, with a Vulkan, Metal or DX12 driver; install the driver of your GPU, \
         or a software one: `mesa-vulkan-drivers` on Debian, Ubuntu and Fedora, `vulkan-swrast` on Arch, \
         `mesa-vulkan-swrast` on Alpine"
    )]
    NoAdapter,
    /// No adapter has the wanted name.
    #[error(
        "no adapter has {wanted:?} in its name, which {ADAPTER_VARIABLE} or an argument asks for; give a part of the name \
         of an available adapter: {}",
        available.join("; ")
    )]
    NoSuchAdapter {
        /// The part of a name that was asked for.
        wanted: String,
        /// The available adapters, one line each.
        available: Vec<String>,
    },
    /// Several adapters have the wanted name.
    #[error(
        "{} adapters have the name that {wanted:?} chooses, which {ADAPTER_VARIABLE} or an argument asks for: {}; give {} \
         instead",
        available.len(), available.join("; "), instead.join(" or ")
    )]
    SameName {
        /// The part of a name that was asked for.
        wanted: String,
        /// The adapters of this name, each with its index in the list of all adapters, one line each.
        available: Vec<String>,
        /// Ways to choose one of them: by index, or by backend.
        instead: Vec<String>,
    },
    /// A selection of GPUs has an unknown form.
    #[error(
        "{selection:?} selects no GPUs; expected `all`, a number of GPUs from 1, or a list of indices or names with commas, \
         such as `0,2` (and `0,` for the first adapter alone)"
    )]
    InvalidGpuSelection {
        /// The selection.
        selection: String,
    },
    /// There are fewer GPUs than were asked for.
    #[error(
        "{} can run lanes, but {}; software that runs shaders on the CPU counts only if it is listed, such as `0,`; adapters: {}",
        match usable { 0 => "no GPU".to_owned(), 1 => "one GPU".to_owned(), _ => format!("{usable} GPUs") },
        match wanted { Some(wanted) => format!("{wanted} are asked for"), None => "all are asked for".to_owned() },
        available.join("; ")
    )]
    TooFewGpus {
        /// The number of GPUs that were asked for; `None` for all.
        wanted: Option<usize>,
        /// The number of GPUs that can run lanes.
        usable: usize,
        /// All adapters, one line each.
        available: Vec<String>,
    },
    /// A list of GPUs names one of them twice.
    #[error("{first:?} and {second:?} are the same GPU, {adapter}; list each GPU once")]
    SameGpu {
        /// The first entry of the list.
        first: String,
        /// The second entry.
        second: String,
        /// The GPU.
        adapter: String,
    },
    /// An adapter has no 64-bit integers in shaders, which every shader of KVRM needs.
    #[error(
        "the adapter {adapter} has no 64-bit integers in shaders (SHADER_INT64), which KVRM needs; update its driver \
         or choose another adapter with {ADAPTER_VARIABLE}{}",
        if cfg!(windows) { "; with DX12, `dxcompiler.dll` has to be in PATH" } else { "" }
    )]
    NoInt64 {
        /// The adapter.
        adapter: String,
    },
    /// The driver refuses to open an adapter.
    #[error("the adapter {adapter} cannot be opened: {reason}")]
    RequestDevice {
        /// The adapter.
        adapter: String,
        /// The message of the driver.
        reason: String,
    },
    /// A shader does not link or compile.
    #[error("{}{message}", place(.location))]
    Shader {
        /// Module and line, counted from 1, if they are known.
        location: Option<(String, usize)>,
        /// The message of the linker or the compiler.
        message: String,
    },
    /// A pipeline cannot be made from a compiled shader.
    #[error("no pipeline can be made from the entry point `{entry}`: {message}")]
    Pipeline {
        /// The entry point.
        entry: String,
        /// The message of wgpu or the driver.
        message: String,
    },
    /// A buffer is larger than the device allows.
    #[error("the buffer `{label}` of {bytes} bytes is too large for this GPU, which allows {max} bytes")]
    TooLarge {
        /// The label of the buffer.
        label: String,
        /// The requested size in bytes.
        bytes: u64,
        /// The maximum size in bytes.
        max: u64,
    },
    /// The memory of the GPU is full.
    #[error(
        "the memory of the GPU is full while {doing}; use fewer lanes or less memory a lane \
         (the limit for one buffer is {max} bytes)"
    )]
    OutOfMemory {
        /// The operation that needed memory.
        doing: String,
        /// The maximum size of a buffer on this device, in bytes.
        max: u64,
    },
    /// A spiking network does not fit in memory.
    #[error("{}", network_too_large(*.neurons, *.synapses, .adapter, *.bytes, *.available))]
    NetworkTooLarge {
        /// The number of neurons.
        neurons: u32,
        /// The number of synapses.
        synapses: u64,
        /// The adapter.
        adapter: String,
        /// The memory that the network needs, at least, in bytes.
        bytes: u64,
        /// The available memory of the host, in bytes; `None` if the memory of the GPU is too small.
        available: Option<u64>,
    },
    /// All frames are in use.
    #[error(
        "all {frames} frames of 4 KiB that this GPU has room for are in use; use fewer lanes or less memory a lane"
    )]
    OutOfFrames {
        /// The number of frames.
        frames: u32,
    },
    /// A range of bytes exceeds its buffer, or a write does not cover whole words of 4 bytes.
    #[error(
        "bytes {start} to {end} of the buffer `{label}` cannot be {done}: it has {bytes} bytes, and writes take whole \
         words of 4 bytes"
    )]
    Range {
        /// The label of the buffer.
        label: String,
        /// `"read"` or `"written"`.
        done: &'static str,
        /// The first byte.
        start: u64,
        /// The byte after the last.
        end: u64,
        /// The size of the buffer in bytes.
        bytes: u64,
    },
    /// A machine has more lanes than the device has room for.
    #[error("{lanes} lanes do not fit on this GPU, which has room for {max}; use fewer lanes")]
    TooManyLanes {
        /// The number of lanes of the machine.
        lanes: usize,
        /// The maximum number of lanes.
        max: usize,
    },
    /// The limit of the memory of the device leaves less room for frames than the images of a machine take.
    #[error(
        "a limit of {limit} bytes of device memory is too small for this machine: its lanes take {others} bytes and its images \
         {images} bytes before a lane writes anything"
    )]
    MemoryLimit {
        /// The limit in bytes.
        limit: u64,
        /// The bytes of the state of lanes, and of what is known about frames.
        others: u64,
        /// The bytes of the images.
        images: u64,
    },
    /// The file for frames that find no room in the memory of the host cannot be created, written or read, or its contents have changed.
    #[error(
        "the file {} for pages of lanes cannot be {done}: {reason}{}",
        path.display(),
        match *done {
            "written" => "; its pages stay in the memory of the host, and the file takes no more pages in this run, so lanes may stop \
                          with out-of-frames: make space for the file, and run them again",
            "read" => "; no page is lost or wrong as long as the file is there: the next run tries again",
            _ => "; name a file in a folder that exists and is writable",
        }
    )]
    HostFile {
        /// The name of the file.
        path: PathBuf,
        /// `"created"`, `"written"` or `"read"`.
        done: &'static str,
        /// The reason of the system.
        reason: String,
    },
    /// The GPU stopped working: it was reset or unplugged, or work took longer than the driver or KVRM allows.
    #[error(
        "the GPU was lost: {reason}{}",
        if *is_recoverable {
            "; its lanes or network are kept as they were before the slice or the call that failed, and the next call \
             opens the GPU again"
        } else {
            ""
        }
    )]
    DeviceLost {
        /// The message of the driver, or the reason why KVRM gave the device up.
        reason: String,
        /// Whether the lanes or the network on the device can be restored, which the next call does.
        is_recoverable: bool,
    },
    /// After the loss of a GPU, the lanes or the network on it cannot be restored.
    #[error(
        "the GPU was lost, and its lanes or network cannot be restored and have to be built again: {reason}"
    )]
    StateLost {
        /// Why the state cannot be restored.
        reason: String,
    },
    /// A slice of a network has ended, and the clock on the GPU is not at the expected step.
    #[error(
        "the GPU took a network from step {from} to step {found} instead of step {expected}{}; update its driver or \
         choose another adapter",
        if *at_least { " or later" } else { "" }
    )]
    NoProgress {
        /// The step before the slice.
        from: u64,
        /// The step after the slice, by the clock on the GPU.
        found: u64,
        /// The expected step.
        expected: u64,
        /// Whether a later step would have been right, too.
        at_least: bool,
    },
    /// wgpu refuses a call. This is a mistake in KVRM.
    #[error("wgpu refuses {doing}, which is a mistake in KVRM: {message}")]
    Refused {
        /// The operation that was refused.
        doing: String,
        /// The message of wgpu.
        message: String,
    },
    /// The weights for class selection belong to a network of another architecture.
    #[error(
        "the weights are of a {architecture} network, but class selection needs a dispatch or small-dispatch network"
    )]
    NotADispatchNetwork {
        /// The architecture that the weights belong to.
        architecture: &'static str,
    },
    /// The weights given for the acceleration of loops are those of another network.
    #[error(
        "the weights are of a {architecture} network, but loops need a loop-detector, pattern-recogniser or \
         iteration-predictor network"
    )]
    NotALoopNetwork {
        /// The architecture that the weights belong to.
        architecture: &'static str,
    },
    /// The weights that come with KVRM cannot be used. This is a mistake in KVRM.
    #[error("the weights that come with KVRM cannot be used: {reason}")]
    Weights {
        /// Why they cannot be used.
        reason: String,
    },
    /// The weights of a network cannot be used on a device.
    #[error("the {network} network cannot be evaluated on a device: {reason}")]
    UnsuitableWeights {
        /// The network.
        network: &'static str,
        /// Why its weights cannot be used.
        reason: String,
    },
    /// A lane makes an invalid request to the host, or repeats a request that was served.
    #[error(
        "lane {lane}, at pc {pc:#x} after {steps} steps, {request}; its memory on the GPU is damaged, by a driver that \
         computes wrongly or by a mistake in KVRM: `kvrm doctor` tests the driver, `kvrm run --audit` finds the damage"
    )]
    BadRequest {
        /// The number of the lane.
        lane: usize,
        /// The program counter of the lane.
        pc: u64,
        /// The number of steps that the lane has retired.
        steps: u64,
        /// The invalid request.
        request: Request,
    },
    /// The device computes wrongly.
    #[error("the GPU computes wrongly: {message}; update its driver or choose another adapter")]
    WrongResult {
        /// The wrong result.
        message: String,
    },
}

/// A request of a lane to the host that cannot be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// A request to lower the code of a frame that does not exist.
    Frame {
        /// The number of the frame.
        frame: u32,
        /// The number of frames that exist.
        frames: u32,
    },
    /// A request to lower a code page again that was never lowered.
    CodePage {
        /// The number of the code page.
        page: u32,
        /// The number of code pages that were lowered.
        pages: u32,
    },
    /// A request for a SIMD unit that does not exist, or that the kernel has already.
    Unit {
        /// The number of the unit.
        unit: u64,
        /// The number of the unit that the kernel has.
        has: u64,
        /// The number of units that exist.
        units: u64,
    },
    /// A stop with a reason that does not exist.
    Stop {
        /// The number of the reason.
        code: u32,
    },
    /// A request that was served in vain: the lane repeats it and no lane retires a step.
    Again {
        /// The number of the reason for the stop.
        code: u32,
        /// The value that the lane passes with its stop, such as a frame number.
        asks: u64,
        /// The number of dispatches in which no lane has retired a step.
        rounds: u32,
    },
    /// A list of frames (the chain of a lane) that does not end.
    Chain {
        /// The last frame in use, where the list should end.
        tail: u32,
        /// The number of frames that exist.
        frames: u32,
    },
    /// More console output than its buffer has room for.
    Console {
        /// The number of bytes of output.
        waiting: usize,
        /// The size of the buffer in bytes.
        room: usize,
    },
    /// A write or mapping of the host that the kernel refuses.
    Write {
        /// The guest address.
        address: u64,
        /// The number of the stop that the kernel gives as the reason.
        code: u32,
    },
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Frame { frame, frames } => {
                write!(f, "asks for the code of frame {frame:#x}, but there are only {frames:#x} frames")
            }
            Self::CodePage { page, pages } => {
                write!(f, "asks for code page {page} again, but there are only {pages} code pages")
            }
            Self::Unit { unit, has, units } => {
                write!(f, "asks for SIMD unit {unit} of {units}, but its kernel has unit {has} already")
            }
            Self::Stop { code } => write!(f, "has stopped for reason {code}, which does not exist"),
            Self::Again { code, asks, rounds } => write!(
                f,
                "has stopped for reason {code} with {asks:#x}, and no lane has retired a step in {rounds} dispatches"
            ),
            Self::Chain { tail, frames } => write!(
                f,
                "has a list of frames that does not end at frame {tail:#x}, although there are only {frames:#x} frames"
            ),
            Self::Console { waiting, room } => {
                write!(f, "has {waiting} bytes of console output in a buffer of {room} bytes")
            }
            Self::Write { address, code } => {
                write!(f, "refuses a write or mapping of the host at {address:#x}, for reason {code}")
            }
        }
    }
}

fn network_too_large(
    neurons: u32,
    synapses: u64,
    adapter: &str,
    bytes: u64,
    available: Option<u64>,
) -> String {
    let size = |bytes: u64| format!("{bytes} bytes ({:.1} GiB)", bytes as f64 / f64::from(1 << 30));
    let network = format!("a network of {neurons} neurons and {synapses} synapses does not fit in memory");
    match available {
        Some(available) => format!(
            "{network}: on {adapter} it takes at least {} of the host's memory, which has {} available; use fewer \
             neurons, fewer synapses or shorter delays",
            size(bytes),
            size(available)
        ),
        None => format!(
            "{network}: it takes at least {} on {adapter}, whose memory is full; use fewer neurons, fewer synapses or \
             shorter delays, or run it on the CPU (`--engine parallel`)",
            size(bytes)
        ),
    }
}

fn place(location: &Option<(String, usize)>) -> String {
    location.as_ref().map_or_else(String::new, |(module, line)| format!("{module}:{line}: "))
}
