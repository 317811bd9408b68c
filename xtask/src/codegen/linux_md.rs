//! `docs/linux.md`: what Linux programs find, and every system call, from the table of the machine.

use std::fmt::Write as _;

use anyhow::Result;
use kvrm_machine::linux::{CALLS, Status};

use super::BANNER;

/// What stands before the table.
const HEAD: &str = "\
# Linux programs

Static AArch64 programs for Linux, at fixed addresses or position independent, run in any number of lanes. Each lane
is one process with one thread, root of a machine of its own.

```console
$ cargo kvrm run guests/linux/bin/files.elf /tmp/new
$ cargo kvrm run PROGRAM --lanes 100 --lane-arg '{lane}' --group       # every output once, with its lanes
$ cargo kvrm run PROGRAM --mount data:/data --env NAME=VALUE --stdin input.{lane} --output-dir out
```

- *Which programs.* The file says it is for Linux: by its ABI, by a note of the GNU tools, or by code that has
  `svc #0` and no `hlt #0xf000`. `--linux` and `--semihosting` decide otherwise. Floating point and vectors are
  still undefined instructions.
- *Files.* They are in memory. All lanes share one tree, and a lane that changes a node of it gets its own; what is
  written is the lane's until it ends, and a reset takes it back. `--mount` adds directories of the host, read once
  when the machine is built, up to 1 GiB each, which nobody can change. Links in them are followed in the guest's
  tree. Nothing else of the host is visible.
- *Time.* A step takes a nanosecond, and the first is made in the first second of 2020. Sleeping makes it later at once.
- *Randomness.* It follows from the seed (`--seed`), the number of the lane, and how much has been used.
- *Memory.* Heap, arena of `mmap` and stack lie behind the program; `--heap`, `--arena` and `--stack` give their sizes.
- *Waiting.* There is nobody to wait for: what would wait for ever fails with `EDEADLK`.
- *Signals.* One that a lane sends to itself and that ends it gives the status 128 and its number. Handlers are stored
  and never called: such a signal fails with `ENOSYS`. A fault is the stop of the lane, not a signal.
- *Terminals.* Nothing is one; the three standard streams are pipes.

An unknown call returns `ENOSYS` and is counted in the report.

| number | call | status | note |
| ---: | --- | --- | --- |
";

pub(super) fn text() -> Result<String> {
    let mut text = format!("<!-- {BANNER}, do not edit. -->\n\n{HEAD}");
    for call in CALLS {
        let status = match call.status {
            Status::Complete => "complete",
            Status::Partial => "partial",
            Status::Accepted => "accepted",
            Status::Refused => "refused",
        };
        writeln!(text, "| {} | `{}` | {status} | {} |", call.number, call.name, call.note)?;
    }
    text.push_str(
        "\nComplete: all of it that one thread of one process can tell. Partial: what the note says. Accepted: nothing is \
         done, and\nnobody can tell. Refused: it fails, as where such a thing is not there.\n",
    );
    Ok(text)
}
