"""Weights of networks, and engines that use them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kvrm
from conftest import WEIGHTS

DISPATCH_SHAPES = {
    "embedding.weight": (256, 32),
    "fc1.weight": (32, 44),
    "fc1.bias": (32,),
    "fc2.weight": (16, 32),
    "fc2.bias": (16,),
    "fc3.weight": (7, 16),
    "fc3.bias": (7,),
}


def test_the_flat_form_is_all_tensors_in_order() -> None:
    values = np.arange(10_279, dtype=np.float32)
    weights = kvrm.Weights.from_flat("dispatch", values)
    assert weights.architecture == "dispatch"
    assert {name: tensor.shape for name, tensor in weights.tensors.items()} == DISPATCH_SHAPES
    assert (weights.values == values).all() and weights.values.dtype == np.float32
    assert (np.concatenate([tensor.ravel() for tensor in weights.tensors.values()]) == values).all()
    # The order of named tensors does not matter.
    tensors = dict(reversed(weights.tensors.items()))
    for again in (kvrm.Weights.from_tensors(tensors), kvrm.Weights.from_tensors(tensors, "dispatch")):
        assert again.architecture == "dispatch" and (again.values == values).all()
    # Arrays of any memory order and type.
    tensors["fc1.weight"] = np.asfortranarray(tensors["fc1.weight"])
    doubles = {name: np.float64(tensor) for name, tensor in tensors.items()}
    assert (kvrm.Weights.from_tensors(doubles).values == values).all()


def test_files_and_pickles_have_the_same_weights(tmp_path: Path) -> None:
    weights = kvrm.Weights.load(WEIGHTS / "small-dispatch.safetensors")
    assert (weights.values == kvrm.Weights.builtin("small-dispatch").values).all()
    weights.save(tmp_path / "a.safetensors")
    copies = [kvrm.Weights.load(tmp_path / "a.safetensors"), pickle.loads(pickle.dumps(weights))]
    for copy in copies:
        assert copy.architecture == "small-dispatch" and (copy.values == weights.values).all()


def test_files_are_converted(tmp_path: Path) -> None:
    weights = kvrm.Weights.builtin("small-dispatch")
    paths = [tmp_path / name for name in ("a.npz", "a.npy", "a.safetensors")]
    weights.save(paths[0])
    assert set(np.load(paths[0]).files) == set(weights.tensors)
    for source, target, flat in [(paths[0], paths[1], True), (paths[1], paths[2], False)]:
        assert (kvrm.networks.convert(source, target, "small-dispatch", flat=flat).values == weights.values).all()
    assert (np.load(paths[1]) == weights.values).all()
    assert (kvrm.Weights.load(paths[2]).values == weights.values).all()
    # Names of another program, and half precision.
    first = next(iter(weights.tensors))
    renamed: dict[str, Any] = {f"net/{name}" if name == first else name: value for name, value in weights.tensors.items()}
    np.savez(paths[0], **renamed)
    again = kvrm.Weights.load(paths[0], names={f"net/{first}": first})
    assert (again.values == weights.values).all()
    again.save(paths[2], "float16")
    assert (kvrm.Weights.load(paths[2]).values == weights.values.astype(np.float16)).all()
    with pytest.raises(kvrm.Error, match="a name in .npy, .npz or .safetensors"):
        weights.save(tmp_path / "a.pt")
    with pytest.raises(kvrm.Error, match='dtype "float64": expected one of float32, float16'):
        weights.save(paths[2], "float64")  # type: ignore[arg-type]
    with pytest.raises(kvrm.Error, match="a tensor to rename"):
        kvrm.Weights.load(paths[0], names={"other": first})


def test_wrong_weights_are_refused(tmp_path: Path) -> None:
    flat = kvrm.Weights.from_flat
    with pytest.raises(kvrm.Error, match="expected 135 values for small-dispatch, found 134"):
        flat("small-dispatch", [0.0] * 134)
    with pytest.raises(ValueError, match=r"shape \(1, 135\): expected one dimension"):
        flat("small-dispatch", [[0.0] * 135])
    with pytest.raises(TypeError, match="expected numbers"):
        flat("small-dispatch", ["one"] * 135)
    with pytest.raises(kvrm.Error, match='architecture "dispatcher": expected one of|unknown architecture'):
        flat("dispatcher", [0.0])  # type: ignore[arg-type]
    for value, text in [(float("nan"), "NaN"), (float("inf"), "inf"), (1e300, "inf")]:
        values = [0.0] * 135
        values[70] = value
        with pytest.raises(kvrm.Error, match=f"`fc1.bias`: expected finite values .* found {text} at index 6"):
            flat("small-dispatch", values)
    tensors = kvrm.Weights.builtin("dispatch").tensors
    turned = {**tensors, "fc1.weight": tensors["fc1.weight"].T}
    with pytest.raises(kvrm.Error, match=r"`fc1.weight`: expected \[32, 44\] in dispatch, found \[44, 32\]"):
        kvrm.Weights.from_tensors(turned, "dispatch")
    fewer = {name: tensor for name, tensor in tensors.items() if name != "fc2.bias"}
    with pytest.raises(kvrm.Error, match=r"`fc2.bias`: expected \[16\] in dispatch, found no such tensor"):
        kvrm.Weights.from_tensors(fewer)
    with pytest.raises(kvrm.Error, match="`fc4.weight`"):
        kvrm.Weights.from_tensors({**tensors, "fc4.weight": [1.0]}, "dispatch")
    with pytest.raises(kvrm.Error, match="no such file"):
        kvrm.Weights.load(tmp_path / "no such file")


def test_engines_refuse_weights_that_they_would_not_use() -> None:
    dispatch, detector = kvrm.Weights.builtin("dispatch"), kvrm.Weights.builtin("loop-detector")
    with pytest.raises(kvrm.Error, match='weights are for a class_selection other than "table"'):
        kvrm.Engine("gpu", weights=dispatch).open()
    with pytest.raises(kvrm.Error, match="the weights are of a loop-detector network"):
        kvrm.Engine("gpu", class_selection="network", weights=detector).open()
    with pytest.raises(kvrm.Error, match='loop_weights need loops "networks", not "checker"'):
        kvrm.Engine("jit", loops="checker", loop_weights=[detector]).open()
    with pytest.raises(kvrm.Error, match="the weights are of a dispatch network, but loops need"):
        kvrm.Engine("jit", loops="networks", loop_weights=[dispatch]).open()
    with pytest.raises(kvrm.Error, match='prefetch_weights are for prefetch "oracle", not "stride"'):
        kvrm.Engine("gpu", device_memory=1 << 30, prefetch="stride", prefetch_weights=detector).open()
    with pytest.raises(kvrm.Error, match="expected those of a memory oracle, found those of loop-detector"):
        kvrm.Engine("gpu", device_memory=1 << 30, prefetch="oracle", prefetch_weights=detector).open()
    large = kvrm.Weights.from_flat("iteration-predictor", np.full(25_473, 65_520))
    with pytest.raises(kvrm.Error, match="the iteration-predictor network .* weight 0 is 65520, .* half precision"):
        kvrm.Engine("jit", loops="networks", loop_weights=[large]).open()


def test_engines_take_weights_and_paths() -> None:
    weights = (
        kvrm.Weights.builtin("pattern-recogniser"),
        WEIGHTS / "loop-detector.safetensors",
        str(WEIGHTS / "iteration-predictor.safetensors"),
    )
    engine = kvrm.Engine("jit", loops="networks", loop_weights=weights).open()
    copy = pickle.loads(pickle.dumps(engine))
    assert copy.options.loop_weights[0].architecture == "pattern-recogniser"


@pytest.mark.parametrize("is_random", [False, True])
def test_weights_of_loops_are_asked_and_change_no_result(is_random: bool) -> None:
    # movz x0, #0x200, lsl #32; add x1, x1, #2; subs x0, x0, #1; b.ne to the addition
    words = [0xD2C04000, 0x91000821, 0xF1000400, 0x54FFFFC1]
    detector = kvrm.Weights.builtin("loop-detector")
    if is_random:
        values = np.random.default_rng(1).normal(size=1_083_397)
        detector = kvrm.Weights.from_flat("loop-detector", values)
    engine = kvrm.Engine("jit", loops="networks", loop_weights=[detector])
    machine = kvrm.Machine(kvrm.Program.from_words(words), engine=engine)
    report = machine.run(1 << 34)
    assert report.steps == 1 << 34
    assert machine.registers["x1"].tolist() == [((1 << 34) - 1) // 3 * 2]
    loops = report.loops
    assert loops is not None and (loops["mode"], loops["advised"]) == ("networks", 1)
    # The weights that come with KVRM know that it is a countdown.
    assert loops["disagreed"] == is_random
