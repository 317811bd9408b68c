//! Buffers that are kept for the next dispatch, because making them takes long.

use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::device::logical::Device;

/// The largest number of bytes that are kept.
const BYTES_MAX: u64 = 32 << 20;

/// Buffers that are kept, and their bind group.
#[derive(Debug, Default)]
pub(crate) struct KeptBuffers {
    kept: Option<(Vec<Buffer>, wgpu::BindGroup)>,
}

impl KeptBuffers {
    /// Returns buffers of at least so many bytes, with any contents, and their bind group, which `bind` makes.
    pub(super) fn get<const N: usize>(
        &mut self,
        device: &Device,
        sizes: [(&str, u64); N],
        bind: impl FnOnce([&Buffer; N]) -> Result<wgpu::BindGroup, Error>,
    ) -> Result<([Buffer; N], wgpu::BindGroup), Error> {
        if let Some((buffers, group)) = &self.kept
            && let Some(buffers) = buffers.first_chunk::<N>()
            && buffers.iter().zip(sizes).all(|(buffer, (_, bytes))| bytes <= buffer.bytes())
        {
            return Ok((buffers.clone(), group.clone()));
        }
        let max = device.limits().storage_bytes();
        let mut buffers = Vec::new();
        for (label, bytes) in sizes {
            buffers.push(Buffer::zeroed(device, label, bytes.next_power_of_two().min(max).max(bytes))?);
        }
        let made: [Buffer; N] = std::array::from_fn(|place| buffers[place].clone());
        let group = bind(made.each_ref())?;
        let is_small = buffers.iter().map(Buffer::bytes).sum::<u64>() <= BYTES_MAX;
        self.kept = is_small.then(|| (buffers, group.clone()));
        Ok((made, group))
    }
}
