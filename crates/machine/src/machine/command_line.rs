//! Command lines, which semihosting has instead of arguments.

use std::sync::Arc;

use crate::error::Error;
use crate::program::Program;

/// The command line of a lane: the name of the program's file, and the arguments.
///
/// The name is without its folders, so that results do not depend on where the file lies on the host.
pub(super) fn command_line(program: &Program, lane: usize, arguments: &[String]) -> Result<Arc<str>, Error> {
    // What C's `isspace` holds for space, and the end of a string.
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
