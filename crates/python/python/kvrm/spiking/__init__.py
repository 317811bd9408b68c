"""Runs networks of spiking neurons, on a GPU or on the CPU, with exactly the same spikes on both.

Amounts are in the unit of weights: FEAGI's units, or mV. Delays and other times are in ms. Results are NumPy arrays.

>>> from kvrm.spiking import Builder, Lif, OutDegree, Simulation, Uniform
>>> builder = Builder(0.1, seed=7, fraction_bits=16)  # steps of 0.1 ms, weights in multiples of 2^-16 mV
>>> cells = builder.population("cells", 100, Lif(poisson_rate=8000, poisson_weight=3.5))
>>> builder.connect(cells, cells, OutDegree(10), weight=Uniform(0.5, 1.5), delay=1.5)
>>> simulation = Simulation(builder.build(), engine="parallel")
>>> simulation.record()
>>> report = simulation.run(1000)
>>> simulation.spikes["neuron"].max() < 100
np.True_
"""

from . import networks
from .builder import Builder, PopulationId
from .changes import AddPopulation, AddSynapse, Change, RemoveSynapse, SetParameters, SetWeight
from .engine import Engine, EngineChoice, OpenEngine
from .files import describe, from_nir, open
from .models import Feagi, Izhikevich, Lif, Model, Poisson
from .network import Network, Population, Synapses
from .plasticity import Pair, PairTable, PlasticityRule, Window
from .plot import raster
from .projections import (
    AllToAll,
    ConnectionRule,
    Delay,
    InDegree,
    Normal,
    Offsets,
    OneToOne,
    OutDegree,
    Probability,
    Steps,
    Total,
    Uniform,
    Weight,
)
from .simulation import Progress, Report, Simulation
from .spikes import SAMPLE, SPIKE, Statistics, rates, statistics
from .state import State
from .sweep import gpus, sweep

__all__ = [
    "SAMPLE",
    "SPIKE",
    "AddPopulation",
    "AddSynapse",
    "AllToAll",
    "Builder",
    "Change",
    "ConnectionRule",
    "Delay",
    "Engine",
    "EngineChoice",
    "Feagi",
    "InDegree",
    "Izhikevich",
    "Lif",
    "Model",
    "Network",
    "Normal",
    "Offsets",
    "OneToOne",
    "OpenEngine",
    "OutDegree",
    "Pair",
    "PairTable",
    "PlasticityRule",
    "Poisson",
    "Population",
    "PopulationId",
    "Probability",
    "Progress",
    "RemoveSynapse",
    "Report",
    "SetParameters",
    "SetWeight",
    "Simulation",
    "State",
    "Statistics",
    "Steps",
    "Synapses",
    "Total",
    "Uniform",
    "Weight",
    "Window",
    "describe",
    "from_nir",
    "gpus",
    "networks",
    "open",
    "raster",
    "rates",
    "statistics",
    "sweep",
]
