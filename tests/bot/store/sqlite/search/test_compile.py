from bot.query import parse
from bot.store.sqlite.search.compile import compile_tree
from tests.conftest import NOW


def test_what_a_query_says_twice_is_looked_for_once() -> None:
    for text, once in (("m* kv m* m*", "m* kv"), ("m* OR kv OR m*", "m* OR kv"), ("-m* gpu -m*", "-m* gpu")):
        assert compile_tree(parse(text).tree, NOW) == compile_tree(parse(once).tree, NOW)
