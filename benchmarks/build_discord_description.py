"""`python -m benchmarks.build_discord_description FILE`: the part of Discord's own description that the tests use.

FILE is openapi.json of discord/discord-api-spec. What is kept are the paths that tests.fakes.discord answers and every
schema that these name, directly or not, without the words about them.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fakes.discord.description import PATH, PATHS

_SCHEMAS = "#/components/schemas/"
_WORDS = frozenset({"description", "summary", "tags", "headers", "security", "x-discord-union"})
_METHODS = frozenset({"get", "put", "post", "patch", "delete"})


def _bare(node: Any) -> Any:
    """Return the node without words; a property may have such a name, so that properties are kept by theirs."""
    if isinstance(node, list):
        return [_bare(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _bare(each) for name, each in value.items()} if key == "properties" else _bare(value)
        for key, value in node.items()
        if key not in _WORDS
    }


def _named(node: Any) -> Iterator[str]:
    """Yield the schemas that the node names."""
    if isinstance(node, list):
        for each in node:
            yield from _named(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and value.startswith(_SCHEMAS):
                yield value.removeprefix(_SCHEMAS)
            else:
                yield from _named(value)


def extract(whole: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of the whole description."""
    paths = {path: {how: _bare(each) for how, each in whole["paths"][path].items() if how in _METHODS} for path in PATHS}
    for operation in (each for methods in paths.values() for each in methods.values()):
        for kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
            operation.get("requestBody", {}).get("content", {}).pop(kind, None)
    responses = _bare(whole["components"]["responses"])
    schemas: dict[str, Any] = {}
    open_names = [*_named(paths), *_named(responses)]
    while open_names:
        name = open_names.pop()
        if name not in schemas:
            schemas[name] = _bare(whole["components"]["schemas"][name])
            open_names += _named(schemas[name])
    return {"paths": paths, "components": {"responses": responses, "schemas": dict(sorted(schemas.items()))}}


def main() -> None:
    """Write it."""
    kept = json.dumps(extract(json.loads(Path(sys.argv[1]).read_bytes())), ensure_ascii=False, separators=(",", ":"))
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_bytes(gzip.compress(kept.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
