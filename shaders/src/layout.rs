//! The layout of the buffers of a machine: the numbers that host and shaders share.
//!
//! `cargo xtask codegen` writes `machine/layout.wgsl` from this file.

/// Defines constants, and `ALL`, the list of them.
macro_rules! constants { ($($(#[doc = $doc:literal])+ $name:ident = $value:expr;)*) => {
    $($(#[doc = $doc])+ pub const $name: u32 = $value;)*

    /// Every constant: name, value, meaning.
    pub const ALL: &[(&str, u32, &str)] = &[$((stringify!($name), $name, concat!($($doc),+).trim_ascii())),*];
} }

pub mod spiking;

constants! {
    // The state of lanes: columns of one u64 per lane. Columns 0 to 30 are X0 to X30.

    /// Column: the stack pointer.
    COLUMN_SP = 31;
    /// Column: the program counter.
    COLUMN_PC = 32;
    /// Column: the number of steps retired.
    COLUMN_STEPS = 33;
    /// Column: the condition flags, and from bit 32 on the number of bytes that the exclusive monitor marks, or 0.
    COLUMN_NZCV = 34;
    /// Column: the address that the exclusive monitor marks.
    COLUMN_MONITOR = 35;
    /// Column: `TPIDR_EL0`.
    COLUMN_TPIDR = 36;
    /// Column: `TPIDRRO_EL0`.
    COLUMN_TPIDRRO = 37;
    /// Column: FPCR, and from bit 32 on FPSR.
    COLUMN_FPCR = 38;
    /// Column: the fields SSBS and DIT of PSTATE.
    COLUMN_PSTATE = 39;
    /// Column: the value from which the keys of pointer authentication follow.
    COLUMN_KEYS = 40;
    /// Column: the end of the heap of a Linux program.
    COLUMN_HEAP_END = 41;
    /// Column: the time that a Linux program has slept, in nanoseconds.
    COLUMN_SLEPT = 42;
    /// Column: the address of the list of robust locks that a Linux program has set.
    COLUMN_ROBUST_LIST = 43;
    /// Column: the number of bytes of randomness that a Linux program has used.
    COLUMN_RANDOM = 44;
    /// Column: the first half of the name of a Linux program. The next column is the second half.
    COLUMN_NAME = 45;
    /// Column: the address that is set to zero when the thread of a Linux program ends, or 0.
    COLUMN_CLEAR_TID = 47;
    /// Column: the ID of the process of a Linux program, and from bit 32 on that of the thread.
    COLUMN_PROCESS = 48;
    /// Column: the ID of the parent of the process, and from bit 32 on the number of threads that the lane has had besides
    /// the first one.
    COLUMN_PARENT = 49;
    /// Column: the number of threads that wait at a futex, at bit [`LIMITS_CHANGED`] whether the resource limits of the process were
    /// changed, and from bit [`HEAP_LIMIT`] on the page at whose start the heap ends at the latest.
    COLUMN_WAITERS = 50;
    /// Column: the descriptors of the pipe windows, 16 bits each: those that read from the first window, that write to it, and the
    /// same of the second.
    COLUMN_PIPE_ENDS = 51;
    /// Column: the place of the first byte in the first pipe window, from bit 16 on the number of bytes there, and from bit 33 on
    /// the number of bytes that the lane has read since the host has offered the window. The next column is that of the second.
    COLUMN_PIPES = 52;
    /// Column: the number of steps at which the lane stops.
    COLUMN_LIMIT = 54;
    /// Column: the stop of the lane, and from bit 32 on the immediate or word that stopped it, or its exit status.
    COLUMN_STOP = 55;
    /// Column: the address that stopped the lane, or the argument of an internal stop.
    COLUMN_STOP_ADDRESS = 56;
    /// Column: the entry that leads to the root of the page table, and from bit 32 on the number of its levels.
    COLUMN_ROOT = 57;
    /// Column: the first page of the window that the page table covers.
    COLUMN_WINDOW = 58;
    /// Column: the last frame in use of the lane's chain, and from bit 32 on the number of pages the lane has written.
    COLUMN_TAIL = 59;
    /// Column: the number of pages the lane may write, and from bit 32 on the first frame of its chain. Kept by a
    /// reset.
    COLUMN_HEAD = 60;
    /// Column: the frame of the lane's chain behind which the frames of its memory begin; 0 if they begin with the first one. The
    /// frames up to it are those of a snapshot that was taken before the host has cleared the memory. From bit 32 on the entry that
    /// leads to the node of the pipe windows; 0 if they have no frames.
    COLUMN_BASE = 61;
    /// Column: the handles whose console output does not need the host, a bit each, and bit 0 for calls without a
    /// handle; from bit 32 on the number of bytes that wait for the host. A reset sets that number to 0.
    COLUMN_CONSOLE = 62;
    /// Column: 1 if the TLBs that the lane keeps are those of its page table, else 0.
    COLUMN_TLB = 63;
    /// Column: the lower half of V0. The next columns are its upper half, and the halves of V1 to V31.
    COLUMN_V = 64;
    /// The number of columns.
    COLUMNS = 128;

    // The stops of lanes.

    /// Stop: none, the lane runs.
    STOP_NONE = 0;
    /// Stop: the lane has reached its limit of steps.
    STOP_BUDGET = 1;
    /// Stop: HLT.
    STOP_HALT = 2;
    /// Stop: BRK.
    STOP_BREAKPOINT = 3;
    /// Stop: SVC.
    STOP_SYSCALL = 4;
    /// Stop: an undefined word.
    STOP_UNDEFINED = 5;
    /// Stop: the lane may not write another page.
    STOP_OUT_OF_FRAMES = 6;
    /// Stop: the program exited.
    STOP_EXIT = 7;
    /// Stop: the first of the faults. A fault is this number plus its `FAULT_*` and its `ACCESS_*`.
    STOP_FAULT = 8;
    /// Stop: the host has set a breakpoint at the next instruction.
    STOP_HARDWARE_BREAKPOINT = 17;
    /// Stop: the first of the watchpoints. A watchpoint is this number plus its `ACCESS_*`.
    STOP_WATCHPOINT = 18;
    /// Stop: a system call that the host filters. Only the host sets it.
    STOP_SYSTEM_CALL = 20;
    /// Stop: every thread of a Linux program waits. Only the host sets it.
    STOP_DEADLOCK = 21;
    /// Internal stop: the machine has no frame left.
    STOP_NEED_FRAME = 32;
    /// Internal stop: the code of the next instruction must be lowered first.
    STOP_NEED_CODE = 33;
    /// Internal stop: the kernel lacks an instruction on SIMD registers. The stop address is the unit that has it.
    STOP_NEED_SIMD = 34;
    /// Internal stop: a frame is on the host. The stop address has the number of the frame in the bits `NEED_FRAME`, and that of its
    /// page.
    STOP_NEED_AWAY = 35;
    /// Internal stop of a piece to write or map: the dispatch has no fuel left, so the next one does the rest.
    STOP_NEED_TIME = 36;

    /// The mask of the number of a frame that a lane needs.
    NEED_FRAME = 0x1ffffff;
    /// Bit beside the number of a frame that a lane needs: the instruction stores to the page.
    NEED_STORES = 0x8000000;
    /// The first bit of the number of the page whose frame a lane needs.
    NEED_PAGE = 28;

    /// Fault kind: the page is not mapped.
    FAULT_TRANSLATION = 0;
    /// Fault kind: the access is not permitted.
    FAULT_PERMISSION = 3;
    /// Fault kind: the address is not aligned.
    FAULT_ALIGNMENT = 6;
    /// Entry of a TLB: loads are permitted.
    TLB_READ = 1;
    /// Entry of a TLB: stores are permitted, and the frame is the lane's own and contains no code that is up to date.
    TLB_WRITE = 2;
    /// Access: a load.
    ACCESS_READ = 0;
    /// Access: a store.
    ACCESS_WRITE = 1;
    /// Access: a fetch.
    ACCESS_EXECUTE = 2;
    /// Kind of a hook: a system call. The other kinds are `ACCESS_*`.
    HOOK_CALL = 3;
    /// Key of a hook: the first bit of the kind. The bits below it are an address or a call number.
    HOOK_KIND = 48;

    // Frames: 4 KiB of data, or 1,024 entries of a page table.

    /// The number of u64 words of a frame.
    FRAME_WORDS = 512;
    /// Entry: the first bit of the frame number.
    ENTRY_FRAME = 7;
    /// Entry: loads are permitted.
    ENTRY_READ = 1;
    /// Entry: stores are permitted.
    ENTRY_WRITE = 2;
    /// Entry: fetches are permitted.
    ENTRY_EXECUTE = 4;
    /// Entry: it leads to a mapped page, or to a node.
    ENTRY_MAPPED = 8;
    /// Entry: the frame is the lane's own, provided that the frame that contains the entry is.
    ENTRY_OWNED = 16;
    /// Entry: the lane has written the page.
    ENTRY_PRIVATE = 32;
    /// Mapping: the pages become zero and get the `ENTRY_*` bits beside this one. Without `ENTRY_MAPPED` it unmaps
    /// them.
    MAP_ZERO = 256;
    /// Mapping: the pages get the `ENTRY_*` bits beside this one and keep their contents.
    MAP_PROTECT = 512;
    /// The number of bits of a page number that one level of a page table translates.
    LEVEL_BITS = 10;
    /// The first of the frames that are uniform nodes: all pages below such a node are mapped, zero, and have the same
    /// permissions. They come by level, from 1 on, and within a level by the bits `ENTRY_READ`, `ENTRY_WRITE` and
    /// `ENTRY_EXECUTE`.
    UNIFORM_NODES = 1;
    /// The number of levels that have uniform nodes.
    UNIFORM_LEVELS = 2;
    /// The number of uniform nodes of a level.
    UNIFORM_PERMISSIONS = 8;

    // The information on a frame, four words: its page in two words, the next frame of the lane, the lowered code.

    /// Bit in the second word of a frame's page: the frame is a node of a page table.
    INFO_NODE = 0x80000000;
    /// Bit in the second word of a frame's page: the contents of the frame are on the host, or it has none yet.
    INFO_AWAY = 0x40000000;
    /// The mask of the place of a frame in the second word of its page: the bits in which the number of the place differs from that of
    /// the frame. So a frame that has never moved has 0 there.
    INFO_PLACE = 0x1ffffff0;
    /// The first bit of the place.
    INFO_PLACE_BIT = 4;
    /// The mask of the upper bits of the page's number in the second word of a frame's page.
    INFO_PAGE_HIGH = 15;
    /// Bit in a frame's code word: the code is up to date.
    INFO_CODE_VALID = 0x80000000;
    /// Bit in a frame's code word: the markers in the code page are valid, because nobody has written to the frame since
    /// they were set.
    INFO_CODE_MARKED = 0x40000000;
    /// The mask of the number of the code page plus one in a frame's code word.
    INFO_CODE_PAGE = 0x3fffffff;

    // Markers: micro-ops that take the place of those at the entries of translated regions. The first word has the
    // handler, and from bit 8 on the number of the entry; the second word is the frame.

    /// The handler of markers, which no other micro-op has.
    HANDLER_MARKER = 0xff;
    /// The first bit of the number of the entry in a marker.
    MARKER_ENTRY = 8;

    // The counters of a machine.

    /// Counter: frames that have been given out, plus requests that failed.
    COUNTER_FRAMES = 0;
    /// Counter: lanes that ended the dispatch without a stop.
    COUNTER_RUNNING = 1;
    /// Counter: lanes that stopped.
    COUNTER_STOPPED = 2;
    /// Counter: lanes that need a frame.
    COUNTER_NEED_FRAME = 3;
    /// Counter: lanes that need code, or another kernel.
    COUNTER_NEED_CODE = 4;
    /// Counter: steps retired, the low word.
    COUNTER_STEPS = 5;
    /// Counter: steps retired, the high word.
    COUNTER_STEPS_HIGH = 6;
    /// Counter: calls that were served without the host.
    COUNTER_SERVED = 7;
    /// Counter: calls that were served without the host and wrote to the console.
    COUNTER_WRITTEN = 8;
    /// Counter: invocations that found that the driver cuts off their loops.
    COUNTER_CUT_OFF = 9;
    /// Counter: steps retired in translated regions, the low word.
    COUNTER_TRANSLATED = 10;
    /// Counter: steps retired in translated regions, the high word.
    COUNTER_TRANSLATED_HIGH = 11;
    /// Counter: free places that have been given out, plus requests that failed.
    COUNTER_PLACES = 12;
    /// The number of counters.
    COUNTERS = 13;

    // Frames that move between the device and the host.

    /// Bit in the mark of a frame, beside the number of the turn in which it was used last: the frame was prefetched in that turn,
    /// and no lane has used it yet.
    MARK_PREFETCHED = 0x80000000;
    /// In place of the number of a frame: the frame was prefetched, and has left before a lane used it.
    FRAME_LOST = 0xffffffff;
    /// Order of a frame: the number of orders of each rank of a lane, one for each power of two of the turns since the frame was
    /// used.
    MOVE_AGES = 32;
    /// Rank of a lane: it runs, or is the next to run.
    RANK_RUNS = 0;
    /// Rank of a lane: it waits until other lanes have stopped.
    RANK_WAITS = 1;
    /// Rank of a lane: it has stopped.
    RANK_STOPPED = 2;
    /// The number of ranks.
    RANKS = 3;

    // Loops whose iterations are executed at once. A job is a list of cells of four words: the header, the stores, the
    // registers that change by a step, the folds, and the operations of an iteration. The first word of an operation has its
    // number, its slots from bit 8, 16 and 24 on; the other words depend on it.

    /// Operation: the start plus the number of the iteration times the step, both in the next cell.
    TAPE_PROGRESSION = 0;
    /// Operation: the constant in the third and the fourth word plus as many multiples as the second word says, each in a
    /// cell: the slot, 0, and the factor in two words.
    TAPE_SUM = 1;
    /// Operation: the low word, extended with its sign if the second word is 1.
    TAPE_WORD = 2;
    /// Operation: a load to two slots. The second word has the binary logarithm of the size, the extension from bit 8, whether
    /// it is a pair from bit 16, and whether it may meet stores from bit 24.
    TAPE_LOAD = 3;
    /// Operation: the flags of a comparison. The second word is 1 for 64 bits, the third 1 for a sum.
    TAPE_COMPARE = 4;
    /// Operation: the flags of a logical instruction. The second word is 1 for 64 bits.
    TAPE_LOGIC = 5;
    /// Operation: a selection. The second word is the condition, the third the slot of the flags.
    TAPE_SELECT = 6;
    /// Operation: the result of a micro-op, which is in the next cell. The second word is the slot of the third operand.
    TAPE_COMPUTE = 7;
    /// Operation: leaves the loop if a condition, the second word, holds for flags.
    TAPE_LEAVE_IF = 8;
    /// Operation: leaves the loop if a value is zero, or is not zero if the second word is 1.
    TAPE_LEAVE_IF_ZERO = 9;
    /// Operation: a store. The second word has the binary logarithm of the size, and whether it is a pair from bit 16.
    TAPE_STORE = 10;
    /// Operation: a fold, whose number is the second word.
    TAPE_FOLD = 11;
    /// The number of slots of an iteration.
    TAPE_SLOTS = 96;
    /// The number of folds.
    TAPE_FOLDS = 4;
    /// The invocations of a workgroup that executes a job.
    JOB_INVOCATIONS = 64;
    /// The number of cells of the header of a job: the lane, the number of workgroups, the number of instructions and of
    /// iterations of a chunk; the most iterations in two words, the index of the first partial result, and 1 if iterations are
    /// evaluated; the numbers of cells of stores, registers, folds and operations; the number of steps of an iteration in two words;
    /// the address of the first instruction in two words, the number of iterations that are evaluated to find out which are valid, and
    /// the number of cells of loads. The instructions are behind it, four in each cell.
    JOB_HEADER = 5;
    /// Fold: the sum.
    FOLD_SUM = 0;
    /// Fold: the bitwise AND.
    FOLD_AND = 1;
    /// Fold: the bitwise OR.
    FOLD_ORR = 2;
    /// Fold: the bitwise exclusive OR.
    FOLD_EOR = 3;
    /// Fold: the least value, as keys: shifted to the left, and with another sign if it is signed.
    FOLD_LEAST = 4;
    /// Fold: the greatest value, as keys.
    FOLD_GREATEST = 5;
    /// The number of words of the result of a job: the number of valid iterations if they are evaluated; the number of iterations
    /// that were executed, in two words, the first of which is before that whether iterations are evaluated to find out which are
    /// valid; and 1 if none is executed because there is no room for pages, or because the lane has other code.
    JOB_RESULT = 4;

    /// The number of elements that an invocation compares in a pass of a bubble sort. A workgroup compares those of
    /// `JOB_INVOCATIONS` of them, a chunk.
    PASS_RUN = 16;
    /// The number of cells of the header of the job of a pass: the lane, the number of chunks, the number of instructions,
    /// and of an element the logarithm of its bytes, from bit 8 on how it is extended, and from bit 16 on whether equal ones
    /// are exchanged; the number of iterations, the index of the first chunk in `chunks`, and of the first page in `pages`,
    /// and the number of pages; the address of the first element, and the bits of keys that are inverted; the bits that keys
    /// have, and the address of the first instruction; the numbers of registers that move and that exchanges change, and the
    /// numbers of steps of an iteration without an exchange and with one. The instructions follow, four in a cell, then the
    /// registers that move: the column, 1 if it has 64 bits, and the step; then those that exchanges change, in two cells:
    /// the column, 1 if it has 64 bits plus 2 if it is set rather than added to, the number, and its difference from one
    /// iteration to the next.
    PASS_HEADER = 5;
    /// The number of words of the result of a pass: 1 if iterations cannot be executed at once, the number of exchanges, and the
    /// iteration with the last of them.
    PASS_RESULT = 3;

    // System calls of Linux programs: the treatment of each number. The host serves numbers from `CALLS` on.

    /// The number of system calls in the table of calls.
    CALLS = 448;
    /// Call: the host serves it.
    CALL_HOST = 0;
    /// Call: returns a constant, which is signed and begins at bit [`CALL_VALUE`].
    CALL_ANSWER = 1;
    /// Call: ends the lane.
    CALL_EXIT = 2;
    /// Call: moves the end of the heap.
    CALL_BREAK = 3;
    /// Call: reads a clock.
    CALL_CLOCK = 4;
    /// Call: writes to a descriptor.
    CALL_WRITE = 5;
    /// Call: sets the list of robust locks.
    CALL_ROBUST_LIST = 6;
    /// Call: returns the limit of a resource.
    CALL_LIMIT = 7;
    /// Call: returns the name of the program.
    CALL_NAME = 8;
    /// Call: returns random bytes.
    CALL_RANDOM = 9;
    /// Call: returns the ID of the process.
    CALL_PROCESS = 10;
    /// Call: returns the ID of the thread.
    CALL_THREAD = 11;
    /// Call: returns the ID of the parent of the process.
    CALL_PARENT = 12;
    /// Call: sets the address that is set to zero when the thread ends, and returns the ID of the thread.
    CALL_CLEAR_TID = 13;
    /// Call: wakes threads that wait at a futex.
    CALL_WAKE_FUTEX = 14;
    /// Call: ends the turn of the thread.
    CALL_YIELD = 15;
    /// Call: reads from a descriptor.
    CALL_READ = 16;
    /// The number of limits of resources.
    LIMITS = 16;
    /// The bit of [`COLUMN_WAITERS`] that says that the resource limits of the process were changed. The bits before it are the
    /// number of waiting threads.
    LIMITS_CHANGED = 16;
    /// The first bit of the page in [`COLUMN_WAITERS`] at whose start the heap ends at the latest.
    HEAP_LIMIT = 17;
    /// The first bit of the value of a [`CALL_ANSWER`].
    CALL_VALUE = 8;

    // Console output. Its buffer has columns of one u64 per lane, too: lanes mostly write as much as their neighbours.

    /// The number of handles of a lane that may be console output: 0 to one less than this.
    CONSOLE_HANDLES = 32;
    /// The most bytes of a call that is served without the host.
    CONSOLE_CALL_BYTES = 1024;

    // Pipes.

    /// The number of pipe windows of a lane.
    PIPE_WINDOWS = 2;
    /// The number of bytes of a pipe window.
    PIPE_BYTES = 65536;
    /// The number of descriptors that may be ends of pipe windows: 0 to one less than this.
    PIPE_HANDLES = 16;
    /// The most bytes that a call moves through a pipe without the host.
    PIPE_CALL_BYTES = 4096;
    /// The same on drivers that end long loops.
    PIPE_CALL_BYTES_LEAST = 1024;
    /// The address from which the host reads and writes the pipe windows, one behind the other: the high word. No address of a guest
    /// is as large.
    PIPE_ADDRESS_HIGH = 65536;

    // Decisions of a dispatch network: for each correct class, three counters of two words each, low word first.

    /// Decision counter: evaluations of the network.
    DECISION_ASKED = 0;
    /// Decision counter: evaluations that gave another class.
    DECISION_MISPREDICTED = 2;
    /// Decision counter: wrong classes that the table corrected.
    DECISION_FELL_BACK = 4;
    /// The number of words of the counters of a class.
    DECISION_WORDS = 6;
    /// The number of classes. In the place of a class, it means that the network has not been evaluated.
    CLASSES = 7;
    /// Class selection: where the network is wrong, the lane stops as at an undefined word.
    SELECTION_STOPS = 1;
    /// Class selection: the table decides, and the network is only compared with it.
    SELECTION_TABLE_DECIDES = 2;

    // Kernels that evaluate a network outside of a machine.

    /// The number of vectors of the dispatch network's weights that are not folded: by input, then by four outputs.
    NEAR_VECTORS = 262;
    /// The distance between the tuples that invocations evaluate together when a network is tested.
    SHARED_STRIDE = 61;
    /// The words of the result for a tuple that a workgroup evaluates together: the class, then the bits of the logits.
    TOGETHER_WORDS = 8;

    // The networks that look at sequences: at loops, and at accesses to memory.

    /// Activation: none.
    ACTIVATION_NONE = 0;
    /// Activation: negative values become zero.
    ACTIVATION_RELU = 1;
    /// Activation: the Gaussian error linear unit.
    ACTIVATION_GELU = 2;
    /// Activation: the logistic function.
    ACTIVATION_LOGISTIC = 3;
    /// The most tokens of a sequence: words of the body of a loop, or accesses of a window.
    SEQUENCE_TOKENS = 32;
    /// The number of patterns that the pattern recogniser knows.
    LOOP_PATTERNS = 6;
    /// The part of the kind of an access that is the lowest byte of the address of its instruction.
    ACCESS_PC_MASK = 255;
    /// The bit of the kind of an access that is set for a load.
    ACCESS_LOAD = 256;
    /// The rows of which an invocation of a linear layer computes eight outputs.
    LINEAR_ROWS = 8;
    /// The invocations of a workgroup of a linear layer that compute outputs of the same rows.
    LINEAR_COLUMNS = 16;
    /// The invocations of a workgroup of a linear layer.
    LINEAR_WORKGROUP = 32;
    /// The sequences that a workgroup takes through an LSTM.
    LSTM_SEQUENCES = 4;

    // Views of pictures.

    /// Pixels of a picture: bytes, which are indices of colors in a palette.
    PICTURE_PALETTE = 0;
    /// Pixels of a picture: words of red, green and blue.
    PICTURE_XRGB = 1;
    /// Pixels of a picture: bytes, from black to white.
    PICTURE_GREY = 2;
    /// Pixels of a view: the bytes of the picture.
    VIEW_INDEX = 0;
    /// Pixels of a view: bytes, from black to white.
    VIEW_GREY = 1;
    /// Pixels of a view: three bytes, red, green and blue.
    VIEW_RGB = 2;
    /// The most pages of a picture that a chunk of a view depends on.
    VIEW_PAGES = 512;

    /// The most workgroups in a dimension of a dispatch whose list is spread over two dimensions.
    DISPATCH_ROW = 65535;
    /// The words of a row of the decode table: mask, value, holes and shape, and the four words of the micro-op.
    ROW_WORDS = 8;
    /// The number of micro-ops of a page.
    PAGE_OPS = 1024;
}
