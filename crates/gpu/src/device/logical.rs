//! An open device. All errors of wgpu and the driver are returned as values; none panics.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::adapter::{self, Adapter, AdapterInfo, Kind, Limits};
use super::error::Error;
use super::fault_counters::FaultCounters;
use super::lock::lock;

/// The maximum time that [`Device::check_loss`] waits. wgpu reports a loss only when all submitted work has ended.
const LOSS_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum time that [`Device::wait`] waits. Slices should take a second at most, but if the CPU runs the shaders,
/// the first slice of a large kernel includes its compilation, on cores that may be busy.
pub(crate) const WAIT_LIMIT: Duration = Duration::from_secs(300);

/// An open GPU. Clones share the device.
///
/// ```no_run
/// use kvrm_gpu::{Buffer, Device};
///
/// let device = Device::open(None)?;
/// println!("{}", device.info());
/// let zeros = Buffer::zeroed(&device, "zeros", 1024)?;
/// assert_eq!(device.download(&[(&zeros, 0..3)])?, [[0, 0, 0]]);
/// # Ok::<(), kvrm_gpu::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Device(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    raw: wgpu::Device,
    queue: wgpu::Queue,
    info: AdapterInfo,
    limits: Limits,
    async_errors: Arc<Mutex<AsyncErrors>>,
    /// The staging buffers of the last downloads, which the next ones reuse.
    staging: Mutex<Vec<wgpu::Buffer>>,
    /// Values that other modules store with the device, one for each type.
    extensions: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// The faults that tests have injected.
    fault_counters: FaultCounters,
}

/// The errors that wgpu has reported through callbacks.
#[derive(Debug, Default)]
struct AsyncErrors {
    /// The reason for the loss of the device.
    lost: Option<String>,
    /// The first error that no error scope has caught.
    uncaught: Option<wgpu::Error>,
}

impl Device {
    /// Opens the adapter that [`adapter::choose`] chooses for `wanted`.
    ///
    /// # Errors
    ///
    /// [`adapter::choose`] fails, or the adapter cannot be opened.
    pub fn open(wanted: Option<&str>) -> Result<Self, Error> {
        Self::open_adapter(adapter::choose(&adapter::adapters(), wanted)?)
    }

    /// Opens an adapter.
    ///
    /// # Errors
    ///
    /// The adapter has no 64-bit integers, or its driver refuses to open it.
    pub fn open_adapter(adapter: &Adapter) -> Result<Self, Error> {
        let info = adapter.info.clone();
        if !info.has_int64 {
            return Err(Error::NoInt64 { adapter: info.to_string() });
        }
        let mut required_features = wgpu::Features::SHADER_INT64;
        required_features.set(wgpu::Features::TIMESTAMP_QUERY, info.has_timestamps);
        required_features.set(wgpu::Features::SUBGROUP, info.has_subgroups);
        required_features.set(adapter::BUFFER_ARRAYS, info.has_buffer_arrays);
        // If device and host share memory, the host can fill buffers in place. On other devices such buffers would lie
        // in the memory of the host, which is slow.
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

        let async_errors = Arc::new(Mutex::new(AsyncErrors::default()));
        let lost = Arc::clone(&async_errors);
        raw.set_device_lost_callback(move |reason, message| {
            lock(&lost).lost.get_or_insert_with(|| format!("{reason:?}, {message}"));
        });
        let uncaught = Arc::clone(&async_errors);
        raw.on_uncaptured_error(Arc::new(move |error| {
            lock(&uncaught).uncaught.get_or_insert(error);
        }));

        let limits = Limits::from(&raw.limits());
        Ok(Self(Arc::new(Inner {
            raw,
            queue,
            info,
            limits,
            async_errors,
            staging: Mutex::default(),
            extensions: Mutex::default(),
            fault_counters: FaultCounters::default(),
        })))
    }

    /// Returns the properties of the adapter.
    #[must_use]
    pub fn info(&self) -> &AdapterInfo {
        &self.0.info
    }

    /// Returns the limits of the device.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Returns the wgpu device, for functions that this type does not offer. Call them in [`Device::catch`].
    #[must_use]
    pub fn raw(&self) -> &wgpu::Device {
        &self.0.raw
    }

    /// Returns the wgpu queue. Call its functions in [`Device::catch`].
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.0.queue
    }

    /// Calls a function that uses wgpu, and returns the errors that wgpu reports meanwhile in this thread. `doing`
    /// names the operation in error messages; it completes "while ...".
    ///
    /// # Errors
    ///
    /// wgpu reported an error, or the device is lost.
    pub fn catch<T>(&self, doing: &str, call: impl FnOnce() -> T) -> Result<T, Error> {
        let (result, outcome) = self.attempt(doing, call);
        outcome.map(|()| result)
    }

    /// Calls a function as [`Device::catch`] does, and returns its result even if wgpu reported an error.
    pub(crate) fn attempt<T>(&self, doing: &str, call: impl FnOnce() -> T) -> (T, Result<(), Error>) {
        let raw = &self.0.raw;
        // An error goes to the innermost scope of its kind. Scopes have to be popped in the opposite order.
        let memory = raw.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = raw.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = raw.push_error_scope(wgpu::ErrorFilter::Internal);
        if self.0.fault_counters.is_lost_now() {
            raw.destroy();
        }
        let result = call();
        // Outside of browsers, the errors are available without waiting.
        let [internal, validation, memory] =
            [internal, validation, memory].map(|scope| pollster::block_on(scope.pop()));
        let outcome = self.check(doing).and_then(|()| {
            // If memory is full, later calls may be invalid because of that, so this error comes first.
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

    /// Waits until the GPU has completed a submission, for five minutes at most. A device that takes longer counts as
    /// lost.
    ///
    /// # Errors
    ///
    /// The device is lost, or wgpu has reported an error outside of any call.
    pub fn wait(&self, submission: &wgpu::SubmissionIndex) -> Result<(), Error> {
        self.wait_within(submission, WAIT_LIMIT)
    }

    /// Waits as [`Device::wait`] does, for `limit` at most.
    ///
    /// # Errors
    ///
    /// The errors of [`Device::wait`].
    pub fn wait_within(&self, submission: &wgpu::SubmissionIndex, limit: Duration) -> Result<(), Error> {
        const DOING: &str = "waiting for the GPU";
        self.check(DOING)?;
        let poll = wgpu::PollType::Wait { submission_index: Some(submission.clone()), timeout: Some(limit) };
        // wgpu may panic if the device is lost while it waits. No lock of this crate is held then, and afterwards only
        // the reason of the loss is used.
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

    /// Gives up the device: from now on it counts as lost.
    pub(crate) fn give_up(&self, reason: &str) -> Error {
        let reason = lock(&self.0.async_errors).lost.get_or_insert_with(|| reason.to_owned()).clone();
        Error::DeviceLost { reason, is_recoverable: false }
    }

    /// Gives up the device because it does not complete its work.
    fn abandon(&self, limit: Duration) -> Error {
        // When wgpu closes a device, it waits for its work without a time limit. So this device is never closed.
        mem::forget(self.clone());
        self.give_up(&format!("it has not completed its work within {limit:?}"))
    }

    /// Fails if the device is lost, even if wgpu has not reported that yet. wgpu reports a loss only when all submitted
    /// work has ended; calls that it refuses before are consequences of the loss.
    pub(crate) fn check_loss(&self) -> Result<(), Error> {
        if let Some(reason) = lock(&self.0.async_errors).lost.clone() {
            return Err(Error::DeviceLost { reason, is_recoverable: false });
        }
        let end = wgpu::PollType::Wait { submission_index: None, timeout: Some(LOSS_TIMEOUT) };
        // This may panic as in `wait_within`.
        let poll = || self.0.raw.poll(end);
        drop(panic::catch_unwind(AssertUnwindSafe(poll)));
        let async_errors = lock(&self.0.async_errors);
        let reason = async_errors.lost.clone();
        reason.map_or(Ok(()), |reason| Err(Error::DeviceLost { reason, is_recoverable: false }))
    }

    /// Returns the error that an executor reports if it can restore its state after a loss. If the device is lost, that
    /// is [`Error::DeviceLost`] with `is_recoverable`; otherwise it is `error`.
    pub(crate) fn as_recoverable(&self, error: Error) -> Error {
        let reason = match error {
            Error::StateLost { .. } => return error,
            Error::DeviceLost { reason, .. } => reason,
            // A call may fail with another error if the device is lost.
            other => match self.check_loss() {
                Err(Error::DeviceLost { reason, .. }) => reason,
                _ => return other,
            },
        };
        Error::DeviceLost { reason, is_recoverable: true }
    }

    /// Checks for errors that wgpu has reported outside of any call. `doing` names the operation in error messages.
    ///
    /// # Errors
    ///
    /// The device is lost, or wgpu has reported another error, which is returned only once.
    pub fn check(&self, doing: &str) -> Result<(), Error> {
        let mut async_errors = lock(&self.0.async_errors);
        if let Some(reason) = &async_errors.lost {
            return Err(Error::DeviceLost { reason: reason.clone(), is_recoverable: false });
        }
        let uncaught = async_errors.uncaught.take();
        drop(async_errors);
        uncaught.map_or(Ok(()), |error| Err(self.error(doing, &error)))
    }

    fn error(&self, doing: &str, error: &wgpu::Error) -> Error {
        match error {
            wgpu::Error::OutOfMemory { .. } => {
                Error::OutOfMemory { doing: doing.to_owned(), max: self.0.limits.storage_bytes() }
            }
            wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
                // The text is "Validation Error", an empty line, "Caused by:", and then the actual error.
                let cause =
                    description.split_once("Caused by:").map_or(description.as_str(), |(_, cause)| cause);
                Error::Refused { doing: doing.to_owned(), message: cause.trim().to_owned() }
            }
        }
    }

    /// Returns the faults that tests have injected.
    pub(super) fn fault_counters(&self) -> &FaultCounters {
        &self.0.fault_counters
    }

    /// Locks the staging buffers that are kept for downloads.
    pub(crate) fn staging(&self) -> MutexGuard<'_, Vec<wgpu::Buffer>> {
        lock(&self.0.staging)
    }

    /// Returns the value of a type that is stored with the device, such as compiled kernels or measurements.
    pub(crate) fn extension<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut extensions = lock(&self.0.extensions);
        let value = Arc::clone(extensions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())));
        drop(extensions);
        value.downcast().unwrap_or_default()
    }
}

/// Returns the limits to open an adapter with: its own for all limits that KVRM makes use of, and common minimums for
/// the others.
fn required_limits(adapter: &wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffer_binding_size: adapter.max_storage_buffer_binding_size,
        max_buffer_size: adapter.max_buffer_size,
        max_binding_array_elements_per_shader_stage: adapter.max_binding_array_elements_per_shader_stage,
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
