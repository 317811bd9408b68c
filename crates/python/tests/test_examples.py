"""The examples, in a short form."""

from __future__ import annotations

import numpy as np

import actor_critic
import kvrm
import ray_data


def test_a_dataset_has_the_results_of_one_machine(cluster: None) -> None:
    rows = ray_data.sort(250, workers=2, size=30, batch=100).sort("seed").take_all()
    arguments = [["30", str(seed)] for seed in range(250)]
    machine = kvrm.Machine(kvrm.Program.open(ray_data.GUEST), lanes=250, engine="jit", arguments=arguments)
    machine.run()
    assert [row["seed"] for row in rows] == list(range(250))
    assert [row["output"].encode() for row in rows] == machine.outputs()
    assert [row["steps"] for row in rows] == machine.registers["steps"].tolist()
    assert {row["stop"] for row in rows} == {"exit with status 0"}


def test_the_actor_critic_learns_and_can_be_repeated(cluster: None) -> None:
    train = actor_critic.train
    returns = [value for _, value in train(workers=2, lanes=64, updates=240, engine="jit")]
    assert np.mean(returns[:20]) < -0.4 and np.mean(returns[-20:]) > np.mean(returns[:20]) + 0.3
    again = [value for _, value in train(workers=2, lanes=64, updates=20, engine="jit")]
    assert returns[:20] == again
