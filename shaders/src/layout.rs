//! How the buffers of the machine are laid out: the numbers that host and shaders share.
//!
//! `machine/layout.wgsl` is written from here by `cargo xtask codegen`.

/// Defines constants and the list of all of them.
macro_rules! constants { ($($(#[doc = $doc:literal])+ $name:ident = $value:expr;)*) => {
    $($(#[doc = $doc])+ pub const $name: u32 = $value;)*

    /// Every constant: name, value, meaning.
    pub const ALL: &[(&str, u32, &str)] = &[$((stringify!($name), $name, concat!($($doc),+).trim_ascii())),*];
} }

pub mod spiking;

constants! {
    // The state of lanes: columns of one u64 a lane. Columns 0 to 30 are X0 to X30.

    /// Column: the stack pointer.
    COLUMN_SP = 31;
    /// Column: the program counter.
    COLUMN_PC = 32;
    /// Column: steps retired.
    COLUMN_STEPS = 33;
    /// Column: condition flags, and from bit 32 on the bytes that the exclusive monitor marks.
    COLUMN_NZCV = 34;
    /// Column: the address that the exclusive monitor marks.
    COLUMN_MONITOR = 35;
    /// Column: `TPIDR_EL0`.
    COLUMN_TPIDR = 36;
    /// Column: `TPIDRRO_EL0`.
    COLUMN_TPIDRRO = 37;
    /// Column: FPCR, and from bit 32 on FPSR.
    COLUMN_FPCR = 38;
    /// Column: where the heap of a Linux program ends.
    COLUMN_HEAP_END = 39;
    /// Column: how long a Linux program has slept, in nanoseconds.
    COLUMN_SLEPT = 40;
    /// Column: what a Linux program has told the kernel of its robust locks.
    COLUMN_ROBUST_LIST = 41;
    /// Column: how many bytes of randomness a Linux program has used.
    COLUMN_RANDOM = 42;
    /// Column: the first half of the name of a Linux program; then comes the second.
    COLUMN_NAME = 43;
    /// Column: the steps at which the lane stops.
    COLUMN_LIMIT = 45;
    /// Column: why the lane stopped, and from bit 32 on the immediate or word that stopped it, or its exit status.
    COLUMN_STOP = 46;
    /// Column: the address that stopped the lane; what an internal stop asks for.
    COLUMN_STOP_ADDRESS = 47;
    /// Column: the entry that leads to the root of the page table, and from bit 32 on its levels.
    COLUMN_ROOT = 48;
    /// Column: the first page of the window that the page table covers.
    COLUMN_WINDOW = 49;
    /// Column: the last frame of the lane's chain, and from bit 32 on how many pages the lane has written.
    COLUMN_TAIL = 50;
    /// Column: how many pages the lane may write, and from bit 32 on the first frame of its chain. A reset keeps it.
    COLUMN_HEAD = 51;
    /// Column: which console output needs no host, a bit a handle; from bit 32 on the bytes that wait for the host.
    /// A reset drops these.
    COLUMN_CONSOLE = 52;
    /// Column: the lower half of V0; then come its upper half, and those of V1 to V31.
    COLUMN_V = 53;
    /// How many columns there are.
    COLUMNS = 117;

    // Why a lane stopped.

    /// The lane runs.
    STOP_NONE = 0;
    /// The limit of steps is reached.
    STOP_BUDGET = 1;
    /// HLT.
    STOP_HALT = 2;
    /// BRK.
    STOP_BREAKPOINT = 3;
    /// SVC.
    STOP_SYSCALL = 4;
    /// An undefined word.
    STOP_UNDEFINED = 5;
    /// The lane may not write another page.
    STOP_OUT_OF_FRAMES = 6;
    /// The program ended itself.
    STOP_EXIT = 7;
    /// The first of the faults: three times the kind, plus the access.
    STOP_FAULT = 8;
    /// Internal: the bank has no frame left.
    STOP_NEED_FRAME = 32;
    /// Internal: code must be lowered first.
    STOP_NEED_CODE = 33;
    /// Internal: the kernel lacks an instruction on SIMD registers; its stop address is the unit that has it.
    STOP_NEED_SIMD = 34;
    /// Internal: what the host writes or maps waits for the next dispatch.
    STOP_NEED_TIME = 35;

    /// Fault kind: not mapped.
    FAULT_TRANSLATION = 0;
    /// Fault kind: not permitted.
    FAULT_PERMISSION = 3;
    /// Fault kind: not aligned.
    FAULT_ALIGNMENT = 6;
    /// Access: a load.
    ACCESS_READ = 0;
    /// Access: a store.
    ACCESS_WRITE = 1;
    /// Access: a fetch.
    ACCESS_EXECUTE = 2;

    // Frames: 4 KiB of data, or 1,024 entries of a page table.

    /// The u64 words of a frame.
    FRAME_WORDS = 512;
    /// Entry: the frame number begins at this bit.
    ENTRY_FRAME = 8;
    /// Entry: loads are permitted.
    ENTRY_READ = 1;
    /// Entry: stores are permitted.
    ENTRY_WRITE = 2;
    /// Entry: fetches are permitted.
    ENTRY_EXECUTE = 4;
    /// Entry: something is there. An entry without is zero.
    ENTRY_MAPPED = 8;
    /// Entry: the frame is the lane's own, if the frame the entry lies in is.
    ENTRY_OWNED = 16;
    /// Entry: the lane has written the page.
    ENTRY_PRIVATE = 32;
    /// What the host maps: the pages become zero, or not mapped. With an entry's permissions, or none.
    MAP_ZERO = 256;
    /// What the host maps: the pages keep what they hold.
    MAP_PROTECT = 512;
    /// Bits of a page number that one level of a page table translates.
    LEVEL_BITS = 10;

    // What is known of each frame: the page it holds in two words, the next frame of the lane, the lowered code.

    /// Set in the second word of a frame's page if the frame is a node of a page table.
    INFO_NODE = 0x80000000;
    /// Set in a frame's code if the code is up to date. The rest is one more than the number of the code page.
    INFO_CODE_VALID = 0x80000000;

    // Counters of a bank.

    /// How many frames have been given out, or asked for.
    COUNTER_FRAMES = 0;
    /// Lanes that ended the dispatch without a stop.
    COUNTER_RUNNING = 1;
    /// Lanes that stopped.
    COUNTER_STOPPED = 2;
    /// Lanes that need a frame.
    COUNTER_NEED_FRAME = 3;
    /// Lanes that need code, or another kernel.
    COUNTER_NEED_CODE = 4;
    /// Steps retired, the low word.
    COUNTER_STEPS = 5;
    /// Steps retired, the high word.
    COUNTER_STEPS_HIGH = 6;
    /// Calls that were served without the host.
    COUNTER_SERVED = 7;
    /// Those of them that wrote to the console.
    COUNTER_WRITTEN = 8;
    /// Invocations that found loops cut off by the driver.
    COUNTER_CUT_OFF = 9;
    /// How many counters there are.
    COUNTERS = 10;

    // System calls of Linux programs: what becomes of each number. Those from the last on are the host's.

    /// How many numbers of calls are looked up.
    CALLS = 448;
    /// The call is the host's.
    CALL_HOST = 0;
    /// It always returns the same, which is signed and begins at bit [`CALL_VALUE`].
    CALL_ANSWER = 1;
    /// It ends the lane.
    CALL_EXIT = 2;
    /// It moves the end of the heap.
    CALL_BREAK = 3;
    /// It reads a clock.
    CALL_CLOCK = 4;
    /// It writes to a descriptor.
    CALL_WRITE = 5;
    /// It names the list of robust locks.
    CALL_ROBUST_LIST = 6;
    /// It asks for the limit of a resource.
    CALL_LIMIT = 7;
    /// It asks for the name of the program.
    CALL_NAME = 8;
    /// It asks for randomness.
    CALL_RANDOM = 9;
    /// How many limits of resources there are.
    LIMITS = 16;
    /// The value of a [`CALL_ANSWER`] begins at this bit.
    CALL_VALUE = 8;

    // Console output. Its buffer has columns of one u64 a lane, too: lanes mostly write as much as their neighbours.

    /// The handles of a lane that may be console output: those below this number.
    CONSOLE_HANDLES = 32;
    /// The most bytes of a call that is served without the host.
    CONSOLE_CALL_BYTES = 1024;

    // Decisions of a dispatch network: for each class that is right, three counters of two words each, low word first.

    /// Decision counter: how often the network was asked.
    DECISION_ASKED = 0;
    /// Decision counter: how often it said another class.
    DECISION_MISPREDICTED = 2;
    /// Decision counter: how often the table decided instead.
    DECISION_FELL_BACK = 4;
    /// The words of a class.
    DECISION_WORDS = 6;
    /// How many classes there are; as a class: none, as nothing was asked.
    CLASSES = 7;
    /// Dispatch: where the network is wrong, the lane stops as at an undefined word.
    DISPATCH_STOPS = 1;
    /// Dispatch: the table decides, and the network is only compared with it.
    DISPATCH_TABLE_DECIDES = 2;

    // Networks on their own.

    /// The vectors of the weights of the dispatch network that are not folded, by input and then by four outputs.
    NEAR_VECTORS = 262;
    /// Of so many tuples one is evaluated by invocations together when a network is tested.
    SHARED_STRIDE = 61;
    /// Words of a tuple that a workgroup has evaluated together: the class, then the bits of the logits.
    TOGETHER_WORDS = 8;

    /// The most workgroups in a dimension of a dispatch that spreads a list over two.
    DISPATCH_ROW = 65535;
    /// Words of a row of the decode table: mask, value, holes and shape, and the four words of the micro-op.
    ROW_WORDS = 8;
    /// Micro-ops of a page.
    PAGE_OPS = 1024;
}
