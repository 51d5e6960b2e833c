"""What Slack sends to an app, shaped like the recorded samples."""

import secrets
from collections.abc import Mapping

from tests.fakes.slack.state import Channel, Json, Message, Person, Team, View

TOKEN = "here-comes-some-token"  # the old verification token, which nobody should trust
APP = "A0BROAD"


def command(team: Team, person: Person, channel: Channel, what: Mapping[str, str]) -> Json:
    """A slash command; `what` is its command, text, response_url and trigger_id. All of it is text."""
    enterprise = {"enterprise_id": team.enterprise, "enterprise_name": "Broad Org"} if team.enterprise else {}
    return {
        "token": TOKEN,
        "team_id": team.id,
        "team_domain": team.domain,
        **enterprise,
        "channel_id": channel.id,
        "channel_name": channel_name(channel),
        "user_id": person.id,
        "user_name": person.name,
        "command": what["command"],
        "text": what["text"],
        "api_app_id": APP,
        "is_enterprise_install": str(team.is_org_wide).lower(),
        "response_url": what["response_url"],
        "trigger_id": what["trigger_id"],
    }


def channel_name(channel: Channel) -> str:
    """Return the name as interactions give it: private conversations hide theirs."""
    return {"im": "directmessage", "private_channel": "privategroup"}.get(channel.kind, channel.name)


def event(team: Team, what: Json, *, event_id: str = "", at: float) -> Json:
    """An event in its envelope."""
    return {
        "token": TOKEN,
        "team_id": team.id,
        "api_app_id": APP,
        "event": what,
        "type": "event_callback",
        "event_id": event_id or f"Ev{secrets.token_hex(5).upper()}",
        "event_time": int(at),
        "authorizations": [
            {
                "enterprise_id": team.enterprise or None,
                "team_id": team.id,
                "user_id": team.app_user.id,
                "is_bot": True,
                "is_enterprise_install": team.is_org_wide,
            }
        ],
        "is_ext_shared_channel": False,
    }


def shared(team: Team, host: Team, what: Json) -> Json:
    """What an event's envelope says in a channel that organisations share (bolt-python, tests of request/internals).

    The installation that may see it stands in `authorizations`, one where there are more. Outside, `team_id` is whose
    channel it is; of a reaction, the installation's.
    """
    outer = team if what["type"].startswith("reaction") else host
    return {
        "team_id": outer.id,
        **({"enterprise_id": outer.enterprise} if outer.enterprise else {}),
        "context_team_id": team.id,
        "context_enterprise_id": team.enterprise or None,
        "event_context": f"4-{what['type']}",
        "is_ext_shared_channel": True,
    }


def _who(team: Team, person: Person, *, shown: Team | None = None) -> Json:
    """Who acts with the app of a workspace; `shown` is the workspace that the payload names as `team`.

    In an app that is installed for an organisation that is null (slackapi/bolt-python, tests of view_submission).
    """
    named = shown or team
    enterprise = {"id": named.enterprise, "name": "Broad Org"} if named.enterprise else None
    return {
        "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": person.team},
        "api_app_id": APP,
        "token": TOKEN,
        "team": None if team.is_org_wide else {"id": named.id, "domain": named.domain},
        "enterprise": enterprise,
        "is_enterprise_install": team.is_org_wide,
    }


def message_actions(team: Team, person: Person, channel: Channel, message: Message, more: Json) -> Json:
    """A press on something in a message; `more` is its trigger_id, response_url, state and actions."""
    container = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": bool(message.shown_to),
    }
    return {
        "type": "block_actions",
        **_who(team, person),
        "container": container | ({"thread_ts": message.thread} if message.thread else {}),
        "trigger_id": more["trigger_id"],
        "channel": {"id": channel.id, "name": channel_name(channel)},
        **({} if message.shown_to else {"message": message.shown()}),
        "state": {"values": more["state"]},
        "response_url": more["response_url"],
        "actions": more["actions"],
    }


def view_actions(team: Team, person: Person, home: Team, view: View, more: Json) -> Json:
    """A press on something in a modal or a Home. The person's `home` is what it names, and the app's beside it."""
    return {
        "type": "block_actions",
        **_who(team, person, shown=home),
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": more["trigger_id"],
        "view": view.shown(person.team),
        "actions": more["actions"],
    }


def submission(team: Team, person: Person, home: Team, view: View, more: Json) -> Json:
    """A modal that is sent; `more` is its trigger_id and the addresses to answer at.

    Of somebody of another organisation `team` is theirs, and `view.app_installed_team_id` the app's (slackapi/bolt-js#1614).
    """
    return {
        "type": "view_submission",
        **_who(team, person, shown=home),
        "trigger_id": more["trigger_id"],
        "view": view.shown(person.team),
        "response_urls": more["urls"],
    }


def closing(team: Team, person: Person, home: Team, view: View) -> Json:
    who = _who(team, person, shown=home)
    return {"type": "view_closed", **who, "view": view.shown(person.team), "is_cleared": False}


def suggestion(team: Team, person: Person, home: Team, where: View | Message, asked: Json) -> Json:
    """Somebody types into an external select; `asked` is its action_id, block_id and value."""
    if isinstance(where, View):
        container: Json = {"type": "view", "view_id": where.id}
        more: Json = {"view": where.shown(person.team)}
        team_shown = home
    else:
        container = {"type": "message", "message_ts": where.ts, "channel_id": where.channel, "is_ephemeral": False}
        more = {"channel": {"id": where.channel, "name": ""}, "message": where.shown()}
        team_shown = team
    return {"type": "block_suggestion", **_who(team, person, shown=team_shown), "container": container, **asked, **more}


def message_shortcut(team: Team, person: Person, channel: Channel, message: Message, more: Json) -> Json:
    """`more` is its callback_id, trigger_id, response_url and action_ts."""
    who = _who(team, person)
    who.pop("api_app_id")
    about = {"channel": {"id": channel.id, "name": channel_name(channel)}, "message_ts": message.ts}
    return {"type": "message_action", **who, **more, **about, "message": message.shown()}


def global_shortcut(team: Team, person: Person, more: Json) -> Json:
    """`more` is its callback_id, trigger_id and action_ts."""
    who = _who(team, person)
    who.pop("api_app_id")
    return {"type": "shortcut", **who, **more}
