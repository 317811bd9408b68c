//! Running vectors, each in a lane of its own.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::Features;
use rayon::prelude::*;

use super::{Mismatch, Vector};
use crate::error::Error;
use crate::executor::{Factory, Plan};
use crate::image::Image;
use crate::page_map::Region;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT};
use crate::reference::ReferenceEngine;

/// The limit on vectors that are lanes at the same time, so that a long file does not exhaust memory.
const LANES_MAX: usize = 1 << 14;

/// Vectors that can be lanes of one executor, because they need the same features: index, vector and image of each.
type Group<'a> = Vec<(usize, &'a Vector, Arc<Image>)>;

/// Runs vectors on an engine and returns the differences of each; an empty list means that the vector passes.
///
/// Vectors with the same features run at the same time. An invalid vector gets a list that says so, and does not keep
/// the others from running.
///
/// # Errors
/// If the engine fails.
pub fn run_all(vectors: &[Vector], engine: &dyn Factory) -> Result<Vec<Vec<Mismatch>>, Error> {
    let mut results = vec![Vec::new(); vectors.len()];
    let lanes_max = engine.images_max().clamp(1, LANES_MAX);
    for start in (0..vectors.len()).step_by(lanes_max) {
        let chunk = &vectors[start..vectors.len().min(start + lanes_max)];
        let images: Vec<Result<Image, String>> = chunk.par_iter().map(Vector::image).collect();
        let mut groups: Vec<(Features, Group<'_>)> = Vec::new();
        for ((index, vector), image) in (start..).zip(chunk).zip(images) {
            match image {
                Ok(image) => {
                    let features = image.features();
                    let lane = (index, vector, Arc::new(image));
                    match groups.iter_mut().find(|(others, _)| *others == features) {
                        Some((_, group)) => group.push(lane),
                        None => groups.push((features, vec![lane])),
                    }
                }
                Err(problem) => results[index] = vec![invalid(problem)],
            }
        }
        for (_, group) in groups {
            run_group(&group, engine, &mut results)?;
        }
    }
    Ok(results)
}

fn run_group(group: &Group<'_>, engine: &dyn Factory, results: &mut [Vec<Mismatch>]) -> Result<(), Error> {
    let images: Vec<Arc<Image>> = group.iter().map(|(.., image)| Arc::clone(image)).collect();
    // The comparison reads all mapped pages, and a lane cannot write more pages than are mapped.
    let (mut mapped, mut frames_max) = (Vec::new(), 0);
    for (lane, image) in images.iter().enumerate() {
        let mut frames = 0;
        for &Region { first_page, end_page, .. } in image.regions() {
            let pages = (end_page - first_page) as usize;
            mapped.push((lane, first_page << PAGE_SHIFT, pages * PAGE_BYTES));
            frames += pages;
        }
        frames_max = frames_max.max(frames);
    }
    let mut executor = engine.executor(&Plan {
        images: &images,
        lanes: images.len(),
        frames_max,
        calls: None,
        loops: None,
    })?;
    for (lane, (_, vector, _)) in group.iter().enumerate() {
        executor.set_cpu(lane, &vector.cpu())?;
    }
    let limits: Vec<u64> = group.iter().map(|(_, vector, _)| vector.steps).collect();
    executor.run(&limits, &mut |_| ControlFlow::Continue(()))?;
    executor.prefetch(&mapped)?;
    for (lane, (index, vector, _)) in group.iter().enumerate() {
        results[*index] = vector.compare(&mut *executor, lane)?;
    }
    Ok(())
}

impl Vector {
    /// Runs the vector on the reference and returns the differences; none means that the vector passes.
    #[must_use]
    pub fn run(&self) -> Vec<Mismatch> {
        match run_all(std::slice::from_ref(self), &ReferenceEngine) {
            Ok(mut results) => results.remove(0),
            Err(error) => vec![invalid(error.to_string())],
        }
    }

    /// Returns the image of the vector, or the problem that makes it invalid.
    fn image(&self) -> Result<Image, String> {
        self.validate()?;
        Image::new(&self.segments(), self.machine_features()).map_err(|error| error.to_string())
    }
}

/// Returns the only difference of an invalid vector.
fn invalid(problem: String) -> Mismatch {
    Mismatch { what: "vector".into(), expected: "a valid vector".into(), got: problem }
}
