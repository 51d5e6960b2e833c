"""What a process is for."""

from pathlib import Path
from typing import Any

import pytest

from bot.errors import SettingsError, UsageError
from bot.service.roles import chosen_roles
from bot.settings.load import Settings, settled
from bot.settings.sections import ROLES

POSTGRES = "postgresql://broadsheet@127.0.0.1/papers"


def settings(database: str = POSTGRES, **run: Any) -> Settings:
    return settled({"database": database, "run": run})


def test_a_process_has_the_roles_that_it_is_given_else_those_of_the_settings() -> None:
    assert chosen_roles(settings()) == ROLES
    assert chosen_roles(settings(roles=["deliver", "clock"])) == ("clock", "deliver")
    assert chosen_roles(settings(roles=["deliver"]), "make, Clock ,make") == ("clock", "make")


def test_a_role_that_is_none_is_told_with_the_nearest_one() -> None:
    with pytest.raises(UsageError, match='Did you mean "deliver"'):
        chosen_roles(settings(), "clock,deliverer")
    with pytest.raises(UsageError, match="There are: clock, collect"):
        chosen_roles(settings(), "xyz")
    with pytest.raises(UsageError, match="needs a role"):
        chosen_roles(settings(), " , ")


def test_on_a_file_one_process_does_everything(tmp_path: Path) -> None:
    file = str(tmp_path / "b.sqlite3")
    assert chosen_roles(settings(file)) == ROLES
    assert chosen_roles(settings(file), ",".join(ROLES)) == ROLES
    with pytest.raises(SettingsError, match="postgresql://"):
        chosen_roles(settings(file), "clock")
    with pytest.raises(SettingsError, match="postgresql://"):
        chosen_roles(settings(file, roles=["make"]))
