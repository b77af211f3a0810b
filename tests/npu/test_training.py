"""Networks that train: losses on the NPU are those on the CPU, eager and in a pipeline."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final

import pytest

import mindtorch_v2 as torch

pytestmark = pytest.mark.npu
nn, F = torch.nn, torch.nn.functional

STEPS: Final = 5


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
        self.given = torch.randn(12, 4), torch.randint(3, (12,))

    def loss(self, x: Any, y: Any) -> Any:
        return F.cross_entropy(self.net(x), y)


class Transformer(nn.Module):
    """A block with two heads, between an embedding and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(11, 8), nn.Linear(8, 11)
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.mlp = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))
        tokens = torch.randint(11, (2, 7))
        self.given = tokens[:, :-1], tokens[:, 1:], torch.ones(6, 6, dtype=torch.bool).triu(1)

    def attend(self, t: Any, mask: Any) -> Any:
        heads = (part.view(2, 6, 2, 4).transpose(1, 2) for part in self.qkv(t).chunk(3, -1))
        q, k, v = heads
        scores = (q @ k.transpose(-2, -1) * 0.5).masked_fill(mask, float("-inf"))
        mixed = F.dropout(scores.softmax(-1), 0.1) @ v
        return self.out(mixed.transpose(1, 2).reshape(2, 6, 8))

    def loss(self, given: Any, wanted: Any, mask: Any) -> Any:
        t = self.embed(given)
        t = t + self.attend(self.norm1(t), mask)
        t = t + self.mlp(self.norm2(t))
        return F.cross_entropy(self.head(t).flatten(0, 1), wanted.flatten())


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.SiLU(), nn.Conv2d(4, 6, 2), nn.Flatten()
        )
        self.last = nn.Linear(150, 3)
        self.given = torch.randn(6, 1, 6, 6), torch.randint(3, (6,))

    def loss(self, x: Any, y: Any) -> Any:
        return F.nll_loss(self.last(self.net(x)).log_softmax(1), y)


def losses(network: type[Any], optimizer: str, device: str, *, pipeline: bool = False) -> list[Any]:
    """Of some steps from the same seed."""
    torch.manual_seed(0)
    net = network()
    given = [each.to(device) for each in net.given]
    net.to(device)
    steps = {
        "AdamW": lambda: torch.optim.AdamW(net.parameters(), lr=0.01),
        "SGD": lambda: torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9),
    }[optimizer]()
    found = []
    with torch.pipeline() if pipeline else nullcontext():
        for _ in range(STEPS):
            steps.zero_grad()
            loss = net.loss(*given)
            loss.backward()
            steps.step()
            found.append(loss.detach())
        return [loss.item() for loss in found]


NETWORKS: Final = (Perceptron, Transformer, Convolutional)


@pytest.mark.parametrize("pipeline", [False, True], ids=["at once", "in a pipeline"])
@pytest.mark.parametrize("optimizer", ["AdamW", "SGD"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.usefixtures("npu")
def test_losses_are_those_of_the_cpu(network: type[Any], optimizer: str, pipeline: bool) -> None:
    expected = losses(network, optimizer, "cpu")
    assert losses(network, optimizer, "npu", pipeline=pipeline) == pytest.approx(expected, abs=1e-4)
