//! The accesses of a lane to data, for tools that look at them.

use kvrm_arm64::Access;

use super::AddressSpace;
use crate::data_access::DataAccess;

impl AddressSpace {
    /// Notes the accesses of instructions to data from now on, or no more. Accesses are much slower while they are noted.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use kvrm_arm64::Memory;
    /// # use kvrm_machine::{Access, AddressSpace, DataAccess, Features, Image, Permissions, Segment};
    ///
    /// # let data = Segment { address: 0x1000, bytes: 4096, data: vec![7], permissions: Permissions::RW };
    /// # let image = Arc::new(Image::new(&[data], Features::ARMV8_0)?);
    /// let mut memory = AddressSpace::new(image, 1);
    /// memory.observe_accesses(true);
    /// memory.read::<4>(0x1000).expect("the page is readable");
    /// let observed: Vec<_> = memory.take_accesses().collect();
    /// assert_eq!(observed, [DataAccess { access: Access::Read, address: 0x1000, bytes: 4, value: 7 }]);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    pub fn observe_accesses(&mut self, is_wanted: bool) {
        if self.observed.is_some() != is_wanted {
            self.observed = is_wanted.then(Vec::new);
            // While accesses are noted, the TLB holds no page, so that each access takes the slow path.
            self.flush();
        }
    }

    /// Returns the accesses that were noted since the last call, in their order, and forgets them.
    pub fn take_accesses(&mut self) -> impl Iterator<Item = DataAccess> {
        self.observed.iter_mut().flat_map(|observed| observed.drain(..))
    }

    /// Notes an access, if that is wanted. Returns whether it is.
    pub(super) fn observe(&mut self, access: Access, address: u64, bytes: &[u8]) -> bool {
        let Some(observed) = &mut self.observed else { return false };
        let value = bytes.iter().take(16).rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
        observed.push(DataAccess { access, address, bytes: bytes.len() as u8, value });
        true
    }
}
