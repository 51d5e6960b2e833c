"""Which workspace a request from Slack belongs to. The payloads are shaped as in slack-bolt's own tests and issues."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.workspaces import home_memory, installed_team

OURS, THEIRS, THIRD = "T0OURS", "T0THEIRS", "T0THIRD"
USER = {"id": "U1", "team_id": THEIRS}
VIEW = {"type": "modal", "app_installed_team_id": OURS, "team_id": THEIRS}


def team(body: dict[str, Any], *installed: str, organisation: str = "") -> str:
    """The workspace, where the app is installed in these; `organisation` is whose installation that is."""
    return installed_team(body, lambda each, whole: each in installed and whole in ("", organisation))


@pytest.mark.parametrize("kind", ["view_submission", "view_closed", "block_actions", "block_suggestion"])
@pytest.mark.parametrize("named", [{"id": THEIRS}, None])
def test_a_view_belongs_to_the_workspace_whose_app_shows_it(kind: str, named: dict[str, str] | None) -> None:
    body = {"type": kind, "team": named, "user": USER, "view": VIEW}
    assert team(body, OURS) == team(body, OURS, THEIRS) == OURS


def test_a_home_tab_belongs_to_the_workspace_that_it_was_made_for() -> None:
    home = {"type": "home", "app_installed_team_id": THIRD, "private_metadata": home_memory(OURS)}
    body = {"type": "block_actions", "team": {"id": OURS}, "user": {"id": "U1", "team_id": OURS}, "view": home}
    assert team(body, OURS, THIRD) == OURS
    older = {**body, "view": {**home, "private_metadata": ""}}  # until the tab is opened again
    assert team(older, OURS, THIRD) == THIRD


def test_a_press_in_a_message_belongs_to_the_workspace_whose_message_it_is_whoever_presses() -> None:
    body: dict[str, Any] = {"type": "block_actions", "user": USER, "channel": {"id": "C1"}}
    assert team({**body, "team": {"id": OURS}}, OURS, THEIRS) == OURS
    assert team({**body, "team": None, "message": {"team": OURS}}, OURS, THEIRS) == OURS


def test_where_no_workspace_is_named_it_is_the_persons_if_the_organisations_app_is_there_and_else_none() -> None:
    body = {"type": "block_actions", "team": None, "enterprise": {"id": "E1"}, "user": USER, "channel": {"id": "C1"}}
    assert team(body, OURS, THEIRS, organisation="E1") == THEIRS
    assert team(body, OURS, THEIRS, organisation="E2") == ""
    assert team(body, OURS) == ""


@pytest.mark.parametrize("kind", ["shortcut", "message_action"])
def test_a_shortcut_is_its_own_workspaces_also_where_the_message_is_anothers(kind: str) -> None:
    body = {"type": kind, "team": None, "user": {"id": "U1", "team_id": OURS}, "message": {"team": THEIRS}}
    assert team(body, OURS, THEIRS) == OURS


@pytest.mark.parametrize("outer", [OURS, THEIRS])
@pytest.mark.parametrize("context", [OURS, THEIRS, None])
def test_an_event_belongs_to_the_installation_that_it_names_and_to_no_other(outer: str, context: str | None) -> None:
    seen = [{"enterprise_id": None, "team_id": OURS, "user_id": "UBOT", "is_bot": True, "is_enterprise_install": False}]
    body = {"event": {"type": "reaction_added"}, "team_id": outer, "context_team_id": context, "authorizations": seen}
    assert team(body, OURS, THEIRS) == OURS
    assert team(body, THEIRS) == OURS, "ours was removed: it is refused, and not taken for theirs"
    nobody = {**body, "authorizations": [{"enterprise_id": "E1", "team_id": None}], "context_team_id": THIRD}
    assert team(nobody, outer) == outer


_TEAMS = st.sampled_from([OURS, THEIRS, THIRD])


@given(acts=_TEAMS, installed=st.sets(_TEAMS), kind=st.sampled_from(["view_submission", "block_actions"]))
def test_who_acts_never_decides_the_workspace(acts: str, installed: set[str], kind: str) -> None:
    """Law: whoever acts, and wherever else the app is, it is the workspace whose app is acted with."""
    user = {"id": "U1", "team_id": acts}
    view = {"type": "modal", "app_installed_team_id": OURS, "team_id": acts}
    shown = (
        {"view": view, "team": {"id": acts}} if kind == "view_submission" else {"team": {"id": OURS}, "channel": {"id": "C"}}
    )
    assert team({"type": kind, "user": user, **shown}, OURS, *installed) == OURS


def test_what_came_to_a_workspace_in_which_the_app_is_not_is_no_other_workspaces() -> None:
    command = {"command": "/digest", "team_id": OURS, "channel_id": "C1", "user_id": "U1"}
    assert team(command, THEIRS) == OURS
    assert team({"type": "view_submission", "team": {"id": THEIRS}, "user": USER, "view": VIEW}, THEIRS) == OURS
    pressed = {
        "type": "block_actions",
        "team": {"id": OURS},
        "message": {"team": THEIRS},
        "user": USER,
        "channel": {"id": "C1"},
    }
    assert team(pressed, THEIRS) == OURS
    assert team({"type": "view_submission", "user": {"id": "U1"}}, OURS) == ""
