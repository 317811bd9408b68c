//! Weights of networks.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use kvrm::models::{
    self, Architecture, DecoderNetwork, DispatchNetwork, Dtype, NamedTensor, TensorFile, certify_decoder,
    certify_dispatch,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::{OrRaise as _, refused};

/// What error messages call weights that come from no file.
const SOURCE: &str = "weights";

/// The weights of a network.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct Weights(models::Weights);

#[pymethods]
impl Weights {
    /// Makes weights from the flat form of an architecture.
    #[staticmethod]
    #[pyo3(signature = (architecture, values: "NDArray[numpy.float32]"))]
    fn from_flat(architecture: &str, values: PyReadonlyArray1<'_, f32>) -> PyResult<Self> {
        let values = values.as_slice()?.to_vec();
        Ok(Self(models::Weights::from_flat(architecture_named(architecture)?, values).or_raise()?))
    }

    /// Makes weights from tensors: name, dimensions and values of each. Without an architecture, it is the one that has them.
    #[staticmethod]
    #[pyo3(signature = (architecture, tensors: "list[tuple[str, tuple[int, ...], NDArray[numpy.float32]]]"))]
    fn from_tensors(
        architecture: Option<&str>,
        tensors: Vec<(String, Vec<usize>, PyReadonlyArray1<'_, f32>)>,
    ) -> PyResult<Self> {
        let architecture = architecture.map(architecture_named).transpose()?;
        let mut content = TensorFile::default();
        for (name, dims, values) in tensors {
            let values = values.as_slice()?.to_vec();
            content.tensors.push(NamedTensor { name, dims, dtype: Dtype::F32, values });
        }
        Ok(Self(models::Weights::from_tensors(SOURCE, architecture, content).or_raise()?))
    }

    /// Loads a safetensors file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Ok(Self(models::Weights::load(&path).or_raise()?)))
    }

    /// Proves that the network gives the right answer for every word, or finds where it does not. `progress` is called with the
    /// number of top bytes of words that were swept. Returns the certificate as JSON and as text, and whether it holds.
    #[pyo3(signature = (progress: "collections.abc.Callable[[int], object] | None"))]
    fn certify(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<(String, String, bool)> {
        let raised = Mutex::new(None);
        let report = |swept: u32| {
            let Some(progress) = &progress else { return };
            if let Err(error) = Python::attach(|py| progress.call1(py, (swept,)).map(drop)) {
                raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        };
        let flat = self.0.values();
        let certificate = py.detach(|| match self.0.architecture() {
            Architecture::Dispatch => {
                Ok(certify_dispatch(&DispatchNetwork::from_flat(flat).or_raise()?, None, &report))
            }
            Architecture::Decoder => {
                Ok(certify_decoder(&DecoderNetwork::from_flat(flat).or_raise()?, None, &report))
            }
            other => {
                Err(refused(format!("no proof about the {other} network: expected dispatch or decoder")))
            }
        })?;
        if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let json = serde_json::to_string(&certificate).or_raise()?;
        Ok((json, certificate.to_string(), certificate.holds()))
    }

    /// Returns the weights that come with KVRM.
    #[staticmethod]
    fn builtin(architecture: &str) -> PyResult<Self> {
        let weights = models::Weights::builtin(architecture_named(architecture)?).or_raise()?;
        match weights {
            Some((weights, _)) => Ok(Self(weights)),
            None => Err(refused(format!("no weights of the {architecture} network come with KVRM"))),
        }
    }

    /// Saves a safetensors file, with values of 32 bits.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(&path, Dtype::F32).or_raise())
    }

    /// The name of the architecture.
    #[getter]
    fn architecture(&self) -> &'static str {
        self.0.architecture().name()
    }

    /// Returns the flat form.
    #[pyo3(signature = () -> "NDArray[numpy.float32]")]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.0.values())
    }

    /// Returns the name and the dimensions of each tensor, in the order of the flat form.
    fn shapes(&self) -> Vec<(&'static str, Vec<usize>)> {
        let tensors = self.0.architecture().tensors();
        tensors.iter().map(|tensor| (tensor.name, tensor.dims.to_vec())).collect()
    }
}

/// Returns the architecture with a name.
fn architecture_named(name: &str) -> PyResult<Architecture> {
    Architecture::from_name(name)
        .ok_or_else(|| refused(format!("architecture {name:?}: expected one of {}", Architecture::names())))
}

/// Weights, or the path of their file.
#[derive(FromPyObject)]
pub(crate) enum WeightsOrPath {
    Weights(Py<Weights>),
    Path(PathBuf),
}

impl WeightsOrPath {
    /// Returns the weights, which are read if a path was given.
    pub(crate) fn load(&self) -> PyResult<Cow<'_, models::Weights>> {
        Ok(match self {
            Self::Weights(weights) => Cow::Borrowed(&weights.get().0),
            Self::Path(path) => Cow::Owned(models::Weights::load(path).or_raise()?),
        })
    }
}
