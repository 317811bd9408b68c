//! Nodes between layers, as linear maps, and the biases of nodes.

use super::graph::{Node, Tensor};
use super::linear::{Map, Window, size};

/// Returns the linear map of a node for an input of this shape; `None` for an output node.
pub(super) fn map(node: &Node, shape: &[usize]) -> Result<Option<Map>, String> {
    let inputs = size(shape);
    let of_size = |name: &str| {
        let tensor = node.tensor(name)?;
        match tensor.values.len() {
            1 => Ok(vec![tensor.values[0]; inputs]),
            found if found == inputs => Ok(tensor.values.clone()),
            found => Err(format!("`{name}` with {found} values for {inputs} inputs")),
        }
    };
    Ok(Some(match node.kind.as_str() {
        "Output" => return Ok(None),
        "Linear" | "Affine" => {
            let weight = node.tensor("weight")?;
            let [rows, columns] = *weight.shape else {
                return Err(format!("`weight` with the shape {:?}, not two dimensions", weight.shape));
            };
            if columns != inputs {
                return Err(format!("`weight` with {columns} columns for {inputs} inputs"));
            }
            Map::dense(rows, columns, &weight.values)
        }
        "Scale" => {
            let scale = of_size("scale")?;
            Map::diagonal(shape, |index| scale[index])
        }
        "Delay" => {
            let delay = of_size("delay")?;
            if let Some(delay) = delay.iter().find(|delay| **delay < 0.0) {
                return Err(format!("a delay of {delay} s"));
            }
            Map::delaying(shape, |index| delay[index])
        }
        "Flatten" => Map { shape: vec![inputs], ..Map::identity(shape) },
        "Conv1d" | "Conv2d" => convolution(node, shape)?,
        "SumPool2d" => pool(node, shape, |_| 1.0)?,
        "AvgPool2d" => pool(node, shape, |window| 1.0 / (window.kernel[0] * window.kernel[1]) as f64)?,
        "LI" | "CubaLI" | "I" => return Err("a layer that never fires".to_owned()),
        "Threshold" => return Err("a threshold without a membrane".to_owned()),
        "NIRGraph" => return Err("a nested graph".to_owned()),
        _ => return Err("a node of an unknown type".to_owned()),
    }))
}

/// Returns the bias of a node, if it has one that is not zero.
pub(super) fn bias(node: &Node) -> Result<Option<&[f64]>, String> {
    if !["Affine", "Conv1d", "Conv2d"].contains(&node.kind.as_str()) {
        return Ok(None);
    }
    let (bias, weight) = (node.tensor("bias")?, node.tensor("weight")?);
    let outputs = weight.shape.first().copied().unwrap_or(0);
    if bias.values.len() != outputs {
        return Err(format!("`bias` with {} values for {outputs} outputs", bias.values.len()));
    }
    Ok(Some(bias.values.as_slice()).filter(|values| values.iter().any(|value| *value != 0.0)))
}

fn convolution(node: &Node, shape: &[usize]) -> Result<Map, String> {
    let weight = node.tensor("weight")?;
    let (outputs, group, kernel) = match *weight.shape {
        [outputs, group, x] => (outputs, group, [1, x]),
        [outputs, group, y, x] => (outputs, group, [y, x]),
        _ => return Err(format!("`weight` with the shape {:?}", weight.shape)),
    };
    let picture = picture(shape)?;
    let groups = node.pair("groups")?[1];
    let channels = picture[0];
    if groups == 0 || channels != group * groups || outputs % groups != 0 {
        return Err(format!(
            "{channels} channels for {groups} groups of {group} channels and {outputs} outputs"
        ));
    }
    let is_line = weight.shape.len() == 3;
    let along = |name: &str| node.pair(name).map(|[y, x]| if is_line { [1, x] } else { [y, x] });
    let (stride, dilation) = (along("stride")?, along("dilation")?);
    let reach = [0, 1].map(|axis: usize| dilation[axis] * kernel[axis].saturating_sub(1));
    let padding = match node.texts.get("padding").map(String::as_str) {
        Some("valid") => [[0, 0]; 2],
        Some("same") => reach.map(|reach| [reach / 2, reach - reach / 2]),
        Some(other) => return Err(format!("the padding `{other}`")),
        None => {
            let [y, x] = node.pair("padding")?;
            [if is_line { 0 } else { y }, x].map(|padding| [padding, padding])
        }
    };
    let window = Window { kernel, stride, padding, dilation };
    let map = Map::windowed(picture, outputs, &window, |output, channel, [y, x]| {
        let first = output / (outputs / groups) * group;
        let within = channel.checked_sub(first).filter(|within| *within < group)?;
        Some(weight.values[((output * group + within) * kernel[0] + y) * kernel[1] + x])
    });
    let map = map.ok_or("a window that is larger than its input, or too many weights")?;
    Ok(if is_line { Map { shape: vec![map.shape[0], map.shape[2]], ..map } } else { map })
}

fn pool(node: &Node, shape: &[usize], weight: impl Fn(&Window) -> f64) -> Result<Map, String> {
    let picture = picture(shape)?;
    let padding = node.pair("padding")?.map(|padding| [padding, padding]);
    let (kernel, stride) = (node.pair("kernel_size")?, node.pair("stride")?);
    let window = Window { kernel, stride, padding, dilation: [1, 1] };
    let weight = weight(&window);
    let map = Map::windowed(picture, picture[0], &window, |output, channel, _| {
        (output == channel).then_some(weight)
    });
    map.ok_or_else(|| "a window that is larger than its input, or too many weights".to_owned())
}

/// Returns the channels, height and width of a shape.
fn picture(shape: &[usize]) -> Result<[usize; 3], String> {
    match *shape {
        [channels, width] => Ok([channels, 1, width]),
        [channels, height, width] => Ok([channels, height, width]),
        _ => Err(format!("an input of shape {shape:?}, not [channels, width] or [channels, height, width]")),
    }
}

impl Node {
    pub(super) fn tensor(&self, name: &str) -> Result<&Tensor, String> {
        self.tensors.get(name).ok_or_else(|| format!("a node without `{name}`"))
    }

    /// Returns a pair of integers. A single value stands for both.
    fn pair(&self, name: &str) -> Result<[usize; 2], String> {
        let tensor = self.tensor(name)?;
        let pair = match *tensor.values {
            [both] => [both, both],
            [y, x] => [y, x],
            _ => return Err(format!("`{name}` with {} values, not one or two", tensor.values.len())),
        };
        // Values that are larger than the input are rejected where they are used.
        let is_whole = pair.iter().all(|value| value.fract() == 0.0 && (0.0..65536.0).contains(value));
        if is_whole {
            Ok(pair.map(|value| value as usize))
        } else {
            Err(format!("`{name}` of {pair:?}, which are not integers from 0 to 65535"))
        }
    }
}
