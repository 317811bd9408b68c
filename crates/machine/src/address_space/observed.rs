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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kvrm_arm64::{Features, Memory};

    use super::*;
    use crate::image::Image;
    use crate::permissions::Permissions;
    use crate::segment::Segment;

    #[test]
    fn each_access_is_noted_while_that_is_wanted() {
        let segment =
            Segment { address: 0x1000, bytes: 8192, data: vec![1, 2], permissions: Permissions::RW };
        let image = Image::new(&[segment], Features::ARMV8_0).expect("the segment is right");
        let mut memory = AddressSpace::new(Arc::new(image), 4);
        memory.read::<2>(0x1000).expect("the page is readable");
        memory.write(0x1008, [5]).expect("the page is writable");
        assert_eq!(memory.take_accesses().count(), 0, "nothing was wanted");

        memory.observe_accesses(true);
        for _ in 0..2 {
            // The page would be in the TLB.
            memory.read::<2>(0x1000).expect("the page is readable");
            memory.write(0x1ffc, [7; 24]).expect("the pages are writable");
        }
        memory.read::<1>(0x3000).expect_err("the page is not mapped");
        let read = DataAccess { access: Access::Read, address: 0x1000, bytes: 2, value: 0x201 };
        let value = u128::from_le_bytes([7; 16]);
        let written = DataAccess { access: Access::Write, address: 0x1ffc, bytes: 24, value };
        assert_eq!(
            memory.take_accesses().collect::<Vec<_>>(),
            [read, written, read, written],
            "in their order"
        );
        assert_eq!(memory.take_accesses().count(), 0, "taken only once");

        memory.read::<1>(0x1000).expect("the page is readable");
        memory.observe_accesses(false);
        memory.read::<1>(0x1000).expect("the page is readable");
        assert_eq!(memory.take_accesses().count(), 0, "forgotten, and not wanted any more");
    }
}
