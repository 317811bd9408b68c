//! The weights that come with KVRM, as data: a [safetensors](https://huggingface.co/docs/safetensors) file for each network,
//! and a manifest with the SHA-256 of each file, the command that made it, and the result of its training.
//!
//! `kvrm-models` reads them (`Weights::builtin`). Beside each file lies its card, a Markdown file of the same name: what the
//! network answers, the data it was trained on, its recipe, its metrics and its certificate.
//!
//! ```
//! let (name, bytes) = kvrm_weights::FILES[1];
//! assert_eq!(name, "dispatch.safetensors");
//! // A safetensors file begins with the length of its JSON header, in bytes, as a little-endian integer.
//! let header = u64::from_le_bytes(bytes[..8].try_into()?) as usize;
//! assert_eq!(bytes[8], b'{');
//! assert_eq!(bytes.len(), 8 + header + 4 * 10_279, "10,279 weights of 4 bytes");
//! assert!(kvrm_weights::MANIFEST.contains(name));
//! # Ok::<(), std::array::TryFromSliceError>(())
//! ```

#![no_std]

/// `manifest.toml`: an entry for each of [`FILES`].
pub const MANIFEST: &str = include_str!("../manifest.toml");

/// The name and the bytes of each file, in the order of their names.
pub const FILES: [(&str, &[u8]); 7] = [
    ("decoder.safetensors", include_bytes!("../decoder.safetensors")),
    ("dispatch.safetensors", include_bytes!("../dispatch.safetensors")),
    ("iteration-predictor.safetensors", include_bytes!("../iteration-predictor.safetensors")),
    ("loop-detector.safetensors", include_bytes!("../loop-detector.safetensors")),
    ("memory-oracle.safetensors", include_bytes!("../memory-oracle.safetensors")),
    ("pattern-recogniser.safetensors", include_bytes!("../pattern-recogniser.safetensors")),
    ("small-dispatch.safetensors", include_bytes!("../small-dispatch.safetensors")),
];

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
