//! Compiles guests with several compilers at several levels, for data from which networks learn.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::root::root;
use crate::system::{self, COMPILER};

/// Flags of all guests. Loops are not replaced by calls.
const FLAGS: &[&str] =
    &["-march=armv8-a", "-ffreestanding", "-fno-stack-protector", "-w", "-nostdlib", "-static"];
/// Flags of guests without floating point.
const INTEGERS: &[&str] = &["-mgeneral-regs-only", "-fno-tree-vectorize", "-fno-builtin"];
/// Flags of guests with floating point.
const FLOATING_POINT: &[&str] = &["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"];

#[derive(Clone, Copy)]
pub(crate) enum Compiler {
    Gcc,
    Clang,
}

/// Installs the compilers, if needed and possible.
pub(crate) fn ensure_installed() -> Result<()> {
    system::ensure_program(COMPILER, "gcc-aarch64-linux-gnu")?;
    system::ensure_program("clang", "clang")
}

impl Compiler {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
        }
    }

    fn command(self) -> Command {
        match self {
            Self::Gcc => {
                let mut command = Command::new(COMPILER);
                command.args(["-mno-outline-atomics", "-fno-tree-loop-distribute-patterns"]);
                command
            }
            Self::Clang => {
                let mut command = Command::new("clang");
                command.arg("--target=aarch64-linux-gnu");
                command
            }
        }
    }
}

/// A guest to compile.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) has_floats: bool,
    pub(crate) is_linux: bool,
}

impl Source<'_> {
    /// Compiles the guest at a level of optimization, such as `O2`, unless the file is newer than the source.
    pub(crate) fn compile(self, compiler: Compiler, level: &str, file: &Path) -> Result<()> {
        let Self { path: source, has_floats, is_linux } = self;
        let runtime = root().join(if is_linux { "guests/linux/runtime" } else { "guests/runtime" });
        let newest = [source, &runtime.join("runtime.c")]
            .iter()
            .map(|path| fs::metadata(path).and_then(|of| of.modified()).ok())
            .max();
        if fs::metadata(file).and_then(|of| of.modified()).ok() > newest.flatten() {
            return Ok(());
        }
        let mut command = compiler.command();
        command.args(FLAGS).arg(format!("-{level}"));
        // A Linux guest looks at vectors itself.
        command.args(if has_floats || is_linux { FLOATING_POINT } else { INTEGERS });
        if !is_linux {
            command.arg("-T").arg(runtime.join("guest.ld"));
        }
        let status = command
            .args(["-fno-pie", "-Wl,--build-id=none", "-I"])
            .arg(&runtime)
            .arg(runtime.join("start.S"))
            .arg(runtime.join("runtime.c"))
            .arg(source)
            .arg("-o")
            .arg(file)
            .status()
            .with_context(|| format!("cannot run {}", compiler.name()))?;
        let (name, source) = (compiler.name(), source.display());
        ensure!(status.success(), "{name} could not compile {source} at -{level}");
        Ok(())
    }
}
