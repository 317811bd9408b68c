"""Makes the files of this folder, and simulates the graphs in floating point for the expected spikes.

    pip install nir==1.0.8 h5py==3.16.0 numpy==2.4.6 pyarrow==26.0.1
    python make.py
"""

import json

import nir
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DT = 1e-4
STEPS = 400
random = np.random.default_rng(1)


def fires(neurons, step):
    """Returns 1 for the inputs that fire in a step, and 0 for the others."""
    return np.array([(5 * neuron + 3 * step) % 13 < 2 for neuron in range(neurons)], dtype=float)


def simulate(graph, order, forward):
    """Returns spikes (step, neuron) by layer. A spike arrives in the next step; its current acts one step later."""
    state = {name: {} for name in order}
    last = {"input": None}
    spikes = {name: [] for name in order}
    fired = {}
    for step in range(STEPS):
        now = {"input": fires(int(np.prod(graph.nodes["input"].input_type["input"])), step)}
        for name in order:
            node, own = graph.nodes[name], state[name]
            arrives = forward[name](fired) if fired else 0.0
            threshold = node.v_threshold.ravel().astype(float)
            v = own.setdefault("v", np.zeros(threshold.size) + (node.v_leak.ravel() if hasattr(node, "v_leak") else 0))
            if isinstance(node, nir.IF):
                v = v + node.r.ravel() * DT * (arrives + bias(forward, name))
            else:
                tau = (node.tau if isinstance(node, nir.LIF) else node.tau_mem).ravel().astype(float)
                leak, r = node.v_leak.ravel().astype(float), node.r.ravel().astype(float)
                decay = np.exp(-DT / tau)
                if isinstance(node, nir.LIF):
                    current = own.get("arrived", 0.0)
                    v = leak + (v - leak) * decay + r * DT / tau * current + r * bias(forward, name) * (1 - decay)
                    own["arrived"] = arrives
                else:
                    tau_s, w_in = node.tau_syn.ravel().astype(float), node.w_in.ravel().astype(float)
                    i = own.setdefault("i", np.zeros(threshold.size))
                    share = np.expm1(DT * (1 / tau - 1 / tau_s)) / (1 / tau - 1 / tau_s) * decay / tau
                    v = leak + (v - leak) * decay + r * i * share + r * w_in * bias(forward, name) * (1 - decay)
                    own["i"] = i * np.exp(-DT / tau_s) + w_in * DT / tau_s * arrives
            z = v > threshold
            own["v"] = np.where(z, node.v_reset.ravel(), v)
            now[name] = z.astype(float)
            spikes[name] += [[step, int(neuron)] for neuron in np.flatnonzero(z)]
        fired = now
    return spikes


def bias(forward, name):
    return forward.get(name + ".bias", 0.0)


def write(name, graph, order, forward):
    nir.write(f"{name}.nir", graph)
    return simulate(graph, order, forward)


def f(*values):
    return np.array(values, dtype=np.float32)


expected = {}

# LIF neurons with a bias and a recurrent connection.
inputs, neurons = 5, 4
w = random.normal(0, 150, (neurons, inputs)).astype("f4")
recurrent = random.normal(0, 60, (neurons, neurons)).astype("f4")
b = f(0.5, 0, 0.2, -0.1)
graph = nir.NIRGraph(
    nodes={
        "input": nir.Input(input_type={"input": np.array([inputs])}),
        "affine": nir.Affine(weight=w, bias=b),
        "lif": nir.LIF(tau=f(0.02, 0.01, 0.015, 0.02), r=f(1, 1, 2, 1), v_leak=f(0, 0.1, 0, -0.1),
                       v_threshold=f(1, 1.2, 1, 0.8), v_reset=f(0, 0, -0.2, 0)),
        "recurrent": nir.Linear(weight=recurrent),
        "output": nir.Output(output_type={"output": np.array([neurons])}),
    },
    edges=[("input", "affine"), ("affine", "lif"), ("lif", "recurrent"), ("recurrent", "lif"), ("lif", "output")],
)
expected["lif"] = write("lif", graph, ["lif"], {
    "lif": lambda fired: w @ fired["input"] + recurrent @ fired["lif"], "lif.bias": b})

# CubaLIF neurons, which have synaptic currents, behind a scale.
s = random.uniform(0.5, 1.5, inputs).astype("f4")
w2 = random.normal(40, 150, (neurons, inputs)).astype("f4")
graph = nir.NIRGraph(
    nodes={
        "input": nir.Input(input_type={"input": np.array([inputs])}),
        "scale": nir.Scale(scale=s),
        "linear": nir.Linear(weight=w2),
        "cuba": nir.CubaLIF(tau_syn=f(0.005, 0.004, 0.003, 0.005), tau_mem=f(0.02, 0.01, 0.015, 0.02),
                            r=f(1, 1, 1, 1), v_leak=f(0, 0, 0, 0), v_threshold=f(1, 1, 1, 0.8),
                            v_reset=f(0, 0, 0.1, 0), w_in=f(1, 1.5, 1, 1)),
        "output": nir.Output(output_type={"output": np.array([neurons])}),
    },
    edges=[("input", "scale"), ("scale", "linear"), ("linear", "cuba"), ("cuba", "output")],
)
expected["cuba"] = write("cuba", graph, ["cuba"], {"cuba": lambda fired: w2 @ (s * fired["input"])})

# A convolution, pooling and a dense layer of neurons without a leak. r makes the jump by a spike equal to its weight.
kernel = random.integers(-2, 4, (2, 1, 3, 3)).astype("f4")
dense = random.integers(-1, 3, (3, 2 * 2 * 2)).astype("f4")
graph = nir.NIRGraph(
    nodes={
        "input": nir.Input(input_type={"input": np.array([1, 6, 6])}),
        "conv": nir.Conv2d(input_shape=(6, 6), weight=kernel, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1,
                           bias=np.zeros(2, "f4")),
        "if1": nir.IF(r=np.full((2, 4, 4), 1 / DT), v_threshold=np.full((2, 4, 4), 9.0), v_reset=np.zeros((2, 4, 4))),
        "pool": nir.SumPool2d(kernel_size=np.array([2, 2]), stride=np.array([2, 2]), padding=np.array([0, 0])),
        "flatten": nir.Flatten(input_type={"input": np.array([2, 2, 2])}, start_dim=0, end_dim=-1),
        "dense": nir.Linear(weight=dense),
        "if2": nir.IF(r=np.full(3, 1 / DT), v_threshold=np.full(3, 5.0), v_reset=np.zeros(3)),
        "output": nir.Output(output_type={"output": np.array([3])}),
    },
    edges=[("input", "conv"), ("conv", "if1"), ("if1", "pool"), ("pool", "flatten"), ("flatten", "dense"),
           ("dense", "if2"), ("if2", "output")],
)


def convolved(fired):
    picture = fired["input"].reshape(6, 6)
    return np.array([[[np.sum(kernel[c, 0] * picture[y:y + 3, x:x + 3]) for x in range(4)] for y in range(4)]
                     for c in range(2)]).ravel()


def pooled(fired):
    return dense @ fired["if1"].reshape(2, 2, 2, 2, 2).sum(axis=(2, 4)).ravel()


expected["conv"] = write("conv", graph, ["if1", "if2"], {"if1": convolved, "if2": pooled})

# A layer that never fires.
graph = nir.NIRGraph(
    nodes={
        "input": nir.Input(input_type={"input": np.array([2])}),
        "readout": nir.LI(tau=f(0.02, 0.02), r=f(1, 1), v_leak=f(0, 0)),
        "output": nir.Output(output_type={"output": np.array([2])}),
    },
    edges=[("input", "readout"), ("readout", "output")],
)
nir.write("li.nir", graph)

with open("spikes.json", "w") as file:
    json.dump(expected, file, separators=(",", ":"))
    file.write("\n")

# Edges from each of 100 neurons to the 1st and the 7th one after it, with increasing weights and delays of 1 to 3 ms.
source = np.repeat(np.arange(100), 2)
target = (source + np.tile([1, 7], 100)) % 100
weight = np.linspace(-1, 2, 200)
delay = np.tile([1.0, 2.0, 3.0, 1.0], 50)
np.savez("edges.npz", source=source, target=target.astype(">i4"), weight=weight.astype("f4"), delay=delay)
np.savez_compressed("compressed.npz", source=source.astype("u2"), target=target, weight=weight.astype("f4"), delay=delay)
table = pa.table({"source": source, "target": target.astype("i4"), "weight": weight.astype("f4"), "delay": delay,
                  "name": ["x"] * 200, "gap": [None, 1] * 100})
pq.write_table(table, "edges.parquet")
pq.write_table(table, "gzip.parquet", compression="gzip", row_group_size=64, version="1.0")
pq.write_table(table, "zstd.parquet", compression="zstd")
