//! The interface through which the semantics access memory.

use crate::{Features, Op, Stop, decode_for};

/// A fetched instruction: the word and its encoding. Implementations of [`Memory`] may cache it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The code word.
    pub word: u32,
    /// The encoding, or `None` if the word is UNDEFINED.
    pub op: Option<Op>,
}

impl Instruction {
    /// Decodes `word` for a machine that has `features`.
    #[must_use]
    pub fn new(word: u32, features: Features) -> Self {
        Self { word, op: decode_for(word, features) }
    }
}

/// A guest address space.
///
/// Bytes are in address order; the semantics convert from and to little-endian numbers. Accesses may have any
/// alignment and may cross pages. An access that fails must change nothing.
///
/// # Errors
/// Every method fails with the reason why the lane stops: [`Stop::Fault`] or [`Stop::OutOfFrames`].
///
/// ```
/// use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Instruction, Memory, Stop, run};
///
/// /// Code that begins at address 0, and no data.
/// struct Code(Vec<u32>);
///
/// /// The stop of an access to `address`.
/// fn fault(access: Access, address: u64) -> Stop {
///     Stop::Fault(Fault { kind: FaultKind::Translation, access, address })
/// }
///
/// impl Memory for Code {
///     fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
///         let word = self.0.get(pc as usize / 4).ok_or(fault(Access::Execute, pc))?;
///         Ok(Instruction::new(*word, Features::ARMV8_0))
///     }
///     fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
///         Err(fault(Access::Read, address))
///     }
///     fn write<const N: usize>(&mut self, address: u64, _: [u8; N]) -> Result<(), Stop> {
///         Err(fault(Access::Write, address))
///     }
///     fn check_write(&mut self, address: u64, _: u64) -> Result<(), Stop> {
///         Err(fault(Access::Write, address))
///     }
/// }
///
/// let mut cpu = Cpu::default();
/// let stop = run(&mut cpu, &mut Code(vec![0x9100_0400]), 100); // add x0, x0, #1
/// assert_eq!((cpu.x(0), cpu.steps), (1, 1));
/// assert_eq!(stop, fault(Access::Execute, 4), "after the last instruction");
/// ```
#[expect(clippy::missing_errors_doc, reason = "described above, once for all methods")]
pub trait Memory {
    /// Fetches the instruction at `pc`. A misaligned `pc` is an alignment fault.
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop>;

    /// Reads `N` bytes.
    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop>;

    /// Writes `N` bytes. Instructions fetched afterwards see them.
    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop>;

    /// Checks that one byte can be read; fails as the read would.
    fn check_read(&mut self, address: u64) -> Result<(), Stop> {
        self.read::<1>(address).map(|_| ())
    }

    /// Checks that `bytes` bytes, which do not cross a page, are mapped and may be written; fails as the write would.
    /// Writes nothing and takes no frame.
    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop>;
}
