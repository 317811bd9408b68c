//! Console streams.

/// Which console stream a guest writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Output: descriptor 1 of a Linux program; of semihosting, `:tt` opened for writing, `SYS_WRITEC` and `SYS_WRITE0`.
    Output,
    /// Error output: descriptor 2 of a Linux program; of semihosting, `:tt` opened for appending.
    Error,
}
