//! The initial stack of a program: arguments, environment, and auxiliary vector.

use kvrm_arm64::Features;

use super::mount;
use super::process::Process;
use crate::error::Error;
use crate::executor::Executor;
use crate::layout::Layout;
use crate::pages::PAGE_BYTES;
use crate::program::Program;

// The types of auxiliary vector entries.
const AT_NULL: u64 = 0;
const AT_PHDR: u64 = 3;
const AT_PHENT: u64 = 4;
const AT_PHNUM: u64 = 5;
const AT_PAGESZ: u64 = 6;
const AT_BASE: u64 = 7;
const AT_FLAGS: u64 = 8;
const AT_ENTRY: u64 = 9;
const AT_UID: u64 = 11;
const AT_EUID: u64 = 12;
const AT_GID: u64 = 13;
const AT_EGID: u64 = 14;
const AT_PLATFORM: u64 = 15;
const AT_HWCAP: u64 = 16;
const AT_CLKTCK: u64 = 17;
const AT_SECURE: u64 = 23;
const AT_RANDOM: u64 = 25;
const AT_HWCAP2: u64 = 26;
const AT_EXECFN: u64 = 31;
const AT_MINSIGSTKSZ: u64 = 51;

const HWCAP_FP: u64 = 1;
const HWCAP_ASIMD: u64 = 1 << 1;
const HWCAP_AES: u64 = 1 << 3;
const HWCAP_PMULL: u64 = 1 << 4;
const HWCAP_SHA1: u64 = 1 << 5;
const HWCAP_SHA2: u64 = 1 << 6;
const HWCAP_CRC32: u64 = 1 << 7;
const HWCAP_ATOMICS: u64 = 1 << 8;

/// Returns `AT_HWCAP`: exactly the features that the machine has.
fn capabilities(features: Features) -> u64 {
    let capabilities = [
        (features.fp, HWCAP_FP | HWCAP_ASIMD),
        (features.aes, HWCAP_AES),
        (features.pmull, HWCAP_PMULL),
        (features.sha1, HWCAP_SHA1),
        (features.sha256, HWCAP_SHA2),
        (features.crc32, HWCAP_CRC32),
        (features.lse, HWCAP_ATOMICS),
    ];
    capabilities.into_iter().filter(|(has, _)| *has).fold(0, |all, (_, bits)| all | bits)
}

/// The contents of the initial stack of a lane.
pub(crate) struct InitialStack<'a> {
    pub(crate) program: &'a Program,
    pub(crate) layout: &'a Layout,
    pub(crate) features: Features,
    /// The arguments after the name of the program.
    pub(crate) arguments: &'a [String],
    /// Strings of the form `NAME=VALUE`.
    pub(crate) environment: &'a [String],
}

/// Writes the initial stack of a lane that has not run yet, and returns its stack pointer.
///
/// # Errors
/// [`Error::Text`] if a string contains a NUL, [`Error::TextRoom`] if strings and pointers take more than half of the
/// stack, and the errors of the engine.
pub(crate) fn write_initial_stack(
    stack: &InitialStack<'_>,
    process: &mut Process,
    executor: &mut dyn Executor,
    lane: usize,
) -> Result<u64, Error> {
    let InitialStack { program, layout, features, arguments, environment } = stack;
    let name = program.file_name();
    let executable = mount::executable_path(&name);
    for argument in arguments.iter().chain(environment.iter()) {
        if argument.contains('\0') {
            return Err(Error::Text { lane, text: argument.clone() });
        }
    }
    // Strings lie at the top of the stack, the pointers to them below.
    let top = layout.stack.end;
    let mut strings: Vec<u8> = Vec::new();
    let mut add = |text: &[u8]| {
        strings.extend(text);
        strings.push(0);
        strings.len() as u64
    };
    // Offset of the end of each string, and its length.
    let argument_ends: Vec<(u64, usize)> = std::iter::once(&name)
        .chain(arguments.iter())
        .map(|text| (add(text.as_bytes()), text.len()))
        .collect();
    let environment_ends: Vec<(u64, usize)> =
        environment.iter().map(|text| (add(text.as_bytes()), text.len())).collect();
    let executable_end = (add(executable.as_bytes()), executable.len());
    let platform_end = (add(b"aarch64"), 7);
    let random = process.random_bytes(16);
    process.state.random += 16;
    executor.set_process_state(lane, &process.state)?;
    strings.extend(random);
    let bytes = (strings.len() as u64).next_multiple_of(16);
    let pointers = 8 * (argument_ends.len() + environment_ends.len() + 3 + 2 * 20) as u64;
    let room = (layout.stack.end - layout.stack.start) / 2;
    if bytes + pointers > room {
        return Err(Error::TextRoom { lane, bytes: bytes + pointers, room });
    }
    let base = top - bytes;
    let address = |(end, length): (u64, usize)| base + end - 1 - length as u64;
    let random_at = base + strings.len() as u64 - 16;

    let mut words = vec![argument_ends.len() as u64];
    words.extend(argument_ends.iter().map(|place| address(*place)));
    words.push(0);
    words.extend(environment_ends.iter().map(|place| address(*place)));
    words.push(0);
    let (headers, count) = program.linux.map_or((0, 0), |linux| (linux.headers, linux.count));
    for (kind, value) in [
        (AT_HWCAP, capabilities(*features)),
        (AT_PAGESZ, PAGE_BYTES as u64),
        (AT_CLKTCK, super::time_calls::TICKS),
        (AT_PHDR, headers),
        (AT_PHENT, 56),
        (AT_PHNUM, count),
        (AT_BASE, 0),
        (AT_FLAGS, 0),
        (AT_ENTRY, program.entry),
        (AT_UID, 0),
        (AT_EUID, 0),
        (AT_GID, 0),
        (AT_EGID, 0),
        (AT_SECURE, 0),
        (AT_RANDOM, random_at),
        (AT_HWCAP2, 0),
        (AT_EXECFN, address(executable_end)),
        (AT_MINSIGSTKSZ, super::signal_frame::STACK_BYTES_MIN),
        (AT_PLATFORM, address(platform_end)),
        (AT_NULL, 0),
    ] {
        words.extend([kind, value]);
    }
    let mut block: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    let stack = (base - block.len() as u64) & !15;
    block.resize((base - stack) as usize, 0);
    block.extend(strings);
    let written = executor.write_memory(lane, stack, &block, None)?;
    written.map_err(|stop| Error::Prepare { lane, stop })?;
    Ok(stack)
}
