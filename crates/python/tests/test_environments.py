"""Environments: steps, episodes, and their form for Gymnasium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

import kvrm
import kvrm.environments
from conftest import DOOM, GUESTS
from kvrm.environments import Batch, Environments, VariableType

CATCH = Path(GUESTS).parent / "environments" / "bin" / "catch.elf"
"""A game: balls fall, and a paddle catches them."""
VARIABLES: dict[str, tuple[VariableType, str]] = {
    "ball x": ("int32", "catch_ball_x"),
    "ball y": ("int32", "catch_ball_y"),
    "paddle": ("int32", "catch_paddle_x"),
}
ROWS = 12


def catch(lanes: int, engine: Any = "reference", **options: Any) -> Environments:
    program = kvrm.Program.open(CATCH)
    return Environments(program, lanes=lanes, engine=engine, arguments=["0"], variables=VARIABLES, **options)


def follow(batch: Batch) -> NDArray[Any]:
    """Actions that move the paddle below the ball."""
    move = np.sign(batch.variables["ball x"] - batch.variables["paddle"])
    return np.stack([move, np.zeros_like(move)], axis=1)


def test_a_paddle_that_follows_the_ball_catches_it(engine: kvrm.OpenEngine) -> None:
    environments = catch(5, engine, format="index")
    assert [(c.name, c.low, c.high) for c in environments.components] == [("move", -1, 1), ("wait", 0, 1)]
    assert environments.shape == (48, 64, 1)
    batch = environments.reset()
    assert (batch.variables["ball y"] == 0).all() and batch.observations.shape == (5, 48, 64, 1)
    for step in range(1, ROWS):
        batch = environments.step(follow(batch))
        is_over = step == ROWS - 1
        assert batch.terminations.tolist() == [is_over] * 5 and not batch.truncations.any()
        assert batch.rewards.tolist() == [1.0 if is_over else 0.0] * 5
    first = environments.step(follow(batch))
    assert (first.variables["ball y"] == 0).all() and not first.terminations.any()


def test_observations_show_ball_and_paddle() -> None:
    environments = catch(3, format="index", downscale=2)
    batch = environments.reset()
    for _ in range(5):
        batch = environments.step(follow(batch))
        for lane in range(3):
            picture = batch.observations[lane, :, :, 0]
            ball = batch.variables["ball y"][lane], batch.variables["ball x"][lane]
            paddle = batch.variables["paddle"][lane]
            expected = np.zeros((ROWS, 16), np.uint8)
            expected[ROWS - 1, paddle - 1 : paddle + 2] = 2
            expected[ball] = 1
            assert (picture == expected).all()


def test_engines_and_ways_to_receive_give_the_same_results(engine: kvrm.OpenEngine) -> None:
    generator = np.random.default_rng(7)
    all_actions = np.stack([generator.integers(-1, 2, (40, 6)), generator.integers(0, 2, (40, 6))], axis=2)
    expected = catch(6, seed=3)
    expected.reset()
    batches = [expected.step(actions) for actions in all_actions]
    steps = [(b.rewards, b.terminations, {n: v.copy() for n, v in b.variables.items()}) for b in batches]

    environments = catch(6, engine, seed=3)
    environments.reset()
    taken = np.zeros(6, int)
    environments.send(all_actions[0])
    while (taken < 40).any():
        busy = int((taken < 40).sum())
        batch = environments.receive(min(2, busy))
        for index, lane in enumerate(batch.lanes):
            rewards, terminations, variables = steps[taken[lane]]
            assert batch.rewards[index] == rewards[lane]
            assert batch.terminations[index] == terminations[lane]
            assert all(batch.variables[name][index] == values[lane] for name, values in variables.items())
        taken[batch.lanes] += 1
        again = batch.lanes[taken[batch.lanes] < 40]
        environments.send(all_actions[taken[again], again], again)


def test_the_memory_of_observations_is_used_again_after_two_steps() -> None:
    environments = catch(2, format="index")
    first = environments.reset().observations
    kept = first.copy()
    second = environments.step([[1, 0]] * 2).observations
    assert (first == kept).all() and not np.shares_memory(first, second)
    third = environments.step([[1, 0]] * 2).observations
    assert np.shares_memory(first, third)
    assert (np.from_dlpack(third) == third).all()


def test_some_lanes_begin_episodes_with_seeds_and_scenarios() -> None:
    environments = catch(4)
    environments.reset()
    batch = environments.reset([2, 0], seeds=[5, 9], scenarios=[2, 1])
    assert batch.lanes.tolist() == [0, 2]
    again = environments.reset([2, 0], seeds=[5, 9])
    assert (batch.variables["ball x"] == again.variables["ball x"]).all()


@pytest.mark.parametrize(
    ("actions", "error", "text"),
    [
        ([[1, 0]], kvrm.Error, "2 numbers for the actions of 2 lanes: expected 2 for each lane"),
        ([[1, 0], [2, 0]], kvrm.Error, "the action of lane 1 has move = 2: expected -1 to 1"),
        ([[1.0, 0.0], [0.0, 0.0]], TypeError, "expected integers"),
    ],
)
def test_wrong_actions_are_refused(actions: Any, error: type[Exception], text: str) -> None:
    environments = catch(2)
    environments.reset()
    with pytest.raises(error, match=text):
        environments.step(actions)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(kvrm.Error, match='format "cmyk": expected one of rgb, grey, index'):
        catch(1, format="cmyk")
    with pytest.raises(kvrm.Error, match="no variable 'nothing'"):
        Environments(kvrm.Program.open(CATCH), arguments=["0"], variables={"n": ("int32", "nothing")})
    with pytest.raises(kvrm.Error, match="no component 'jump' of actions: expected one of move, wait"):
        catch(1, components=["jump"])
    with pytest.raises(TypeError, match="no option 'argument'"):
        Environments(kvrm.Program.open(CATCH), argument=["0"])
    with pytest.raises(kvrm.Error, match="the program is no environment"):
        Environments(kvrm.Program.open(GUESTS / "sieve.elf"))
    with pytest.raises(kvrm.Error, match="still taking a step"):
        environments = catch(1)
        environments.reset()
        environments.send([[0, 0]])
        environments.step([[0, 0]])


def test_gymnasium_makes_environments_by_their_name() -> None:
    vector = gymnasium.make_vec(
        "kvrm/Program-v0", num_envs=3, program=str(CATCH), arguments=["0"], engine="reference", variables=VARIABLES
    )
    observations, infos = vector.reset(seed=4)
    assert vector.observation_space.contains(observations)
    assert infos["action_mask"]["move"].shape == (3, 3) and infos["ball y"].tolist() == [0, 0, 0]
    vector.action_space.seed(1)
    for _ in range(30):
        actions = vector.action_space.sample()
        observations, rewards, terminations, truncations, infos = vector.step(actions)
        assert vector.observation_space.contains(observations)
        assert rewards.shape == terminations.shape == truncations.shape == (3,)
    again, _ = vector.reset(seed=4)
    other, _ = vector.reset(seed=[4, 5, 6])  # type: ignore[arg-type]  # Gymnasium types only one
    assert (again == other).all()
    partial, _ = vector.reset(seed=4, options={"reset_mask": np.array([False, True, False])})
    assert (partial[1] == again[1]).all() and not partial[0].any()
    vector.close()


def test_other_libraries_see_observations_without_a_copy() -> None:
    batch = catch(3, format="index").reset()
    seen = np.from_dlpack(batch.observations)
    assert seen.shape == batch.observations.shape and np.shares_memory(seen, batch.observations)


@pytest.mark.skipif(not DOOM.exists(), reason="the game is not built")
def test_doom_is_an_environment() -> None:
    vector = gymnasium.make_vec("kvrm/Doom-v0", num_envs=2, engine="jit", variables=["health", "x"])
    observations, infos = vector.reset()
    assert observations.shape == (2, 100, 160, 1) and infos["health"].tolist() == [100, 100]
    assert observations.std() > 10
