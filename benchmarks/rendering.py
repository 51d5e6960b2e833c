"""How long a digest takes to be drawn, as it is kept to be posted: in Slack, beside Discord as the baseline.

    python -m benchmarks.rendering

The digests are those of the day that the demo has recorded, one for each topic that comes with Broadsheet, of at most twelve
entries. Milliseconds of processor time a digest, of the quickest of seven rounds.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

from adapters.cli.demo.recorded_run import run_demo
from adapters.discord.render.digests import payloads as in_discord
from adapters.slack.render.messages import payloads as in_slack
from bot.models import Digest, Layout
from bot.settings.topic_packs import load_packs

ENTRIES, ROUNDS = 12, 7


def drawn(digests: Sequence[Digest], draw: Callable[[Digest], object]) -> float:
    """Return the milliseconds that one of the digests takes."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for each in digests:
            draw(each)
        taken.append(time.process_time() - began)
    return 1000 * min(taken) / len(digests)


def main() -> None:
    """Measure and print."""
    digests = run_demo(shown=False, topics=list(load_packs()), entries=ENTRIES)
    for layout in Layout:
        slack, discord = (drawn(digests, partial(draw, layout=layout, late=False)) for draw in (in_slack, in_discord))
        print(f"{layout}: Slack {slack:.1f} ms a digest, Discord {discord:.1f}, ratio {slack / discord:.2f}")


if __name__ == "__main__":
    main()
