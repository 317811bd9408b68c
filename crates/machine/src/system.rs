//! What programs run on.

/// What serves the calls of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Arm semihosting, `hlt #0xf000`.
    Semihosting,
    /// Linux, `svc #0`.
    Linux,
}

/// What Linux tells a program of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxProgram {
    /// Where its program headers are in memory; 0 if they are not.
    pub headers: u64,
    /// How many there are.
    pub count: u64,
}
