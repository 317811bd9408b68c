"""Spiking networks: builders, files, runs, and spikes."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kvrm
from conftest import interrupt, turns_meanwhile
from kvrm import spiking
from kvrm.spiking import Builder, Feagi, Izhikevich, Lif, Network, Poisson, Simulation, networks
from kvrm.spiking.engine import EngineName

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "crates" / "kvrm" / "examples" / "networks"
GRAPHS = ROOT / "crates" / "spiking-formats" / "tests" / "files"


@pytest.fixture(scope="session", params=["reference", "parallel", "gpu"])
def burst_engine(request: pytest.FixtureRequest) -> spiking.OpenEngine:
    """Each engine."""
    return spiking.Engine(request.param).open()


def chain(neurons: int = 10, **options: Any) -> Network:
    """A network of FEAGI neurons, each of which makes the next one fire."""
    builder = Builder(1.0, **options)
    area = builder.population("area", neurons, Feagi())
    ends = np.arange(neurons - 1)
    builder.connect_list(area, area, ends, ends + 1, 1.0, 1.0)
    return builder.build()


def clock(neurons: int = 4) -> Network:
    """A network whose neurons fire in every step."""
    builder = Builder(1.0)
    builder.population("clock", neurons, Feagi(drive=1.0))
    return builder.build()


def mixed() -> Network:
    """A network with all models and both rules of learning."""
    builder = Builder(0.5, seed=3, fraction_bits=10, injection_limit=1024.0)
    cells = builder.population("cells", 40, Lif(tau_in=2.0, poisson_rate=8000, poisson_weight=3.5), potential=-60.0)
    slow = builder.population("slow", (5, 4, 1), Izhikevich(poisson_rate=1000, poisson_weight=6.0))
    sources = builder.population("sources", 10, Poisson(200.0))
    area = builder.population("area", 30, Feagi(threshold=2.0, leak=0.3, excitability=0.7, refractory=1))
    builder.connect(sources, cells, spiking.InDegree(3), spiking.Normal(8.0, 1.0), spiking.Uniform(0.5, 3.0))
    builder.connect(cells, slow, spiking.Probability(0.3), spiking.Uniform(-3.0, 3.0), 1.5)
    builder.connect(cells, cells, spiking.OutDegree(5), -4.0, spiking.Normal(1.5, 0.5, max=4.0), autapses=False)
    builder.connect(sources, area, spiking.AllToAll(), 1.0)
    builder.connect(area, area, spiking.Total(90), 1.0)
    builder.learn(sources, cells, (0.0, 20.0), spiking.Pair(2.0, 1.0, 10.0, 10.0))
    builder.learn(area, area, (0.0, 4.0), spiking.Window(2, 0.5, 0.25))
    return builder.build()


def recorded(network: Network, engine: spiking.OpenEngine | spiking.engine.EngineName = "reference") -> Simulation:
    simulation = Simulation(network, engine)
    simulation.record()
    return simulation


def test_engines_agree_bit_for_bit(burst_engine: spiking.OpenEngine) -> None:
    network = mixed()
    simulations = [recorded(network), recorded(network, burst_engine)]
    for simulation in simulations:
        simulation.inject("area", 3.0)
        simulation.inject_at([20, 40], [0, 1], [100.0, -1.5])
        simulation.run(50)
        simulation.set_drive("slow", 2.5)
        simulation.run(100)
    reference, other = simulations
    assert other.engine.name == burst_engine.choose(network).name == burst_engine.options.name
    assert other.state() == reference.state() and other.step == 150 and other.time == 75.0
    assert (other.spikes == reference.spikes).all() and len(other.spikes) > 500
    assert {spiking.SPIKE} == {other.spikes.dtype}
    # All populations fire, and weights have learned.
    assert (other.rates() > 0).all()
    assert (other.synapses().weights == reference.synapses().weights).all()
    assert (other.synapses().weights != network.synapses().weights).any()
    assert (other.sample() == reference.sample()).all()
    assert np.array_equal(other.potentials(), reference.potentials(), equal_nan=True)


# What `kvrm spike run FILE --steps 200 --json` prints: spikes, rate and cv of each population.
PRINTED: dict[str, list[tuple[int, float, float | None]]] = {
    "feagi": [(200, 1000.0, 0.0), (6180, 120.703125, 0.0), (6987, 136.46484375, 0.2966936261907076)],
    "balanced": [(299, 7.475, None), (87, 8.7, None)],
    "izhikevich": [(6489, 40.55625, 2.1322713722528555), (1747, 43.675, 2.145103957823124)],
}


@pytest.mark.parametrize("name", PRINTED)
def test_examples_fire_as_on_the_command_line(name: str) -> None:
    network = spiking.open(EXAMPLES / f"{name}.toml")
    simulation = recorded(network, "parallel")
    report = simulation.run(200)
    found = spiking.statistics(simulation.spikes, network, (0, 200))
    assert [row[2:5] for row in found] == PRINTED[name]
    assert [row.population for row in found] == [population.name for population in network.populations]
    assert simulation.rates().tolist() == pytest.approx([row[1] for row in PRINTED[name]])
    assert report.steps == 200 and "200 steps of" in str(report)


def test_the_gpu_runs_an_example() -> None:
    network = spiking.open(EXAMPLES / "feagi.toml")
    simulations = [recorded(network, "reference"), recorded(network, "gpu")]
    for simulation in simulations:
        simulation.run(60)
    assert (simulations[0].spikes == simulations[1].spikes).all()
    assert simulations[1].engine.device is not None and simulations[1].engine.threads is None


def test_a_builder_makes_the_network_of_the_example_burst() -> None:
    builder = Builder(1.0, seed=1)
    model = Feagi(threshold=3.0, refractory=2)
    areas = [builder.population(name, 100, model) for name in ("retina", "map", "muscle")]
    for source, target in zip(areas, areas[1:]):
        builder.connect(source, target, spiking.OutDegree(5), 2.0)
    simulation = recorded(builder.build(), "parallel")
    simulation.inject(range(0, 100, 3), 3)
    simulation.run(5)
    steps, counts = np.unique(simulation.spikes["step"], return_counts=True)
    # The example prints them. The last line is "step 4: 0 fired: []".
    assert steps.tolist() == [0, 1, 2] and counts[0] == 34


def test_a_builder_makes_the_networks_of_descriptions() -> None:
    builder = Builder(1.0)
    power = builder.population("power", 1, Feagi(drive=1.0))
    retina = builder.population("retina", (16, 16, 1), Feagi(threshold=20.0, leak=0.05, refractory=2))
    map_model = Feagi(threshold=12.0, leak=0.3, consecutive_limit=3, snooze=5, excitability=0.9)
    map = builder.population("map", (16, 16, 1), map_model)
    builder.connect(power, retina, spiking.AllToAll(), spiking.Uniform(1.0, 9.0))
    offsets = [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)]
    builder.connect(retina, map, spiking.Offsets(offsets), 5.0)
    builder.learn(retina, map, (1.0, 12.0), spiking.Window(2, ltp=1.0, ltd=0.0))
    assert builder.build() == spiking.open(EXAMPLES / "feagi.toml")

    builder = Builder(1.0, seed=1, fraction_bits=16)
    regular = Izhikevich(a=0.02, b=0.2, c=-65.0, d=8.0, poisson_rate=1000.0, poisson_weight=4.5)
    fast = Izhikevich(a=0.1, b=0.2, c=-65.0, d=2.0, poisson_rate=1000.0, poisson_weight=2.0)
    populations = [
        builder.population("regular", 800, regular, potential=-65.0),
        builder.population("fast", 200, [fast] * 200, potential=np.full(200, -65.0)),
    ]
    for source, weight in zip(populations, (spiking.Uniform(0.0, 0.5), spiking.Uniform(-1.0, 0.0))):
        for target in populations:
            builder.connect(source, target, spiking.AllToAll(), weight, 1.0)
    assert builder.build() == spiking.open(EXAMPLES / "izhikevich.toml")


def toml(value: object) -> str:
    return json.dumps(value)


@pytest.mark.parametrize(
    "model",
    [
        Feagi(
            threshold=2.5,
            threshold_limit=9.0,
            leak=0.2,
            refractory=3,
            excitability=0.5,
            consecutive_limit=4,
            snooze=5,
            charge_accumulation=False,
            psp=7,
            mp_driven_psp=True,
            psp_uniform=False,
            tick_always=True,
            drive=2.0,
        ),
        Lif(
            tau_m=11.0,
            tau_ex=0.6,
            tau_in=0.7,
            v_rest=-66.0,
            v_th=-51.0,
            v_reset=-64.0,
            t_ref=2.5,
            bias=0.5,
            poisson_rate=100.0,
            poisson_weight=2.5,
            drive=3.0,
        ),
        Izhikevich(
            a=0.03, b=0.25, c=-60.0, d=7.0, peak=25.0, bias=0.5, poisson_rate=100.0, poisson_weight=2.5, drive=3.0
        ),
        Poisson(rate=50.0),
    ],
)
def test_models_have_the_parameters_and_defaults_of_rust(model: spiking.Model) -> None:
    kind = type(model).__name__.lower()

    def described(options: dict[str, object]) -> Network:
        table = ", ".join(f"{name} = {toml(value)}" for name, value in options.items())
        text = f'dt = 0.5\nfraction_bits = 4\n[[population]]\nname = "cells"\nneurons = 3\n{kind} = {{ {table} }}'
        return spiking.describe(text)

    def built(model: spiking.Model) -> Network:
        builder = Builder(0.5, fraction_bits=4)
        builder.population("cells", 3, model)
        return builder.build()

    required: dict[str, object] = {"rate": 50.0} if isinstance(model, Poisson) else {}
    default = type(model)(**required)  # type: ignore[arg-type]
    assert built(default) == described(required)
    options = dataclasses.asdict(model)
    assert built(model) == described(options)
    for name, value in options.items():
        assert name in required or getattr(default, name) != value
        one = dataclasses.replace(default, **{name: value})
        assert built(one) == described(required | {name: value})
    assert built(model).populations[0].model == kind
    assert pickle.loads(pickle.dumps(model)) == model


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (spiking.OneToOne(), '"one-to-one"'),
        (spiking.AllToAll(), '"all-to-all"'),
        (spiking.Probability(0.4), "{ probability = 0.4 }"),
        (spiking.InDegree(3), "{ in-degree = 3 }"),
        (spiking.OutDegree(2), "{ out-degree = 2 }"),
        (spiking.Total(17), "{ total = 17 }"),
        (spiking.Offsets([(0, 1, 0), (-1, 0, 0)]), "{ offsets = [[0, 1, 0], [-1, 0, 0]] }"),
    ],
)
@pytest.mark.parametrize(
    ("weight", "weight_text"),
    [
        (2.5, "2.5"),
        (spiking.Normal(-2.0, 0.5), "{ mean = -2.0, std = 0.5 }"),
        (spiking.Uniform(1.0, 3.0), "{ low = 1.0, high = 3.0 }"),
    ],
)
@pytest.mark.parametrize(
    ("delay", "delay_text"),
    [
        (spiking.Steps(1), ""),
        (1.5, "delay = 1.5"),
        (spiking.Normal(1.5, 0.5, max=3.0), "delay = { mean = 1.5, std = 0.5, max = 3.0 }"),
        (spiking.Uniform(0.5, 2.0), "delay = { low = 0.5, high = 2.0 }"),
    ],
)
def test_projections_are_those_of_descriptions(
    rule: spiking.ConnectionRule,
    text: str,
    weight: spiking.Weight,
    weight_text: str,
    delay: spiking.Delay,
    delay_text: str,
) -> None:
    builder = Builder(0.1, seed=5, fraction_bits=8)
    cells = builder.population("cells", (4, 3, 1), Lif())
    # A fixed number of synapses always allows several between two neurons.
    multapses = isinstance(rule, spiking.Total)
    builder.connect(cells, cells, rule, weight, delay, autapses=False, multapses=multapses)
    builder.learn(cells, cells, (-5.0, 5.0), spiking.Pair(0.5, 0.75, 20.0, 10.0))
    described = f"""
dt = 0.1
seed = 5
fraction_bits = 8
[[population]]
name = "cells"
dimensions = [4, 3, 1]
lif = {{}}
[[projection]]
source = "cells"
target = "cells"
rule = {text}
weight = {weight_text}
{delay_text}
autapses = false
multapses = {toml(multapses)}
[projection.learn.pair]
weights = [-5.0, 5.0]
potentiation = 0.5
depression = 0.75
tau_plus = 20.0
tau_minus = 10.0
"""
    assert builder.build() == spiking.describe(described)


def test_a_table_can_be_the_exponential_rule() -> None:
    def learning(rule: spiking.PlasticityRule) -> Network:
        builder = Builder(1.0)
        area = builder.population("area", 3, Feagi())
        builder.connect(area, area, spiking.AllToAll(), 3.0)
        builder.learn(area, area, (0.0, 500.0), rule)
        return builder.build()

    def table(amount: float, tau: float) -> list[float]:
        return [0.0, *(round(amount * math.exp(-step / tau)) for step in range(1, 64))]

    pair = learning(spiking.Pair(100.0, 120.0, 20.0, 10.0))
    assert learning(spiking.PairTable(table(100, 20), table(120, 10))) == pair and pair.learns
    with pytest.raises(kvrm.Error, match="number of amounts of a pair rule is 3, expected 64"):
        learning(spiking.PairTable([1.0] * 3, table(120, 10)))


def test_synapses_are_arrays_that_make_the_network_again() -> None:
    network = spiking.open(EXAMPLES / "balanced.toml")
    synapses = network.synapses()
    assert network.synapse_count == len(synapses.sources) == 625_000
    assert set(synapses.weights[synapses.sources < 2000]) == {8.0} and set(synapses.delays) == {1.5}
    inhibitory = network.synapses("inhibitory")
    assert inhibitory.sources.min() == 2000 and set(inhibitory.weights) == {-40.0}
    assert len(network.synapses(range(5)).targets) == (synapses.sources < 5).sum()
    assert network.synapses(7).sources.tolist() == [7] * (synapses.sources == 7).sum()

    small = networks.vogels_abbott(neurons=100, probability=0.1)
    builder = Builder(small.dt, seed=small.seed, fraction_bits=small.fraction_bits)
    cells = builder.population("cells", 100, Lif())
    builder.connect_list(cells, cells, *small.synapses())
    again, before = builder.build().synapses(), small.synapses()
    assert (again.sources == before.sources).all() and (again.targets == before.targets).all()
    assert (again.weights == before.weights).all() and (again.delays == before.delays).all()


def test_a_network_says_what_it_is() -> None:
    network = mixed()
    assert (network.dt, network.seed, network.fraction_bits, network.injection_limit) == (0.5, 3, 10, 1024.0)
    assert network.neurons == 100 and network.max_delay == 4.0 and network.learns
    assert network.population("slow") == spiking.Population(1, "slow", "izhikevich", range(40, 60), (5, 4, 1))
    assert repr(network).startswith("Network(100 neurons, ")
    with pytest.raises(kvrm.Error, match="there is no population 'fast', only cells, slow, sources, area"):
        network.population("fast")


def test_networks_and_states_are_pickled_and_saved(tmp_path: Path) -> None:
    network = mixed()
    assert pickle.loads(pickle.dumps(network)) == network and network != chain() and network != 3
    network.save(tmp_path / "network.safetensors")
    assert spiking.open(tmp_path / "network.safetensors") == network
    assert (tmp_path / "network.safetensors").read_bytes() == network.to_bytes()
    simulation = Simulation(network, "reference")
    simulation.run(20)
    state = simulation.state()
    assert pickle.loads(pickle.dumps(state)) == state and state.step == 20
    state.save(tmp_path / "state.safetensors")
    assert spiking.State.load(tmp_path / "state.safetensors", network) == state
    engine = pickle.loads(pickle.dumps(spiking.Engine("reference").open()))
    assert engine.choose(network).name == "reference"
    with pytest.raises(kvrm.Error, match="network"):
        Network.from_bytes(b"nothing")
    with pytest.raises(kvrm.Error, match="cannot read"):
        spiking.State.load(tmp_path / "no such file", network)


def test_a_state_continues_on_another_engine(burst_engine: spiking.OpenEngine) -> None:
    network = mixed()
    first, second = recorded(network), recorded(network, burst_engine)
    first.run(30)
    second.set_state(first.state())
    assert second.step == 30 and len(second.spikes) == 0
    first.take_spikes()
    first.run(30)
    second.run(30)
    assert first.state() == second.state() and (first.spikes == second.spikes).all()
    assert (first.rates() == second.rates()).all()
    with pytest.raises(kvrm.Error, match="the state does not match the network: columns has 400 elements"):
        Simulation(chain(), "reference").set_state(first.state())


def test_parts_of_a_run_change_nothing(burst_engine: spiking.OpenEngine) -> None:
    network = mixed()
    whole, parts = recorded(network, burst_engine), recorded(network, burst_engine)
    for simulation in (whole, parts):
        simulation.inject_at(np.arange(100), 3, 5.0)
    whole.run(100)
    for steps in (1, 0, 15, 16, 17, 51):
        assert parts.run(steps).steps == steps
    assert whole.state() == parts.state() and (whole.spikes == parts.spikes).all()


def test_input_arrives_where_and_when_it_should(burst_engine: spiking.OpenEngine) -> None:
    simulation = recorded(chain(), burst_engine)
    simulation.inject(8, 1)
    simulation.inject_at([2, 3, 3], [5, 0, 0], [1.0, 1.0, 0.0])
    simulation.run(5)
    fired = [(0, 8), (1, 9), (2, 5), (3, 0), (3, 6), (4, 1), (4, 7)]
    assert simulation.spikes.tolist() == fired
    simulation.take_spikes()
    simulation.set_drive("area", 1)
    simulation.run(1)
    assert (simulation.spikes["step"] == 5).all() and simulation.spikes["neuron"].tolist() == list(range(10))
    simulation.set_drive(simulation.network.populations[0], 0)
    simulation.set_drive(0, 0)
    simulation.run(1)
    assert len(simulation.spikes) < 20


def test_wrong_input_is_refused_and_nothing_is_injected() -> None:
    simulation = recorded(chain(injection_limit=2.0))
    simulation.run(3)
    with pytest.raises(kvrm.Error, match="there is no neuron 10: there are 10, numbered from 0"):
        simulation.inject([1, 10], 1)
    with pytest.raises(kvrm.Error, match="there is no neuron -1"):
        simulation.inject(-1, 1)
    with pytest.raises(kvrm.Error, match=r"the injections into neuron 2 in step 3 add up to 3, expected -2 to 2"):
        simulation.inject([1, 2, 2], [1, 1, 2])
    with pytest.raises(kvrm.Error, match="step of an injection is 2, expected 3 or later"):
        simulation.inject_at([3, 2], [1, 2], 1)
    with pytest.raises(kvrm.Error, match="drive is 5, expected at most 2 weight units"):
        simulation.set_drive("area", 5)
    with pytest.raises(kvrm.Error, match="there is no population 1: there are 1"):
        simulation.set_drive(1, 1)
    with pytest.raises(kvrm.Error, match="there is no population -1"):
        simulation.set_drive(-1, 1)
    with pytest.raises(kvrm.Error, match="injection is NaN, expected less than 2147483648 in magnitude"):
        simulation.inject(0, math.nan)
    with pytest.raises(ValueError, match="step -1"):
        simulation.inject_at(-1, 0, 1)
    with pytest.raises(TypeError, match="expected integers"):
        simulation.inject([0.5], 1)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="steps -1"):
        simulation.run(-1)
    simulation.run(5)
    assert len(simulation.spikes) == 0 and simulation.step == 8


def test_lost_spikes_are_an_error_after_all_steps(burst_engine: spiking.OpenEngine) -> None:
    simulation = Simulation(clock(), burst_engine)
    with pytest.raises(kvrm.Error, match=r"no spikes are recorded: call record\(\)"):
        simulation.spikes  # noqa: B018
    simulation.record(10)
    text = "392 spikes were not recorded: the recorder holds 8 and has room for 10"
    with pytest.raises(kvrm.RecordingOverflow, match=text):
        simulation.run(100)
    assert simulation.step == 100 and simulation.lost_spikes == 392
    assert simulation.spikes["step"].tolist() == [0] * 4 + [1] * 4
    assert len(simulation.take_spikes()) == 8 and simulation.lost_spikes == 0
    simulation.run(2)
    assert len(simulation.spikes) == 8
    with pytest.raises(kvrm.RecordingOverflow):
        simulation.sample()
    assert simulation.lost_spikes == 4 and simulation.step == 103


def test_some_neurons_are_recorded(burst_engine: spiking.OpenEngine) -> None:
    network = mixed()
    everything, some = recorded(network, burst_engine), Simulation(network, burst_engine)
    some.record(neurons="slow")
    for simulation in (everything, some):
        simulation.run(100)
    spikes = everything.spikes
    in_slow = (spikes["neuron"] >= 40) & (spikes["neuron"] < 60)
    assert (some.spikes == spikes[in_slow]).all() and in_slow.any()
    some.record(neurons=slice(3, 5))
    some.run(50)
    assert set(some.spikes["neuron"]) <= {3, 4}
    with pytest.raises(ValueError, match="consecutive"):
        some.record(neurons=[1, 3])
    with pytest.raises(kvrm.Error, match="there is no neuron 100"):
        some.record(neurons=range(90, 101))


def test_a_sample_has_places_and_potentials() -> None:
    simulation = recorded(spiking.open(EXAMPLES / "feagi.toml"))
    simulation.run(5)
    samples = np.concatenate([simulation.sample("retina") for _ in range(20)])
    assert samples.dtype == spiking.SAMPLE and len(samples) > 100 and simulation.step == 25
    assert (samples["population"] == 1).all() and (samples["potential"] >= 20).all()
    places = samples["x"] + 16 * samples["y"] + 256 * samples["z"]
    assert (places + 1 == samples["neuron"]).all()
    retina = simulation.spikes[(simulation.spikes["neuron"] >= 1) & (simulation.spikes["neuron"] <= 256)]
    assert (retina[retina["step"] >= 5][["step", "neuron"]] == samples[["step", "neuron"]]).all()
    assert np.isnan(recorded(mixed()).sample("sources")["potential"]).all()


def test_potentials_have_their_units() -> None:
    builder = Builder(0.1, fraction_bits=10)
    builder.population("lif", 2, Lif(), potential=[-60.0, -65.0])
    builder.population("izhikevich", 1, Izhikevich(), potential=-70.5)
    builder.population("feagi", 1, Feagi(), potential=0.25)
    builder.population("poisson", 1, Poisson(1.0))
    potentials = Simulation(builder.build(), "reference").potentials()
    assert potentials[:4].tolist() == [5.0, 0.0, -70.5, 0.25] and np.isnan(potentials[4])


def test_a_network_changes_between_steps(burst_engine: spiking.OpenEngine) -> None:
    simulation = recorded(chain(3), burst_engine)
    simulation.run(1)
    simulation.change(
        [
            spiking.AddPopulation("more", (2, 1, 1), Feagi(threshold=5.0)),
            spiking.AddSynapse(2, 3, weight=5.0, delay=2.0),
            spiking.AddSynapse(3, 4, weight=5.0, delay=1.0),
            spiking.SetWeight(0, 1, weight=2.0, delay=1.0),
            spiking.SetParameters(1, Feagi(threshold=2.0)),
        ]
    )
    simulation.inject(0, 1)
    simulation.run(6)
    assert simulation.spikes.tolist() == [(1, 0), (2, 1), (3, 2), (5, 3), (6, 4)]
    assert simulation.network.neurons == 5 and simulation.network.synapses(0).weights.tolist() == [2.0]
    simulation.change(spiking.RemoveSynapse(0, 1, delay=1.0))
    assert simulation.network.synapse_count == 3
    with pytest.raises(kvrm.Error, match="there is no synapse from neuron 0 to neuron 1 with a delay of 1 steps"):
        simulation.change(spiking.RemoveSynapse(0, 1, delay=1.0))


def test_wrong_parameters_are_refused_with_the_text_of_rust() -> None:
    builder = Builder(0.1)
    cells = builder.population("cells", 5, Lif())
    other = Builder(0.1).population("other", 5, Lif())
    with pytest.raises(kvrm.Error, match="tau_m is -1, expected more than 0 ms"):
        builder.population("x", 1, Lif(tau_m=-1.0))
    with pytest.raises(kvrm.Error, match="refractory is 70000, expected a whole number from 0 to 65535"):
        builder.population("x", 1, Feagi(refractory=70000))
    with pytest.raises(kvrm.Error, match="width is -1, expected a whole number from 0 to 4294967295"):
        builder.population("x", -1, Feagi())
    with pytest.raises(TypeError, match="leak: must be real number, not str"):
        builder.population("x", 1, Feagi(leak="much"))  # type: ignore[arg-type]
    with pytest.raises(kvrm.Error, match='population "x": 2 models for 3 neurons: expected one for each'):
        builder.population("x", 3, [Lif(), Lif()])
    with pytest.raises(kvrm.Error, match="model is Feagi, expected Lif, the model of the population"):
        builder.population("x", 2, [Lif(), Feagi()])
    with pytest.raises(kvrm.Error, match="initial potential is 5065"):
        builder.population("x", 2, Lif(), [-60.0, 5000.0])
    with pytest.raises(ValueError, match=r"neurons \(2, 2\): expected a number, or a width"):
        builder.population("x", (2, 2), Lif())  # type: ignore[arg-type]
    with pytest.raises(kvrm.Error, match='population "x": 2 potentials for 3 neurons'):
        builder.population("x", 3, Lif(), [-60.0, -61.0])
    with pytest.raises(kvrm.Error, match="the population belongs to another builder"):
        builder.connect(cells, other, spiking.AllToAll())
    with pytest.raises(kvrm.Error, match="probability is 1.5, expected 0 to 1"):
        builder.connect(cells, cells, spiking.Probability(1.5))
    with pytest.raises(kvrm.Error, match="delay is 0, expected 1 to 65535 steps of 0.1 ms"):
        builder.connect(cells, cells, spiking.AllToAll(), 1.0, 0)
    with pytest.raises(kvrm.Error, match="weight is 3000000000, expected less than 2147483648 in magnitude"):
        builder.connect(cells, cells, spiking.AllToAll(), 3e9)
    with pytest.raises(kvrm.Error, match="there is no neuron 5: there are 5"):
        builder.connect_list(cells, cells, [0, 5], [1, 1], 1.0, 1.0)
    with pytest.raises(kvrm.Error, match="there is no neuron -1"):
        builder.connect_list(cells, cells, [0, 1], [1, -1], 1.0, 1.0)
    with pytest.raises(kvrm.Error, match="delay is 0, expected 1 to 65535 steps"):
        builder.connect_list(cells, cells, [0, 1], [1, 1], 1.0, 0.0)
    with pytest.raises(ValueError, match="broadcast"):
        builder.connect_list(cells, cells, [0, 1], [1, 1, 1], 1.0, 1.0)
    with pytest.raises(TypeError, match="sources of type float64: expected integers"):
        builder.connect_list(cells, cells, [0.5], [1], 1.0, 1.0)
    with pytest.raises(kvrm.Error, match="tau_plus is 0, expected more than 0 ms"):
        builder.learn(cells, cells, (0, 1), spiking.Pair(1, 1, 0.0, 1.0))
    with pytest.raises(TypeError, match="expected a longest delay, max"):
        builder.connect(cells, cells, spiking.AllToAll(), 1.0, spiking.Normal(1.0, 1.0))
    with pytest.raises(TypeError, match="connection rule 'all': expected one of OneToOne"):
        builder.connect(cells, cells, "all")  # type: ignore[arg-type]
    # What was refused has left nothing behind.
    network = builder.build()
    assert (network.neurons, network.synapse_count, network.learns) == (5, 0, False)
    with pytest.raises(kvrm.Error, match="the builder has built its network"):
        builder.build()
    with pytest.raises(kvrm.Error, match="fraction bits is 21, expected 0 to 20"):
        Builder(0.1, fraction_bits=21).population("x", 1, Lif())


@pytest.mark.parametrize(
    ("name", "adapter", "text"),
    [
        ("cuda", None, 'engine "cuda": expected one of auto, gpu, parallel, reference'),
        ("parallel", "0", 'adapter needs a GPU, but engine "parallel" is the CPU'),
        ("gpu", "no such GPU", "no such GPU"),
    ],
)
def test_engines_are_checked(name: Any, adapter: str | None, text: str) -> None:
    with pytest.raises(kvrm.Error, match=text):
        Simulation(chain(), name, adapter=adapter)


def test_auto_says_what_it_has_chosen() -> None:
    choice = Simulation(chain(), "auto").engine
    assert choice.name in ("gpu", "parallel")
    assert (choice.fallback is None) == (choice.name == "gpu") and (choice.device is None) == (choice.name != "gpu")


def test_files_and_descriptions_are_checked(tmp_path: Path) -> None:
    with pytest.raises(kvrm.Error, match="cannot read"):
        spiking.open(tmp_path / "none.toml")
    with pytest.raises(kvrm.Error, match="expected the extension .toml, .safetensors or .nir, found .txt"):
        spiking.open(tmp_path / "network.txt")
    with pytest.raises(kvrm.Error) as error:
        spiking.describe("dt = 0.1\n[[population]]\nname = 'x'\nneurons = -1\nlif = {}\n")
    expected = "`neurons` is -1, expected a whole number from 0 to 4294967294"
    assert str(error.value) == f"description.toml: line 4: {expected}"


def test_a_description_names_an_edge_list(tmp_path: Path) -> None:
    edges = tmp_path / "edges.npz"
    np.savez(edges, source=np.arange(4), target=np.arange(1, 5), synapses=np.array([1, 2, 3, 4]))
    text = f"""
dt = 1.0
[[population]]
name = "cells"
neurons = 5
feagi = {{}}
[[edges]]
file = {toml(str(edges))}
weight = "synapses"
delay = 2.0
"""
    synapses = spiking.describe(text).synapses()
    assert synapses.targets.tolist() == [1, 2, 3, 4]
    assert synapses.weights.tolist() == [1, 2, 3, 4] and synapses.delays.tolist() == [2.0] * 4


@pytest.mark.parametrize("name", ["lif", "cuba", "conv"])
def test_graphs_of_nir_fire_as_in_floating_point(name: str) -> None:
    import nir

    network = spiking.from_nir(nir.read(GRAPHS / f"{name}.nir"))
    assert network == spiking.open(GRAPHS / f"{name}.nir") and network.dt == 0.1
    simulation = recorded(network)
    inputs = network.population("input").neurons
    steps, places = np.meshgrid(np.arange(400), np.arange(len(inputs)))
    fires = (5 * places + 3 * steps) % 13 < 2
    simulation.inject_at(steps[fires], inputs.start + places[fires], 1.0)
    simulation.run(400)
    expected = json.loads((GRAPHS / "spikes.json").read_text())[name]
    for layer, spikes in expected.items():
        neurons = network.population(layer).neurons
        own = simulation.spikes[np.isin(simulation.spikes["neuron"], neurons)]
        found = [[int(step), int(neuron) - neurons.start] for step, neuron in own.tolist()]
        assert found == spikes and len(spikes) > 50


def test_a_graph_of_nir_is_made_in_python() -> None:
    import nir

    def graph(layer: nir.NIRNode) -> nir.NIRGraph:
        nodes = {
            "input": nir.Input(np.array([2])),
            "linear": nir.Linear(np.array([[3.0, 0.0], [0.0, 0.5]])),
            "layer": layer,
            "output": nir.Output(np.array([2])),
        }
        return nir.NIRGraph(nodes, [("input", "linear"), ("linear", "layer"), ("layer", "output")])

    threshold = np.ones(2)
    network = spiking.from_nir(graph(nir.IF(np.full(2, 1000.0), threshold)), dt=1.0)
    assert [population.name for population in network.populations] == ["input", "layer"] and network.dt == 1.0
    simulation = recorded(network)
    simulation.inject("input", 1)
    simulation.run(3)
    assert simulation.spikes.tolist() == [(0, 0), (0, 1), (1, 2)]
    with pytest.raises(kvrm.Error, match=r"^graph.nir: node `layer` \(LI\): expected a supported node"):
        spiking.from_nir(graph(nir.LI(np.ones(2), np.ones(2), np.zeros(2))))


def test_networks_of_the_literature_are_built() -> None:
    circuit = networks.microcircuit(scale=0.005)
    names = ["L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I"]
    assert [population.name for population in circuit.populations] == names
    assert circuit != networks.microcircuit(scale=0.005, background="constant")
    assert networks.vogels_abbott().synapse_count == 319_864
    assert networks.balanced(neurons=200, synapses=20).synapse_count == 4000
    assert networks.hpc_benchmark(scale=0.01).synapse_count == 113 * 11_250
    assert networks.fly(neurons=1000).populations[1].model == "poisson"
    area = networks.feagi(neurons=1000, synapses=5)
    simulation = recorded(area, "parallel")
    simulation.inject_at(*networks.feagi_input(area.neurons, 0.02, steps=10))
    simulation.run(10)
    assert np.unique(simulation.spikes["step"], return_counts=True)[1].tolist() == [20] * 10
    with pytest.raises(kvrm.Error, match="scale is 2, expected more than 0 and at most 1"):
        networks.microcircuit(scale=2)
    with pytest.raises(kvrm.Error, match='background "none": expected "poisson" or "constant"'):
        networks.microcircuit(scale=0.01, background="none")  # type: ignore[arg-type]


def test_rates_over_time_are_those_of_bins() -> None:
    network = clock()
    simulation = recorded(network)
    simulation.run(10)
    assert spiking.rates(simulation.spikes, network, "clock", (0, 10), 4.0).tolist() == [1000.0] * 3
    assert simulation.rates(5).tolist() == [1000.0]
    empty = np.empty(0, spiking.SPIKE)
    assert spiking.rates(empty, network, network.populations[0], (0, 10), 5.0).tolist() == [0.0, 0.0]


def test_a_raster_is_drawn(tmp_path: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    network = spiking.open(EXAMPLES / "feagi.toml")
    simulation = recorded(network)
    simulation.run(50)
    figure, axes = pyplot.subplots()
    assert spiking.raster(simulation.spikes, network, axes) is axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["power", "retina", "map"]
    drawn = sum(np.size(line.get_xdata()) for line in axes.lines)
    assert drawn == len(simulation.spikes) and axes.get_ylim() == (512.5, -0.5)
    figure.savefig(tmp_path / "raster.png")
    assert (tmp_path / "raster.png").stat().st_size > 5000
    pyplot.close(figure)
    axes = spiking.raster(simulation.spikes, network, populations=["map"], neurons=100)
    assert axes.get_ylim() == (85.5, -0.5) and axes.get_xlabel() == "time (ms)"
    pyplot.close()


def test_without_matplotlib_the_error_says_what_to_install() -> None:
    script = """
import sys
import threading
from collections.abc import Iterator
sys.modules["matplotlib"] = None
import numpy, kvrm.spiking as spiking
network = spiking.networks.feagi(10, 1)
try:
    spiking.raster(numpy.empty(0, spiking.SPIKE), network)
except ImportError as error:
    print(error)
"""
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert output.stdout == "plots need matplotlib: pip install kvrm[plot]\n"


def test_progress_is_seen_and_ends_a_run() -> None:
    simulation = recorded(mixed())
    seen: list[spiking.Progress] = []

    def progress(now: spiking.Progress) -> bool:
        seen.append(now)
        return now.steps < 1000

    report = simulation.run(1_000_000, progress)
    assert report.steps == seen[-1].steps == simulation.step and 1000 <= report.steps < 1_000_000
    assert seen[0].of == 1_000_000
    other = recorded(mixed())
    other.run(report.steps)
    assert other.state() == simulation.state()


def test_an_exception_of_a_callback_ends_a_run() -> None:
    simulation = Simulation(mixed(), "reference")
    with pytest.raises(ZeroDivisionError):
        simulation.run(1_000_000, lambda now: 1 // (now.of - 1_000_000))
    with pytest.raises(kvrm.Error, match="the simulation is at work for another call"):
        simulation.run(1_000_000, lambda now: simulation.step == 0)
    assert 0 < simulation.step < 1_000_000


def test_a_bar_shows_progress(capsys: pytest.CaptureFixture[str]) -> None:
    assert Simulation(clock(), "reference").run(300, progress=True).steps == 300
    assert "300/300" in capsys.readouterr().err


def test_other_threads_run_meanwhile() -> None:
    simulation = Simulation(mixed(), "reference")
    assert turns_meanwhile(lambda: simulation.run(3000)) > 10


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_a_run_and_keeps_the_state() -> None:
    script = """
from kvrm.spiking import Simulation, networks
simulation = Simulation(networks.vogels_abbott(), "parallel")
simulation.record()
print("begins", flush=True)
try:
    simulation.run(1 << 40)
except KeyboardInterrupt:
    steps = simulation.step
    assert 0 < steps < 1 << 40 and simulation.state().step == steps
    other = Simulation(networks.vogels_abbott(), "parallel")
    other.record()
    other.run(steps)
    assert other.state() == simulation.state() and (other.spikes == simulation.spikes).all()
    assert simulation.run(10).steps == 10
    print("ended")
"""
    assert interrupt(script, 1) == (0, "ended\n")


def test_a_sweep_yields_results_in_order_and_uses_all_engines() -> None:
    meet = threading.Barrier(3)
    used: set[int] = set()

    def first_spikes(seed: int, engine: spiking.OpenEngine) -> tuple[int, bytes]:
        if len(used) < 3:
            meet.wait(60)  # only if three points run at the same time
            used.add(id(engine))
        simulation = Simulation(networks.vogels_abbott(neurons=200 + 20 * seed, seed=seed), engine)
        simulation.record()
        simulation.run(300)
        return seed, simulation.spikes.tobytes()

    engines: list[EngineName] = ["reference", "parallel", "reference"]
    results = list(spiking.sweep(first_spikes, range(12), engines))
    assert [seed for seed, _ in results] == list(range(12)) and len(used) == 3
    assert results == list(spiking.sweep(first_spikes, range(12), ["reference"]))
    assert len({spikes for _, spikes in results}) == 12


def test_a_sweep_reads_points_a_few_ahead_and_ends_with_the_first_failure() -> None:
    read: list[int] = []

    def points() -> Iterator[int]:
        for point in range(1000):
            read.append(point)
            yield point

    def run(point: int, _: spiking.OpenEngine) -> int:
        return 10 // (point - 5)

    results = spiking.sweep(run, points(), ["reference"] * 2)
    assert [next(results) for _ in range(5)] == [10 // (point - 5) for point in range(5)]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert len(read) <= 5 + 2 * 4 + 1
    with pytest.raises(ValueError, match="engines: expected at least one"):
        spiking.sweep(run, [1], [])


def test_gpus_are_selected_for_a_sweep() -> None:
    (gpu,) = spiking.gpus([0])
    assert gpu == spiking.Engine("gpu", "0")

    def run(seed: int, engine: spiking.OpenEngine) -> bytes:
        simulation = Simulation(networks.vogels_abbott(neurons=200, seed=seed), engine)
        simulation.record()
        simulation.run(100)
        return simulation.spikes.tobytes()

    assert list(spiking.sweep(run, [1, 2], [gpu])) == list(spiking.sweep(run, [1, 2], ["reference"]))
    with pytest.raises(kvrm.Error, match='"0" selects no GPUs'):
        spiking.gpus(0)
    with pytest.raises(kvrm.EngineError, match="999"):
        spiking.gpus([999])
