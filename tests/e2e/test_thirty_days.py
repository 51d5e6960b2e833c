"""Whatever happens, each digest is posted once, or is said not to be: some days of it; `make soak` has thirty."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conftest import tries
from tests.e2e.thirty_days import ThirtyDays

BRIEF = settings(max_examples=tries(15), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.no_cover
def test_whatever_happens_in_some_days_each_digest_is_posted_once_or_said_not_to_be() -> None:
    run_state_machine_as_test(ThirtyDays, settings=BRIEF)
