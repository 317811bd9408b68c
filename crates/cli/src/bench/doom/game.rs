//! The game that is measured: its options, and lanes that play it.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use kvrm::environments::Environments;
use kvrm::environments::doom::Doom;
use kvrm::{Engine, Program, ViewFormat};

use super::policy::COMPONENTS;
use crate::engine::OpenEngine;

/// What is drawn and observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Picture {
    /// 320x200 pixels of 8 bits, as the game draws them.
    Full,
    /// 160x100 grey pixels of 8 bits, drawn in low detail.
    Half,
    /// Nothing.
    None,
}

impl Picture {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Half => "half",
            Self::None => "none",
        }
    }
}

/// The options of the game.
#[derive(clap::Args)]
pub(super) struct GameArgs {
    /// The program, which `cargo xtask guests --doom` makes.
    #[arg(long, value_name = "FILE", default_value = "target/programs/doom")]
    program: PathBuf,
    /// The size of the view, from 3 to 11.
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u8).range(3..=11))]
    pub(super) blocks: u8,
    /// The tics of a step.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=35))]
    pub(super) tics: u32,
    /// The largest number of 4 KiB pages that a lane may write.
    #[arg(long, value_name = "PAGES", default_value = "4096")]
    frames: usize,
}

impl GameArgs {
    pub(super) fn open(&self) -> Result<Program> {
        let path = self.program.display();
        Program::open(&self.program)
            .with_context(|| format!("--program '{path}'; `cargo xtask guests --doom` makes it"))
    }

    /// Returns environments whose lanes have begun an episode.
    pub(super) fn environments(
        &self,
        program: &Program,
        engine: &OpenEngine,
        picture: Picture,
        lanes: usize,
    ) -> Result<Environments> {
        let doom = Doom { blocks: self.blocks, low_detail: picture == Picture::Half, ..Doom::default() };
        let start = doom.machine(program.clone()).engine(Engine::Jit).loops(engine.loops.clone()).build()?;
        let builder = Environments::builder(start)
            .lanes(lanes)
            .engine(engine.clone())
            .frames_max(self.frames)
            .components(COMPONENTS)
            .ticks(self.tics);
        let mut environments = match picture {
            Picture::Full => builder.format(ViewFormat::Index).build()?,
            Picture::Half => builder.format(ViewFormat::Grey).downscale(1).build()?,
            Picture::None => builder.without_observations().build()?,
        };
        environments.reset(..)?;
        Ok(environments)
    }
}
