from tests.adapters.slack.mrkdwn import Piece, parsed


def test_links_and_mentions_and_emoji_are_found_wherever_they_stand() -> None:
    assert parsed("see <https://a.example/?a=1&amp;b=2|A &lt;B&gt;>, <!here> :tada: 10:30") == [
        Piece("text", "see "),
        Piece("link", "A <B>", "https://a.example/?a=1&b=2"),
        Piece("text", ", "),
        Piece("mention", "!here", "!here"),
        Piece("text", " "),
        Piece("emoji", ":tada:"),
        Piece("text", " 10:30"),
    ]


def test_marks_format_at_the_edges_of_words_alone_and_around_links() -> None:
    assert parsed("*1.* *<https://a.example|T>* snake_case_word 2*3*4 _x_\n&gt; q") == [
        Piece("quote", ""),
        Piece("text", "1.", style="bold"),
        Piece("text", " "),
        Piece("link", "T", "https://a.example", "bold"),
        Piece("text", " snake_case_word 2*3*4 "),
        Piece("text", "x", style="italic"),
        Piece("text", "\n> q"),
    ]
