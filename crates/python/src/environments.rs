//! Environments: programs that take steps for agents.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use kvrm::ViewFormat;
use kvrm::environments::doom::{self, Doom};
use kvrm::environments::{self, Batch, Builder, Component, Variable, VariableType};
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use crate::engine::Engine;
use crate::error::{OrRaise as _, refused};
use crate::lanes::numbers;
use crate::locked::locked;
use crate::named::named;
use crate::options::MachineOptions;
use crate::program::Program;
use crate::stops::StopColumns;

/// Environments. Their methods let other threads run while they work.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct Environments(Mutex<environments::Environments>);

/// The options of environments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    lanes: usize,
    components: Option<Vec<String>>,
    ticks: u32,
    format: Option<String>,
    crop: Option<((u32, u32), (u32, u32))>,
    downscale: u32,
    variables: Vec<(VariablePlace, String)>,
    seed: u64,
    scenario: u32,
    episode_steps: Option<u32>,
    budget: Option<u64>,
    is_endless: bool,
    frames: Option<usize>,
}

/// A variable, by its name or its address.
#[derive(FromPyObject)]
enum VariablePlace {
    Address(u64),
    Name(String),
}

/// The options of DOOM.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct DoomOptions {
    skill: u8,
    episode: u8,
    map: u8,
    has_monsters: bool,
    blocks: u8,
    low_detail: bool,
    wad: Option<PathBuf>,
    patches: Vec<PathBuf>,
}

/// The results of some lanes without their observations, which Python gets as a dictionary of arrays.
#[derive(IntoPyObject)]
struct Results<'py> {
    lanes: Bound<'py, PyArray1<i64>>,
    rewards: Bound<'py, PyArray1<f64>>,
    terminations: Bound<'py, PyArray1<bool>>,
    truncations: Bound<'py, PyArray1<bool>>,
    instructions: Bound<'py, PyArray1<u64>>,
    masks: Bound<'py, PyArray1<u64>>,
    variables: Bound<'py, PyArray1<i64>>,
    stop_kinds: Bound<'py, PyArray1<u8>>,
    stop_values: Bound<'py, PyArray1<u64>>,
    stop_details: Bound<'py, PyArray1<u8>>,
}

/// The same results while other threads of Python may run.
struct Columns {
    lanes: Vec<i64>,
    rewards: Vec<f64>,
    terminations: Vec<bool>,
    truncations: Vec<bool>,
    instructions: Vec<u64>,
    masks: Vec<u64>,
    variables: Vec<i64>,
    stops: StopColumns,
}

impl Columns {
    fn of(batch: &Batch<'_>) -> Self {
        Self {
            lanes: batch.lanes.iter().map(|lane| *lane as i64).collect(),
            rewards: batch.rewards.to_vec(),
            terminations: batch.terminations.to_vec(),
            truncations: batch.truncations.to_vec(),
            instructions: batch.instructions.to_vec(),
            masks: batch.masks.to_vec(),
            variables: batch.variables.to_vec(),
            stops: StopColumns::of(batch.stops),
        }
    }

    fn arrays(self, py: Python<'_>) -> Results<'_> {
        let (stop_kinds, stop_values, stop_details) = self.stops.arrays(py);
        Results {
            lanes: PyArray1::from_vec(py, self.lanes),
            rewards: PyArray1::from_vec(py, self.rewards),
            terminations: PyArray1::from_vec(py, self.terminations),
            truncations: PyArray1::from_vec(py, self.truncations),
            instructions: PyArray1::from_vec(py, self.instructions),
            masks: PyArray1::from_vec(py, self.masks),
            variables: PyArray1::from_vec(py, self.variables),
            stop_kinds,
            stop_values,
            stop_details,
        }
    }
}

#[pymethods]
impl Environments {
    /// Makes environments of a program. `start` has the options of the machine with one lane that runs it up to its first yield,
    /// `options` those of `kvrm.environments.Environments`.
    #[new]
    #[pyo3(signature = (program, engine, start: "dict[str, object]", options: "dict[str, object]"))]
    fn new(
        py: Python<'_>,
        program: &Program,
        engine: &Engine,
        start: MachineOptions,
        options: Options,
    ) -> PyResult<Self> {
        py.detach(|| Self::build(start.builder(program)?, engine, options))
    }

    /// Makes environments that play DOOM. `game` has the options of `kvrm.environments.Doom`.
    #[staticmethod]
    #[pyo3(signature = (program, engine, game: "dict[str, object]", options: "dict[str, object]"))]
    fn doom(
        py: Python<'_>,
        program: &Program,
        engine: &Engine,
        game: DoomOptions,
        options: Options,
    ) -> PyResult<Self> {
        let DoomOptions { skill, episode, map, has_monsters, blocks, low_detail, wad, patches } = game;
        let doom = Doom { skill, episode, map, has_monsters, blocks, low_detail, wad, patches };
        py.detach(|| Self::build(doom.machine(program.program.clone()), engine, options))
    }

    /// The number of lanes.
    #[getter]
    fn lanes(&self) -> PyResult<usize> {
        Ok(self.lock()?.lanes())
    }

    /// Name, least and greatest value of each component of actions.
    #[getter]
    fn components(&self) -> PyResult<Vec<(String, i32, i32)>> {
        let component = |Component { name, low, high }: &Component| (name.clone(), *low, *high);
        Ok(self.lock()?.components().iter().map(component).collect())
    }

    /// Rows, columns and channels of an observation; zeros if there are none.
    #[getter]
    fn shape(&self) -> PyResult<(usize, usize, usize)> {
        Ok(self.lock()?.shape().into())
    }

    /// Changes how many units of its time the program advances in a step.
    fn set_ticks(&self, ticks: u32) -> PyResult<()> {
        self.lock()?.set_ticks(ticks);
        Ok(())
    }

    /// Begins an episode in some lanes. Their observations go to the beginning of `out`.
    #[pyo3(signature = (
        lanes: "NDArray[numpy.int64] | None", seeds: "NDArray[numpy.uint64] | None",
        scenarios: "NDArray[numpy.uint32] | None", out: "NDArray[numpy.uint8]"
    ) -> "dict[str, NDArray[typing.Any]]")]
    #[expect(clippy::too_many_arguments, reason = "arrays are borrowed from Python one by one")]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
        seeds: Option<PyReadonlyArray1<'_, u64>>,
        scenarios: Option<PyReadonlyArray1<'_, u32>>,
        mut out: PyReadwriteArray1<'_, u8>,
    ) -> PyResult<Results<'py>> {
        let seeds = seeds.as_ref().map_or(Ok(&[][..]), |seeds| seeds.as_slice())?;
        let scenarios = scenarios.as_ref().map_or(Ok(&[][..]), |scenarios| scenarios.as_slice())?;
        let out = out.as_slice_mut()?;
        let lanes = numbers(lanes, self.lock()?.lanes())?;
        let columns = py.detach(|| {
            let mut environments = self.lock()?;
            let batch = environments.reset_with(&lanes, seeds, scenarios).or_raise()?;
            let observations = batch.observations;
            let room = out.len();
            let out = out.get_mut(..observations.len()).ok_or_else(|| {
                refused(format!("room for {room} bytes of observations: expected {}", observations.len()))
            })?;
            out.copy_from_slice(observations);
            PyResult::Ok(Columns::of(&batch))
        })?;
        Ok(columns.arrays(py))
    }

    /// Takes a step in each lane, and writes the observations to `out`.
    #[pyo3(signature = (actions: "NDArray[numpy.int32]", out: "NDArray[numpy.uint8]") -> "dict[str, NDArray[typing.Any]]")]
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: PyReadonlyArray1<'_, i32>,
        mut out: PyReadwriteArray1<'_, u8>,
    ) -> PyResult<Results<'py>> {
        let (actions, out) = (actions.as_slice()?, out.as_slice_mut()?);
        let columns = py.detach(|| {
            let mut environments = self.lock()?;
            PyResult::Ok(Columns::of(&environments.step_into(actions, out).or_raise()?))
        })?;
        Ok(columns.arrays(py))
    }

    /// Gives some lanes actions, with which they begin to take a step.
    #[pyo3(signature = (lanes: "NDArray[numpy.int64] | None", actions: "NDArray[numpy.int32]"))]
    fn send(
        &self,
        py: Python<'_>,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
        actions: PyReadonlyArray1<'_, i32>,
    ) -> PyResult<()> {
        let actions = actions.as_slice()?;
        let lanes = numbers(lanes, self.lock()?.lanes())?;
        py.detach(|| self.lock()?.send(&lanes, actions).or_raise())
    }

    /// Runs lanes until so many have taken their step. The observations of these go to the beginning of `out`.
    #[pyo3(signature = (wanted, out: "NDArray[numpy.uint8]") -> "dict[str, NDArray[typing.Any]]")]
    fn receive<'py>(
        &self,
        py: Python<'py>,
        wanted: usize,
        mut out: PyReadwriteArray1<'_, u8>,
    ) -> PyResult<Results<'py>> {
        let out = out.as_slice_mut()?;
        let columns = py.detach(|| {
            let mut environments = self.lock()?;
            PyResult::Ok(Columns::of(&environments.receive_into(wanted, out).or_raise()?))
        })?;
        Ok(columns.arrays(py))
    }
}

impl Environments {
    fn lock(&self) -> PyResult<MutexGuard<'_, environments::Environments>> {
        locked(&self.0, "the batch of environments is")
    }

    fn build(start: kvrm::Builder<'_>, engine: &Engine, options: Options) -> PyResult<Self> {
        // One lane is fastest on the CPU.
        let start = start.engine(kvrm::Engine::Jit).loops(engine.loops.clone()).build().or_raise()?;
        let builder = options.builder(start)?.engine(engine.clone());
        Ok(Self(Mutex::new(builder.build().or_raise()?)))
    }
}

impl Options {
    fn builder<'a>(self, start: kvrm::Machine) -> PyResult<Builder<'a>> {
        const FORMATS: [(&str, ViewFormat); 3] =
            [("rgb", ViewFormat::Rgb), ("grey", ViewFormat::Grey), ("index", ViewFormat::Index)];
        let variables = self.variables.into_iter().map(|(place, kind)| variable(place, &kind));
        let mut builder = environments::Environments::builder(start)
            .lanes(self.lanes)
            .ticks(self.ticks)
            .downscale(self.downscale)
            .variables(variables.collect::<PyResult<Vec<_>>>()?)
            .seed(self.seed)
            .scenario(self.scenario);
        builder = match self.format {
            Some(format) => builder.format(named("format", &format, &FORMATS, |(name, _)| name)?.1),
            None => builder.without_observations(),
        };
        if let Some(components) = self.components {
            builder = builder.components(components);
        }
        if let Some((columns, rows)) = self.crop {
            builder = builder.crop(columns.0..columns.1, rows.0..rows.1);
        }
        if let Some(steps) = self.episode_steps {
            builder = builder.episode_steps(steps);
        }
        if let Some(budget) = self.budget {
            builder = builder.budget(budget);
        }
        if let Some(frames) = self.frames {
            builder = builder.frames_max(frames);
        }
        Ok(if self.is_endless { builder.endless() } else { builder })
    }
}

/// Returns a variable with the name of its type.
fn variable(place: VariablePlace, kind: &str) -> PyResult<Variable> {
    const KINDS: [(&str, VariableType); 7] = [
        ("int8", VariableType::I8),
        ("int16", VariableType::I16),
        ("int32", VariableType::I32),
        ("int64", VariableType::I64),
        ("uint8", VariableType::U8),
        ("uint16", VariableType::U16),
        ("uint32", VariableType::U32),
    ];
    let (_, kind) = named("type of a variable", kind, &KINDS, |(name, _)| name)?;
    Ok(match place {
        VariablePlace::Address(address) => Variable::at(address, kind),
        VariablePlace::Name(name) => Variable::named(name, kind),
    })
}

/// Returns the names of DOOM's variables, without `doom_`.
#[pyfunction]
pub(crate) fn doom_variables() -> Vec<&'static str> {
    doom::VARIABLES.to_vec()
}
