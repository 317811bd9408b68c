//! `docs/linux.md`: the environment of Linux programs, and all system calls from the table in `kvrm_machine`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use kvrm_machine::linux::{CALLS, Status, SystemCall, call_table};

use super::banner::BANNER;
use crate::oracle::made_calls;

/// The text before the table.
const HEAD: &str = "\
# Linux programs

AArch64 programs for Linux run in any number of lanes: static or dynamically linked, with threads and with processes. Each lane
is a machine of its own, on which its programs are root.

```console
$ cargo kvrm run guests/linux/bin/files.elf /tmp/new
$ cargo kvrm run PROGRAM --lanes 100 --lane-arg '{lane}' --group       # each output once, with its lanes
$ cargo kvrm run PROGRAM --mount data:/data --env NAME=VALUE --stdin input.{lane} --output-dir out
$ cargo kvrm run PROGRAM --copy data:/data --cwd /data --tty --real-time --seed random -- -x FILE
$ cargo kvrm run PROGRAM --lanes 9 --save /tmp:out/{lane}               # keeps what lanes write
$ cargo kvrm run SYSROOT/bin/bash --sysroot SYSROOT -- -c 'seq 5 | wc -l'   # in a directory with an arm64 system
$ cargo kvrm run PROGRAM --strace --strace-output calls.{lane}         # system calls, as strace prints them
$ cargo kvrm run guests/linux/bin/race.elf --lanes 1000 --schedule '{lane}' --quantum 100 --group   # finds a race
$ cargo xtask guests --sysroot                                         # fetches a Debian system into target/sysroot
$ cargo xtask guests --programs                                        # fetches BusyBox, Lua, SQLite and others
$ cargo kvrm run target/programs/busybox --copy docs:/docs -- grep -c ARM64 /docs/architecture.md
```

- *Detection.* KVRM recognises a program for Linux by its ABI, by a note of the GNU tools, or by code with `svc #0` and
  without `hlt #0xf000`. `--linux` and `--semihosting` override the detection.
- *Processor.* Armv8.0 with floating point, vectors, CRC32 and the atomics of Armv8.1, as Linux programs expect. `--fp`
  adds AES and SHA; `--cpu` names a processor, which has exactly its [features](isa.md#features). The auxiliary vector states
  exactly the features of the machine. All engines support all of them.
- *Files.* Files are in memory. Owners, modes, times and up to 128 KiB of extended attributes of a file are kept.
  All lanes share one tree; a lane that changes a node gets its own copy of it. Changes
  last until the lane ends, and a reset reverts them. `--mount` adds directories of the host, read-only, up to 1 GiB
  each and 1,048,576 files in all; they are read once when the machine is built. `--copy` adds directories that each
  lane can change. Links in them are followed in the guest's tree. Nothing else of the host is visible. `--cwd` sets the
  working directory of lanes. `--save` writes files of lanes to the host after the run, without links.
- *Standard files.* `/proc` shows the processes, threads and mappings of the lane, with virtual time; its texts are made when their
  beginning is read. Only `comm` can be written. All pages that can be accessed count as being in memory; load averages and counts of
  switches are 0. `/sys/devices/system` describes one processor and one memory node. `/dev` has `null`, `zero`, `full`, `random`,
  `urandom`, `fd`, `stdin`, `stdout`, `stderr`, `shm`, `ptmx`, `pts`, and `tty`, which needs a controlling terminal. Small defaults of `/etc`
  (`passwd`, `group`, `hosts`, `hostname`, `localtime`, `nsswitch.conf`, `resolv.conf`, `mtab`) and the files of `/sys` are added where
  mounted directories have none. An address space names at most 16,384 mapped parts of files.
- *Dynamic programs.* A program that names a dynamic linker needs it, and its libraries, in its file system. `--sysroot DIR` makes
  a directory of the host, such as unpacked arm64 packages of Debian, the root directory; each lane can change its copy.
- *Threads and processes.* The threads of a lane take turns on it. A turn ends when the thread waits or ends, when it calls
  `sched_yield`, or after a quantum of steps (`--quantum`) if another thread can go on. Threads go on in the order in which they
  became able to. So the same program with the same input always takes the same course, on every engine and with every budget.
  With `--schedule SEED`, the next thread and the length of its turn are drawn: another seed is another interleaving, and the same
  seed repeats it. `--schedule '{lane}'` searches for races and deadlocks, one interleaving in each lane. A lane has at most 4,096
  threads. A child has a copy of its parent's memory, or borrows it until it executes a program (`vfork`). The memory of a process
  that does not have the lane is on the host. Each process may write as many pages as `--frames` says.
- *Sockets.* Processes of a lane talk through Unix sockets, and through TCP and UDP over the loopback interface, with the buffers,
  errors and poll events of Linux. Other addresses are `ENETUNREACH`; other families, such as netlink, are `EAFNOSUPPORT`. Buffers have
  the sizes that Linux gives them at first, and do not grow by themselves. There is no `TIME_WAIT`, `MSG_MORE` holds nothing back, and
  the ports and names that the kernel chooses follow each other. A lane has at most 4,096 sockets, and 1,024 descriptors on their way
  through sockets.
- *Shared memory.* Mappings of `MAP_SHARED` and segments of System V have their contents on the host. When another process gets the
  lane, or a call needs the contents, the pages that the lane has written are stored there. Two mappings of the same page in one process
  agree only after that. A shared futex is the same in all processes. Memory behind the end of a file reads as zeros and raises no
  `SIGBUS`. A process has at most 4,096 shared mappings.
- *Locks and queues.* A lane has at most 4,096 locks of files, 4,096 objects of each kind of System V, 131,072 semaphores, and 256 queues
  of POSIX. A message queue of System V has 16,384 bytes. An inotify file has at most 8,192 watches and 16,384 notices.
- *The end of a lane.* The status of a lane is that of its first process. Its other processes go on until they end or wait for
  ever. Their parent is then process 1, which is outside of the lane; the first process has the ID 2.
- *Waiting.* If every thread waits and nothing can end it, the lane stops with `deadlock`, at a system call that waits. While all
  threads wait for a time, the clock advances at once.
- *Time.* A step takes a nanosecond, and the first step is in the first second of 2020. Sleeping advances the clock at
  once. Timers of a process expire after exactly as many steps. With `--real-time`, clocks are the host's, and sleeping takes real time.
- *Pointer authentication.* With `--cpu max`, a program gets new keys from the randomness of its lane when it is executed. Children and
  threads have those of their parent, and `prctl` changes and disables those of a thread. A key returns after 64 resets of it alone.
- *Randomness.* Random bytes depend on the seed (`--seed`), the number of the lane, and the number of bytes used before.
  `--seed random` takes a seed from the host. Do not use them for keys.
- *Memory.* The heap, the arena of `mmap` and the stack follow the program; `--heap`, `--arena` and `--stack` set their
  sizes.
- *Signals.* A thread gets a signal when a call or a fault of it is served, or when its turn begins. Handlers get the
  frame that Linux pushes, with vectors and the syndrome of a fault, and return to a page after the arena unless they
  have their own restorer. A lane that is ended by a signal has the status 128 plus the signal's number. A fault, an
  undefined instruction or a breakpoint is a signal if the program handles it, or if the lane has other processes. Otherwise it is
  the stop of the lane, which has more details.
- *Resource limits.* A process has the limits that it has set, and its children and programs take them over. The lane enforces those on
  open files (at most 1,024), the size of files, data, mapped memory, processor time (in steps), bytes of POSIX queues, and the stack
  of programs that are executed later (at most 1 GiB). The stack counts as 132 KiB of mapped memory. The others are only kept: root is
  exempt from some of them, and there are no core files.
- *Pseudo terminals.* `/dev/ptmx` makes them, at most 256 in a lane. A master can be 64 KiB ahead of the line discipline, and a slave 64 KiB
  ahead of its master. A lane has no packet mode.
- *Terminals.* With `--tty` the three standard streams are one terminal of 80 by 24; otherwise they are pipes.
- *Lanes.* Calls of several lanes are served at the same time, on all cores, on every engine. Lanes share nothing that
  they can change, and their output is passed on in the order of lanes, so results do not depend on the order of
  threads.

- *Without the host.* On a GPU, the shader serves the marked calls itself in the usual case: calls with a constant
  answer, IDs, `futex` if no thread waits at one, the exit of the only thread, `brk` that unmaps nothing, a clock that counts steps, and up to 1,024 bytes of console output. In
  other cases, and for all other calls, the lane stops and waits until the other lanes have stopped, too.
- *Pipes without the host.* `read` and `write` of up to 4,096 bytes need no host if the pipe has bytes or room for all of them, no
  thread waits for it, and the descriptor is below 16. These pipes are the two of the current process that were last used for such a
  transfer. Named pipes, pipes that epoll watches for edges, and those whose owner gets `SIGIO` are left to the host. The pipes of a lane take up to 132 KiB of the GPU,
  as far as they are used; they do not count as pages that the lane has written.

An unknown call returns `ENOSYS`. The report counts unknown and refused calls. When a program fails, one note of `kvrm run` names
them, with what may help.

`--strace` prints the calls of all lanes, and `--strace=0,3-5` those of some, as strace does: arguments by name, results, signals, and
the ends of threads, on standard error or in the file of `--strace-output`. If the lane has had several threads, a line begins with the
ID of its thread. Strings are cut after 32 bytes. The host then serves all calls, also on a GPU, so the run takes longer; the results
are the same. `Builder::trace` is the same in Rust. Forks and saved machines are not traced.

The table says of each call which programs have made it, with success, in runs whose outputs, files and exit status are those of
QEMU: *guests* are the programs of `guests/linux` (`cargo xtask oracle guests --calls`), *programs* the command lines of Debian
programs (`cargo xtask oracle userland --calls`). Besides, all calls, served or not, are made with invalid pointers, descriptors and
sizes, and at random by several threads (`cargo xtask calls`): they may neither panic nor change anything outside of the lane.

| number | call | status | without the host | equals QEMU in | note |
| ---: | --- | --- | --- | --- | --- |
";

pub(super) fn text() -> Result<String> {
    let mut text = format!("<!-- {BANNER}, do not edit. -->\n\n{HEAD}");
    let table = call_table(0, 0, false);
    let frequent: BTreeSet<u64> = table.answers.into_iter().map(|(number, _)| number).collect();
    let made = made_calls::read()?;
    for call in CALLS {
        let without_host = if frequent.contains(&call.number) { "yes" } else { "" };
        let status = match call.status {
            Status::Complete => "complete",
            Status::Partial => "partial",
            Status::Accepted => "accepted",
            Status::Refused => "refused",
            Status::Absent => "absent",
        };
        let kinds = made.iter().filter(|(_, calls)| calls.contains(call.name));
        let kinds: Vec<&str> = kinds.map(|(kind, _)| kind.as_str()).collect();
        let SystemCall { number, name, note, .. } = call;
        let compared = kinds.join(", ");
        writeln!(text, "| {number} | `{name}` | {status} | {without_host} | {compared} | {note} |")?;
    }
    text.push_str(
        "\nComplete: everything that a process can observe. Partial: the part in the note. Accepted: \
         succeeds without\nan effect, which the process cannot notice. Refused: fails as on a system that lacks the \
         feature, and is counted in the\nreport. Absent: fails as on an older kernel; programs do without it.\n",
    );
    Ok(text)
}
