"""Runs a network of `kvrm spike bench` in NEST or Brian2 and prints the measured times as a line of JSON.

    simulators.py nest|brian2 NETWORK SCALE THREADS SECONDS

NEST is GPL: it is only measured, and nothing links it. The unit of currents in this file is mV: the asymptotic shift of
the potential. With tau_m / C_m as the resistance, that is the current of the simulators.
"""

import json
import sys
import time

NAMES = ["L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I"]
NEURONS = [20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948]
PROBABILITIES = [
    [0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0.0, 0.0076, 0.0],
    [0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0.0, 0.0042, 0.0],
    [0.0077, 0.0059, 0.0497, 0.135, 0.0067, 0.0003, 0.0453, 0.0],
    [0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0.0, 0.1057, 0.0],
    [0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0.0],
    [0.0548, 0.0269, 0.0257, 0.0022, 0.06, 0.3158, 0.0086, 0.0],
    [0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252],
    [0.0364, 0.001, 0.0034, 0.0005, 0.0277, 0.008, 0.0658, 0.1443],
]
EXTERNAL = [1600, 1500, 2100, 1900, 2000, 1900, 2900, 2100]
RATES = [0.971, 2.868, 4.746, 5.396, 8.142, 9.078, 0.991, 7.523]
POTENTIALS = [(-68.28, 5.36), (-63.16, 4.57), (-63.33, 4.74), (-63.45, 4.94), (-63.11, 4.94), (-61.66, 4.55),
              (-66.72, 5.46), (-61.43, 4.48)]
SETTLE = 100.0  # ms of simulated time before the measurement, as in `kvrm spike bench`


def microcircuit(nest, scale):
    """Potjans and Diesmann (2014), scaled as the reference implementation does."""
    import numpy as np

    tau_m, tau_s, c_m = 10.0, 0.5, 250.0
    pa = c_m / tau_m  # pA per mV
    peak = np.log(tau_m / tau_s) / (1 / tau_s - 1 / tau_m)
    jump = pa * 0.15 / (tau_s / (tau_m - tau_s) * (np.exp(-peak / tau_m) - np.exp(-peak / tau_s)))
    root = np.sqrt(scale)

    def weight(target, source):
        return (2 if (target, source) == (0, 2) else 1) * jump if source % 2 == 0 else -4 * jump

    def synapses(target, source):
        pairs = NEURONS[target] * NEURONS[source]
        return np.log1p(-PROBABILITIES[target][source]) / np.log1p(-1 / pairs)

    populations = []
    for target in range(8):
        inner = sum(weight(target, source) * synapses(target, source) * RATES[source] for source in range(8))
        inner /= NEURONS[target]
        outer = jump * EXTERNAL[target] * 8
        bias = tau_s / 1000 * (1 - root) * (inner + outer)
        population = nest.Create("iaf_psc_exp", round(NEURONS[target] * scale), {
            "tau_m": tau_m, "tau_syn_ex": tau_s, "tau_syn_in": tau_s, "C_m": c_m, "E_L": -65.0, "V_th": -50.0,
            "V_reset": -65.0, "t_ref": 2.0, "I_e": bias})
        mean, std = POTENTIALS[target]
        population.V_m = nest.random.normal(mean, std)
        noise = nest.Create("poisson_generator", params={"rate": EXTERNAL[target] * scale * 8.0})
        nest.Connect(noise, population, "all_to_all", {"weight": jump / root, "delay": 0.1})
        populations.append(population)
    for source in range(8):
        for target in range(8):
            total = round(synapses(target, source) * scale * scale)
            if total == 0:
                continue
            mean, delay = weight(target, source) / root, 1.5 if source % 2 == 0 else 0.75
            low, high = (0, np.inf) if mean > 0 else (-np.inf, 0)
            nest.Connect(populations[source], populations[target], {"rule": "fixed_total_number", "N": total}, {
                "weight": nest.math.redraw(nest.random.normal(mean, 0.1 * abs(mean)), low, high),
                "delay": nest.math.redraw(nest.random.normal(delay, delay / 2), 0.05, 6.4)})
    return dict(zip(NAMES, populations))


VOGELS_ABBOTT = {"tau_m": 20.0, "tau_ex": 5.0, "tau_in": 10.0, "E_L": -49.0, "V_th": -50.0, "V_reset": -60.0,
                 "t_ref": 5.0, "delay": 0.8, "probability": 0.02}


def vogels_abbott_weights(neurons):
    share = min(80 / (neurons * VOGELS_ABBOTT["probability"]), 1)
    return 1.62 * share, -9.0 * share


def vogels_abbott(nest, scale):
    p = VOGELS_ABBOTT
    neurons = round(4000 * scale)
    sizes = [neurons - neurons // 5, neurons // 5]
    populations = []
    for size in sizes:
        population = nest.Create("iaf_psc_exp", size, {
            "tau_m": p["tau_m"], "C_m": p["tau_m"], "tau_syn_ex": p["tau_ex"], "tau_syn_in": p["tau_in"],
            "E_L": p["E_L"], "V_th": p["V_th"], "V_reset": p["V_reset"], "t_ref": p["t_ref"]})
        population.V_m = nest.random.uniform(-60.0, -50.0)
        populations.append(population)
    for source, weight in zip(populations, vogels_abbott_weights(neurons)):
        for target in populations:
            nest.Connect(source, target, {"rule": "pairwise_bernoulli", "p": p["probability"], "allow_autapses": False},
                         {"weight": weight, "delay": p["delay"]})
    return dict(zip(["excitatory", "inhibitory"], populations))


def balanced(nest, scale):
    neurons, synapses = round(10000 * scale), 1000
    shift = 20.0 / synapses
    jump = shift * 20.0 / 2.0
    populations = []
    for size in [neurons - neurons // 5, neurons // 5]:
        population = nest.Create("iaf_psc_exp", size, {
            "tau_m": 20.0, "C_m": 20.0, "tau_syn_ex": 2.0, "tau_syn_in": 2.0, "E_L": 0.0, "V_m": 0.0, "V_th": 20.0,
            "V_reset": 10.0, "t_ref": 2.0})
        noise = nest.Create("poisson_generator", params={"rate": 2 * 20 / shift / 20.0 * 1000})
        nest.Connect(noise, population, "all_to_all", {"weight": jump, "delay": 0.1})
        populations.append(population)
    for source, weight in zip(populations, [jump, -5 * jump]):
        for target, part in zip(populations, [synapses - synapses // 5, synapses // 5]):
            nest.Connect(source, target, {"rule": "fixed_outdegree", "outdegree": part},
                         {"weight": weight, "delay": 1.5})
    return dict(zip(["excitatory", "inhibitory"], populations))


def run_nest(network, scale, threads, seconds):
    import nest

    nest.verbosity = nest.VerbosityLevel.ERROR
    nest.ResetKernel()
    nest.set(resolution=0.1, local_num_threads=threads, rng_seed=55, print_time=False)
    begin = time.perf_counter()
    populations = {"microcircuit": microcircuit, "vogels-abbott": vogels_abbott, "balanced": balanced}[network](nest, scale)
    nest.Prepare()
    build = time.perf_counter() - begin
    begin = time.perf_counter()
    nest.Run(SETTLE)
    guess = SETTLE * seconds / (time.perf_counter() - begin)
    length = max(round(guess / 10) * 10.0, 10.0)
    all_seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        nest.Run(length)
        all_seconds.append(time.perf_counter() - begin)
    nest.Cleanup()
    # Recorders cost time, so spikes are counted in a separate run.
    recorder = nest.Create("spike_recorder")
    for population in populations.values():
        nest.Connect(population, recorder, syn_spec={"delay": nest.min_delay})
    nest.Simulate(length)
    neurons = sum(len(population) for population in populations.values())
    return {"version": nest.__version__, "neurons": neurons, "build_seconds": build, "all_seconds": all_seconds,
            "ms": length, "rate": recorder.n_events / neurons / length * 1000}


def run_brian2(network, scale, threads, seconds):
    import brian2 as b
    import numpy as np

    if network != "vogels-abbott":
        return {"skipped": "not written for Brian2"}
    b.prefs.codegen.target = "cython"
    b.defaultclock.dt = 0.1 * b.ms
    b.seed(55)
    begin = time.perf_counter()
    p = VOGELS_ABBOTT
    neurons = round(4000 * scale)
    names = {"tau_m": p["tau_m"] * b.ms, "tau_e": p["tau_ex"] * b.ms, "tau_i": p["tau_in"] * b.ms, "rest": p["E_L"] * b.mV}
    cells = b.NeuronGroup(
        neurons, "dv/dt = (ge + gi - (v - rest)) / tau_m : volt (unless refractory)\ndge/dt = -ge / tau_e : volt\n"
        "dgi/dt = -gi / tau_i : volt", threshold=f"v > {p['V_th']}*mV", reset=f"v = {p['V_reset']}*mV",
        refractory=p["t_ref"] * b.ms, method="exact", namespace=names)
    cells.v = (-60 + 10 * np.random.default_rng(55).random(neurons)) * b.mV
    excitatory, inhibitory = vogels_abbott_weights(neurons)
    first = neurons - neurons // 5
    parts = []
    for source, action in [(cells[:first], f"ge += {excitatory}*mV"), (cells[first:], f"gi += {inhibitory}*mV")]:
        synapses = b.Synapses(source, cells, on_pre=action, delay=p["delay"] * b.ms)
        synapses.connect(condition="i != j", p=p["probability"])
        parts.append(synapses)
    net = b.Network(cells, *parts)
    net.run(1 * b.ms)  # compiles the code
    build = time.perf_counter() - begin
    begin = time.perf_counter()
    net.run(SETTLE * b.ms)
    length = max(round(SETTLE * seconds / (time.perf_counter() - begin) / 10) * 10.0, 10.0)
    all_seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        net.run(length * b.ms)
        all_seconds.append(time.perf_counter() - begin)
    monitor = b.SpikeMonitor(cells, record=False)
    net.add(monitor)
    net.run(length * b.ms)
    return {"version": b.__version__, "neurons": neurons, "build_seconds": build, "all_seconds": all_seconds,
            "ms": length, "rate": monitor.num_spikes / neurons / length * 1000}


if __name__ == "__main__":
    simulator, network, scale, threads, seconds = sys.argv[1:6]
    run = {"nest": run_nest, "brian2": run_brian2}[simulator]
    print(json.dumps(run(network, float(scale), int(threads), float(seconds))))
