from dataclasses import replace

import pytest

from bot.errors import UsageError
from bot.handlers.subscriptions.followed import Followed, Initials, bare_name, read_followed
from bot.models import Topic
from bot.query import parse


def made(text: str) -> Followed:
    found = read_followed(text)
    assert isinstance(found, Followed)
    return found


@pytest.mark.parametrize(
    ("text", "query", "title", "name", "repositories"),
    [
        ('author:"Rui Mao"', 'author:"Rui Mao"', "Author: Rui Mao", "author-rui-mao", ()),
        ('au:"Mao, Rui"', 'author:"Rui Mao"', "Author: Rui Mao", "author-rui-mao", ()),
        ("author:Jürgen", 'author:"Jürgen"', "Author: Jürgen", "author-jurgen", ()),
        ("org:nvidia", "org:nvidia", "Organisation: nvidia", "org-nvidia", ()),
        ('org:"Google DeepMind"', 'org:"Google DeepMind"', "Organisation: Google DeepMind", "org-google-deepmind", ()),
        ("vLLM-project/vLLM", "id:vllm-project/vllm", "Repository: vllm-project/vllm", "repo-vllm-project-vllm", 1),
        ("https://github.com/vllm-project/vllm/issues/3", "id:vllm-project/vllm", "Repository: vllm-project/vllm", "", 1),
        ("id:vllm-project/vllm", "id:vllm-project/vllm", "Repository: vllm-project/vllm", "repo-vllm-project-vllm", 1),
        ('"KV cache"', '"KV cache"', "KV cache", "kv-cache", ()),
        ("topic:mamba", "topic:mamba", "Keyword: mamba", "topic-mamba", ()),
        ("speculative decoding -survey", "speculative decoding -survey", "speculative decoding -survey", "", ()),
        ("模型", "模型", "模型", "followed", ()),
        ("https://arxiv.org/search/?query=Mao%2C+Rui&searchtype=author", 'author:"Rui Mao"', "Author: Rui Mao", "", ()),
        ("arxiv.org/search/cs?searchtype=author&query=Rui+Mao", 'author:"Rui Mao"', "Author: Rui Mao", "", ()),
        ("https://arxiv.org/search/?query=kv+cache&searchtype=all", '"kv cache"', "kv cache", "kv-cache", ()),
        ("https://arxiv.org/list/cs.DC/recent", "category:cs.DC", "category:cs.DC", "category-cs-dc", ()),
        ("https://huggingface.co/nvidia", 'org:"nvidia"', "Organisation: nvidia", "org-nvidia", ()),
        ("https://hf.co/organizations/Qwen/activity/all", None, "", "", ()),
        ("https://github.com/NVIDIA", "author:nvidia kind:repo", "GitHub: nvidia", "github-nvidia", 1),
        ("github.com/orgs/NVIDIA", "author:nvidia kind:repo", "GitHub: nvidia", "github-nvidia", 1),
        ("https://github.com/topics/llm-serving", "topic:llm-serving kind:repo", "", "", 1),
    ],
)
def test_what_is_followed_is_read(
    text: str, query: str | None, title: str, name: str, repositories: int | tuple[str, ...]
) -> None:
    if query is None:
        with pytest.raises(UsageError):
            read_followed(text)
        return
    found = made(text)
    assert found.query == parse(query)
    assert found.title == (title or found.title)
    assert found.name == (name or found.name)
    assert bool(found.repositories) == bool(repositories)


def test_of_a_repository_and_an_owner_github_is_asked_for_them_alone() -> None:
    assert made("vllm-project/vLLM").repositories == ("repo:vllm-project/vllm",)
    assert made("https://github.com/NVIDIA").repositories == ("user:nvidia",)


@pytest.mark.parametrize(
    ("text", "initials"),
    [
        ("https://arxiv.org/a/mao_r_1", Initials("Mao", "r")),
        ("arxiv.org/a/van_den_berg_a_2.atom2", Initials("Van Den Berg", "a")),
        ("https://arxiv.org/search/cs?searchtype=author&query=Mao%2C+R", Initials("Mao", "R")),
        ("https://arxiv.org/search/cs?searchtype=author&query=Mao,+R.", Initials("Mao", "R")),
    ],
)
def test_a_link_that_names_an_author_by_one_letter_says_so(text: str, initials: Initials) -> None:
    assert read_followed(text) == initials


def test_the_letter_and_the_family_name_fit_whole_names() -> None:
    initials = Initials("van den Berg", "A")
    assert [initials.fits(name) for name in ("Anna van den Berg", "A. van den Berg", "Ben van den Berg", "Anna Berg")] == [
        True,
        True,
        False,
        False,
    ]
    assert not Initials("Mao", "r").fits("Rui Li-Maos")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("https://scholar.google.com/citations?user=abc", "Google Scholar lets no program read"),
        ("https://scholar.google.ch/citations?user=abc", "Google Scholar lets no program read"),
        ("https://www.semanticscholar.org/author/Rui-Mao/123", "Semantic Scholar is not collected"),
        ("https://example.org/~mao", "That link names nobody"),
        ("https://huggingface.co/datasets/squad", "That link names nobody"),
        ("https://huggingface.co/models", "That link names nobody"),
        ("https://github.com/trending", "That link names nobody"),
        ("https://arxiv.org/abs/2606.01234v2", "A paper itself is not followed"),
        ("https://huggingface.co/papers/2606.01234", "A paper itself is not followed"),
        ("id:2606.01234", "A paper itself is not followed"),
        ("*", "Everything cannot be followed"),
        ("kv sort:new", "belong to a search"),
        ("strs:>5", "There is no field"),
    ],
)
def test_what_cannot_be_followed_is_said(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence.replace("*", r"\*")):
        read_followed(text)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Tri Dao", "Tri Dao"),
        ("Jean-Luc O'Neil", "Jean-Luc O'Neil"),
        ("transformer", ""),
        ("a very long list of words", ""),
        ("GPT 4", ""),
        ('"Tri Dao"', ""),
        ("Tri -Dao", ""),
        ("title:Tri Dao", ""),
    ],
)
def test_two_to_four_words_may_be_a_name(query: str, name: str) -> None:
    assert bare_name(parse(query)) == name


def test_a_topic_of_the_same_query_is_found_whatever_its_case_and_name() -> None:
    topic = made('author:"Rui Mao"').topic({})
    other = Topic(name="other", title="Other", query=parse('author:"Rui Mao"'))
    topics = {"other": other, "renamed": replace(topic, name="renamed", title="Ray")}
    assert made('author:"mao, rui"').standing(topics) is topics["renamed"]
    assert made('author:"Rui Li"').standing(topics) is None
    assert made('author:"Rui Mao"').standing({"other": other}) is None, "one that somebody made is not taken over"
    assert topic.followed


def test_the_name_of_a_new_topic_is_free_and_no_longer_than_names_are() -> None:
    found = made('"KV cache"')
    standing = {each: Topic(name=each, title=each) for each in ("kv-cache", "kv-cache-2")}
    assert found.topic(standing).name == "kv-cache-3"
    assert len(made(f'"{"very long " * 20}"').topic({}).name) <= 40
    assert len(made(f'"{"very long " * 20}"').title) <= 80
