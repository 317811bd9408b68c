//! The WGSL of KVRM as data, and the linker that puts modules together. Knows no GPU API.
