//! An open GPU: every error becomes a value, none a panic.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::adapter::{self, Adapter, AdapterInfo, Kind, Limits};
use super::error::Error;
use super::injected::Injected;
use super::lock::lock;

/// How long work that is under way may keep us from hearing that the device is lost.
const LOSS_TIMEOUT: Duration = Duration::from_secs(5);
/// How long [`Device::wait`] waits. Slices are meant to take a second at most; but where the CPU runs the shaders, the
/// first one of a large kernel includes its compilation, on cores that may have other things to do.
const WAIT_LIMIT: Duration = Duration::from_secs(300);

/// An open GPU. Clones are the same device.
#[derive(Clone, Debug)]
pub struct Device(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    raw: wgpu::Device,
    queue: wgpu::Queue,
    info: AdapterInfo,
    limits: Limits,
    troubles: Arc<Mutex<Troubles>>,
    /// The buffer through which the last download went, for the next one.
    staging: Mutex<Option<wgpu::Buffer>>,
    /// What the code above keeps with the device, one value a type.
    extensions: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// What tests make fail.
    injected: Injected,
}

/// What the driver told us behind our back.
#[derive(Debug, Default)]
struct Troubles {
    /// Why the device was lost.
    lost: Option<String>,
    /// The first error that no call of ours was waiting for.
    uncaught: Option<wgpu::Error>,
}

impl Device {
    /// Opens the adapter that [`adapter::choose`] chooses for `wanted`.
    ///
    /// # Errors
    ///
    /// There is none that fits, or it cannot be opened.
    pub fn open(wanted: Option<&str>) -> Result<Self, Error> {
        Self::open_adapter(adapter::choose(&adapter::adapters(), wanted)?)
    }

    /// Opens an adapter.
    ///
    /// # Errors
    ///
    /// It has no 64-bit integers, or its driver refuses.
    pub fn open_adapter(adapter: &Adapter) -> Result<Self, Error> {
        let info = adapter.info.clone();
        if !info.has_int64 {
            return Err(Error::NoInt64 { adapter: info.to_string() });
        }
        let mut required_features = wgpu::Features::SHADER_INT64;
        required_features.set(wgpu::Features::TIMESTAMP_QUERY, info.has_timestamps);
        required_features.set(wgpu::Features::SUBGROUP, info.has_subgroups);
        // Where all memory is the host's, buffers can be filled in place. Elsewhere they would lie in the wrong one.
        let is_shared = matches!(info.kind, Kind::Integrated | Kind::Software);
        let mappable = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
        required_features.set(mappable, is_shared && adapter.raw.features().contains(mappable));
        let request = adapter.raw.request_device(&wgpu::DeviceDescriptor {
            label: Some("kvrm"),
            required_features,
            required_limits: required_limits(&adapter.raw.limits()),
            ..wgpu::DeviceDescriptor::default()
        });
        let (raw, queue) = pollster::block_on(request)
            .map_err(|error| Error::RequestDevice { adapter: info.to_string(), reason: error.to_string() })?;

        let troubles = Arc::new(Mutex::new(Troubles::default()));
        let lost = Arc::clone(&troubles);
        raw.set_device_lost_callback(move |reason, message| {
            lock(&lost).lost.get_or_insert_with(|| format!("{reason:?}, {message}"));
        });
        let uncaught = Arc::clone(&troubles);
        raw.on_uncaptured_error(Arc::new(move |error| {
            lock(&uncaught).uncaught.get_or_insert(error);
        }));

        let limits = Limits::from(&raw.limits());
        Ok(Self(Arc::new(Inner {
            raw,
            queue,
            info,
            limits,
            troubles,
            staging: Mutex::default(),
            extensions: Mutex::default(),
            injected: Injected::default(),
        })))
    }

    /// What is known of its adapter.
    #[must_use]
    pub fn info(&self) -> &AdapterInfo {
        &self.0.info
    }

    /// What it can do at once.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// wgpu's own device, for what has no function here. Call it in [`Device::catch`].
    #[must_use]
    pub fn raw(&self) -> &wgpu::Device {
        &self.0.raw
    }

    /// wgpu's own queue. Call it in [`Device::catch`].
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.0.queue
    }

    /// Calls wgpu; what it complains of meanwhile, in this thread, is the error. `doing` completes "while ...".
    ///
    /// # Errors
    ///
    /// wgpu complained, or the device is lost.
    pub fn catch<T>(&self, doing: &str, call: impl FnOnce() -> T) -> Result<T, Error> {
        let (result, outcome) = self.attempt(doing, call);
        outcome.map(|()| result)
    }

    /// As [`Device::catch`], and with the result even of a call that failed.
    pub(crate) fn attempt<T>(&self, doing: &str, call: impl FnOnce() -> T) -> (T, Result<(), Error>) {
        let raw = &self.0.raw;
        // An error goes to the innermost scope of its own kind; popped in the opposite order.
        let memory = raw.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = raw.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = raw.push_error_scope(wgpu::ErrorFilter::Internal);
        if self.0.injected.is_lost_now() {
            raw.destroy();
        }
        let result = call();
        // Outside browsers the errors are known at once.
        let [internal, validation, memory] =
            [internal, validation, memory].map(|scope| pollster::block_on(scope.pop()));
        let outcome = self.check(doing).and_then(|()| {
            // Full memory may make later calls invalid; it is the cause then.
            let Some(error) = memory.or(validation).or(internal) else { return Ok(()) };
            self.check_loss()?;
            Err(self.error(doing, &error))
        });
        (result, outcome)
    }

    /// Records commands and submits them.
    ///
    /// # Errors
    ///
    /// wgpu refuses a command, memory is full, or the device is lost.
    pub fn submit(
        &self,
        doing: &str,
        record: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<wgpu::SubmissionIndex, Error> {
        self.catch(doing, || {
            let mut encoder = self.0.raw.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            record(&mut encoder);
            self.0.queue.submit([encoder.finish()])
        })
    }

    /// Waits until the GPU has done what was submitted, for five minutes at most.
    ///
    /// # Errors
    ///
    /// The device is lost, or something failed that nothing was waiting for. A device that takes longer counts as lost.
    pub fn wait(&self, submission: &wgpu::SubmissionIndex) -> Result<(), Error> {
        self.wait_within(submission, WAIT_LIMIT)
    }

    /// As [`Device::wait`], for `limit` at most.
    ///
    /// # Errors
    ///
    /// Those of [`Device::wait`].
    pub fn wait_within(&self, submission: &wgpu::SubmissionIndex, limit: Duration) -> Result<(), Error> {
        const DOING: &str = "waiting for the GPU";
        self.check(DOING)?;
        let poll = wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout: Some(limit) };
        // wgpu panics where the device turns out to be lost while it waits. It holds no lock of ours then, and
        // nothing is used afterwards but the reason.
        let polled = panic::catch_unwind(AssertUnwindSafe(|| self.0.raw.poll(poll)));
        self.check(DOING)?;
        match polled {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(wgpu::PollError::Timeout)) => Err(self.abandon(limit)),
            Ok(Err(error)) => {
                self.check_loss()?;
                Err(Error::Refused { doing: DOING.to_owned(), message: error.to_string() })
            }
            Err(_) => Err(self.give_up("the driver does not say why")),
        }
    }

    /// Gives up a device: from now on it counts as lost.
    pub(crate) fn give_up(&self, reason: &str) -> Error {
        let reason = lock(&self.0.troubles).lost.get_or_insert_with(|| reason.to_owned()).clone();
        Error::DeviceLost { reason, kept: false }
    }

    /// Gives up a device that does not finish its work.
    fn abandon(&self, limit: Duration) -> Error {
        // wgpu waits for the work without a limit when it closes a device, so this one is never closed.
        mem::forget(self.clone());
        self.give_up(&format!("it has not done within {limit:?} what it was given"))
    }

    /// Fails if the device is lost, also if wgpu has not said so yet: it does when all work has ended, and what
    /// it refuses before that only follows from the loss.
    pub(crate) fn check_loss(&self) -> Result<(), Error> {
        if let Some(reason) = lock(&self.0.troubles).lost.clone() {
            return Err(Error::DeviceLost { reason, kept: false });
        }
        let end = wgpu::PollType::Wait { submission_index: None, timeout: Some(LOSS_TIMEOUT) };
        // As in `wait`, it may panic.
        let poll = || self.0.raw.poll(end);
        drop(panic::catch_unwind(AssertUnwindSafe(poll)));
        let troubles = lock(&self.0.troubles);
        let reason = troubles.lost.clone();
        reason.map_or(Ok(()), |reason| Err(Error::DeviceLost { reason, kept: false }))
    }

    /// What an executor says of an error if it makes again what was on a device that is lost: the same, or, if this
    /// device is lost, that nothing else is.
    pub(crate) fn kept(&self, error: Error) -> Error {
        let reason = match error {
            Error::StateLost { .. } => return error,
            Error::DeviceLost { reason, .. } => reason,
            // What fails on a lost device does not always say so.
            other => match self.check_loss() {
                Err(Error::DeviceLost { reason, .. }) => reason,
                _ => return other,
            },
        };
        Error::DeviceLost { reason, kept: true }
    }

    /// Fails if the device is lost, or something failed that nothing was waiting for.
    ///
    /// # Errors
    ///
    /// As described.
    pub fn check(&self, doing: &str) -> Result<(), Error> {
        let mut troubles = lock(&self.0.troubles);
        if let Some(reason) = &troubles.lost {
            return Err(Error::DeviceLost { reason: reason.clone(), kept: false });
        }
        let uncaught = troubles.uncaught.take();
        drop(troubles);
        uncaught.map_or(Ok(()), |error| Err(self.error(doing, &error)))
    }

    fn error(&self, doing: &str, error: &wgpu::Error) -> Error {
        match error {
            wgpu::Error::OutOfMemory { .. } => {
                Error::OutOfMemory { doing: doing.to_owned(), max: self.0.limits.storage_bytes() }
            }
            wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
                // "Validation Error", an empty line, "Caused by:", and then what it is about.
                let cause =
                    description.split_once("Caused by:").map_or(description.as_str(), |(_, cause)| cause);
                Error::Refused { doing: doing.to_owned(), message: cause.trim().to_owned() }
            }
        }
    }

    /// What tests make fail.
    pub(super) fn injected(&self) -> &Injected {
        &self.0.injected
    }

    /// Where downloads keep their buffer.
    pub(crate) fn staging(&self) -> MutexGuard<'_, Option<wgpu::Buffer>> {
        lock(&self.0.staging)
    }

    /// The value of a type that is kept with the device: what was compiled or measured on it once.
    pub(crate) fn extension<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut extensions = lock(&self.0.extensions);
        let value = Arc::clone(extensions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())));
        drop(extensions);
        value.downcast().unwrap_or_default()
    }
}

/// What any adapter has, and all that this one has of what lanes need.
fn required_limits(adapter: &wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffer_binding_size: adapter.max_storage_buffer_binding_size,
        max_buffer_size: adapter.max_buffer_size,
        max_storage_buffers_per_shader_stage: adapter.max_storage_buffers_per_shader_stage,
        max_buffers_and_acceleration_structures_per_shader_stage: adapter
            .max_buffers_and_acceleration_structures_per_shader_stage,
        max_compute_workgroup_storage_size: adapter.max_compute_workgroup_storage_size,
        max_compute_invocations_per_workgroup: adapter.max_compute_invocations_per_workgroup,
        max_compute_workgroup_size_x: adapter.max_compute_workgroup_size_x,
        max_compute_workgroup_size_y: adapter.max_compute_workgroup_size_y,
        max_compute_workgroup_size_z: adapter.max_compute_workgroup_size_z,
        max_compute_workgroups_per_dimension: adapter.max_compute_workgroups_per_dimension,
        ..wgpu::Limits::downlevel_defaults().or_worse_values_from(adapter)
    }
}
