"""The roles that the headings of a structured abstract give."""

from training.roles import structured


def test_each_sentence_has_the_role_of_its_section_and_no_heading() -> None:
    record = {
        "contexts": ["Headaches are common. Why is not known.", "We asked 40 patients.", "Data are on request."],
        "labels": ["BACKGROUND AND PURPOSE", "PATIENTS AND METHODS", "UNLABELLED"],
        "conclusion": "Most had slept badly.",
    }
    assert structured(record) == {
        "sents": ["Headaches are common.", "Why is not known.", "We asked 40 patients.", "Most had slept badly."],
        "labels": ["background", "background", "method", "result"],
    }
