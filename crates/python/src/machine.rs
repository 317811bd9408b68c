//! Machines.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Mutex;

use kvrm::{Register, RunProgress, Stream};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::engine::Engine;
use crate::error::{OrRaise as _, refused};
use crate::lanes::numbers;
use crate::locked::locked;
use crate::named::named;
use crate::options::{ForkOptions, HookOptions, MachineOptions};
use crate::program::Program;
use crate::stops::{StopArrays, StopColumns};

/// A machine. Its methods let other threads run while they work.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct Machine(Mutex<kvrm::Machine>);

#[pymethods]
impl Machine {
    /// Makes a machine. The options are those of `kvrm.Machine`.
    #[new]
    #[pyo3(signature = (program, engine, options: "dict[str, object]", hooks: "dict[str, object]"))]
    fn new(
        py: Python<'_>,
        program: &Program,
        engine: &Engine,
        options: MachineOptions,
        hooks: HookOptions,
    ) -> PyResult<Self> {
        py.detach(|| {
            let builder = options.builder(program)?.engine(engine.clone()).hooks(hooks.hooks());
            let machine = builder.loops(engine.loops.clone()).build().or_raise()?;
            Ok(Self(Mutex::new(machine)))
        })
    }

    /// Loads a machine that was saved.
    #[staticmethod]
    fn load(py: Python<'_>, saved: Cow<'_, [u8]>, engine: &Engine) -> PyResult<Self> {
        py.detach(|| {
            let loaded = kvrm::Machine::load(&saved[..], engine.clone(), engine.loops.clone());
            Ok(Self(Mutex::new(loaded.or_raise()?)))
        })
    }

    /// Returns the machine in the form of saved machines.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.with(py, |machine| {
            let mut saved = Vec::new();
            machine.save(&mut saved).or_raise()?;
            Ok(saved)
        })?;
        Ok(PyBytes::new(py, &saved))
    }

    /// Returns the program.
    fn program(&self, py: Python<'_>) -> PyResult<Program> {
        self.with(py, |machine| Ok(Program { program: machine.program().clone() }))
    }

    /// The number of lanes.
    #[getter]
    fn lanes(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |machine| Ok(machine.lanes()))
    }

    /// Runs the lanes, each for at most `budget` more steps. `observe` is called with steps, lanes, lanes that run, and seconds; if it
    /// returns false, the run ends. Returns the report as JSON and as text.
    #[pyo3(signature = (budget, observe: "collections.abc.Callable[[int, int, int, float], object] | None"))]
    fn run(&self, py: Python<'_>, budget: u64, observe: Option<Py<PyAny>>) -> PyResult<(String, String)> {
        let mut interruption = None;
        let look = |progress: &RunProgress| {
            let looked = Python::attach(|py| {
                py.check_signals()?;
                let Some(observe) = &observe else { return Ok(true) };
                let RunProgress { steps, lanes, running, elapsed, .. } = *progress;
                let answer = observe.bind(py).call1((steps, lanes, running, elapsed.as_secs_f64()))?;
                Ok(answer.is_none() || answer.is_truthy()?)
            });
            match looked {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    interruption = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let report = self.with(py, |machine| machine.run_with(budget, look).or_raise())?;
        // The lanes are between two instructions, and another run continues them.
        if let Some(interruption) = interruption {
            return Err(interruption);
        }
        let json = serde_json::to_string(&report).or_raise()?;
        Ok((json, report.to_string()))
    }

    /// Returns the stops of all lanes, in columns: the number of the kind, or 255 for none; the value; details.
    #[pyo3(signature = () -> "tuple[NDArray[numpy.uint8], NDArray[numpy.uint64], NDArray[numpy.uint8]]")]
    fn stops<'py>(&self, py: Python<'py>) -> PyResult<StopArrays<'py>> {
        let columns = self.with(py, |machine| Ok(StopColumns::of(&machine.stops().or_raise()?)))?;
        Ok(columns.arrays(py))
    }

    /// Returns a register of all lanes.
    #[pyo3(signature = (register) -> "NDArray[numpy.uint64]")]
    fn registers<'py>(&self, py: Python<'py>, register: &str) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let register = register_named(register)?;
        let values = self.with(py, |machine| machine.registers(register).or_raise())?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Sets a register of some lanes.
    #[pyo3(signature = (register, lanes: "NDArray[numpy.int64] | None", values: "NDArray[numpy.uint64]"))]
    fn set_registers(
        &self,
        py: Python<'_>,
        register: &str,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
        values: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let register = register_named(register)?;
        let values = values.as_slice()?;
        self.with_lanes(py, lanes, |machine, lanes| machine.set_registers(lanes, register, values).or_raise())
    }

    /// Returns a vector register of all lanes: the low and the high half of each.
    #[pyo3(signature = (number) -> "NDArray[numpy.uint64]")]
    fn vectors<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let halves = self.with(py, |machine| {
            let mut halves = Vec::with_capacity(2 * machine.lanes());
            for lane in 0..machine.lanes() {
                let vector = machine.cpu(lane).or_raise()?.v[number];
                halves.extend([vector as u64, (vector >> 64) as u64]);
            }
            Ok(halves)
        })?;
        Ok(PyArray1::from_vec(py, halves))
    }

    /// Sets a vector register of some lanes: the low and the high half of each.
    #[pyo3(signature = (number, lanes: "NDArray[numpy.int64] | None", halves: "NDArray[numpy.uint64]"))]
    fn set_vectors(
        &self,
        py: Python<'_>,
        number: usize,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
        halves: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let halves = halves.as_slice()?;
        self.with_lanes(py, lanes, |machine, lanes| {
            for (lane, half) in lanes.iter().zip(halves.chunks_exact(2)) {
                let mut cpu = machine.cpu(*lane).or_raise()?;
                cpu.v[number] = u128::from(half[0]) | u128::from(half[1]) << 64;
                machine.set_cpu(*lane, &cpu).or_raise()?;
            }
            Ok(())
        })
    }

    /// Reads memory of some lanes, one after the other.
    #[pyo3(signature = (address, bytes, lanes: "NDArray[numpy.int64] | None") -> "NDArray[numpy.uint8]")]
    fn read<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        bytes: usize,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let rows =
            self.with_lanes(py, lanes, |machine, lanes| machine.read_rows(lanes, address, bytes).or_raise())?;
        Ok(PyArray1::from_vec(py, rows))
    }

    /// Writes memory of some lanes: a row for each.
    #[pyo3(signature = (address, lanes: "NDArray[numpy.int64] | None", rows: "NDArray[numpy.uint8]"))]
    fn write_rows(
        &self,
        py: Python<'_>,
        address: u64,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
        rows: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<()> {
        let rows = rows.as_slice()?;
        self.with_lanes(py, lanes, |machine, lanes| machine.write_rows(lanes, address, rows).or_raise())
    }

    /// Writes the same bytes to the memory of some lanes.
    #[pyo3(signature = (address, lanes: "NDArray[numpy.int64] | None", data: "NDArray[numpy.uint8]"))]
    fn write(
        &self,
        py: Python<'_>,
        address: u64,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
        data: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<()> {
        let data = data.as_slice()?;
        self.with_lanes(py, lanes, |machine, lanes| machine.write(lanes, address, data).or_raise())
    }

    /// Returns what each of some lanes has written to a stream: `output` or `error`.
    #[pyo3(signature = (lanes: "NDArray[numpy.int64] | None", stream))]
    fn outputs<'py>(
        &self,
        py: Python<'py>,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
        stream: &str,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        const STREAMS: [(&str, Stream); 2] = [("output", Stream::Output), ("error", Stream::Error)];
        let (_, stream) = named("stream", stream, &STREAMS, |(name, _)| name)?;
        let machine = locked(&self.0, "the machine is")?;
        let output = |lane| Ok(PyBytes::new(py, machine.output(lane, stream).or_raise()?));
        numbers(lanes, machine.lanes())?.into_iter().map(output).collect()
    }

    /// Whether output of a lane was dropped.
    fn output_truncated(&self, py: Python<'_>, lane: usize) -> PyResult<bool> {
        self.with(py, |machine| machine.output_truncated(lane).or_raise())
    }

    /// Sets the standard input of a lane.
    fn set_stdin(&self, py: Python<'_>, lane: usize, bytes: Vec<u8>) -> PyResult<()> {
        self.with(py, |machine| machine.set_input(lane, &bytes).or_raise())
    }

    /// Sets the arguments of a lane.
    fn set_arguments(&self, py: Python<'_>, lane: usize, arguments: Vec<String>) -> PyResult<()> {
        self.with(py, |machine| machine.set_arguments(lane, &arguments).or_raise())
    }

    /// Saves the state of all lanes.
    fn snapshot(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |machine| machine.snapshot().or_raise())
    }

    /// Restores the snapshot in some lanes.
    #[pyo3(signature = (lanes: "NDArray[numpy.int64] | None"))]
    fn reset(&self, py: Python<'_>, lanes: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<()> {
        self.with_lanes(py, lanes, |machine, lanes| machine.reset(lanes).or_raise())
    }

    /// Clears the stops of some lanes.
    #[pyo3(signature = (lanes: "NDArray[numpy.int64] | None"))]
    fn resume(&self, py: Python<'_>, lanes: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<()> {
        self.with_lanes(py, lanes, |machine, lanes| machine.resume(lanes).or_raise())
    }

    /// Replaces the hooks.
    #[pyo3(signature = (hooks: "dict[str, object]"))]
    fn set_hooks(&self, py: Python<'_>, hooks: HookOptions) -> PyResult<()> {
        self.with(py, |machine| machine.set_hooks(hooks.hooks()).or_raise())
    }

    /// Makes a machine whose lanes begin in the state of a lane, on another engine if there is one.
    #[pyo3(signature = (lane, engine, options: "dict[str, object]"))]
    fn fork(
        &self,
        py: Python<'_>,
        lane: usize,
        engine: Option<PyRef<'_, Engine>>,
        options: ForkOptions,
    ) -> PyResult<Self> {
        let engine = engine.map(|engine| engine.clone());
        self.with(py, |machine| {
            let mut fork = options.fork();
            if let Some(engine) = engine {
                fork = fork.engine(engine);
            }
            Ok(Self(Mutex::new(machine.fork_with(lane, fork).or_raise()?)))
        })
    }

    /// Returns the addresses of the pages that a lane has written.
    #[pyo3(signature = (lane) -> "NDArray[numpy.uint64]")]
    fn private_pages<'py>(&self, py: Python<'py>, lane: usize) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let pages = self.with(py, |machine| machine.private_pages(lane).or_raise())?;
        Ok(PyArray1::from_vec(py, pages))
    }

    /// Writes files of a lane of a Linux program to the host.
    fn save_files(&self, py: Python<'_>, lane: usize, guest: &str, host: PathBuf) -> PyResult<()> {
        self.with(py, |machine| machine.save_files(lane, guest, host).or_raise())
    }

    /// Returns the violations that an audit of all page tables finds.
    fn audit(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let violations = self.with(py, |machine| machine.audit().or_raise())?;
        Ok(violations.iter().map(ToString::to_string).collect())
    }
}

impl Machine {
    /// Calls a function with the machine, while other threads of Python may run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut kvrm::Machine) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| call(&mut *locked(&self.0, "the machine is")?))
    }

    /// Calls a function with the machine and the numbers of lanes.
    fn with_lanes<T: Send>(
        &self,
        py: Python<'_>,
        lanes: Option<PyReadonlyArray1<'_, i64>>,
        call: impl FnOnce(&mut kvrm::Machine, &[usize]) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        let lanes = numbers(lanes, locked(&self.0, "the machine is")?.lanes())?;
        self.with(py, |machine| call(machine, &lanes))
    }
}

/// Returns the register with a name of Arm's.
fn register_named(name: &str) -> PyResult<Register> {
    let general = || {
        let number = name.strip_prefix('x')?.parse().ok()?;
        (number <= 30 && *name == format!("x{number}")).then_some(Register::X(number))
    };
    let register = match name {
        "sp" => Some(Register::Sp),
        "pc" => Some(Register::Pc),
        "nzcv" => Some(Register::Nzcv),
        "fpcr" => Some(Register::Fpcr),
        "fpsr" => Some(Register::Fpsr),
        "tpidr_el0" => Some(Register::TpidrEl0),
        "steps" => Some(Register::Steps),
        _ => general(),
    };
    register.ok_or_else(|| {
        refused(format!(
            "register {name:?}: expected x0 to x30, sp, pc, nzcv, fpcr, fpsr, tpidr_el0, steps, or v0 to v31"
        ))
    })
}
