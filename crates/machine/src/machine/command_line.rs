//! Command lines: semihosting passes all arguments of a guest in one string.

use std::sync::Arc;

use crate::error::Error;
use crate::program::Program;

/// Returns the command line of a lane: the name of the program's file, and the arguments, separated by spaces.
///
/// The name has no folders, so that results do not depend on the place of the file on the host.
pub(super) fn command_line(program: &Program, lane: usize, arguments: &[String]) -> Result<Arc<str>, Error> {
    // White space as defined by C's `isspace`, and NUL, which ends a string.
    let splits = |c: char| c == '\0' || c.is_ascii() && c.is_whitespace();
    let lost = |argument: &&String| argument.is_empty() || argument.contains(splits);
    if let Some(argument) = arguments.iter().find(lost) {
        return Err(Error::Argument { lane, argument: argument.clone() });
    }
    let mut line = program.file_name().replace(splits, "_");
    for argument in arguments {
        line.push(' ');
        line.push_str(argument);
    }
    Ok(line.into())
}
