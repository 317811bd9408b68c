//! The native part of the Python package `kvrm`.
//!
//! It has what needs Rust. The classes that users see are in the folder `python`, on top of it.

mod arm64;
mod engine;
mod environments;
mod error;
mod lanes;
mod locked;
mod machine;
mod named;
mod options;
mod program;
mod spiking;
mod stops;
mod weights;

/// The native part of kvrm.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::arm64::{decode, disassemble};
    #[pymodule_export]
    use crate::engine::{Engine, adapters, selected_gpus};
    #[pymodule_export]
    use crate::environments::{Environments, doom_variables};
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::program::{Program, write_file};
    #[pymodule_export]
    use crate::spiking::{
        SpikingBuilder, SpikingEngine, SpikingNetwork, SpikingPopulation, SpikingSimulation,
        spiking_feagi_input, spiking_load_state, spiking_network, spiking_rates, spiking_save_state,
        spiking_statistics,
    };
    #[pymodule_export]
    use crate::stops::{stop_names, stop_text};
    #[pymodule_export]
    use crate::weights::Weights;
}
