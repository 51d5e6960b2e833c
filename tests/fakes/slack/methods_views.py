"""views.*: docs.slack.dev/reference/methods."""

from tests.fakes.slack import blocks
from tests.fakes.slack.call import Call
from tests.fakes.slack.inputs import first_values
from tests.fakes.slack.state import Json, View
from tests.fakes.slack.world import Trigger, World
from tests.fakes.slack.wrong import Wrong

_DEEPEST = 3  # views on each other


def open_(world: World, call: Call) -> Json:
    body = _modal(call)
    trigger = _trigger(world, call)
    view = shown(world, body, trigger.team, trigger.user, opened_by=call.args["trigger_id"])
    return {"view": view.shown()}


def push(world: World, call: Call) -> Json:
    body = _modal(call)
    trigger = _trigger(world, call)
    under = world.views.get(trigger.view)
    if under is None or not under.is_open:
        raise Wrong("not_found")
    return {"view": pushed(world, body, under, call.args["trigger_id"]).shown()}


def update(world: World, call: Call) -> Json:
    body = call.args.get("view", {})
    blocks.check_view(body)
    named = call.args.get("external_id", "")
    found = world.views.get(call.args.get("view_id", ""))
    if found is None and named:
        found = next((each for each in world.views.values() if each.body.get("external_id") == named), None)
    if found is None or not found.is_open or world.teams[found.team] not in world.reachable(call.grant):
        raise Wrong("not_found")
    if call.args.get("hash", found.hash) != found.hash:
        raise Wrong("hash_conflict")
    replaced(world, found, body)
    return {"view": found.shown()}


def publish(world: World, call: Call) -> Json:
    body = call.args["view"]
    if body.get("type") != "home":
        raise Wrong("invalid_arguments", told=["[ERROR] must be a home [json-pointer:/view/type]"])
    blocks.check_view(body)
    team, person = world.met(call.grant, call.args["user_id"])
    view = team.homes.get(person.id)
    if view is None:
        view = team.homes[person.id] = shown(world, body, team.id, person.id)
        return {"view": view.shown()}
    if call.args.get("hash", view.hash) != view.hash:
        raise Wrong("hash_conflict")
    replaced(world, view, body)
    return {"view": view.shown()}


def shown(world: World, body: Json, team: str, user: str, *, opened_by: str = "", under: View | None = None) -> View:
    """Take up a new view."""
    name = f"V{len(world.views):010d}"
    view = View(
        id=name,
        team=team,
        user=user,
        body=body,
        hash=_hash(world),
        root=under.root if under else name,
        previous=under.id if under else None,
        opened_by=opened_by,
    )
    world.views[name] = view
    _settled(world, view)
    return view


def pushed(world: World, body: Json, under: View, trigger: str) -> View:
    """Put a view on another."""
    deep, below = 1, under
    while below.previous:
        deep, below = deep + 1, world.views[below.previous]
    if deep >= _DEEPEST:
        raise Wrong("push_limit_reached")
    return shown(world, body, under.team, under.user, opened_by=trigger, under=under)


def replaced(world: World, view: View, body: Json) -> None:
    """Show something else in a view; what was typed stays where block and element keep their names."""
    view.body, view.hash = body, _hash(world)
    _settled(world, view)


def _trigger(world: World, call: Call) -> Trigger:
    """Use a trigger up; raises Wrong, also for one that another workspace's app was given."""
    found = world.triggers.get(call.args["trigger_id"])
    if found is not None and world.teams[found.team] not in world.reachable(call.grant):
        raise Wrong("invalid_trigger_id")
    return world.use(call.args["trigger_id"])


def _modal(call: Call) -> Json:
    body: Json = call.args["view"]
    if body.get("type") != "modal":
        raise Wrong("invalid_arguments", told=["[ERROR] must be a modal [json-pointer:/view/type]"])
    blocks.check_view(body)
    return body


def _settled(world: World, view: View) -> None:
    for number, block in enumerate(view.blocks):
        block.setdefault("block_id", f"b{number}")
    first = first_values(view.blocks)
    kept = {
        block: {name: view.values.get(block, {}).get(name, value) for name, value in elements.items()}
        for block, elements in first.items()
    }
    view.values, view.errors, view.changed = kept, {}, world.changed()


def _hash(world: World) -> str:
    return f"{int(world.now)}.{world.times.count():08d}"
