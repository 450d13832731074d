# SPDX-License-Identifier: Apache-2.0
"""Our formats inside a torch model of your own. Needs torch; everything else needs numpy alone."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np
import torch  # type: ignore[import]
from torch import nn

from . import _arrays, checkpoint
from .errors import BadConfig, InvalidArgument

__all__ = ["QuantizedLinear", "Wrapped", "fake_quantize", "load_checkpoint", "save_checkpoint", "wrap"]


def _array(x: Any) -> Any:
    """The memory of a tensor on the CPU, or a copy of what lies elsewhere or otherwise."""
    return x.detach().cpu().contiguous().numpy()


class _FakeQuantize(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, x: Any, quantizer: str) -> Any:  # pylint: disable=arguments-differ
        values = _array(x)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(torch.from_numpy(_arrays.inside(values, quantizer)).to(x.device))
        return torch.from_numpy(_arrays.quantize(values, quantizer)).to(x.device)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Tuple[Any, None]:  # pylint: disable=arguments-differ
        return grad * ctx.saved_tensors[0], None


def fake_quantize(x: Any, quantizer: str) -> Any:
    """The quantized values of a float32 tensor, bit for bit ours; scales lie along its last axis.

    The gradient passes straight through, and is zero where a value is clipped: beyond the largest value of the grid by
    more than half its distance from the one before (docs/numerics.md, Training through quantizers).

    >>> x = torch.tensor([0.3, 1.9], requires_grad=True)
    >>> y = fake_quantize(x, "mxint4")
    >>> y.sum().backward()
    >>> y.tolist(), x.grad.tolist()
    ([0.25, 1.75], [1.0, 0.0])
    """
    if not isinstance(x, torch.Tensor):
        raise InvalidArgument(f"fake_quantize: x; got {type(x).__name__}, expected a torch tensor")
    if x.dtype != torch.float32:
        raise InvalidArgument(f"fake_quantize: x; got {x.dtype}, expected torch.float32; x.float()")
    if quantizer == "none":
        return x
    return _FakeQuantize.apply(x, quantizer)


class QuantizedLinear(nn.Module):  # type: ignore[misc]
    """A linear layer whose weight and input are fake-quantized; ``calls`` counts how often it ran."""

    def __init__(self, linear: Any, weights: str = "none", acts: str = "none") -> None:
        super().__init__()
        self.linear = linear
        self.weights = _arrays.canonical(weights)
        self.acts = _arrays.canonical(acts)
        self.calls = 0

    def forward(self, x: Any) -> Any:
        """x W^T + b with both factors as their formats hold them; the bias stays float."""
        self.calls += 1
        weight = fake_quantize(self.linear.weight, self.weights)
        return nn.functional.linear(fake_quantize(x, self.acts), weight, self.linear.bias)

    def extra_repr(self) -> str:
        """For print(model)."""
        return f"weights={self.weights}, acts={self.acts}"


class Wrapped:
    """The quantized layers of a module; ``with`` or unwrap() puts the float ones back."""

    def __init__(self, module: Any, layers: Dict[str, QuantizedLinear]) -> None:
        self.module = module
        self.layers = layers

    @property
    def calls(self) -> Dict[str, int]:
        """How often each layer ran since reset_calls()."""
        return {name: layer.calls for name, layer in self.layers.items()}

    def reset_calls(self) -> None:
        """Counts from zero, as a study does with every board."""
        for layer in self.layers.values():
            layer.calls = 0

    def unwrap(self) -> Any:
        """The module with its float layers."""
        for name, layer in self.layers.items():
            _replace(self.module, name, layer.linear)
        self.layers = {}
        return self.module

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.module(*arguments, **named)

    def __enter__(self) -> "Wrapped":
        return self

    def __exit__(self, *_: Any) -> None:
        self.unwrap()

    def __repr__(self) -> str:
        return f"<driftless.torch.Wrapped: {len(self.layers)} quantized layers>"


def _replace(module: Any, name: str, layer: Any) -> None:
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    setattr(module, last, layer)


def _linear_layers(module: Any) -> Iterator[Tuple[str, Any]]:
    for name, layer in module.named_modules():
        if isinstance(layer, nn.Linear) and name:
            yield name, layer


def wrap(module: Any, plan: Optional[Mapping[str, Any]] = None, *, weights: str = "none",
         acts: str = "none") -> Wrapped:
    """Quantizes the linear layers of a module in place: all alike, or by a plan (docs/plans.md).

    A plan names layers by their weight, ``{"version": 1, "layers": {"mlp.up.weight": {"weights": "mxint4"}}}``.
    A layer that runs several times shares its weight and is counted each time.

    >>> model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
    >>> with wrap(model, weights="mxint4", acts="mxint8") as wrapped:
    ...     shape = wrapped(torch.zeros(1, 32)).shape
    ...     wrapped.calls
    {'0': 1, '2': 1}
    """
    found = dict(_linear_layers(module))
    wanted: Dict[str, Dict[str, str]] = {}
    if plan is None:
        wanted = {name: {"weights": weights, "acts": acts} for name in found}
    else:
        for key, layer in plan.get("layers", {}).items():
            name = key[:-len(".weight")] if key.endswith(".weight") else key
            if name not in found:
                raise BadConfig(f"plan: the module has no linear layer '{key}'; expected one of {_some(list(found))}")
            unknown = sorted(set(layer) - {"weights", "acts"})
            if unknown:
                raise BadConfig(f"plan: layer '{key}': key '{unknown[0]}' is not for torch modules; expected weights "
                                "and acts")
            wanted[name] = dict(layer)
    if not wanted:
        raise InvalidArgument("wrap: nothing to quantize; got a module without the layers, expected torch.nn.Linear")
    layers = {name: QuantizedLinear(found[name], **quantizers) for name, quantizers in wanted.items()}
    for name, layer in layers.items():
        _replace(module, name, layer)
    return Wrapped(module, layers)


def _some(names: List[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def save_checkpoint(path: Union[str, "os.PathLike[str]"], tensors: Mapping[str, Any],
                    config: Mapping[str, Any]) -> None:
    """A state dict as our checkpoint, float32 to the bit; ``config`` is that of docs/own-model.md."""
    checkpoint.write(path, {name: _array(values.float()) for name, values in tensors.items()}, config)


def load_checkpoint(path: Union[str, "os.PathLike[str]"]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """A checkpoint's tensors as a state dict, and its configuration."""
    arrays, config = checkpoint.read(path)
    return {name: torch.from_numpy(np.asarray(values)) for name, values in arrays.items()}, config
