//! The memory of a lane as a value.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::image::Image;
use crate::page_map::{ImagePage, Mapping, PageMap};
use crate::pages::{Frame, PAGE_BYTES};

/// The memory of a lane as a value: what is mapped, and the contents of the pages that the lane has written.
///
/// All other pages have their contents from the image. Copies share the contents, so they cost little.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneMemory {
    /// The page map.
    pub map: PageMap,
    /// The pages that the lane has written: number and contents of each, in rising order.
    pub pages: Vec<(u64, Contents)>,
}

impl LaneMemory {
    /// Turns the memory of a lane of one image into that of a lane of another one, which has equal contents: pages whose frames are
    /// elsewhere in the other image become pages that the lane has written.
    pub(crate) fn rebase(&mut self, from: &Image, to: &Image) {
        let mut written: BTreeMap<u64, Contents> = self.pages.drain(..).collect();
        let stretches: Vec<_> =
            self.map.stretches().filter(|stretch| stretch.first_frame.is_some()).collect();
        for page in stretches.into_iter().flat_map(|stretch| stretch.first_page..stretch.end_page) {
            let Some(ImagePage { frame, permissions }) = self.map.page(page) else { continue };
            let is_same = |there: ImagePage| there.frame == frame && to.frame(frame) == from.frame(frame);
            if !to.page(page).is_some_and(is_same) {
                written.entry(page).or_insert_with(|| Contents::new(from.frame(frame)));
                // The page is mapped, so it has room.
                let is_mapped = self.map.map(&(page..page + 1), Mapping::Zero(permissions));
                debug_assert!(is_mapped, "page {page:#x} can be mapped again");
            }
        }
        self.pages = written.into_iter().collect();
    }
}

/// The contents of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents(#[serde(with = "crate::interned")] Arc<Bytes>);

/// The bytes of a page.
#[derive(Debug, PartialEq, Eq)]
struct Bytes(Frame);

impl Contents {
    /// Copies the bytes of a page.
    #[must_use]
    pub fn new(bytes: &[u8; PAGE_BYTES]) -> Self {
        Self(Arc::new(Bytes(*bytes)))
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8; PAGE_BYTES] {
        &self.0.0
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        let frame = bytes.try_into();
        frame.map(Self).map_err(|_| serde::de::Error::custom(format!("a page has {PAGE_BYTES} bytes")))
    }
}
