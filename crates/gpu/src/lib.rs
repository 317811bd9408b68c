//! The engine that runs lanes on a GPU, through wgpu.
