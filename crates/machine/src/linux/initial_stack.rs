//! The initial stack of a program: arguments, environment, and auxiliary vector.

use std::sync::Arc;

use kvrm_arm64::semantics::pauth::KEYS_SEED_BITS;
use kvrm_arm64::{Cpu, Feature, Features};

use super::files::{InodeNumber, Kind, ROOT};
use super::kernel::Kernel;
use super::mapped_files::{MappedFile, MappedFiles};
use super::settings::Place;
use super::space::{Executable, Texts as SpaceTexts};
use crate::elf::{self, FilePages};
use crate::error::Error;
use crate::executor::Executor;
use crate::pages::PAGE_BYTES;

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

/// Returns `AT_HWCAP` and `AT_HWCAP2`: exactly the features that the machine has.
pub(super) fn capabilities(features: Features) -> [u64; 2] {
    let all = features.without(Features::BASE).map(capability);
    all.fold([0, 0], |[first, second], [more, others]| [first | more, second | others])
}

/// Returns the bits of a feature in `AT_HWCAP` and `AT_HWCAP2` (`asm/hwcap.h` of Linux).
const fn capability(feature: Feature) -> [u64; 2] {
    match feature {
        // FP and ASIMD.
        Feature::Fp => [0b11, 0],
        Feature::Aes => [1 << 3, 0],
        Feature::Pmull => [1 << 4, 0],
        Feature::Sha1 => [1 << 5, 0],
        Feature::Sha256 => [1 << 6, 0],
        Feature::Crc32 => [1 << 7, 0],
        Feature::Lse => [1 << 8, 0],
        // FPHP and ASIMDHP.
        Feature::Fp16 => [0b11 << 9, 0],
        Feature::Rdm => [1 << 12, 0],
        Feature::Lrcpc => [1 << 15, 0],
        Feature::Sha3 => [1 << 17, 0],
        Feature::Sm3 => [1 << 18, 0],
        Feature::Sm4 => [1 << 19, 0],
        Feature::DotProd => [1 << 20, 0],
        Feature::Sha512 => [1 << 21, 0],
        Feature::Jscvt => [1 << 13, 0],
        Feature::Fcma => [1 << 14, 0],
        Feature::Fhm => [1 << 23, 0],
        Feature::Dit => [1 << 24, 0],
        Feature::Lrcpc2 => [1 << 26, 0],
        Feature::FlagM => [1 << 27, 0],
        Feature::Ssbs => [1 << 28, 0],
        Feature::Sb => [1 << 29, 0],
        // PACA and PACG.
        Feature::PAuth => [0b11 << 30, 0],
        Feature::FlagM2 => [0, 1 << 7],
        Feature::FrintTs => [0, 1 << 8],
        Feature::I8mm => [0, 1 << 13],
        Feature::Bf16 => [0, 1 << 14],
        Feature::Bti => [0, 1 << 17],
        _ => [0, 0],
    }
}

/// The contents of the initial stack of a program.
pub(super) struct InitialStack<'a> {
    /// The arguments, from the name of the program on, without their terminating NULs.
    pub(super) arguments: &'a [Vec<u8>],
    /// Strings of the form `NAME=VALUE`.
    pub(super) environment: &'a [Vec<u8>],
    /// The path of the program.
    pub(super) executable: &'a [u8],
    pub(super) place: &'a Place,
    pub(super) features: Features,
    pub(super) random: [u8; 16],
}

/// The initial stack of a program.
pub(super) struct StackContents {
    /// The stack pointer.
    pub(super) pointer: u64,
    /// The bytes from there to the end of the stack.
    pub(super) block: Vec<u8>,
    pub(super) arguments: SpaceTexts,
    pub(super) environment: SpaceTexts,
    pub(super) auxiliary: Vec<u64>,
}

impl StackContents {
    /// Returns what the address space keeps of a program with this stack and this file, and the bytes of the stack.
    pub(super) fn executable(self, path: Vec<u8>, inode: InodeNumber) -> (Executable, Vec<u8>) {
        let Self { pointer, block, arguments, environment, auxiliary } = self;
        let stack = pointer..pointer + block.len() as u64;
        (Executable { path, inode, stack, arguments, environment, auxiliary }, block)
    }
}

impl InitialStack<'_> {
    /// Returns the contents of the stack. If they take more than half of the stack, returns their number of bytes and the room for them.
    pub(super) fn contents(&self) -> Result<StackContents, (u64, u64)> {
        let Self { arguments, environment, executable, place, features, random } = self;
        let Place { stack, entry, headers, count, base } = place;
        // Strings lie at the top of the stack, the pointers to them below.
        let mut strings: Vec<u8> = Vec::new();
        // Returns the offset of the end of a string, and its length.
        let mut add = |text: &[u8]| {
            strings.extend(text);
            strings.push(0);
            (strings.len() as u64, text.len() as u64)
        };
        let argument_ends: Vec<_> = arguments.iter().map(|text| add(text)).collect();
        let environment_ends: Vec<_> = environment.iter().map(|text| add(text)).collect();
        let (arguments_end, environment_end) = (
            argument_ends.last().map_or(0, |(end, _)| *end),
            environment_ends.last().map_or(0, |(end, _)| *end),
        );
        let (executable_end, platform_end) = (add(executable), add(b"aarch64"));
        strings.extend(random);
        let bytes = (strings.len() as u64).next_multiple_of(16);
        let pointers = 8 * (argument_ends.len() + environment_ends.len() + 3 + 2 * 20) as u64;
        let room = (stack.end - stack.start) / 2;
        if bytes + pointers > room {
            return Err((bytes + pointers, room));
        }
        let start = stack.end - bytes;
        let address = |(end, length): (u64, u64)| start + end - 1 - length;
        let random_at = start + strings.len() as u64 - 16;

        let mut words = vec![argument_ends.len() as u64];
        words.extend(argument_ends.iter().map(|place| address(*place)));
        words.push(0);
        words.extend(environment_ends.iter().map(|place| address(*place)));
        words.push(0);
        let [hwcap, hwcap2] = capabilities(*features);
        let auxiliary: Vec<u64> = [
            (AT_HWCAP, hwcap),
            (AT_PAGESZ, PAGE_BYTES as u64),
            (AT_CLKTCK, super::time_calls::TICKS),
            (AT_PHDR, *headers),
            (AT_PHENT, 56),
            (AT_PHNUM, *count),
            (AT_BASE, *base),
            (AT_FLAGS, 0),
            (AT_ENTRY, *entry),
            (AT_UID, 0),
            (AT_EUID, 0),
            (AT_GID, 0),
            (AT_EGID, 0),
            (AT_SECURE, 0),
            (AT_RANDOM, random_at),
            (AT_HWCAP2, hwcap2),
            (AT_EXECFN, address(executable_end)),
            (AT_MINSIGSTKSZ, super::signal_frame::STACK_BYTES_MIN),
            (AT_PLATFORM, address(platform_end)),
            (AT_NULL, 0),
        ]
        .into_iter()
        .flat_map(|(kind, value)| [kind, value])
        .collect();
        words.extend(&auxiliary);
        let mut block: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let pointer = (start - block.len() as u64) & !15;
        block.resize((start - pointer) as usize, 0);
        block.extend(&strings);
        let environment_end = environment_end.max(arguments_end);
        let texts = |from: u64, to: u64| SpaceTexts {
            address: start + from,
            bytes: strings[from as usize..to as usize].to_vec(),
        };
        let (arguments, environment) = (texts(0, arguments_end), texts(arguments_end, environment_end));
        Ok(StackContents { pointer, block, arguments, environment, auxiliary })
    }
}

/// The arguments and the environment that a lane begins with.
pub(crate) struct Texts<'a> {
    /// The name of the program.
    pub(crate) name: &'a str,
    /// The arguments after the name.
    pub(crate) arguments: &'a [String],
    /// Strings of the form `NAME=VALUE`.
    pub(crate) environment: &'a [String],
}

/// Writes the initial stack of a lane that has not run yet, and sets its stack pointer and keys.
///
/// # Errors
/// [`Error::Text`] if a string contains a NUL, [`Error::TextRoom`] if strings and pointers take more than half of the
/// stack, and the errors of the engine.
pub(crate) fn write_initial_stack(
    texts: &Texts<'_>,
    kernel: &mut Kernel,
    executor: &mut dyn Executor,
    lane: usize,
    cpu: &mut Cpu,
) -> Result<(), Error> {
    let Texts { name, arguments, environment } = texts;
    for text in arguments.iter().chain(environment.iter()) {
        if text.contains('\0') {
            return Err(Error::Text { lane, text: text.clone() });
        }
    }
    let bytes =
        |texts: &[String]| -> Vec<Vec<u8>> { texts.iter().map(|text| text.as_bytes().to_vec()).collect() };
    let mut all = vec![name.as_bytes().to_vec()];
    all.extend(bytes(arguments));
    let random = kernel.take_auxiliary_random();
    cpu.keys = kernel.take_keys();
    executor.set_process_state(lane, &kernel.state)?;
    let executable = kernel.settings.executable.clone().into_bytes();
    let stack = InitialStack {
        arguments: &all,
        environment: &bytes(environment),
        executable: &executable,
        place: &kernel.settings.place,
        features: kernel.settings.features,
        random,
    };
    let contents = stack.contents();
    let contents = contents.map_err(|(bytes, room)| Error::TextRoom { lane, bytes, room })?;
    let written = executor.write_memory(lane, contents.pointer, &contents.block, None)?;
    written.map_err(|stop| Error::Prepare { lane, stop })?;
    cpu.sp = contents.pointer;
    let known = Arc::clone(&kernel.space().executable);
    if known.path.is_empty() {
        let file = Arc::clone(&kernel.settings.program);
        let (path, inode) = kernel.resolved(&executable).unwrap_or((executable, 0));
        kernel.set_executable(contents.executable(path, inode).0, &file);
    } else {
        // The lane gets other arguments. It has not run, so its program and the pages of that are the same.
        let (executable, _) = contents.executable(known.path.clone(), known.inode);
        kernel.space_mut().executable = Arc::new(executable);
    }
    Ok(())
}

impl Kernel {
    /// Returns the random bytes of the auxiliary vector, and advances the position.
    pub(super) fn take_auxiliary_random(&mut self) -> [u8; 16] {
        let random = self.random_bytes(16);
        self.state.random += 16;
        random.try_into().unwrap_or_default()
    }

    /// Returns a value of [`Cpu::keys`] for new keys, and advances the position. Without pointer authentication it is 0.
    pub(super) fn take_keys(&mut self) -> u64 {
        if !self.settings.features.pauth {
            return 0;
        }
        let random = self.random_bytes(8).try_into().map_or(0, u64::from_le_bytes);
        self.state.random += 8;
        random & ((1 << KEYS_SEED_BITS) - 1)
    }

    /// Notes the program of the current address space, with the pages that show its file and that of its interpreter.
    pub(super) fn set_executable(&mut self, executable: Executable, file: &[u8]) {
        let base = executable.auxiliary.chunks_exact(2).find(|entry| entry[0] == AT_BASE);
        let base = base.map_or(0, |entry| entry[1]);
        let mut files = MappedFiles::default();
        let mut show = |parts: Vec<FilePages>, path: &[u8], inode| {
            let path = Arc::new(path.to_vec());
            for FilePages { pages, offset } in parts {
                let (start, end_page) = (pages.start, pages.end);
                let path = Arc::clone(&path);
                files.map(start, MappedFile { end_page, offset, inode, path, is_shared: false });
            }
        };
        if let Ok((pages, interpreter)) = elf::pages_of_file(file, None) {
            show(pages, &executable.path, executable.inode);
            let interpreter = interpreter.and_then(|path| self.resolved(path.as_bytes()));
            if let Some((path, inode)) = interpreter
                && let Some(Kind::File(file)) = self.files.inode(inode).map(|inode| &inode.kind)
                && let Ok((pages, _)) = elf::pages_of_file(file, Some(base))
            {
                show(pages, &path, inode);
            }
        }
        if let Some(space) = self.spaces.get_mut(&self.loaded) {
            (space.executable, space.files) = (Arc::new(executable), files);
        }
    }

    /// Returns the path of a file without links, and its inode.
    fn resolved(&self, path: &[u8]) -> Option<(Vec<u8>, InodeNumber)> {
        let place = self.files.walk(ROOT, path, true).ok()?;
        Some((self.files.path_of(&place).ok()?, place.inode?))
    }
}
