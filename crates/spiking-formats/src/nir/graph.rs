//! [`Graph`]: reader of NIR graphs in HDF5 files: nodes with named values, and edges.

use std::collections::BTreeMap;
use std::path::Path;

use hdf5_pure::{Dataset, File, Group};

use super::linear::size;
use crate::FileError;

/// The largest number of values of a dataset: more than the weights of any graph that fits in memory.
const VALUES_MAX: u64 = 1 << 28;

/// An array of values of a node, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// A node: its type, its arrays and its texts by name.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: String,
    pub(super) tensors: BTreeMap<String, Tensor>,
    pub(super) texts: BTreeMap<String, String>,
}

/// A graph: its nodes by name, and its edges.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: BTreeMap<String, Node>,
    /// The targets of edges by source, in the order of the file.
    pub(super) edges: BTreeMap<String, Vec<String>>,
}

pub(super) fn read(path: &Path, file: &str) -> Result<Graph, FileError> {
    let bytes = std::fs::read(path).map_err(|source| FileError::read(path, source))?;
    let reader = Reader { file };
    let root = reader.checked("contents", File::from_bytes(bytes))?;
    let group = reader.checked("group `node`", root.group("node"))?;
    let kind = reader.text("node/type", &reader.checked("dataset `node/type`", group.dataset("type"))?)?;
    if kind != "NIRGraph" {
        return Err(FileError::content(file, "dataset `node/type`", "`NIRGraph`", format!("`{kind}`")));
    }
    let group = reader.checked("group `node/nodes`", root.group("node/nodes"))?;
    let mut nodes = BTreeMap::new();
    for name in reader.checked("group `node/nodes`", group.groups())? {
        let node = reader.node(&name, &reader.checked(&node_place(&name), group.group(&name))?)?;
        nodes.insert(name, node);
    }
    let place = "dataset `node/edges`";
    let pairs = reader.texts(place, &reader.checked(place, root.dataset("node/edges"))?)?;
    let mut edges = BTreeMap::<String, Vec<String>>::new();
    for pair in pairs.chunks(2) {
        let [source, target] = pair else {
            return Err(FileError::content(file, place, "pairs of nodes", "an odd number of nodes"));
        };
        for name in pair {
            if !nodes.contains_key(name) {
                return Err(FileError::content(file, place, "names of existing nodes", format!("`{name}`")));
            }
        }
        edges.entry(source.clone()).or_default().push(target.clone());
    }
    Ok(Graph { nodes, edges })
}

fn node_place(name: &str) -> String {
    format!("node `{name}`")
}

struct Reader<'a> {
    file: &'a str,
}

impl Reader<'_> {
    fn checked<T>(&self, place: &str, result: Result<T, hdf5_pure::Error>) -> Result<T, FileError> {
        result.map_err(|error| {
            FileError::content(self.file, place, "the contents of a NIR graph", error.to_string())
        })
    }

    fn node(&self, name: &str, group: &Group) -> Result<Node, FileError> {
        let place = node_place(name);
        let (mut tensors, mut texts) = (BTreeMap::new(), BTreeMap::new());
        for value in self.checked(&place, group.datasets())? {
            let place = format!("{place}: `{value}`");
            let dataset = self.checked(&place, group.dataset(&value))?;
            let is_text = matches!(
                self.checked(&place, dataset.dtype())?,
                hdf5_pure::DType::VariableLengthString | hdf5_pure::DType::String
            );
            if is_text {
                texts.insert(value, self.text(&place, &dataset)?);
            } else {
                tensors.insert(value, self.tensor(&place, &dataset)?);
            }
        }
        let kind = texts.remove("type");
        let kind = kind.ok_or_else(|| FileError::content(self.file, &place, "a `type`", "none"))?;
        Ok(Node { kind, tensors, texts })
    }

    /// Returns the shape of a dataset after checking its number of values, because files may claim any shape.
    fn shape(&self, place: &str, dataset: &Dataset) -> Result<Vec<usize>, FileError> {
        let shape = self.checked(place, dataset.shape())?;
        let values = shape.iter().try_fold(1_u64, |values, extent| values.checked_mul(*extent));
        if values.is_none_or(|values| values > VALUES_MAX) {
            let expected = format!("at most {VALUES_MAX} values");
            return Err(FileError::content(self.file, place, expected, format!("{shape:?}")));
        }
        Ok(shape.into_iter().map(|extent| extent as usize).collect())
    }

    fn tensor(&self, place: &str, dataset: &Dataset) -> Result<Tensor, FileError> {
        let shape = self.shape(place, dataset)?;
        let values = self.checked(place, dataset.read_f64())?;
        let wrong =
            |expected: String, found: String| Err(FileError::content(self.file, place, expected, found));
        if values.len() != size(&shape) {
            return wrong(format!("{} values", size(&shape)), values.len().to_string());
        }
        match values.iter().find(|value| !value.is_finite()) {
            Some(value) => wrong("finite values".to_owned(), value.to_string()),
            None => Ok(Tensor { shape, values }),
        }
    }

    fn texts(&self, place: &str, dataset: &Dataset) -> Result<Vec<String>, FileError> {
        self.shape(place, dataset)?;
        self.checked(place, dataset.read_string())
    }

    fn text(&self, place: &str, dataset: &Dataset) -> Result<String, FileError> {
        match <[String; 1]>::try_from(self.texts(place, dataset)?) {
            Ok([text]) => Ok(text),
            Err(texts) => {
                Err(FileError::content(self.file, place, "one text", format!("{} texts", texts.len())))
            }
        }
    }
}
