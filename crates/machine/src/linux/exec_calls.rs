//! System calls that execute programs.

use std::sync::Arc;

use kvrm_arm64::Cpu;

use super::call::{AT_FDCWD, Call};
use super::errno::{E2BIG, EACCES, EINVAL, ELOOP, ENOENT, ENOEXEC, ENOMEM};
use super::failure::{CallResult, Failure};
use super::files::{InodeNumber, Kind};
use super::initial_stack::InitialStack;
use super::loading::{self, LoadFailure, Loaded, Program, Sizes};
use super::memory_limits::Added;
use super::open_files::Object;
use super::process::{READ_IMPLIES_EXEC, Status, command_name};
use super::settings::TRAMPOLINE;
use super::signals::{SIGKILL, SIGSEGV, SignalStack};
use super::space::Space;
use crate::elf::{self, Executable};
use crate::page_map::Mapping;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT, page_of, pieces};
use crate::permissions::Permissions;
use crate::segment::Segment;
use crate::system::System;

/// The length of the longest argument or variable, with its NUL.
const TEXT_BYTES_EACH: usize = 128 << 10;
/// The limit on scripts whose interpreter is again a script.
const SCRIPTS_MAX: usize = 4;
/// The part of a script in which its first line has to end.
const SCRIPT_LINE_BYTES: usize = 256;

/// A program to execute: its file with its path without links, its name, and its arguments with the name.
struct Found {
    number: InodeNumber,
    resolved: Vec<u8>,
    path: Vec<u8>,
    arguments: Vec<Vec<u8>>,
    /// Whether the name leads through a descriptor that is closed when the program begins.
    is_closed: bool,
}

pub(super) fn execve(call: &mut Call<'_>) -> CallResult {
    let [path, arguments, environment, ..] = call.x;
    let path = call.guest.path(path)?;
    let place = call.place_of(&path, true)?;
    let (number, resolved) = (place.existing()?, call.kernel.path_of(&place));
    let found = Found { number, resolved, path, arguments: Vec::new(), is_closed: false };
    call.execute(found, arguments, environment)
}

pub(super) fn execveat(call: &mut Call<'_>) -> CallResult {
    const AT_SYMLINK_NOFOLLOW: u64 = 0x100;
    const AT_EMPTY_PATH: u64 = 0x1000;
    let [directory, path, arguments, environment, flags, _] = call.x;
    let mut name = call.guest.path(path)?;
    if name.is_empty() && flags & AT_EMPTY_PATH == 0 {
        return Err(ENOENT.into());
    }
    if flags as u32 & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) as u32 != 0 {
        return Err(EINVAL.into());
    }
    let Object::Inode(number) = call.object(directory, path, flags)? else { return Err(EACCES.into()) };
    if flags & AT_SYMLINK_NOFOLLOW != 0
        && matches!(call.kernel.files.inode(number).map(|inode| &inode.kind), Some(Kind::Symlink(_)))
    {
        return Err(ELOOP.into());
    }
    let is_here = name.starts_with(b"/") || directory as i32 == AT_FDCWD;
    let is_closed = !is_here && call.kernel.process().descriptors.get(directory)?.close_on_exec;
    if !is_here {
        // The name that Linux gives it.
        let folder = format!("/dev/fd/{}", directory as u32).into_bytes();
        name = if name.is_empty() { folder } else { [&folder, &b"/"[..], &name].concat() };
    }
    let resolved = call.kernel.path_of_inode(number);
    let found = Found { number, resolved, path: name, arguments: Vec::new(), is_closed };
    call.execute(found, arguments, environment)
}

impl Call<'_> {
    fn execute(&mut self, found: Found, arguments: u64, environment: u64) -> CallResult {
        let mut room = self.argument_bytes();
        let mut arguments = self.texts(arguments, &mut room)?;
        let environment = self.texts(environment, &mut room)?;
        if arguments.is_empty() {
            // As Linux does: programs rely on having a name.
            arguments.push(Vec::new());
        }
        let found = self.resolve_scripts(Found { arguments, ..found })?;
        let Found { number, resolved, path, arguments, .. } = found;
        let file = self.file(number)?;
        // The image has the program with a stack of the usual size.
        let is_own = Arc::ptr_eq(&file, &self.kernel.settings.program)
            && self.stack_bytes() == self.kernel.settings.areas.stack_bytes;
        let loaded = self.load(&file, is_own)?;
        let random = self.kernel.take_auxiliary_random();
        let keys = self.kernel.take_keys();
        let stack = InitialStack {
            arguments: &arguments,
            environment: &environment,
            executable: &path,
            place: &loaded.place,
            features: self.kernel.settings.features,
            random,
        };
        let contents = stack.contents().map_err(|_| E2BIG)?;
        let sp = contents.pointer;
        let (executable, block) = contents.executable(resolved, number);
        // From here on, the old program is gone.
        self.leave_program(&path);
        self.enter_space(&loaded)?;
        self.kernel.set_executable(executable, &file);
        let mapped = if is_own { Ok(()) } else { self.map_program(&loaded) };
        let done = mapped.and_then(|()| Ok(self.guest.lane.write_memory(sp, &block, None)?));
        match done {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(Failure::Errno(_) | Failure::Stop(_)) => {
                return Err(Failure::Exit(Status::killed_by(SIGKILL)));
            }
            Err(failure) => return Err(failure),
        }
        if let Err(Failure::Errno(_)) =
            self.check_memory(&Added { count: 0, replaced: &(0..0), is_data: true })
        {
            // The old program is gone, so there is nothing that an error could be returned to.
            return Err(Failure::killed_by(SIGSEGV));
        }
        self.guest.lane.set_vectors(&[0; 32])?;
        let steps = self.cpu.steps;
        *self.cpu = Cpu::new(loaded.start, sp);
        (self.cpu.steps, self.cpu.keys) = (steps, keys);
        Ok(0)
    }

    /// Reads a vector of strings that ends with a null pointer. `room` is the number of bytes that they may take.
    fn texts(&mut self, vector: u64, room: &mut usize) -> Result<Vec<Vec<u8>>, Failure> {
        let mut texts = Vec::new();
        if vector == 0 {
            return Ok(texts);
        }
        for at in 0_u64.. {
            let pointer = self.guest.read_u64(vector.wrapping_add(8 * at))?;
            if pointer == 0 {
                break;
            }
            let text = self.guest.text(pointer, TEXT_BYTES_EACH)?.ok_or(E2BIG)?;
            *room = room.checked_sub(text.len() + 1 + 8).ok_or(E2BIG)?;
            texts.push(text);
        }
        Ok(texts)
    }

    /// Returns the contents of a file that may be executed.
    fn file(&self, number: InodeNumber) -> Result<Arc<Vec<u8>>, Failure> {
        let inode = self.kernel.files.inode(number).ok_or(ENOENT)?;
        match &inode.kind {
            Kind::File(data) if inode.mode & 0o111 != 0 => Ok(Arc::clone(data)),
            _ => Err(EACCES.into()),
        }
    }

    /// Replaces a script by its interpreter, which gets the script as an argument.
    fn resolve_scripts(&self, mut found: Found) -> Result<Found, Failure> {
        for _ in 0..=SCRIPTS_MAX {
            let file = self.file(found.number)?;
            let Some(line) = file.strip_prefix(b"#!") else { return Ok(found) };
            if found.is_closed {
                // The interpreter could not open the script.
                return Err(ENOENT.into());
            }
            let line = &line[..line.len().min(SCRIPT_LINE_BYTES)];
            let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
            let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
            let (path, option) = (line[..end].to_vec(), line[end..].trim_ascii().to_vec());
            if path.is_empty() {
                return Err(ENOEXEC.into());
            }
            let place = self.place_of(&path, true)?;
            (found.number, found.resolved) = (place.existing()?, self.kernel.path_of(&place));
            let mut arguments = vec![path.clone()];
            arguments.extend((!option.is_empty()).then_some(option));
            arguments.push(found.path);
            arguments.extend(found.arguments.into_iter().skip(1));
            found = Found { path, arguments, ..found };
        }
        Err(ELOOP.into())
    }

    /// Chooses the places of a program in memory. `is_own` says whether it is the program of the image.
    fn load(&self, file: &[u8], is_own: bool) -> Result<Loaded, Failure> {
        let executable = elf::load_as(file, Some(System::Linux)).map_err(|_| ENOEXEC)?;
        let Executable { entry, segments, linux, interpreter, .. } = executable;
        let linux = &linux.ok_or(ENOEXEC)?;
        let interpreter = match &interpreter {
            Some(path) => Some(loading::contents(&self.kernel.files, path.as_bytes()).ok_or(ENOENT)?),
            None => None,
        };
        let own_end = segments.iter().map(|segment| segment.range().end).max().unwrap_or(0);
        let settings = &self.kernel.settings;
        let end = if is_own { settings.end } else { own_end };
        let program = Program { segments, entry, linux };
        let sizes = Sizes { stack: self.stack_bytes(), ..settings.areas.sizes() };
        let loaded = loading::load(program, interpreter, end, sizes);
        loaded.map_err(|failure| match failure {
            LoadFailure::Room(_) => ENOMEM.into(),
            LoadFailure::Interpreter(_) => ENOEXEC.into(),
        })
    }

    /// Ends what `execve` ends: the other threads of the process, descriptors that are closed then, and handlers.
    fn leave_program(&mut self, path: &[u8]) {
        let kernel = &mut *self.kernel;
        kernel.become_only_thread(self.cpu.steps);
        let process = kernel.process_mut();
        process.has_executed = true;
        process.personality &= !READ_IMPLIES_EXEC;
        // Those of `setitimer` go on.
        process.timers.retain(|number, _| *number < 0);
        process.actions.remove_handlers();
        let closed: Vec<u64> = process
            .descriptors
            .iter()
            .filter(|(_, descriptor)| descriptor.close_on_exec)
            .map(|(number, _)| number)
            .collect();
        for number in closed {
            // It is open, so this cannot fail.
            let _ = kernel.close(number);
        }
        let thread = kernel.thread_mut();
        thread.stack = SignalStack::NONE;
        let state = &mut kernel.state;
        (state.robust_list, state.clear_tid) = (0, 0);
        state.name = command_name(path);
    }

    /// Gives the current process an address space of its own, with the memory of the image.
    fn enter_space(&mut self, loaded: &Loaded) -> Result<(), Failure> {
        self.sync_shared()?;
        let kernel = &mut *self.kernel;
        let old = kernel.process().space;
        let heap_end = kernel.state.heap_end;
        if let Some(space) = kernel.spaces.get_mut(&old).filter(|space| space.users > 1) {
            // The parent goes on with it.
            space.memory = Some(self.guest.lane.memory()?);
            space.heap_end = heap_end;
        }
        kernel.release_space(old);
        let areas = loaded.areas.clone();
        (kernel.state.heap_end, kernel.state.heap_limit) = (areas.heap.start, areas.heap.end);
        let space = Space::new(areas);
        let id = kernel.next_space;
        kernel.next_space += 1;
        kernel.spaces.insert(id, Box::new(space));
        kernel.process_mut().space = id;
        kernel.loaded = id;
        kernel.windows.forget_bytes();
        Ok(self.guest.lane.clear_memory()?)
    }

    /// Maps a program into the memory of the image of the lane, instead of what is there.
    fn map_program(&mut self, loaded: &Loaded) -> Result<(), Failure> {
        let Loaded { segments, layout, areas, stack_permissions, .. } = loaded;
        let map = self.guest.page_map()?;
        for region in map.regions() {
            self.guest.map(region.first_page..region.end_page, Mapping::Unmap, ENOMEM)?;
        }
        let stack = layout.stack.clone();
        let stack = Segment {
            address: stack.start,
            bytes: stack.end - stack.start,
            data: Vec::new(),
            permissions: *stack_permissions,
        };
        let trampoline = Segment {
            address: areas.trampoline,
            bytes: PAGE_BYTES as u64,
            data: TRAMPOLINE.map(u32::to_le_bytes).concat(),
            permissions: Permissions::RX,
        };
        for segment in segments.iter().chain([&stack, &trampoline]) {
            self.map_segment(segment)?;
        }
        Ok(())
    }

    /// Maps a segment. Pages that it shares with an earlier one get the permissions of both.
    fn map_segment(&mut self, segment: &Segment) -> Result<(), Failure> {
        let Segment { address, bytes, data, permissions } = segment;
        let (mut first, end) = (page_of(*address), page_of(address + bytes + PAGE_BYTES as u64 - 1));
        if let Some(region) = self.guest.page_map()?.region(first) {
            let Permissions { read, write, execute } = region.permissions;
            let both = Permissions {
                read: read || permissions.read,
                write: write || permissions.write,
                execute: execute || permissions.execute,
            };
            self.guest.map(first..first + 1, Mapping::Protect(both), ENOMEM)?;
            first += 1;
        }
        if first < end {
            self.guest.map(first..end, Mapping::Zero(*permissions), ENOMEM)?;
        }
        for (page, range) in pieces(*address, data.len()) {
            let at = (page << PAGE_SHIFT) + range.start as u64;
            let from = (at - address) as usize;
            let piece = &data[from..from + range.len()];
            // Pages of zeros need no frame.
            if piece.iter().any(|byte| *byte != 0) {
                self.guest.lane.write_memory(at, piece, None)?.map_err(Failure::Stop)?;
            }
        }
        Ok(())
    }
}
