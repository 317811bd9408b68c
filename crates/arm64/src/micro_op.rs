//! Micro-ops: instructions in the form the GPU interpreter executes.
//!
//! A micro-op is 16 bytes: what to do and with which registers, how the second operand is formed, and an
//! immediate. The interpreter treats all of them alike but for the one step the handler names:
//!
//! ```text
//! a = x[a]    b = (extract(x[b]) + imm) ^ invert    c = x[c]        operand fetch
//! value = handler(a, b, c)                                          compute, address or condition
//! memory                                                            loads, stores, atomics
//! x[dst] = value                                                    write-back
//! ```
//!
//! `extract` is a left shift and then a right shift, signed or not, or a rotation. That is enough for every
//! shifted and extended operand and for all bit fields. No micro-op depends on the address it lies at.

/// Defines the handlers, their numbers and their description.
macro_rules! handlers { ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
    /// What a micro-op does with its operands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[repr(u8)]
    #[expect(non_camel_case_types, reason = "the names of the shader's constants")]
    pub enum Handler { $($(#[doc = $doc])+ $name,)* }

    impl Handler {
        /// Every handler, in the order of its number.
        pub const ALL: &[(Self, &str, &str)] =
            &[$((Self::$name, stringify!($name), concat!($($doc),+).trim_ascii())),*];
    }
} }

handlers! {
    /// No micro-op yet, or no longer: the page must be lowered before this word can run.
    STALE,
    /// a + b + carry.
    ADD,
    /// The same for CCMP and CCMN, whose flags are `nzcv` unless the condition holds.
    CONDITIONAL_COMPARE,
    /// a if the condition holds, else b + carry.
    SELECT,
    /// a AND b.
    AND,
    /// a OR b.
    ORR,
    /// a EOR b.
    EOR,
    /// Branch by imm if the condition holds; the value is the return address.
    BRANCH,
    /// Branch by imm if what is extracted is zero, or if it is not and `operation` is 1.
    TEST_BRANCH,
    /// Branch to a; the value is the return address.
    BRANCH_REGISTER,
    /// Loads from a + b.
    LOAD,
    /// Stores to a + b. This is the last of the most common handlers.
    STORE,
    /// b inserted into c, where the extraction of all ones is one.
    BIT_FIELD_INSERT,
    /// a:b shifted right by `right`, the register's width of it.
    EXTRACT,
    /// a shifted by b; `operation` is the shift type.
    SHIFT,
    /// c + a * b, or c - a * b if `operation` is 1.
    MULTIPLY_ADD,
    /// The same with a and b extended from words: `operation` & 2 is signed.
    MULTIPLY_ADD_LONG,
    /// The high half of a * b; `operation` is 1 if signed.
    MULTIPLY_HIGH,
    /// a / b; `operation` is 1 if signed.
    DIVIDE,
    /// The CRC of `size` bytes of b continued from a; `operation` is 1 for CRC32C.
    CRC32,
    /// The bits of a in opposite order.
    REVERSE_BITS,
    /// The bytes of each container of `size` in opposite order.
    REVERSE_BYTES,
    /// Leading zero bits of a.
    COUNT_LEADING_ZEROS,
    /// Leading sign bits of a.
    COUNT_LEADING_SIGNS,
    /// pc + imm; from the start of pc's page if `operation` is 1.
    PC_RELATIVE,
    /// Nothing.
    NOP,
    /// The monitor is cleared.
    CLEAR_EXCLUSIVE,
    /// Reads the system register `operation`.
    READ_SYSTEM,
    /// Writes the system register `operation`.
    WRITE_SYSTEM,
    /// Loads from pc + imm. This is the first of the less common handlers that access memory.
    LOAD_LITERAL,
    /// Loads from a and marks it.
    LOAD_EXCLUSIVE,
    /// Stores to a if that is marked; the value says whether it was not.
    STORE_EXCLUSIVE,
    /// Combines memory at a with b; `operation` is the manual's `MemAtomicOp`.
    ATOMIC,
    /// Stores c to a if that holds b.
    COMPARE_AND_SWAP,
    /// DC ZVA at a.
    ZERO_BLOCK,
    /// Cache maintenance at a, which must be readable.
    CHECK_READ,
    /// Loads SIMD registers dst and, of a pair, c from a + b, or from pc + imm.
    VECTOR_LOAD,
    /// Stores SIMD registers c and, of a pair, dst to a + b.
    VECTOR_STORE,
    /// LD1 to LD4 from a; imm is the word.
    VECTOR_LOAD_STRUCTURES,
    /// ST1 to ST4 to a; imm is the word.
    VECTOR_STORE_STRUCTURES,
    /// Moves that involve general registers, immediates or the flags: `operation` is which; imm is the word.
    VECTOR_MOVE,
    /// Elements in another order: `operation` is which; imm is the word.
    VECTOR_PERMUTE,
    /// Arithmetic on elements that are integers; imm is the word.
    VECTOR_INTEGER,
    /// Arithmetic on elements that are floating-point numbers; imm is the word.
    VECTOR_FLOAT,
    /// AES and SHA: `operation` is which; imm is the word. This is the last that is not done at once.
    VECTOR_CRYPTO,
    /// SVC.
    SUPERVISOR_CALL,
    /// BRK.
    BREAKPOINT,
    /// HLT.
    HALT,
    /// UNDEFINED; imm is the word.
    UNDEFINED,
}

/// Registers 0 to 30 are X0 to X30.
pub const ZERO: u32 = 31;
/// The stack pointer.
pub const SP: u32 = 32;
/// Takes what is written to the zero register.
pub const SINK: u32 = 33;
/// How many registers the interpreter has.
pub const REGISTERS: u32 = 34;

/// How the second operand is extracted from its register: not at all.
pub const PLAIN: u32 = 0;
/// Shifted left by `left`, then right by `right`.
pub const UNSIGNED: u32 = 1;
/// Shifted left by `left`, then right by `right`, with sign.
pub const SIGNED: u32 = 2;
/// Rotated right by `right`, the register's width.
pub const ROTATED: u32 = 3;

/// The value of `carry` that means the flag.
pub const CARRY_FLAG: u32 = 2;

/// `index`: the address is a + b.
pub const INDEX_OFFSET: u32 = 0;
/// `index`: the address is a, and a + b is written to it.
pub const INDEX_POST: u32 = 1;
/// `index`: the address is a + b, and is written to a.
pub const INDEX_PRE: u32 = 2;
/// `index` of structures: the address is a, and b is added to it.
pub const INDEX_POST_REGISTER: u32 = 2;
/// `index` of SIMD registers: the address is pc + imm.
pub const INDEX_LITERAL: u32 = 3;

/// The system registers a guest can change or that change by themselves.
pub const SYSTEM_REGISTERS: &[&str] = &["nzcv", "fpcr", "fpsr", "tpidr_el0", "tpidrro_el0", "cntvct_el0"];

/// A field of one word of a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its lowest bit.
    pub low: u32,
    /// How many bits it has.
    pub width: u32,
    /// What it holds.
    pub doc: &'static str,
}

/// Defines the fields of a word: name, lowest bit, width, what it holds.
macro_rules! fields { ($word:ident $table:ident $($name:ident $low:literal $width:literal $doc:literal;)*) => {
    impl MicroOp {
        #[doc = concat!("The fields of `", stringify!($word), "`. Those of handlers that need different ones overlap.")]
        pub const $table: &[Field] =
            &[$(Field { name: stringify!($name), low: $low, width: $width, doc: $doc }),*];

        $(
            #[doc = $doc]
            #[must_use]
            pub const fn $name(self) -> u32 {
                (self.$word >> $low) & ((1 << $width) - 1)
            }
        )*
    }

    impl Fields {
        $(
            #[doc = concat!("Sets `", stringify!($name), "`. ", $doc)]
            #[must_use]
            pub const fn $name(mut self, value: u32) -> Self {
                assert!(value < 1 << $width, "the field of the micro-op is too narrow");
                self.0.$word = self.0.$word & !(((1 << $width) - 1) << $low) | value << $low;
                self
            }
        )*
    }
} }

/// An instruction as the interpreter executes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct MicroOp {
    /// The handler and four registers.
    pub control: u32,
    /// How operands are formed and results are kept.
    pub parameters: u32,
    /// The immediate.
    pub imm: u64,
}

/// A [`MicroOp`] under construction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields(pub MicroOp);

fields! { control CONTROL
    handler 0 8 "The number of the [`Handler`].";
    dst 8 6 "The register that takes the value.";
    a 14 6 "The first source or base register.";
    b 20 6 "The second source or index register.";
    c 26 6 "The third source; the second destination of pairs that are loaded.";
}

fields! { parameters PARAMETERS
    left 0 6 "Extraction: shift left.";
    right 6 6 "Extraction: shift right, or rotation.";
    extraction 12 2 "How the second operand is extracted.";
    invert 14 1 "The second operand is complemented.";
    carry 15 2 "Added to a sum: 0, 1 or the carry flag.";
    wide 17 1 "Operands have 64 bits, not 32.";
    flags 18 1 "The flags are set, or read by a handler that says so.";
    cond 19 4 "The condition.";
    nzcv 23 4 "The flags of a conditional compare that does not compare.";
    size 18 3 "Binary logarithm of the bytes of one register in memory.";
    extend 21 2 "What is loaded: 0 as it is, 1 sign-extended to 32 bits, 2 to 64.";
    index 23 2 "What becomes of the base register.";
    pair 25 1 "Two registers are transferred.";
    aligned 26 1 "The address must be a multiple of the access.";
    operation 27 5 "What exactly the handler does.";
    registers 0 3 "Structures: how many registers are transferred.";
    members 3 3 "Structures: how many members one has, each in a register of its own.";
    transfer 6 2 "Structures: what of the registers is transferred.";
    element 0 7 "Vectors: what becomes of elements, or which of them are taken.";
    form 7 4 "Vectors: where elements come from and go to.";
    sizing 11 3 "Vectors: what says how large elements are.";
    unsigned 14 1 "Vectors: elements are unsigned.";
    rounding 15 1 "Vectors: what is lost is rounded.";
    accumulate 16 2 "Vectors: results are added to Vd, or subtracted from it.";
    saturation 18 2 "Vectors: results are saturated as signed or unsigned elements.";
    zero 20 1 "Vectors: the second operand is zero.";
    mode 21 3 "Vectors: how numbers are rounded.";
    negate 24 2 "Vectors: 1 the first factor, 2 the addend changes its sign.";
    sign 26 2 "Vectors: what becomes of the signs of operands or results.";
}

impl MicroOp {
    /// The word is UNDEFINED.
    #[must_use]
    pub const fn undefined(word: u32) -> Self {
        Fields::new(Handler::UNDEFINED).imm(word as u64).0
    }

    /// The micro-op whose [`MicroOp::words`] these are.
    #[must_use]
    pub const fn from_words([control, parameters, low, high]: [u32; 4]) -> Self {
        Self { control, parameters, imm: low as u64 | (high as u64) << 32 }
    }

    /// The four words of a micro-op, as they lie in memory.
    #[must_use]
    pub const fn words(self) -> [u32; 4] {
        [self.control, self.parameters, self.imm as u32, (self.imm >> 32) as u32]
    }
}

impl Fields {
    /// A micro-op that reads no register and writes none, in 64 bits.
    #[must_use]
    pub const fn new(handler: Handler) -> Self {
        let op = Self(MicroOp { control: 0, parameters: 0, imm: 0 });
        op.handler(handler as u32).dst(SINK).a(ZERO).b(ZERO).c(ZERO).wide(1)
    }

    /// Sets the immediate.
    #[must_use]
    pub const fn imm(mut self, imm: u64) -> Self {
        self.0.imm = imm;
        self
    }
}
