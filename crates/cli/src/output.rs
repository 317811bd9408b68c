//! Standard output and standard error. A failed write to standard output is an error of the command, a failed write to
//! standard error is ignored, and neither is a panic.

use std::fmt::Display;
use std::io::{self, BufWriter, Stdout, Write};

/// Buffered standard output, which has to be flushed at the end. Its errors name standard output.
pub(crate) struct Output(BufWriter<Stdout>);

impl Output {
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(io::stdout()))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(with_name)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(with_name)
    }
}

/// Adds the name of the stream to an error. Keeps the kind, by which `main` recognises a broken pipe.
fn with_name(error: io::Error) -> io::Error {
    // `write_all` repeats an interrupted write, which it recognises by this kind.
    if error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))
}

/// Writes a line to standard error. Ignores a failure, which could not be reported anywhere.
pub(crate) fn note(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
