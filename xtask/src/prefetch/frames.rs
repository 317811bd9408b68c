//! How well the frames of programs can be compressed, and how fast.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kvrm_machine::{PAGE_BYTES, ReferenceEngine};
use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};
use rayon::prelude::*;

use super::files::folder;
use super::workloads;

/// The number of pages that are measured together.
const GROUP: usize = 64;
/// The number of times that they are measured, of which the fastest counts.
const ROUNDS: usize = 20;
/// The size of the units in which files have room for compressed frames, in bytes.
const UNIT: usize = 256;

/// The frames that a program owns at the end.
struct Frames {
    program: String,
    /// The contents, without those of frames whose bytes are all 0.
    pages: Vec<Vec<u8>>,
    zero: usize,
    /// The number of frames that have the contents of their page in the image.
    same: usize,
}

/// Prints a row for each program whose name contains a text.
pub(super) fn run(only: Option<&str>) -> Result<()> {
    let mut jobs = workloads::jobs(&folder(), only)?;
    jobs.retain(|job| job.level == workloads::table_level());
    ensure!(!jobs.is_empty(), "no program has `{}` in its name", only.unwrap_or_default());
    let all: Result<Vec<Frames>> =
        jobs.par_iter().map(|job| frames_of(job).with_context(|| job.program.clone())).collect();
    println!(
        "| program | frames | zero | as in the image | lz4: size | in units | compression | decompression |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut all = all?;
    for frames in &all {
        println!("{frames}");
    }
    let together = Frames {
        program: "all".to_owned(),
        zero: all.iter().map(|frames| frames.zero).sum(),
        same: all.iter().map(|frames| frames.same).sum(),
        pages: all.iter_mut().flat_map(|frames| std::mem::take(&mut frames.pages)).collect(),
    };
    println!("{together}");
    Ok(())
}

/// Runs a program, and returns the frames that it owns.
fn frames_of(job: &workloads::Job) -> Result<Frames> {
    let [mut machine, mut image] = [job.machine(ReferenceEngine)?, job.machine(ReferenceEngine)?];
    job.run(&mut machine)?;
    let mut frames = Frames { program: job.program.clone(), pages: Vec::new(), zero: 0, same: 0 };
    let (mut page, mut before) = (vec![0; PAGE_BYTES], vec![0; PAGE_BYTES]);
    for address in machine.private_pages(0)? {
        if machine.read(0, address, &mut page).is_err() {
            // The program has unmapped the page.
            continue;
        }
        if page.iter().all(|byte| *byte == 0) {
            frames.zero += 1;
            continue;
        }
        // Pages that the program has mapped itself are not in the image.
        frames.same += usize::from(image.read(0, address, &mut before).is_ok() && before == page);
        frames.pages.push(page.clone());
    }
    Ok(frames)
}

/// Returns the bytes of pages in MB that an action processes each second. `items` has an item for each page.
fn speed<T>(items: &[T], mut action: impl FnMut(&T) -> Result<()>) -> Result<f64> {
    let mut took = Duration::ZERO;
    for group in items.chunks(GROUP) {
        let mut least = Duration::MAX;
        // Other programs of the computer disturb some of the rounds.
        for _ in 0..ROUNDS {
            let start = Instant::now();
            group.iter().try_for_each(&mut action)?;
            least = least.min(start.elapsed());
        }
        took += least;
    }
    Ok((items.len() * PAGE_BYTES) as f64 / 1e6 / took.as_secs_f64())
}

/// The sizes of compressed pages, and the speeds in MB of pages per second in one thread.
struct Measured {
    bytes: usize,
    in_units: usize,
    compression: f64,
    decompression: f64,
}

impl Frames {
    fn measure(&self) -> Result<Measured> {
        let mut table = CompressTable::small();
        let mut room = vec![0; get_maximum_output_size(PAGE_BYTES)];
        let mut compressed = Vec::new();
        for page in &self.pages {
            let length = compress_into_with_table(page, &mut room, &mut table)?;
            compressed.push(room[..length].to_vec());
        }
        let compression = speed(&self.pages, |page| {
            black_box(compress_into_with_table(black_box(page), &mut room, &mut table)?);
            Ok(())
        })?;
        let mut page = vec![0; PAGE_BYTES];
        let decompression = speed(&compressed, |bytes| {
            black_box(decompress_into(black_box(bytes), &mut page)?);
            Ok(())
        })?;
        let sizes = || compressed.iter().map(|bytes| bytes.len().min(PAGE_BYTES));
        Ok(Measured {
            bytes: sizes().sum(),
            in_units: sizes().map(|size| size.next_multiple_of(UNIT)).sum(),
            compression,
            decompression,
        })
    }
}

impl fmt::Display for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, pages, zero, same } = self;
        write!(f, "| {program} | {} | {zero} | {same} |", pages.len() + zero)?;
        let all = (pages.len() * PAGE_BYTES) as f64;
        match self.measure() {
            Ok(_) if pages.is_empty() => write!(f, " | | | |"),
            Ok(Measured { bytes, in_units, compression, decompression }) => {
                let percent = |size: usize| 100.0 * size as f64 / all;
                let sizes = (percent(bytes), percent(in_units));
                write!(
                    f,
                    " {:.0} % | {:.0} % | {compression:.0} MB/s | {decompression:.0} MB/s |",
                    sizes.0, sizes.1
                )
            }
            Err(error) => write!(f, " {error} | | | |"),
        }
    }
}
