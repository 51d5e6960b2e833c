"""What a person may ask: every command with its declaration, the parser and its inverse.

What a family declares is exported without a list: a new command is known here as soon as it is declared.
"""

from bot.commands.addresses import *
from bot.commands.borrowed import BORROWED
from bot.commands.declaration import Command, Group, Option, Permission, Usage, Usual
from bot.commands.feedback import *
from bot.commands.finding import *
from bot.commands.meant import SearchMeant, search_meant
from bot.commands.saved import *
from bot.commands.schedule import read_hours
from bot.commands.service import *
from bot.commands.spoken import Heard, SmallTalk, heard
from bot.commands.subscriptions import *
from bot.commands.syntax import BY_NAME, TABLE, Unreadable, help_for, names_item, parse, read, write
from bot.commands.topics import *
