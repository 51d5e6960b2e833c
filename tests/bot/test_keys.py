"""Keys out of addresses."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.keys import (
    arxiv_id,
    arxiv_ids_in,
    doi,
    github_repo,
    github_repos_in,
    is_owner_and_name,
    key_of_url,
    named_keys,
    normalised_url,
)


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("2606.01234", "2606.01234"),
        ("2606.01234v12", "2606.01234"),
        ("arXiv:2606.01234v2", "2606.01234"),
        ("oai:arXiv.org:2606.01234v1", "2606.01234"),
        ("oai:arXiv.org:hep-th/9901001", "hep-th/9901001"),
        ("0704.0001", "0704.0001"),
        ("math.GT/0309136v3", "math/0309136"),
        ("cond-mat/0102536", "cond-mat/0102536"),
        ("http://arxiv.org/abs/2606.01234v1", "2606.01234"),
        ("https://www.arxiv.org/pdf/2606.01234.pdf", "2606.01234"),
        ("https://arxiv.org/pdf/2606.01234v2.pdf#page=3", "2606.01234"),
        ("https://arxiv.org/abs/math.GT/0309136", "math/0309136"),
        ("https://arxiv.org/html/2606.01234v1?utm_source=x", "2606.01234"),
        ("https://export.arxiv.org/abs/2606.01234/", "2606.01234"),
        ("https://huggingface.co/papers/2606.01234", "2606.01234"),
        ("https://www.alphaxiv.org/abs/2606.01234", "2606.01234"),
        ("https://doi.org/10.48550/arXiv.2606.01234", "2606.01234"),
        ("10.48550/arXiv.2606.01234", "2606.01234"),
        ("https://www.alphaxiv.org/overview/2606.01234v1", "2606.01234"),
        ("https://huggingface.co/papers/2606.01234.md", "2606.01234"),
        ("https://api.semanticscholar.org/arXiv:2606.01234", "2606.01234"),
        ("https://www.semanticscholar.org/arxiv/2606.01234", "2606.01234"),
        ("https://www.semanticscholar.org/paper/arXiv:2606.01234", "2606.01234"),
        ("https://www.semanticscholar.org/paper/Paging/204e3073870fae3d05bcbc2f6a8e263d9b72e776", None),
        ("2613.01234", None),  # there is no thirteenth month
        ("2606.012", None),
        ("2606.012345", None),
        ("https://arxiv.org/list/cs.AI/recent", None),
        ("https://example.org/abs/2606.01234", None),
        ("cs.AI", None),
        ("", None),
        ("http://[", None),
    ],
)
def test_an_arxiv_identifier_is_read_in_every_form_it_is_written_in(text: str, identifier: str | None) -> None:
    assert arxiv_id(text) == identifier


def test_identifiers_are_found_in_running_text_only_when_they_are_named_as_such() -> None:
    text = (
        "See arXiv:2606.01234v2 and (https://arxiv.org/abs/2505.00001), again arxiv.org/pdf/2606.01234; version 2401.12345,"
        " https://huggingface.co/papers/2404.54321. doi 10.48550/arXiv.2303.00007, arXiv:2606.0123456"
    )
    assert arxiv_ids_in(text) == ("2606.01234", "2505.00001", "2404.54321", "2303.00007")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.1145/3600006.3613165", "10.1145/3600006.3613165"),
        ("doi:10.1000/ABC", "10.1000/abc"),
        ("https://doi.org/10.1038/S41586-021-03819-2", "10.1038/s41586-021-03819-2"),
        ("http://dx.doi.org/10.1002/(SICI)1097-4571", "10.1002/(sici)1097-4571"),
        ("https://dl.acm.org/doi/10.1145/3600006.3613165", "10.1145/3600006.3613165"),
        ("https://www.science.org/doi/full/10.1126/science.abc", "10.1126/science.abc"),
        ("https://www.biorxiv.org/content/10.1101/2024.01.02.123456v2.full.pdf", "10.1101/2024.01.02.123456"),
        ("https://www.biorxiv.org/content/10.1101/2024.01.02.123456v1", "10.1101/2024.01.02.123456"),
        ("https://example.org/post/10", None),
        ("https://doi.org/", None),
    ],
)
def test_a_doi_is_read_from_itself_and_from_the_addresses_that_carry_it(text: str, found: str | None) -> None:
    assert doi(text) == found


@pytest.mark.parametrize(
    ("url", "repo"),
    [
        ("https://github.com/Vllm-Project/vLLM", "vllm-project/vllm"),
        ("https://www.github.com/a/b.git", "a/b"),
        ("http://github.com/a/b/tree/main/docs#x", "a/b"),
        ("https://github.com/features/copilot", None),
        ("https://github.com/orgs/a", None),
        ("https://github.com/a", None),
        ("https://github.com/a/..", None),
        ("https://github.com.evil.example/a/b", None),
        ("https://gist.github.com/a/b", None),
        ("git@github.com:a/b.git", None),
    ],
)
def test_a_repository_is_read_from_any_address_inside_it(url: str, repo: str | None) -> None:
    assert github_repo(url) == repo


def test_repositories_are_found_in_running_text() -> None:
    text = "Code: https://github.com/A/B-c. See github.com/topics/x, [here](https://github.com/a/b-C) and github.com/d/e.git"
    assert github_repos_in(text) == ("a/b-c", "d/e")


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTPS://Example.ORG:443/a/?utm_source=x&b=1&fbclid=z#top", "https://example.org/a?b=1"),
        ("http://example.org:80", "http://example.org"),
        ("http://example.org/", "http://example.org"),
        ("http://example.org:8080/x/", "http://example.org:8080/x"),
        ("https://example.org/a/./b/../c", "https://example.org/a/c"),
        ("https://example.org/%7euser/%2f/é", "https://example.org/~user/%2F/%C3%A9"),
        ("https://bücher.example/x", "https://xn--bcher-kva.example/x"),
        ("https://example.org./x", "https://example.org/x"),
        ("https://[2001:DB8::1]:443/x", "https://[2001:db8::1]/x"),
        (" https://example.org/a b ", "https://example.org/a%20b"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//example.org/x", ""),
        ("/x", ""),
        ("https://user:pw@example.org/x", ""),
        ("https:///x", ""),
        ("https://example.org:0/x", ""),
        ("https://example.org:99999/x", ""),
        ("https://exa<mple.org/x", ""),
        ("https://[::1", ""),
        ("https://example.org/" + "a" * 3000, ""),
        ("", ""),
    ],
)
def test_an_address_has_one_form(url: str, normal: str) -> None:
    assert normalised_url(url) == normal


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://arxiv.org/abs/2606.01234v3", "arxiv:2606.01234"),
        ("https://doi.org/10.48550/arXiv.2606.01234", "arxiv:2606.01234"),
        ("https://doi.org/10.1000/ABC", "doi:10.1000/abc"),
        ("https://github.com/A/B", "github:a/b"),
        ("https://github.com/A/B/tree/main", "github:a/b"),
        ("https://github.com/A/B/releases/tag/v1", "url:https://github.com/A/B/releases/tag/v1"),
        ("http://Example.org/post/?utm_medium=rss", "url:https://example.org/post"),
        ("2606.01234", ""),
        ("javascript:void(0)", ""),
    ],
)
def test_a_key_names_the_work_not_the_address(url: str, key: str) -> None:
    assert key_of_url(url) == key


@given(st.text() | st.from_regex(r"https?://[^\s]{0,40}"))
@example("HTTP://\u2024")
@example("http://a\u2024")
def test_no_text_raises_and_what_is_normal_stays_so(text: str) -> None:
    normal = normalised_url(text)
    assert normalised_url(normal) == normal
    key_of_url(text), doi(text), arxiv_id(text), github_repo(text)
    arxiv_ids_in(text), github_repos_in(text)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("arxiv.org/pdf/2606.01234v2", "arxiv:2606.01234"),
        ("www.arxiv.org/abs/2606.01234v1", "arxiv:2606.01234"),
        ("hf.co/papers/2606.01234", "arxiv:2606.01234"),
        ("huggingface.co/papers/2606.01234", "arxiv:2606.01234"),
        ("alphaxiv.org/abs/2606.01234", "arxiv:2606.01234"),
        ("semanticscholar.org/arXiv:2606.01234", "arxiv:2606.01234"),
        ("https://doi.org/10.48550/arXiv.2606.01234", "arxiv:2606.01234"),
        ("10.48550/arXiv.2606.01234", "arxiv:2606.01234"),
        ("arXiv:2606.01234v3", "arxiv:2606.01234"),
        ("cs/0112017", "arxiv:cs/0112017"),
        ("<https://arxiv.org/abs/2606.01234v2|arxiv.org/abs/2606.01234v2>", "arxiv:2606.01234"),
        ("<https://arxiv.org/abs/2606.01234>", "arxiv:2606.01234"),
        ("“2606.01234”", "arxiv:2606.01234"),
        ("https://arxiv.org/abs/2606.01234.", "arxiv:2606.01234"),
        ("github.com/Owner/Name", "github:owner/name"),
        ("https://github.com/owner/name/", "github:owner/name"),
        ("owner/name", "github:owner/name"),
        ("github:owner/name", "github:owner/name"),
        ("10.1145/3600006.3613165", "doi:10.1145/3600006.3613165"),
        ("https://lab.example/news?utm_source=x", "url:https://lab.example/news"),
        ("url:https://lab.example/news", "url:https://lab.example/news"),
    ],
)
def test_a_text_that_names_a_work_has_its_key_first(text: str, first: str) -> None:
    assert named_keys(text)[0] == first


def test_a_page_within_a_repository_names_the_repository_beside_itself() -> None:
    page = "github.com/owner/name/blob/main/README.md"
    assert named_keys(page) == (f"url:https://{page}", "github:owner/name")


@pytest.mark.parametrize(
    "text", ["", "kv cache", "2613.01234", "paging", "owner/", "a b/c", "javascript:alert(1)", "x" * 5000]
)
def test_a_text_that_names_no_work_has_no_key(text: str) -> None:
    assert named_keys(text) == ()


@given(st.text() | st.from_regex(r"[<“]?(https?://)?(arxiv\.org|hf\.co|github\.com)/[ -~]{0,20}", fullmatch=True))
def test_any_text_names_works_or_none(text: str) -> None:
    assert all(key.partition(":")[2] for key in named_keys(text))


def test_owner_and_name_may_be_words_and_an_old_arxiv_number_is_none() -> None:
    assert is_owner_and_name("TCP/IP")
    assert not is_owner_and_name("cs/0112017")
    assert not is_owner_and_name("https://github.com/owner/name")
