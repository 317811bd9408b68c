//! The memory of a network on a device, and the check that it fits, before anything is allocated.

use kvrm_shaders::interface::spiking::SpikingGroup;
use kvrm_spiking::{Network, available_memory};

use crate::device::Device;
use crate::device::error::Error;

/// The need below which nothing is checked, so that small networks cost no look at the host.
const UNCHECKED_BYTES: u64 = 64 << 20;

/// Returns the size of the buffers of a network in bytes, at least: its state and synapses, and the tables of neurons.
fn device_bytes(network: &Network) -> u64 {
    // If weights learn, the words of synapses are a part of the state.
    let words = if network.is_plastic() { 0 } else { 4 * network.synapses().words.len() as u64 };
    // In a state, a history is one number of 64 bits.
    let history =
        if network.is_plastic() { SpikingGroup::<()>::HISTORIES_STRIDE - size_of::<u64>() as u64 } else { 0 };
    let neuron = SpikingGroup::<()>::ROWS_STRIDE + size_of::<u32>() as u64 + history;
    network.state_bytes() + words + neuron * u64::from(network.neurons())
}

/// Checks that the host has the memory for a network on `device`: for a copy of its state, and for its buffers if the
/// CPU runs the shaders. The free memory of a GPU is not known before it is used.
///
/// # Errors
/// [`Error::NetworkTooLarge`].
pub(super) fn check(device: &Device, network: &Network) -> Result<(), Error> {
    let buffers = if device.info().is_software() { device_bytes(network) } else { 0 };
    let bytes = network.state_bytes() + buffers;
    let available = if bytes > UNCHECKED_BYTES { available_memory() } else { None };
    check_within(device, network, bytes, available)
}

fn check_within(device: &Device, network: &Network, bytes: u64, available: Option<u64>) -> Result<(), Error> {
    match available {
        Some(available) if bytes > available => Err(too_large(device, network, bytes, Some(available))),
        _ => Ok(()),
    }
}

/// Replaces the error of full memory, when the buffers of a network are made, by one that says how large it is.
pub(super) fn explain(error: Error, device: &Device, network: &Network) -> Error {
    match error {
        Error::OutOfMemory { .. } => too_large(device, network, device_bytes(network), None),
        error => error,
    }
}

fn too_large(device: &Device, network: &Network, bytes: u64, available: Option<u64>) -> Error {
    Error::NetworkTooLarge {
        neurons: network.neurons(),
        synapses: network.synapses().count(),
        adapter: device.info().to_string(),
        bytes,
        available,
    }
}

#[cfg(test)]
mod tests {
    use kvrm_spiking::networks::feagi;

    use super::*;
    use crate::device::lock::lock;
    use crate::device::registry::{self, SHARED_DEVICE};

    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn a_network_that_does_not_fit_is_an_error_with_all_numbers() {
        let _guard = lock(&SHARED_DEVICE);
        let device = registry::open(None).expect("the host has an adapter");
        let network = feagi(100, 10, 1).expect("a small network");
        let bytes = device_bytes(&network);
        assert!(bytes > 100 * (16 + 4) + 1000 * 4, "the state, the records and the synapses: {bytes}");
        assert_eq!(check(&device, &network), Ok(()), "every host has room for it");
        assert_eq!(check_within(&device, &network, bytes, Some(bytes)), Ok(()), "it just fits");
        assert_eq!(check_within(&device, &network, bytes, None), Ok(()), "the host does not say");
        let error = check_within(&device, &network, bytes, Some(bytes - 1)).expect_err("one byte is missing");
        let text = error.to_string();
        let numbers =
            ["100 neurons", "1000 synapses", &format!("{bytes} bytes"), &format!("{} bytes", bytes - 1)];
        for number in numbers {
            assert!(text.contains(number), "{number}: {text}");
        }
        let full = Error::OutOfMemory { doing: "making a buffer".to_owned(), max: 1 };
        let text = explain(full, &device, &network).to_string();
        assert!(text.contains(&format!("{bytes} bytes (0.0 GiB) on {}", device.info())), "{text}");
        assert!(text.contains("run it on the CPU"), "{text}");
        assert_eq!(explain(Error::NoAdapter, &device, &network), Error::NoAdapter, "other errors stay");
    }
}
