//! Console streams.

use serde::{Deserialize, Serialize};

/// A console stream that a guest writes to; see [`Machine::output`](crate::Machine::output).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output. A Linux program writes it to descriptor 1; a semihosting guest with `SYS_WRITEC`, `SYS_WRITE0`,
    /// and to `:tt` opened for writing.
    Output,
    /// Standard error output. A Linux program writes it to descriptor 2; a semihosting guest to `:tt` opened for
    /// appending.
    Error,
}
