//! Weights of networks.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use kvrm::models::{
    self, Architecture, DecoderNetwork, DispatchNetwork, Dtype, NamedTensor, TensorFile, certify_decoder,
    certify_dispatch, files,
};
use kvrm_convert::{Format, NameMap};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::{OrRaise as _, refused};
use crate::named::named;

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

    /// Loads a file of any format, with new names for some of its tensors: pairs of an old and a new one.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        architecture: Option<&str>,
        names: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let architecture = architecture.map(architecture_named).transpose()?;
        py.detach(|| Ok(Self(read(&path, architecture, &names)?)))
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

    /// Saves a file of the format of its extension.
    fn save(&self, py: Python<'_>, path: PathBuf, dtype: &str, is_flat: bool) -> PyResult<()> {
        const DTYPES: [(&str, Dtype); 2] = [("float32", Dtype::F32), ("float16", Dtype::F16)];
        let (_, dtype) = named("dtype", dtype, &DTYPES, |(name, _)| name)?;
        let format = Format::of(&path).or_raise()?;
        let file = path.display().to_string();
        py.detach(|| {
            let content = if is_flat { self.0.to_flat_tensor() } else { self.0.to_tensors() };
            let bytes = kvrm_convert::write(&file, format, &content, dtype).or_raise()?;
            files::write(&path, &bytes).or_raise()
        })
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

/// Reads a file of any format.
fn read(
    path: &Path,
    architecture: Option<Architecture>,
    names: &[(String, String)],
) -> PyResult<models::Weights> {
    let file = path.display().to_string();
    let mut content = kvrm_convert::read(&file, &files::read(path).or_raise()?).or_raise()?;
    let mut map = NameMap::default();
    for (old, new) in names {
        map.insert("names", old, new).or_raise()?;
    }
    map.apply(&file, &mut content).or_raise()?;
    models::Weights::from_tensors(&file, architecture, content).or_raise()
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
            Self::Path(path) => Cow::Owned(read(path, None, &[])?),
        })
    }
}
