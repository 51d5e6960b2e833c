"""Real JSON with something wrong in it: a value of another type, a key gone, a list cut or doubled."""

from typing import Any

from hypothesis import strategies as st

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**80), 2**80),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        ["", "\x00", "\ud800", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "https://[", "-1", "x" * 3000]
    ),
    st.just([]),
    st.just({}),
    st.recursive(st.none(), lambda inner: st.lists(inner, max_size=3), max_leaves=5),
)


def mutated(value: Any, data: st.DataObject) -> Any:
    """Return the value with one to four of its parts, at any depth, replaced or gone; changes the value itself."""
    root = [value]
    for _ in range(data.draw(st.integers(1, 4))):
        _spoil(root, data)
    return root[0]


def _spoil(parent: Any, data: st.DataObject) -> None:
    places = _places(parent)
    while places:
        place = data.draw(st.sampled_from(places))
        deeper = _places(parent[place])
        if not deeper or data.draw(st.integers(0, 3)) == 0:
            if isinstance(parent, dict) and data.draw(st.booleans()):
                del parent[place]
            else:
                parent[place] = data.draw(ODD)
            return
        parent, places = parent[place], deeper


def _places(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []
