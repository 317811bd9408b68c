//! Standard output and standard error. What cannot be written is an error of the command or is let go, but
//! never a panic.

use std::fmt::Display;
use std::io::{self, BufWriter, Stdout, Write};

/// Standard output, buffered: flush it at the end. Its errors say where they come from.
pub(crate) struct Output(BufWriter<Stdout>);

impl Output {
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(io::stdout()))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(name)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(name)
    }
}

/// The kind stays, as a broken pipe is told by it.
fn name(error: io::Error) -> io::Error {
    // `write_all` tries an interrupted write again, so this one must pass as it is.
    if error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))
}

/// Writes a line to standard error. If that fails there is nowhere left to say so.
pub(crate) fn note(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
