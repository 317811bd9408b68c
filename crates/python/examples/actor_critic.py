"""Learns a game with an asynchronous actor-critic on Ray, in the manner of Sample Factory: workers play while the learner learns.

Each worker steps a vector environment of Gymnasium with the policy that it got last. The learner takes their rollouts in turn, so a
run can be repeated exactly. A rollout was played by an older policy than the one that learns from it; V-trace (Espeholt et al. 2018,
arXiv:1802.01561, section 4) corrects that. The policy is a small network in NumPy, in whose place any framework can be used.

It needs `pip install 'kvrm[ray,environments]'`. The game is `guests/environments/catch.c`: a ball falls, and a paddle of three cells
should catch it. A random policy gets about -0.6 for each ball, a perfect one 1.

    python examples/actor_critic.py --workers 2 --lanes 256 --updates 400
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import ray
from numpy.typing import NDArray

GUEST = Path(__file__).parents[3] / "guests" / "environments" / "bin" / "catch.elf"

Floats = NDArray[np.float32]
Parameters = dict[str, Floats]

DISCOUNT = 0.99
ENTROPY = 0.01
"""The weight of the entropy of the policy in the loss."""
LEARNING_RATE = 5e-3


def make(lanes: int, engine: str) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Makes the environments. An observation has 12 rows and 16 columns of cells: 0 for nothing, 1 for the ball, 2 for the paddle."""
    options: dict[str, Any] = {"arguments": ["0"], "components": ["move"], "format": "index", "downscale": 2}
    return gymnasium.make_vec("kvrm.environments:kvrm/Program-v0", num_envs=lanes, program=str(GUEST), engine=engine, **options)


@dataclass(frozen=True)
class Rollout:
    """Some steps in all lanes of a worker."""

    observations: NDArray[np.uint8]
    """Shape: steps + 1, lanes, cells."""
    actions: NDArray[np.int64]
    """Shape: steps, lanes. The same for all that follow."""
    log_probabilities: Floats
    """Those of the actions, under the policy that has played."""
    rewards: Floats
    ends: NDArray[np.bool_]
    """Whether the step has ended an episode."""
    is_played: NDArray[np.bool_]
    """False for steps that only begin an episode: their actions are ignored."""

    @property
    def mean_return(self) -> float:
        """The mean sum of the rewards of an episode."""
        return float(self.rewards.sum() / max(self.ends.sum(), 1))


class Policy:
    """A network with one hidden layer, which returns the logits of actions and the value of the observation."""

    def __init__(self, cells: int, actions: int, hidden: int = 64, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)

        def matrix(rows: int, columns: int, scale: float) -> Floats:
            return rng.normal(0, scale, (rows, columns)).astype(np.float32)

        self.parameters: Parameters = {
            "hidden weight": matrix(cells, hidden, 0.3),  # most cells are 0
            "hidden bias": np.zeros(hidden, np.float32),
            # The last column is the value.
            "head weight": matrix(hidden, actions + 1, 0.1 * hidden**-0.5),
            "head bias": np.zeros(actions + 1, np.float32),
        }
        # The moments of Adam (Kingma and Ba 2015, arXiv:1412.6980).
        self._moments = {name: np.zeros((2, *value.shape), np.float32) for name, value in self.parameters.items()}
        self._updates = 0

    def learn(self, rollout: Rollout) -> None:
        """Takes a step along the gradient."""
        cells, hidden, logs, values = forward(self.parameters, rollout.observations)
        logs, probabilities = logs[:-1], np.exp(logs[:-1])
        chosen = rollout.actions[..., None]
        ratios = np.exp(np.take_along_axis(logs, chosen, -1)[..., 0] - rollout.log_probabilities)
        targets, advantages = v_trace(rollout, values, np.where(rollout.is_played, ratios, 0))

        # The gradient of the loss by logits and values: of the policy, its entropy, and the squared error of the value.
        weight = np.float32(1 / max(rollout.is_played.sum(), 1)) * rollout.is_played
        is_chosen = np.arange(probabilities.shape[-1]) == chosen
        entropy = -(probabilities * logs).sum(-1, keepdims=True)
        by_logits = advantages[..., None] * (probabilities - is_chosen) + ENTROPY * probabilities * (logs + entropy)
        by_head = np.concatenate([by_logits, (values[:-1] - targets)[..., None]], -1) * weight[..., None]
        by_head = by_head.reshape(-1, by_head.shape[-1])
        cells, hidden = (layer[:-1].reshape(len(by_head), -1) for layer in (cells, hidden))
        by_hidden = by_head @ self.parameters["head weight"].T * (1 - hidden**2)
        self._descend(
            {
                "hidden weight": cells.T @ by_hidden,
                "hidden bias": by_hidden.sum(0),
                "head weight": hidden.T @ by_head,
                "head bias": by_head.sum(0),
            }
        )

    def _descend(self, gradients: Parameters) -> None:
        """Takes a step of Adam."""
        self._updates += 1
        for name, gradient in gradients.items():
            first, second = self._moments[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            mean, variance = first / (1 - 0.9**self._updates), second / (1 - 0.999**self._updates)
            # Workers may still have the old array.
            self.parameters[name] = self.parameters[name] - np.float32(LEARNING_RATE) * mean / (np.sqrt(variance) + 1e-8)


def forward(parameters: Parameters, observations: NDArray[np.uint8]) -> tuple[Floats, Floats, Floats, Floats]:
    """Returns the input, the hidden layer, the logarithms of the probabilities of actions, and the values."""
    cells = observations.astype(np.float32)
    hidden = np.tanh(cells @ parameters["hidden weight"] + parameters["hidden bias"])
    head = hidden @ parameters["head weight"] + parameters["head bias"]
    logits = head[..., :-1] - head[..., :-1].max(-1, keepdims=True)
    return cells, hidden, logits - np.log(np.exp(logits).sum(-1, keepdims=True)), head[..., -1]


def v_trace(rollout: Rollout, values: Floats, ratios: Floats) -> tuple[Floats, Floats]:
    """Returns the targets of the values, and the advantages of the actions.

    The ratios are the probabilities of the actions under the policy that learns, divided by those under the one that has played; they
    are cut off at 1. Where a ratio is 0, the target is the value itself.
    """
    discounts = np.where(rollout.ends, 0, np.float32(DISCOUNT))
    clipped = np.minimum(ratios, 1)
    errors = clipped * (rollout.rewards + discounts * values[1:] - values[:-1])
    corrections = np.zeros_like(values)
    for step in reversed(range(len(errors))):
        corrections[step] = errors[step] + discounts[step] * clipped[step] * corrections[step + 1]
    targets = values + corrections
    return targets[:-1], clipped * (rollout.rewards + discounts * targets[1:] - values[:-1])


class Worker:
    """Plays in the lanes of a machine."""

    def __init__(self, number: int, lanes: int, engine: str) -> None:
        self._environments = make(lanes, engine)
        self._rng = np.random.default_rng(number)
        observations, _ = self._environments.reset(seed=number * lanes)
        self._observations = observations.reshape(lanes, -1)
        self._has_ended = np.zeros(lanes, bool)

    def play(self, parameters: Parameters, steps: int) -> Rollout:
        """Takes some steps in each lane, from where the last call has ended."""
        rows = list(self._steps(parameters, steps))
        columns = [np.stack(column) for column in zip(*rows, strict=True)]
        observations = np.concatenate([columns[0], self._observations[None]])
        return Rollout(observations, *columns[1:])

    def _steps(self, parameters: Parameters, steps: int) -> Iterator[tuple[NDArray[Any], ...]]:
        for _ in range(steps):
            observations, is_played = self._observations, ~self._has_ended
            _, _, logs, _ = forward(parameters, observations)
            # The largest of logarithm and Gumbel noise has the distribution of the policy.
            actions = (logs + self._rng.gumbel(size=logs.shape)).argmax(-1)
            log_probabilities = np.take_along_axis(logs, actions[:, None], -1)[:, 0]
            least = self._environments.single_action_space.start[0]  # type: ignore[attr-defined]
            after, rewards, terminations, truncations, _ = self._environments.step(actions[:, None] + least)
            self._observations, self._has_ended = after.reshape(len(actions), -1), terminations | truncations
            yield observations, actions, log_probabilities, rewards.astype(np.float32), self._has_ended, is_played


def train(
    workers: int = 2, lanes: int = 256, updates: int = 400, steps: int = 24, engine: str = "auto"
) -> Iterator[tuple[Policy, float]]:
    """Yields the policy after each update, and the mean return of the episodes from which it has learned."""
    space = make(1, "reference")
    policy = Policy(int(np.prod(space.single_observation_space.shape or ())), int(space.single_action_space.nvec[0]))  # type: ignore[attr-defined]
    remote: Any = ray.remote(Worker)
    players = [remote.remote(number, lanes, engine) for number in range(workers)]
    rollouts = [player.play.remote(policy.parameters, steps) for player in players]
    for update in range(updates):
        number = update % workers
        rollout = ray.get(rollouts[number])
        rollouts[number] = players[number].play.remote(policy.parameters, steps)
        policy.learn(rollout)
        yield policy, rollout.mean_return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--lanes", type=int, default=256, help="of each worker")
    parser.add_argument("--updates", type=int, default=400)
    parser.add_argument("--engine", default="auto")
    arguments = parser.parse_args()
    returns = []
    for _, value in train(arguments.workers, arguments.lanes, arguments.updates, engine=arguments.engine):
        returns.append(value)
        if len(returns) % 20 == 0:
            print(f"{len(returns):>6} updates: mean return {np.mean(returns[-20:]):.3f}", flush=True)


if __name__ == "__main__":
    main()
