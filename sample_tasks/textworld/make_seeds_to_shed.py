"""Makes the game of `seeds-to-shed.yaml`: python make_seeds_to_shed.py, where TextWorld is installed."""

from __future__ import annotations

import re
from pathlib import Path

from textworld import GameMaker, GameOptions
from textworld.generator import compile_game
from textworld.generator.game import Event, Quest
from textworld.generator.maker import WorldEntity, WorldRoom

STORY = Path(__file__).parent / "seeds-to-shed.z8"
GOAL = "Put the packet of seeds on the bench in the shed."

options = GameOptions()
options.seeds = 1
options.path = str(STORY)
maker = GameMaker(options)
kitchen, hall, garden, shed = (maker.new_room(name) for name in ("kitchen", "hall", "garden", "shed"))
maker.set_player(hall)
maker.connect(hall.west, kitchen.east)
maker.connect(hall.north, garden.south)
shed_door = maker.new_door(maker.connect(garden.east, shed.west), name="shed door")
shed_door.add_property("locked")


def put(kind: str, name: str, place: WorldEntity | WorldRoom, *properties: str) -> WorldEntity:
    """Add a thing of a kind to a place."""
    thing = maker.new(type=kind, name=name)
    for each in properties:
        thing.add_property(each)
    place.add(thing)
    return thing


drawer = put("c", "drawer", kitchen, "closed")
cupboard = put("c", "cupboard", hall, "closed")
put("s", "table", kitchen)
bench = put("s", "bench", shed)
key = put("k", "rusty key", cupboard)
seeds = put("o", "packet of seeds", drawer)
put("o", "trowel", garden)
maker.add_fact("match", key, shed_door)

on_the_bench = Event(conditions={maker.new_fact("on", seeds, bench)})
maker.quests = [Quest(win_events=[on_the_bench], desc=GOAL)]
game = maker.build()
game.objective = GOAL
compile_game(game, options)
STORY.with_suffix(".ni").unlink()
# It holds where TextWorld's texts are on the machine that makes it, which nothing reads.
made = STORY.with_suffix(".json")
made.write_text(re.sub(r'"text_grammars_path": "[^"]*"', '"text_grammars_path": "text_grammars"', made.read_text()))
