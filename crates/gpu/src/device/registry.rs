//! Devices that stay open for the next user of the process, as opening one takes a while.

use std::env;
use std::sync::{Mutex, MutexGuard};

use super::adapter::{self, ADAPTER_VARIABLE, Adapter};
use super::error::Error;
use super::lock::lock;
use super::logical::Device;

/// Open devices, and the names they were asked for by.
type OpenDevices = Vec<(Vec<Option<String>>, Device)>;

fn open_devices() -> MutexGuard<'static, OpenDevices> {
    static OPEN: Mutex<OpenDevices> = Mutex::new(Vec::new());
    lock(&OPEN)
}

/// The device of the adapter that [`adapter::choose`] chooses for `wanted`: one that is open, unless it is lost.
pub(crate) fn open(wanted: Option<&str>) -> Result<Device, Error> {
    let wanted = wanted.map(str::to_owned).or_else(|| env::var(ADAPTER_VARIABLE).ok());
    let mut open = open_devices();
    if let Some(index) = open.iter().position(|(names, _)| names.contains(&wanted)) {
        let device = open[index].1.clone();
        match device.check("opening it again") {
            Ok(()) => return Ok(device),
            Err(Error::DeviceLost { .. }) => match replace(&mut open, &device) {
                Ok(device) => return Ok(device),
                // Another adapter may do.
                Err(_) => drop(open.remove(index)),
            },
            Err(error) => return Err(error),
        }
    }
    let device = Device::open(wanted.as_deref())?;
    open.push((vec![wanted], device.clone()));
    Ok(device)
}

/// Opens the adapter of a device that was lost, once for all that were on it.
pub(crate) fn reopen(lost: &Device) -> Result<Device, Error> {
    replace(&mut open_devices(), lost)
}

/// Opens the adapter of a device that was lost, unless that has been done, for all names by which the device was asked for.
fn replace(open: &mut OpenDevices, lost: &Device) -> Result<Device, Error> {
    let same = |device: &Device| device.info().is(lost.info());
    let works = |device: &Device| !matches!(device.check("opening it again"), Err(Error::DeviceLost { .. }));
    if let Some((_, device)) = open.iter().find(|(_, device)| same(device) && works(device)) {
        return Ok(device.clone());
    }
    // After a driver was restarted, only a new instance of wgpu finds its adapters.
    let device =
        open_again(lost, &adapter::adapters()).or_else(|_| open_again(lost, &adapter::adapters_now()))?;
    let names = open.extract_if(.., |(_, device)| same(device)).flat_map(|(names, _)| names).collect();
    open.push((names, device.clone()));
    Ok(device)
}

/// Opens the adapter of a device that was lost, if it is among `adapters`.
fn open_again(lost: &Device, adapters: &[Adapter]) -> Result<Device, Error> {
    let Some(adapter) = adapters.iter().find(|adapter| adapter.info.is(lost.info())) else {
        let there = adapters.iter().map(|adapter| adapter.info.to_string()).collect();
        return Err(Error::NoSuchAdapter { wanted: lost.info().name.clone(), there });
    };
    Device::open_adapter(adapter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn a_device_is_opened_once_until_it_is_lost() {
        let open = || open(None).expect("there is one");
        let first = open();
        assert!(std::ptr::eq(first.raw(), open().raw()), "the same again");
        let submission = first.submit("nothing", |_| {}).expect("it works");
        first.raw().destroy();
        first.wait(&submission).expect_err("it is lost");
        open().check("nothing").expect("another one was opened");
        let error = super::open(Some("no such adapter")).expect_err("none is called that");
        assert!(matches!(error, Error::NoSuchAdapter { .. }), "{error}");
    }
}
