"""``torch.device``: what it is made of, and what is refused.  The words are torch's own; the area
tensor-values compares all of them with torch."""

from __future__ import annotations

import pytest

import mindtorch_v2 as xp


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("cpu",), ("cpu", None)),
        (("meta", 3), ("meta", 3)),
        (("cuda:1",), ("cuda", 1)),
        (("cpu", None), ("cpu", None)),
        (("cpu", 300), ("cpu", 44)),
    ],
)
def test_a_device_has_a_type_and_perhaps_an_index(
    given: tuple[str, ...], expected: tuple[str, int | None]
) -> None:
    made = xp.device(*given)
    assert (made.type, made.index) == expected
    assert xp.device(made) == made


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (("cpu", -1), RuntimeError, "must not be negative"),
        (("cpu:0", 0), RuntimeError, "must not include an index"),
        (("cpu", 1.0), TypeError, "must be int, not float"),
        ((1.5,), TypeError, "invalid combination of arguments"),
        (("nowhere", 0), RuntimeError, "Expected one of cpu"),
    ],
)
def test_what_is_no_device_is_refused_in_torchs_words(
    given: tuple[object, ...], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        xp.device(*given)
