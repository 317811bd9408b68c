//! The state of one A64 processing element, as EL0 sees it.

use core::fmt;
use core::mem::offset_of;

/// The registers of one lane.
///
/// ```
/// use kvrm_arm64::Cpu;
///
/// let mut cpu = Cpu::new(0x1000, 0x8000);
/// cpu.set_x(0, 7);
/// cpu.set_x(31, 7); // The zero register: the write is discarded.
/// assert_eq!([cpu.x(0), cpu.x(31), cpu.x_or_sp(31)], [7, 0, 0x8000]);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Cpu {
    /// X0 to X30. Entry 31 reads as zero; [`Cpu::set_x`] keeps it so.
    x: [u64; 32],
    /// The stack pointer, `SP_EL0`.
    pub sp: u64,
    /// The address of the next instruction.
    pub pc: u64,
    /// The condition flags as four bits: N is 8, Z is 4, C is 2, V is 1.
    pub nzcv: u32,
    /// The fields SSBS and DIT of PSTATE, at the places that `system::PSTATE_MASK` has.
    pub pstate: u32,
    /// The SIMD and floating-point registers.
    pub v: [u128; 32],
    /// Floating-point control, `FPCR`.
    pub fpcr: u32,
    /// Floating-point status, `FPSR`.
    pub fpsr: u32,
    /// Thread pointer, `TPIDR_EL0`.
    pub tpidr_el0: u64,
    /// Read-only thread pointer, `TPIDRRO_EL0`.
    pub tpidrro_el0: u64,
    /// The value from which the keys of pointer authentication follow, see [`key`](crate::semantics::pauth::key). The guest
    /// cannot read it.
    pub keys: u64,
    /// The local exclusive monitor.
    pub monitor: Option<Monitor>,
    /// Steps retired since the lane began. The guest reads them as its time.
    pub steps: u64,
}

/// The memory that the last exclusive load marked. An exclusive store succeeds only there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// Address of the exclusive load.
    pub address: u64,
    /// Size of the exclusive load in bytes: 1, 2, 4, 8 or 16.
    pub bytes: u32,
}

impl Default for Cpu {
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl Cpu {
    /// Returns registers that are all zero except pc and sp.
    #[must_use]
    pub const fn new(pc: u64, sp: u64) -> Self {
        Self {
            x: [0; 32],
            sp,
            pc,
            nzcv: 0,
            pstate: 0,
            v: [0; 32],
            fpcr: 0,
            fpsr: 0,
            tpidr_el0: 0,
            tpidrro_el0: 0,
            keys: 0,
            monitor: None,
            steps: 0,
        }
    }

    /// The offset of X0 within the structure, in bytes, for code that is generated. The other general registers follow,
    /// and then the zero register.
    pub const GENERAL_OFFSET: usize = offset_of!(Self, x);

    /// Returns X\[n\]: a general register, or zero for number 31. Only the low five bits of `n` count.
    #[must_use]
    #[inline(always)]
    pub fn x(&self, n: u32) -> u64 {
        self.x[(n & 31) as usize]
    }

    /// Writes X\[n\]; a write to number 31 is discarded. Only the low five bits of `n` count.
    #[inline(always)]
    pub fn set_x(&mut self, n: u32, value: u64) {
        self.x[(n & 31) as usize] = value;
        // Two plain stores are cheaper than a branch on the register number.
        self.x[31] = 0;
    }

    /// Returns X\[n\], or the stack pointer for number 31. Only the low five bits of `n` count.
    #[must_use]
    #[inline(always)]
    pub fn x_or_sp(&self, n: u32) -> u64 {
        if n & 31 == 31 { self.sp } else { self.x(n) }
    }

    /// Writes X\[n\], or the stack pointer for number 31. Only the low five bits of `n` count.
    #[inline(always)]
    pub fn set_x_or_sp(&mut self, n: u32, value: u64) {
        if n & 31 == 31 {
            self.sp = value;
        } else {
            self.set_x(n, value);
        }
    }

    /// Returns X0 to X30.
    #[must_use]
    pub fn general_registers(&self) -> &[u64] {
        &self.x[..31]
    }
}

impl fmt::Debug for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "pc {:016x}  sp {:016x}  nzcv {:04b}  steps {}",
            self.pc, self.sp, self.nzcv, self.steps
        )?;
        for (n, value) in self.general_registers().iter().enumerate() {
            let separator = if n % 4 == 3 || n == 30 { "\n" } else { "  " };
            write!(f, "x{n:<2} {value:016x}{separator}")?;
        }
        Ok(())
    }
}
