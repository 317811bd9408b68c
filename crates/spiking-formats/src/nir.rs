//! Import of NIR graphs (Pedersen et al., Nature Communications 15, 2024), as the Python package `nir` writes them.
//!
//! Nodes that fire become populations, and the linear nodes between two of them become synapses. As in the programs
//! that write such graphs, a spike is 1 for one step. So the graph depends on their `dt`, although the file does not
//! contain it.

mod graph;
mod layers;
mod linear;
mod nodes;

use std::collections::BTreeMap;
use std::path::Path;

use kvrm_spiking::{Builder, FileError, ListedSynapse, Network};

use self::graph::{Graph, Node};
use self::layers::{FRACTION_BITS, Inputs, Layer, MS};
use self::linear::Map;

/// Imports a NIR graph as a network with steps of `dt` ms. Its inputs are populations whose neurons fire when 1 is
/// injected.
///
/// # Errors
/// The file cannot be read, is not a NIR graph, or has a node that is not supported, which the message names.
pub fn import(path: &Path, dt: f64) -> Result<Network, FileError> {
    let file = path.display().to_string();
    if !(dt > 0.0 && dt.is_finite()) {
        return Err(FileError::content(&file, "length of a step", "more than 0 ms", dt.to_string()));
    }
    let graph = graph::read(path, &file)?;
    let mut layers = Vec::new();
    for (name, node) in &graph.nodes {
        if let Some(layer) = Layer::new(node).map_err(|reason| unsupported(&file, name, node, &reason))? {
            layers.push((name.as_str(), layer));
        }
    }
    let mut walk =
        Walk { file: &file, graph: &graph, layers: &layers, routes: Vec::new(), shapes: BTreeMap::new() };
    walk.find_routes()?;
    build(&file, &graph, &layers, &walk.routes, dt)
}

fn unsupported(file: &str, name: &str, node: &Node, reason: &str) -> FileError {
    let place = format!("node `{name}` ({})", node.kind);
    FileError::content(file, place, "a supported node", reason)
}

fn build(
    file: &str,
    graph: &Graph,
    layers: &[(&str, Layer)],
    routes: &[Route],
    dt: f64,
) -> Result<Network, FileError> {
    let mut builder = Builder::new(dt).fraction_bits(FRACTION_BITS);
    let mut populations = Vec::new();
    for (index, (name, layer)) in layers.iter().enumerate() {
        let mut inputs = Inputs::new(layer.neurons());
        for route in routes.iter().filter(|route| route.target == index) {
            inputs.add(route.source.is_none(), &route.map);
        }
        let cells = layer
            .cells(dt, &inputs)
            .map_err(|reason| unsupported(file, name, &graph.nodes[*name], &reason))?;
        let model = |neuron: u32| (cells.models[neuron as usize].clone(), None);
        let dimensions = [layer.neurons() as u32, 1, 1];
        let id = builder
            .populate(name, dimensions, layer.kind(), model)
            .map_err(|source| FileError::network(file, format!("node `{name}`"), source))?;
        populations.push((id, cells.jumps));
    }
    for Route { source, target, map } in routes {
        let Some(source) = *source else { continue };
        let (id, jumps) = &populations[*target];
        let link = |entry: &linear::Entry| ListedSynapse {
            source: entry.input,
            target: entry.output,
            weight: entry.weight * jumps[entry.output as usize],
            // Output without a delay arrives in the next step.
            delay: 1 + (entry.delay * MS / dt).round().clamp(0.0, 1e9) as u32,
        };
        let links: Vec<ListedSynapse> = map.entries.iter().map(link).collect();
        builder.connect_list(populations[source].0, *id, &links).map_err(|error| {
            let place = format!("synapses from `{}` to `{}`", layers[source].0, layers[*target].0);
            FileError::network(file, place, error)
        })?;
    }
    builder.build().map_err(|source| FileError::network(file, "network", source))
}

/// The linear map from one layer to the next one.
struct Route {
    /// The index of the source layer; `None` for a bias, which is a constant.
    source: Option<usize>,
    target: usize,
    map: Map,
}

/// A search along the edges of a graph for the linear maps between layers.
struct Walk<'a> {
    file: &'a str,
    graph: &'a Graph,
    layers: &'a [(&'a str, Layer)],
    routes: Vec<Route>,
    /// The shapes of the outputs of nodes between layers.
    shapes: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Walk<'a> {
    fn find_routes(&mut self) -> Result<(), FileError> {
        for (index, (name, layer)) in self.layers.iter().enumerate() {
            self.follow(Some(index), &Map::identity(&layer.shape), &mut vec![name])?;
        }
        for (name, node) in &self.graph.nodes {
            let bias = nodes::bias(node).map_err(|reason| unsupported(self.file, name, node, &reason))?;
            let Some((bias, shape)) = bias.zip(self.shapes.get(name.as_str())) else { continue };
            // There is one value per channel, or per output.
            let channel = linear::size(shape) / bias.len();
            let constant = Map::constant(shape, |index| bias[index / channel]);
            self.follow(None, &constant, &mut vec![name])?;
        }
        Ok(())
    }

    /// Follows the edges from the last node of a path. `map` is the linear map from `source` to this node.
    fn follow(&mut self, source: Option<usize>, map: &Map, path: &mut Vec<&'a str>) -> Result<(), FileError> {
        let graph = self.graph;
        let last = path.last().copied().unwrap_or_default();
        for next in graph.edges.get(last).into_iter().flatten() {
            let node = &graph.nodes[next];
            let wrong = |reason: &str| unsupported(self.file, next, node, reason);
            if let Some(target) = self.layers.iter().position(|(name, _)| name == next) {
                let neurons = self.layers[target].1.neurons();
                if linear::size(&map.shape) != neurons {
                    return Err(wrong(&format!("an input of shape {:?} for {neurons} neurons", map.shape)));
                }
                self.routes.push(Route { source, target, map: map.clone() });
                continue;
            }
            if path.contains(&next.as_str()) {
                return Err(wrong("a loop without neurons"));
            }
            let Some(step) = nodes::map(node, &map.shape).map_err(|reason| wrong(&reason))? else { continue };
            let map = map.then(&step).ok_or_else(|| wrong("more weights than fit in memory"))?;
            self.shapes.insert(next, map.shape.clone());
            path.push(next);
            self.follow(source, &map, path)?;
            path.pop();
        }
        Ok(())
    }
}
