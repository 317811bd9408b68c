//! The registry of open devices, which the users in a process share, as opening a device takes a while.

use std::env;
use std::sync::{Mutex, MutexGuard};

use super::adapter::{self, ADAPTER_VARIABLE, Adapter};
use super::error::Error;
use super::lock::lock;
use super::logical::Device;

/// The open devices, each with the names by which it was asked for.
type OpenDevices = Vec<(Vec<Option<String>>, Device)>;

fn open_devices() -> MutexGuard<'static, OpenDevices> {
    static OPEN: Mutex<OpenDevices> = Mutex::new(Vec::new());
    lock(&OPEN)
}

/// Returns the device of the adapter that [`adapter::choose`] chooses for `wanted`. Opens it if it is not open or was
/// lost.
pub(crate) fn open(wanted: Option<&str>) -> Result<Device, Error> {
    let wanted = wanted.map(str::to_owned).or_else(|| env::var(ADAPTER_VARIABLE).ok());
    let mut open = open_devices();
    if let Some(index) = open.iter().position(|(names, _)| names.contains(&wanted)) {
        let device = open[index].1.clone();
        match device.check("opening it again") {
            Ok(()) => return Ok(device),
            Err(Error::DeviceLost { .. }) => match reopen_for_all(&mut open, &device) {
                Ok(device) => return Ok(device),
                // Another adapter may have the wanted name and work.
                Err(_) => drop(open.remove(index)),
            },
            Err(error) => return Err(error),
        }
    }
    let adapters = adapter::adapters();
    let adapter = adapter::choose(&adapters, wanted.as_deref())?;
    open_in(&mut open, adapter, Some(wanted))
}

/// Returns the device of an adapter. Opens it if it is not open or was lost.
pub(crate) fn open_adapter(adapter: &Adapter) -> Result<Device, Error> {
    open_in(&mut open_devices(), adapter, None)
}

/// Returns the device of an adapter, and registers a name for it. Opens it if it is not open or was lost.
fn open_in(open: &mut OpenDevices, adapter: &Adapter, name: Option<Option<String>>) -> Result<Device, Error> {
    let is_open = |device: &Device| {
        device.info().is_same_adapter(&adapter.info) && device.check("opening it again").is_ok()
    };
    if let Some((names, device)) = open.iter_mut().find(|(_, device)| is_open(device)) {
        names.extend(name);
        return Ok(device.clone());
    }
    let device = Device::open_adapter(adapter)?;
    open.push((name.into_iter().collect(), device.clone()));
    Ok(device)
}

/// Opens the adapter of a lost device again. All users of the lost device get the same new one.
pub(crate) fn reopen(lost: &Device) -> Result<Device, Error> {
    reopen_for_all(&mut open_devices(), lost)
}

/// Opens the adapter of a lost device again, unless that has been done. Replaces the lost device in the registry, under
/// all of its names.
fn reopen_for_all(open: &mut OpenDevices, lost: &Device) -> Result<Device, Error> {
    let same = |device: &Device| device.info().is_same_adapter(lost.info());
    let works = |device: &Device| !matches!(device.check("opening it again"), Err(Error::DeviceLost { .. }));
    if let Some((_, device)) = open.iter().find(|(_, device)| same(device) && works(device)) {
        return Ok(device.clone());
    }
    // After a driver was restarted, only a new wgpu instance finds its adapters.
    let device =
        reopen_from(lost, &adapter::adapters()).or_else(|_| reopen_from(lost, &adapter::adapters_now()))?;
    let names = open.extract_if(.., |(_, device)| same(device)).flat_map(|(names, _)| names).collect();
    open.push((names, device.clone()));
    Ok(device)
}

/// Opens the adapter of a lost device again, from a list of adapters.
fn reopen_from(lost: &Device, adapters: &[Adapter]) -> Result<Device, Error> {
    let Some(adapter) = adapters.iter().find(|adapter| adapter.info.is_same_adapter(lost.info())) else {
        let available = adapters.iter().map(|adapter| adapter.info.to_string()).collect();
        return Err(Error::NoSuchAdapter { wanted: lost.info().name.clone(), available });
    };
    Device::open_adapter(adapter)
}

/// Held by tests that lose the device which all tests of the process share, and by tests that cannot bear its loss.
#[cfg(test)]
pub(crate) static SHARED_DEVICE: Mutex<()> = Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn a_device_is_opened_once_until_it_is_lost() {
        let _guard = lock(&SHARED_DEVICE);
        let open = || open(None).expect("the host has an adapter");
        let first = open();
        assert!(std::ptr::eq(first.raw(), open().raw()), "the same device");
        let submission = first.submit("nothing", |_| {}).expect("the device works");
        first.raw().destroy();
        first.wait(&submission).expect_err("the device is lost");
        open().check("nothing").expect("a new device is opened");
        let error = super::open(Some("no such adapter")).expect_err("no adapter has this name");
        assert!(matches!(error, Error::NoSuchAdapter { .. }), "{error}");
    }

    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn an_adapter_has_one_device_whatever_it_is_called() {
        let _guard = lock(&SHARED_DEVICE);
        let first = open(None).expect("the host has an adapter");
        let name = first.info().name.clone();
        let adapters = adapter::adapters();
        let index = adapters.iter().position(|adapter| adapter.info.is_same_adapter(first.info()));
        let index = index.expect("the adapter is listed");
        let by_index = open(Some(&index.to_string())).expect("the adapter is open");
        assert!(std::ptr::eq(first.raw(), by_index.raw()), "{index} is {name}");
        let by_adapter = open_adapter(&adapters[index]).expect("the adapter is open");
        assert!(std::ptr::eq(first.raw(), by_adapter.raw()), "the adapter itself");
    }
}
