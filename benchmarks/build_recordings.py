"""Build the demo's recordings from public data sets: `python -m benchmarks.build_recordings --data FOLDER`.

FOLDER holds `big-corpus/arxiv-recent-2025-03_2026-03.jsonl.xz` (dw-dengwei/daily-arXiv-ai-enhanced), `hf/daily/*.json.gz`
(2404589803/hf-daily-paper-newsletter-chinese) and `github/ranking/monthly_2018-2026.tar.xz` (EvanLi/Github-Ranking).
The same data give the same bytes. `adapters/cli/demo/recordings/README.md` says what is in the files and what is not.
"""

import argparse
import csv
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

TARGET = Path(__file__).parents[1] / "adapters" / "cli" / "demo" / "recordings"
ARXIV_DAY = "2026-03-31"
HF_DAYS = ("2026-03-27", "2026-03-30", "2026-03-31", "2026-04-01")
RANKING_DAY = "2026-04-01"
MOMENT = "2026-04-01T04:15:00Z"  # the demo's now: the ranking is complete, and the feed of 31 March is still the newest
HF_KEPT = (
    *("id", "title", "summary", "upvotes", "publishedAt", "submittedOnDailyAt"),
    *("githubRepo", "githubStars", "projectPage", "ai_keywords"),
)

# Which repositories answer which search: chosen by hand from the ranking's descriptions, because GitHub's own topics are not
# in it. The words are those of the searches in config/topics, without their limits on stars and dates.
SEARCHES: Mapping[str, tuple[str, ...]] = {
    "topic:cuda": ("JuliaGPU/CUDA.jl", "NVIDIA/open-gpu-kernel-modules", "pytorch/pytorch"),
    "topic:rocm": (),
    "topic:llm-inference": ("vllm-project/vllm", "ggml-org/llama.cpp", "mozilla-ai/llamafile", "mudler/LocalAI"),
    "topic:llm-serving": ("vllm-project/vllm",),
    "topic:kv-cache": (),
    "topic:gpu topic:compiler": (),
    '"inference engine" in:description topic:llm': (),
    "topic:llm-agent": ("microsoft/autogen", "crewAIInc/crewAI", "browser-use/browser-use", "mem0ai/mem0"),
    "topic:ai-agents": ("langflow-ai/langflow", "langchain-ai/langchain", "FlowiseAI/Flowise", "agentjido/jido"),
    "topic:mcp-server": ("github/github-mcp-server",),
    "topic:coding-agent": ("openai/codex", "cline/cline", "anomalyco/opencode", "block/goose"),
    '"multi-agent" in:description topic:llm': ("TauricResearch/TradingAgents", "FoundationAgents/MetaGPT"),
    "topic:vision-language-model": (),
    "topic:multimodal-large-language-models": (),
    "topic:vlm": ("huggingface/transformers",),
    "topic:ocr topic:llm": ("PaddlePaddle/PaddleOCR", "opendatalab/MinerU", "run-llama/llama_index"),
}


def main() -> None:
    """Write the three files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    write("arxiv.atom.gz", feed(papers(data)))
    write("huggingface.json.gz", dump({day: daily(data, day) for day in HF_DAYS}))
    write("github.json.gz", dump(searches(ranking(data))))


def write(name: str, text: str) -> None:
    """Write the text so that the same text gives the same bytes."""
    packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
    (TARGET / name).write_bytes(packed)
    print(f"{name}: {len(packed):,} bytes")


def dump(value: object) -> str:
    """Return JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def papers(data: Path) -> Iterable[dict[str, Any]]:
    """Yield the papers first seen on the day, as the corpus has them."""
    with lzma.open(data / "big-corpus" / "arxiv-recent-2025-03_2026-03.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            paper = json.loads(line)
            if paper["first_seen"] == ARXIV_DAY:
                yield paper


def feed(found: Iterable[dict[str, Any]]) -> str:
    """Return arXiv's Atom announcement feed with an entry per paper, in the wire format of rss.arxiv.org."""
    day = f"{ARXIV_DAY}T04:00:00+00:00"
    head = f"""<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns:dc="http://purl.org/dc/elements/1.1/" \
xmlns="http://www.w3.org/2005/Atom" xml:lang="en-us">
  <id>http://rss.arxiv.org/atom/CATEGORIES</id>
  <title>CATEGORIES updates on arXiv.org</title>
  <updated>{day}</updated>
  <link href="http://rss.arxiv.org/atom/CATEGORIES" rel="self" type="application/atom+xml"/>
  <subtitle>CATEGORIES updates on the arXiv.org e-print archive.</subtitle>
"""
    return head + "".join(entry(paper, day) for paper in found) + "</feed>\n"


def entry(paper: dict[str, Any], day: str) -> str:
    """Return one entry of the feed. A paper that is new has version 1."""
    number = paper["id"]
    categories = "".join(f'    <category term="{escape(name)}"/>\n' for name in paper["categories"])
    abstract = " ".join(paper["abstract"].split())
    return f"""  <entry>
    <id>oai:arXiv.org:{number}v1</id>
    <title>{escape(" ".join(paper["title"].split()))}</title>
    <updated>{day}</updated>
    <link href="https://arxiv.org/abs/{number}" rel="alternate" type="text/html"/>
    <summary>arXiv:{number}v1 Announce Type: new\x20
Abstract: {escape(abstract)}</summary>
{categories}    <published>{ARXIV_DAY}T00:00:00-04:00</published>
    <arxiv:announce_type>new</arxiv:announce_type>
    <dc:creator>{escape(", ".join(paper["authors"]))}</dc:creator>
  </entry>
"""


def daily(data: Path, day: str) -> list[dict[str, Any]]:
    """Return a day of Daily Papers up to the demo's moment, without anybody's account, picture or address."""
    with gzip.open(data / "hf" / "daily" / f"{day}.json.gz", "rt", encoding="utf-8") as file:
        return [listed(one) for one in json.load(file) if one["paper"]["submittedOnDailyAt"] <= MOMENT]


def listed(one: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with what describes the paper; of people only the authors' names."""
    paper = {name: one["paper"][name] for name in HF_KEPT if name in one["paper"]}
    paper["authors"] = [{"name": author["name"], "hidden": author["hidden"]} for author in one["paper"]["authors"]]
    if group := one["paper"].get("organization"):
        paper["organization"] = {name: group[name] for name in ("name", "fullname") if name in group}
    return {"paper": paper, "publishedAt": one["publishedAt"], "title": one["title"], "summary": one["summary"]}


def ranking(data: Path) -> dict[str, dict[str, str]]:
    """Return the day's ranking by `owner/name` in lower case; a repository stands in it once per list."""
    with tarfile.open(data / "github" / "ranking" / "monthly_2018-2026.tar.xz") as archive:
        member = archive.extractfile(f"m/github-ranking-{RANKING_DAY}.csv")
        assert member is not None
        rows = csv.DictReader(io.TextIOWrapper(member, encoding="utf-8"))
        return {f"{row['username']}/{row['repo_name']}".lower(): row for row in rows}


def searches(ranked: Mapping[str, Mapping[str, str]]) -> dict[str, list[dict[str, Any]]]:
    """Return the repositories that answer each search, in GitHub's form."""
    return {words: [repository(ranked[name.lower()]) for name in names] for words, names in SEARCHES.items()}


def repository(row: Mapping[str, str]) -> dict[str, Any]:
    """Return a row of the ranking in the shape of GitHub's search; what the row does not say is left out or null."""
    full_name = f"{row['username']}/{row['repo_name']}"
    return {
        "name": row["repo_name"],
        "full_name": full_name,
        "owner": {"login": row["username"]},
        "private": False,
        "html_url": row["repo_url"],
        "description": row["description"] or None,
        "url": f"https://api.github.com/repos/{full_name}",
        "created_at": None,
        "pushed_at": row["last_commit"],
        "stargazers_count": int(row["stars"]),
        "watchers_count": int(row["stars"]),
        "language": row["language"] or None,
        "forks_count": int(row["forks"]),
        "open_issues_count": int(row["issues"]),
    }


if __name__ == "__main__":
    main()
