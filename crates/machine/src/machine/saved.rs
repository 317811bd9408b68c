//! Saved machines: the state of all lanes as bytes.
//!
//! The form is a magic number, a version, and a zlib stream, whose checksum finds damage, of the fields of [`Saved`] in the format
//! of the crate postcard.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use kvrm_arm64::{Cpu, Features, Stop};
use serde::{Deserialize, Serialize};

use super::Machine;
use super::frames::default_frames_max;
use super::lane_state::{CollectedOutput, LaneState, ResumedAt, serves_in_parallel};
use crate::arm64_forms::{self, FeaturesForm};
use crate::call_table::{CallTable, ProcessState};
use crate::error::Error;
use crate::executor::{Executor, Factory, Plan};
use crate::hooks::Hooks;
use crate::image::Image;
use crate::interned::{self, scope};
use crate::layout::Layout;
use crate::linux::Kernel;
use crate::loops::Loops;
use crate::page_map::PageMap;
use crate::pages::{Frame, PAGE_BYTES, PAGE_SHIFT};
use crate::program::Program;
use crate::semihosting::{Host, Services};

const MAGIC: &[u8; 8] = b"KVRMLANE";
/// The version of the form, which changes with it.
const VERSION: u32 = 3;

/// What is saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    #[serde(with = "interned")]
    program: Arc<Program>,
    #[serde(with = "FeaturesForm")]
    features: Features,
    layout: Layout,
    calls: Option<CallTable>,
    frames_max: Option<usize>,
    output_max: usize,
    hooks: Hooks,
    /// The page map of the image.
    map: PageMap,
    /// The window of the image.
    window: Range<u64>,
    /// The frames of the image.
    frames: Vec<u8>,
    lanes: Vec<SavedLane>,
    /// The contents of pages that lanes have written, each once.
    contents: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct SavedLane {
    #[serde(with = "arm64_forms::cpu")]
    cpu: Cpu,
    process_state: ProcessState,
    #[serde(with = "arm64_forms::optional_stop")]
    stop: Option<Stop>,
    map: PageMap,
    /// The numbers of the pages that the lane has written, and where their contents are.
    pages: Vec<(u64, u32)>,
    environment: Option<Environment>,
    services: Services,
    #[serde(with = "interned::optional")]
    kernel: Option<Arc<Kernel>>,
    output: CollectedOutput,
    resumed: Option<ResumedAt>,
}

/// The environment of a Linux program.
#[derive(Serialize, Deserialize)]
struct Environment(#[serde(with = "interned")] Arc<[String]>);

/// Saving and loading.
impl Machine {
    /// Writes the machine to `out`, so that [`Machine::load`] continues it in another kernel, on another host, and on any engine:
    /// program, registers, memory, stops, hooks, console input and output, and files and signals of Linux programs.
    ///
    /// Pages with the same contents, and files that lanes share, are written once. Not saved are: the snapshot, to which
    /// [`Machine::reset`] goes back; the engine and the acceleration of loops; and a function that gets console output. A Linux
    /// program that sees the clock of the host sees it stand still meanwhile.
    ///
    /// ```
    /// use kvrm_machine::{Machine, Program, ReferenceEngine, Register};
    ///
    /// let program = Program::assemble(0x1000, "add x0, x0, #1; add x0, x0, #10; hlt #0")?;
    /// let mut machine = Machine::builder(program).lanes(2).build()?;
    /// machine.run(1)?;
    /// let mut bytes = Vec::new();
    /// machine.save(&mut bytes)?;
    ///
    /// let mut copy = Machine::load(&bytes[..], ReferenceEngine, None)?;
    /// copy.run(100)?;
    /// assert_eq!(copy.registers(Register::X(0))?, [11, 11]);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Unsavable`]: guests have files of the host ([`Builder::directory`](super::Builder::directory)).
    /// - [`Error::Write`]: `out` fails.
    /// - The engine fails.
    pub fn save(&mut self, mut out: impl Write) -> Result<(), Error> {
        if self.host.directory.is_some() {
            let reason = "its guests have files in a directory of the host, which are not part of it";
            return Err(Error::Unsavable { reason });
        }
        self.rounds().drain()?;
        let all = 0..self.lanes.len();
        self.rounds().end_pipe_windows(all)?;
        let mut contents = Contents::default();
        let mut pages = vec![Vec::new(); self.lanes.len()];
        self.for_each_written_page(0..self.lanes.len(), |lane, page, frame| {
            pages[lane].push((page, contents.place(frame)));
        })?;
        let lanes = pages.into_iter().enumerate().map(|(lane, pages)| self.saved_lane(lane, pages));
        let lanes = lanes.collect::<Result<_, Error>>()?;
        let saved = Saved {
            program: Arc::clone(&self.program),
            features: self.features,
            layout: self.host.layout.clone(),
            calls: self.calls.clone(),
            frames_max: self.frames_max,
            output_max: self.output_max,
            hooks: self.hooks.clone(),
            map: self.image.map().clone(),
            window: self.image.window(),
            frames: self.image.frames().as_flattened().to_vec(),
            lanes,
            contents: contents.bytes,
        };
        let mut write = || {
            let bytes = scope(|| postcard::to_stdvec(&saved)).map_err(io::Error::other)?;
            out.write_all(MAGIC)?;
            out.write_all(&VERSION.to_le_bytes())?;
            let mut compressed = ZlibEncoder::new(&mut out, Compression::fast());
            compressed.write_all(&bytes)?;
            compressed.finish()?;
            out.flush()
        };
        write().map_err(|source| Error::Write { source })
    }

    /// Returns the saved form of a lane with these pages.
    fn saved_lane(&mut self, lane: usize, pages: Vec<(u64, u32)>) -> Result<SavedLane, Error> {
        let LaneState { services, kernel, output, resumed, .. } = &self.lanes[lane];
        Ok(SavedLane {
            cpu: self.executor.cpu(lane)?,
            process_state: self.executor.process_state(lane)?,
            stop: self.executor.stop(lane)?,
            map: self.executor.page_map(lane)?,
            pages,
            environment: self.environments.get(lane).cloned().map(Environment),
            services: services.clone(),
            kernel: kernel.clone(),
            output: output.clone(),
            resumed: *resumed,
        })
    }

    /// Reads a machine that [`Machine::save`] has written, on an engine, with the acceleration of loops if there is any.
    ///
    /// A damaged file is an error. A file that somebody has made up can contain any guest in any state, so load only files that you
    /// trust.
    ///
    /// # Errors
    /// - [`Error::Saved`]: it is no saved machine, is damaged, or was written by another version of KVRM.
    /// - The engine fails, or cannot be opened.
    pub fn load(
        input: impl Read,
        engine: impl Factory,
        loops: impl Into<Option<Loops>>,
    ) -> Result<Self, Error> {
        let saved = read(input)?;
        let loops = loops.into();
        let Saved { program, features, layout, calls, frames_max, output_max, hooks, .. } = saved;
        let frames = saved.frames.as_chunks::<PAGE_BYTES>().0.to_vec();
        let image = Image::from_parts(saved.map, frames, features, saved.window)
            .ok_or_else(|| damaged("its memory"))?;
        let images = [Arc::new(image)];
        let lanes = saved.lanes.len();
        let plan = Plan {
            images: &images,
            lanes,
            frames_max: frames_max.unwrap_or_else(|| default_frames_max(lanes)),
            calls: calls.as_ref(),
            loops: loops.as_ref(),
        };
        let mut executor = engine.executor(&plan)?;
        let [image] = images;
        let host = Host { layout, directory: None };
        let serves_in_parallel = serves_in_parallel(lanes, &host, false);
        let (mut states, mut environments) = (Vec::with_capacity(lanes), Vec::new());
        restore_memory(&mut *executor, &image, &saved.lanes, &saved.contents)?;
        for (number, lane) in saved.lanes.into_iter().enumerate() {
            let is_linux = program.linux.is_some();
            if !lane.is_valid(output_max)
                || lane.kernel.is_some() != is_linux
                || lane.environment.is_some() != is_linux
            {
                return Err(damaged(&format!("lane {number}")));
            }
            let SavedLane {
                cpu, process_state, stop, environment, services, kernel, output, resumed, ..
            } = lane;
            executor.set_cpu(number, &cpu)?;
            executor.set_process_state(number, &process_state)?;
            executor.set_stop(number, stop)?;
            let turn_end = kernel.as_ref().map_or(u64::MAX, |kernel| kernel.turn_end(cpu.steps));
            let mut state = LaneState { services, kernel, output, console: None, resumed, turn_end };
            state.console = serves_in_parallel.then(|| state.console_handles());
            executor.set_console(number, state.console.unwrap_or(0))?;
            states.push(state);
            environments.extend(environment.map(|Environment(texts)| texts));
        }
        if !hooks.is_valid() {
            return Err(damaged("its hooks"));
        }
        if !hooks.is_empty() {
            executor.set_hooks(&hooks)?;
        }
        Ok(Self {
            program,
            features,
            environments,
            executor,
            image,
            calls,
            frames_max,
            host,
            lanes: states,
            console: None,
            trace: None,
            output_max,
            hooks,
            loops,
            snapshot: Vec::new(),
        })
    }
}

impl SavedLane {
    /// Checks what the type of each part promises and a file may break.
    fn is_valid(&self, output_max: usize) -> bool {
        let CollectedOutput { output, error_output, .. } = &self.output;
        output.len().max(error_output.len()) <= output_max
            && self.services.is_valid()
            && self.kernel.as_ref().is_none_or(|kernel| kernel.is_valid())
    }
}

/// The contents of pages, each once.
#[derive(Default)]
struct Contents {
    places: HashMap<Frame, u32>,
    bytes: Vec<u8>,
}

impl Contents {
    /// Returns the place of a page with these contents.
    fn place(&mut self, frame: &Frame) -> u32 {
        let next = self.places.len() as u32;
        *self.places.entry(*frame).or_insert_with(|| {
            self.bytes.extend_from_slice(frame);
            next
        })
    }
}

/// Reads what was saved.
fn read(mut input: impl Read) -> Result<Saved, Error> {
    let mut head = [0; MAGIC.len() + 4];
    input.read_exact(&mut head).map_err(|error| unreadable(&error))?;
    let (magic, version) = head.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(Error::Saved { reason: "it does not begin with KVRMLANE".to_owned() });
    }
    let version = version.try_into().map_or(0, u32::from_le_bytes);
    if version != VERSION {
        let reason = format!("its form is {version}, and this version of KVRM reads form {VERSION}");
        return Err(Error::Saved { reason });
    }
    let mut bytes = Vec::new();
    ZlibDecoder::new(input).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    let (saved, rest): (Saved, _) =
        scope(|| postcard::take_from_bytes(&bytes)).map_err(|error| unreadable(&error))?;
    match (saved.lanes.is_empty(), rest.len()) {
        (true, _) => Err(Error::NoLanes),
        (false, 0) => Ok(saved),
        (false, bytes) => Err(Error::Saved { reason: format!("{bytes} bytes are left over") }),
    }
}

/// Restores the page maps and the written pages of all lanes.
fn restore_memory(
    executor: &mut dyn Executor,
    image: &Image,
    lanes: &[SavedLane],
    contents: &[u8],
) -> Result<(), Error> {
    let contents = contents.as_chunks::<PAGE_BYTES>().0;
    // Lanes with the same page have it written together.
    let mut written: BTreeMap<u64, Vec<(usize, &[u8])>> = BTreeMap::new();
    for (number, lane) in lanes.iter().enumerate() {
        let wrong = || damaged(&format!("the memory of lane {number}"));
        if !lane.map.is_valid(image.frames().len() as u64) {
            return Err(wrong());
        }
        for (pages, mapping) in image.map().changes_to(&lane.map).ok_or_else(wrong)? {
            if !executor.map(number, pages, mapping)? {
                return Err(wrong());
            }
        }
        if executor.page_map(number)? != lane.map {
            return Err(wrong());
        }
        for (page, place) in &lane.pages {
            let frame = contents.get(*place as usize).filter(|_| lane.map.region(*page).is_some());
            written.entry(*page).or_default().push((number, frame.ok_or_else(wrong)?));
        }
    }
    for (page, rows) in written {
        let done = executor.write_memory_of_each(page << PAGE_SHIFT, &rows)?;
        done.map_err(|(lane, stop)| Error::Memory { lane, stop })?;
    }
    Ok(())
}

fn damaged(what: &str) -> Error {
    Error::Saved { reason: format!("{what} makes no sense") }
}

fn unreadable(error: &dyn std::error::Error) -> Error {
    Error::Saved { reason: error.to_string() }
}
