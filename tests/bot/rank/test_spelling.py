from bot.rank.spelling import spelled, spellings_in
from tests.bot.rank.make import paper


def test_a_word_is_told_in_the_spelling_that_is_used_most() -> None:
    items = [paper("GPUs", "A GPU, and the GPU."), paper("Caching", "caches (caches) and Caches")]
    assert spellings_in(items)["gpu"] == "GPU"
    assert spellings_in(items)["cache"] == "caches"


def test_on_a_tie_small_letters_win() -> None:
    assert spellings_in([paper("Diffusion diffusion")])["diffusion"] == "diffusion"


def test_a_hyphenated_word_is_the_spelling_of_its_joined_form_and_parts_have_their_own() -> None:
    found = spellings_in([paper("Pre-training", "pre-training helps training")])
    assert found["pretraining"] == "pre-training"
    assert found["training"] == "training"


def test_a_part_that_never_stands_alone_is_cut_out_of_its_compound_or_address() -> None:
    found = spellings_in([paper("Kernel-Smith", "See https://github.com/InternLM/Kernel-Smith.")])
    assert (found["kernelsmith"], found["smith"], found["internlm"]) == ("Kernel-Smith", "Smith", "InternLM")


def test_an_item_spells_its_own_words_and_others_stay_folded() -> None:
    assert spelled(["kv", "cache", "absent"], paper("KV caches")) == ["KV", "caches", "absent"]


def test_signs_around_a_word_are_left_out() -> None:
    assert spelled(["video"], paper("“Videos”, (again)!")) == ["Videos"]
