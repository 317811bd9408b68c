//! `docs/linux.md`: the environment of Linux programs, and all system calls from the table in `kvrm_machine`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use kvrm_machine::linux::{CALLS, Status, call_table};

use super::banner::BANNER;

/// The text before the table.
const HEAD: &str = "\
# Linux programs

Static AArch64 programs for Linux, at fixed addresses or position independent, run in any number of lanes. Each lane
is one process with one thread, root of a machine of its own.

```console
$ cargo kvrm run guests/linux/bin/files.elf /tmp/new
$ cargo kvrm run PROGRAM --lanes 100 --lane-arg '{lane}' --group       # every output once, with its lanes
$ cargo kvrm run PROGRAM --mount data:/data --env NAME=VALUE --stdin input.{lane} --output-dir out
$ cargo kvrm run PROGRAM --copy data:/data --cwd /data --tty --real-time --seed random -- -x FILE
$ cargo kvrm run PROGRAM --lanes 9 --save /tmp:out/{lane}               # keeps what lanes write
$ cargo xtask guests --programs                                        # gets BusyBox, Lua, SQLite, zlib, zstd
$ cargo kvrm run target/programs/busybox --copy docs:/docs -- grep -c ARM64 /docs/architecture.md
```

- *Which programs.* The file says it is for Linux: by its ABI, by a note of the GNU tools, or by code that has
  `svc #0` and no `hlt #0xf000`. `--linux` and `--semihosting` decide otherwise.
- *Which processor.* An Armv8.0 with floating point, vectors and CRC32, as every Linux expects; `--lse` adds the
  atomics of Armv8.1, `--fp` AES and SHA. The auxiliary vector claims what the machine has and nothing else. Every
  engine has all of it.
- *Files.* They are in memory. All lanes share one tree, and a lane that changes a node of it gets its own; what is
  written is the lane's until it ends, and a reset takes it back. `--mount` adds directories of the host, read once
  when the machine is built, up to 1 GiB each, which nobody can change; `--copy` adds them as copies that each lane
  can. Links in them are followed in the guest's tree. Nothing else of the host is visible. `--cwd` is where lanes begin.
  `--save` writes files of lanes to the host in the end, links left out.
- *Time.* A step takes a nanosecond, and the first is made in the first second of 2020. Sleeping makes it later at
  once. With `--real-time` clocks are the host's, and sleeping takes its time.
- *Randomness.* It follows from the seed (`--seed`), the number of the lane, and how much has been used. `--seed
  random` takes one from the host. It is no source for keys.
- *Memory.* Heap, arena of `mmap` and stack lie behind the program; `--heap`, `--arena` and `--stack` give their sizes.
- *Waiting.* There is nobody to wait for: what would wait for ever fails with `EDEADLK`.
- *Signals.* They come from the lane itself and arrive when the call that sends them is done. Handlers find the frame
  that Linux pushes, with vectors and the syndrome of a fault, and return to a page behind the arena unless they bring
  their own way. A signal that ends a lane gives the status 128 and its number. A fault, an undefined instruction or a
  breakpoint is a signal if it is handled, and otherwise the stop of the lane, which says more.
- *Processes.* There is one: `clone` and `execve` fail with `ENOSYS`. A shell runs what it has built in.
- *Terminals.* With `--tty` the three standard streams are one, of 80 by 24; otherwise they are pipes.
- *Lanes.* Calls of lanes are served at the same time, on all cores, whatever engine runs them. Lanes share nothing they
  can change, and what they print is passed on in their order, so that nothing depends on which thread was first.

- *Without the host.* On a GPU the calls marked so are served where they are made, in the usual case: an answer that is
  always the same, the exit, `brk` that unmaps nothing, a clock that counts steps, up to 1,024 bytes for the console. What
  is unusual about them, and all other calls, stop the lane until the others have stopped as well.

An unknown call returns `ENOSYS` and is counted in the report.

| number | call | status | without the host | note |
| ---: | --- | --- | --- | --- |
";

pub(super) fn text() -> Result<String> {
    let mut text = format!("<!-- {BANNER}, do not edit. -->\n\n{HEAD}");
    let table = call_table(0..0, 0, 0, false);
    let frequent: BTreeSet<u64> = table.answers.into_iter().map(|(number, _)| number).collect();
    for call in CALLS {
        let without_host = if frequent.contains(&call.number) { "yes" } else { "" };
        let status = match call.status {
            Status::Complete => "complete",
            Status::Partial => "partial",
            Status::Accepted => "accepted",
            Status::Refused => "refused",
        };
        writeln!(text, "| {} | `{}` | {status} | {without_host} | {} |", call.number, call.name, call.note)?;
    }
    text.push_str(
        "\nComplete: all of it that one thread of one process can tell. Partial: what the note says. Accepted: nothing is \
         done, and\nnobody can tell. Refused: it fails, as where such a thing is not there.\n",
    );
    Ok(text)
}
