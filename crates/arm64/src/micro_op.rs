//! Micro-ops: decoded instructions in the form that the interpreter on the GPU executes.
//!
//! A micro-op has 16 bytes: a handler and four registers, parameters such as the extraction of the second operand, and
//! an immediate. The interpreter executes all micro-ops in the same way, except for the step that the handler selects:
//!
//! ```text
//! a = x[a]    b = (extract(x[b]) + imm) ^ invert    c = x[c]        operand fetch
//! value = handler(a, b, c)                                          compute, address or condition
//! memory                                                            loads, stores, atomics
//! x[dst] = value                                                    write-back
//! ```
//!
//! `extract` is a left shift followed by a signed or unsigned right shift, or a rotation. This covers every shifted and
//! extended operand and all bit fields. No micro-op depends on its address.

/// Defines the handlers, their numbers and their descriptions.
macro_rules! handlers { ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
    /// The operation of a micro-op on its operands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[repr(u8)]
    #[expect(non_camel_case_types, reason = "the names of the shader's constants")]
    pub enum Handler { $($(#[doc = $doc])+ $name,)* }

    impl Handler {
        /// All handlers with their names and descriptions, in the order of their numbers.
        pub const ALL: &[(Self, &str, &str)] =
            &[$((Self::$name, stringify!($name), concat!($($doc),+).trim_ascii())),*];

        /// Returns the handler of a micro-op. A number that no handler has is UNDEFINED.
        #[must_use]
        pub fn of(op: MicroOp) -> Self {
            Self::ALL.get(op.handler() as usize).map_or(Self::UNDEFINED, |(handler, ..)| *handler)
        }
    }
} }

handlers! {
    /// Not lowered yet, or changed since: the code page must be lowered before this word can be executed.
    STALE,
    /// a + b + carry.
    ADD,
    /// a + b + carry, for CCMP and CCMN: if the condition does not hold, the flags are `nzcv`.
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
    /// Branch by imm if the extracted bits are zero; if `operation` is 1, if they are not zero.
    TEST_BRANCH,
    /// Branch to a; the value is the return address.
    BRANCH_REGISTER,
    /// Loads from a + b.
    LOAD,
    /// Stores to a + b. This is the last of the most common handlers.
    STORE,
    /// b inserted into c, at the bits that are one in the extraction of all ones.
    BIT_FIELD_INSERT,
    /// The low bits of a:b shifted right by `right`, as many as a register has.
    EXTRACT,
    /// a shifted by b; `operation` is the shift type.
    SHIFT,
    /// c + a * b, or c - a * b if `operation` is 1.
    MULTIPLY_ADD,
    /// As `MULTIPLY_ADD`, with a and b extended from words: `operation` & 1 subtracts, `operation` & 2 is signed.
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
    /// Clears the monitor.
    CLEAR_EXCLUSIVE,
    /// Reads the system register `operation`.
    READ_SYSTEM,
    /// Changes the flags: `operation` is one of `FLAGS_*` of `semantics::flags`, `right` the rotation of a, and `nzcv` the
    /// mask of RMIF.
    MANIPULATE_FLAGS,
    /// Pointer authentication of a with the modifier b; `operation` is that of `semantics::pauth::authenticated`.
    AUTHENTICATE,
    /// Branch to a, as `AUTHENTICATE` returns it; the value is the return address.
    AUTHENTICATE_BRANCH,
    /// Loads from a, as `AUTHENTICATE` returns it, plus imm.
    AUTHENTICATE_LOAD,
    /// Writes a + imm to the system register `operation`.
    WRITE_SYSTEM,
    /// Loads from pc + imm. This is the first of the less common handlers that access memory.
    LOAD_LITERAL,
    /// Loads from a and sets the monitor.
    LOAD_EXCLUSIVE,
    /// Stores to a if the monitor permits; the value is 0 if it stored, else 1.
    STORE_EXCLUSIVE,
    /// Combines memory at a with b; `operation` is the manual's `MemAtomicOp`.
    ATOMIC,
    /// Stores c to a if the memory at a equals b; the value is the old content of the memory.
    COMPARE_AND_SWAP,
    /// DC ZVA at a.
    ZERO_BLOCK,
    /// Cache maintenance at a, which must be readable.
    CHECK_READ,
    /// Loads SIMD&FP register dst, and for a pair c, from a + b or from pc + imm.
    VECTOR_LOAD,
    /// Stores SIMD&FP register c, and for a pair dst, to a + b.
    VECTOR_STORE,
    /// LD1 to LD4 from a; imm is the word.
    VECTOR_LOAD_STRUCTURES,
    /// ST1 to ST4 to a; imm is the word.
    VECTOR_STORE_STRUCTURES,
    /// Moves that involve general registers, immediates or the flags. `operation` is the move; imm is the word.
    VECTOR_MOVE,
    /// Permutes elements. `operation` is the permutation; imm is the word.
    VECTOR_PERMUTE,
    /// Arithmetic on elements that are integers; imm is the word.
    VECTOR_INTEGER,
    /// Arithmetic on elements that are floating-point numbers; imm is the word.
    VECTOR_FLOAT,
    /// AES and SHA. `operation` is the instruction; imm is the word. This is the last of the slow handlers.
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

/// The interpreter's register that is always zero. Registers 0 to 30 are X0 to X30.
pub const ZERO: u32 = 31;
/// The interpreter's register for the stack pointer.
pub const SP: u32 = 32;
/// The interpreter's register that takes writes to the zero register.
pub const SINK: u32 = 33;
/// The number of the interpreter's registers.
pub const REGISTERS: u32 = 34;

/// `extraction`: the second operand is the whole register.
pub const PLAIN: u32 = 0;
/// `extraction`: the second operand is the register shifted left by `left`, then right by `right`.
pub const UNSIGNED: u32 = 1;
/// `extraction`: the second operand is the register shifted left by `left`, then arithmetically right by `right`.
pub const SIGNED: u32 = 2;
/// `extraction`: the second operand is the register rotated right by `right`, within its width.
pub const ROTATED: u32 = 3;

/// `carry`: the carry flag is added.
pub const CARRY_FLAG: u32 = 2;

/// `index`: the address is a + b.
pub const INDEX_OFFSET: u32 = 0;
/// `index`: the address is a; a + b is written back to register a.
pub const INDEX_POST: u32 = 1;
/// `index`: the address is a + b, which is written back to register a.
pub const INDEX_PRE: u32 = 2;
/// `index` of structures: the address is a; a + b is written back to register a.
pub const INDEX_POST_REGISTER: u32 = 2;
/// `index` of SIMD&FP loads: the address is pc + imm.
pub const INDEX_LITERAL: u32 = 3;

/// The system registers that are not constant, by their numbers in `operation`.
pub const SYSTEM_REGISTERS: &[&str] =
    &["nzcv", "fpcr", "fpsr", "tpidr_el0", "tpidrro_el0", "cntvct_el0", "dit", "ssbs"];

/// A field of one word of a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The lowest bit.
    pub low: u32,
    /// The number of bits.
    pub width: u32,
    /// The description.
    pub doc: &'static str,
}

/// Defines the fields of a word: name, lowest bit, width, description.
macro_rules! fields { ($word:ident $table:ident $($name:ident $low:literal $width:literal $doc:literal;)*) => {
    impl MicroOp {
        #[doc = concat!("The fields of `", stringify!($word), "`. Fields of different handlers may overlap.")]
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

/// A decoded instruction in the form that the interpreter executes.
///
/// ```
/// use kvrm_arm64::Features;
/// use kvrm_arm64::lowering::lower;
///
/// let op = lower(0x9100_0443, Features::ARMV8_0); // add x3, x2, #1
/// assert_eq!((op.dst(), op.a(), op.imm), (3, 2, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct MicroOp {
    /// The handler and four registers.
    pub control: u32,
    /// The parameters of operands, operation and result.
    pub parameters: u32,
    /// The immediate.
    pub imm: u64,
}

/// A [`MicroOp`] under construction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields(pub MicroOp);

fields! { control CONTROL
    handler 0 8 "The number of the [`Handler`].";
    dst 8 6 "The destination register.";
    a 14 6 "The first source or base register.";
    b 20 6 "The second source or index register.";
    c 26 6 "The third source register, or the second destination of loads of pairs.";
}

fields! { parameters PARAMETERS
    left 0 6 "Extraction: shift left.";
    right 6 6 "Extraction: shift right, or rotation.";
    extraction 12 2 "The extraction of the second operand.";
    invert 14 1 "Whether the second operand is complemented.";
    carry 15 2 "The addend of a sum: 0, 1 or (2) the carry flag.";
    wide 17 1 "Whether operands have 64 bits rather than 32.";
    flags 18 1 "Whether the handler sets or reads the flags.";
    cond 19 4 "The condition.";
    nzcv 23 4 "The flags of a conditional compare whose condition does not hold.";
    size 18 3 "Binary logarithm of the bytes of one register in memory.";
    extend 21 2 "The extension of a loaded value: 0 zero, 1 sign to 32 bits, 2 sign to 64 bits.";
    index 23 2 "The addressing mode.";
    pair 25 1 "Whether two registers are transferred.";
    aligned 26 1 "Whether the address must be a multiple of the access size.";
    operation 27 5 "The variant of the handler's operation.";
    registers 0 3 "Structures: the number of registers that are transferred.";
    members 3 3 "Structures: the number of members of a structure, each in a separate register.";
    transfer 6 2 "Structures: the elements of the registers that are transferred.";
    element 0 7 "Vectors: the operation on elements, or the parameter of a permutation or comparison.";
    form 7 4 "Vectors: the sources and destinations of elements.";
    sizing 11 3 "Vectors: the part of the word that gives the element size.";
    unsigned 14 1 "Vectors: whether elements are unsigned.";
    rounding 15 1 "Vectors: whether bits that are shifted out round the result.";
    arrangement 15 4 "Floating-point numbers: what operands and results are, if it does not follow from `form`.";
    accumulate 16 2 "Vectors: whether results are added to Vd or subtracted from it.";
    saturation 18 2 "Vectors: whether results are saturated as signed or unsigned elements.";
    zero 20 1 "Vectors: whether the second operand is zero.";
    mode 21 3 "Vectors: the rounding mode of floating-point numbers.";
    negate 24 2 "Vectors: the operands whose sign changes; 1 the first factor, 2 the addend.";
    sign 26 2 "Vectors: the change of the signs of operands or results.";
}

impl MicroOp {
    /// Returns the micro-op of an UNDEFINED word.
    #[must_use]
    pub const fn undefined(word: u32) -> Self {
        Fields::new(Handler::UNDEFINED).imm(word as u64).0
    }

    /// Returns the micro-op with these words; the inverse of [`MicroOp::words`].
    #[must_use]
    pub const fn from_words([control, parameters, low, high]: [u32; 4]) -> Self {
        Self { control, parameters, imm: low as u64 | (high as u64) << 32 }
    }

    /// Returns the four words of the micro-op in the order in which they are in memory.
    #[must_use]
    pub const fn words(self) -> [u32; 4] {
        [self.control, self.parameters, self.imm as u32, (self.imm >> 32) as u32]
    }
}

impl Fields {
    /// Returns the fields of a 64-bit micro-op that reads and writes no register.
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
