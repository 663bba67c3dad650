"""What lies where in generated rooms.

The chances, counts and places are rounded frequencies of the official `train` games.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Content:
    """A class of object in a room."""

    chance: float
    """The chance that the room has any."""
    most: int
    """The most of them that it has."""
    places: dict[str, int]
    """A weight for each class of receptacle that one of them may start in."""


def _content(chance: float, most: int, places: str) -> Content:
    words = places.split()
    weights = {kind: int(weight) for kind, weight in zip(words[::2], words[1::2], strict=True)}
    return Content(chance, most, weights)


CONTENTS: dict[str, dict[str, Content]] = {
    "kitchen": {
        "Apple": _content(0.95, 3, "Fridge 9 CounterTop 8 DiningTable 6 GarbageCan 4 SinkBasin 4"),
        "Bowl": _content(0.95, 3, "Cabinet 14 CounterTop 7 Fridge 6 DiningTable 6 Shelf 2"),
        "Bread": _content(0.95, 2, "CounterTop 14 DiningTable 10 Fridge 4"),
        "ButterKnife": _content(0.8, 2, "CounterTop 14 DiningTable 9 Drawer 6 SinkBasin 2 SideTable 1"),
        "Cup": _content(0.9, 3, "Fridge 8 CounterTop 7 Cabinet 7 DiningTable 6 SinkBasin 4 Microwave 2"),
        "DishSponge": _content(0.8, 2, "CounterTop 8 Cabinet 8 Drawer 7 DiningTable 3 SinkBasin 3"),
        "Egg": _content(0.9, 3, "CounterTop 9 Fridge 9 DiningTable 5 SinkBasin 4 GarbageCan 3 Microwave 2"),
        "Fork": _content(0.8, 2, "CounterTop 12 DiningTable 8 Drawer 7 SinkBasin 3"),
        "Glassbottle": _content(0.2, 2, "CounterTop 4 Cabinet 4 DiningTable 2 SinkBasin 1 Fridge 1"),
        "HousePlant": _content(0.3, 1, "CounterTop 5 DiningTable 2"),
        "Kettle": _content(0.4, 2, "StoveBurner 6 CounterTop 4 Cabinet 4 DiningTable 1"),
        "Knife": _content(0.9, 2, "CounterTop 13 DiningTable 9 Drawer 6 SinkBasin 2"),
        "Ladle": _content(0.3, 2, "CounterTop 4 Cabinet 3 Drawer 3 DiningTable 2"),
        "Lettuce": _content(0.9, 2, "CounterTop 11 DiningTable 9 Fridge 8 SinkBasin 2"),
        "Mug": _content(0.95, 3, "CounterTop 10 Cabinet 7 CoffeeMachine 6 Fridge 4 DiningTable 4"),
        "Pan": _content(0.9, 2, "StoveBurner 12 CounterTop 8 Cabinet 3 Fridge 1 DiningTable 1"),
        "PepperShaker": _content(0.9, 2, "Cabinet 12 CounterTop 10 DiningTable 7 Drawer 5 SideTable 1"),
        "Plate": _content(0.9, 3, "Cabinet 12 CounterTop 10 DiningTable 6 Fridge 3 SinkBasin 1 Shelf 1"),
        "Pot": _content(0.9, 2, "StoveBurner 12 CounterTop 5 Fridge 2 DiningTable 2 Cabinet 2"),
        "Potato": _content(0.9, 3, "CounterTop 10 Fridge 8 DiningTable 7 SinkBasin 4 Microwave 2"),
        "SaltShaker": _content(0.9, 2, "Cabinet 11 CounterTop 10 DiningTable 8 Drawer 4 Shelf 1"),
        "SoapBottle": _content(0.8, 2, "CounterTop 10 Cabinet 10 DiningTable 5 GarbageCan 4 Shelf 1"),
        "Spatula": _content(0.8, 2, "CounterTop 13 Drawer 8 DiningTable 7 SinkBasin 3"),
        "Spoon": _content(0.8, 2, "CounterTop 12 Drawer 8 DiningTable 7 SinkBasin 3"),
        "Statue": _content(0.15, 2, "Shelf 3 CounterTop 2"),
        "Tomato": _content(0.95, 3, "Fridge 11 CounterTop 10 DiningTable 8 GarbageCan 3 SinkBasin 3"),
        "Vase": _content(0.15, 2, "CounterTop 4 Shelf 3 Cabinet 2"),
        "WineBottle": _content(0.35, 2, "CounterTop 5 DiningTable 4 Cabinet 3 GarbageCan 1"),
    },
    "livingroom": {
        "Book": _content(0.35, 2, "CoffeeTable 4 Dresser 3 Sofa 2 DiningTable 1 SideTable 1"),
        "Box": _content(0.85, 2, "Sofa 6 CoffeeTable 5 DiningTable 5 SideTable 2 Shelf 1"),
        "Candle": _content(0.15, 2, "SideTable 3 CoffeeTable 2 DiningTable 2"),
        "CellPhone": _content(0.3, 2, "CoffeeTable 4 Sofa 4 Dresser 2 SideTable 2 ArmChair 1"),
        "CreditCard": _content(1.0, 3, "Sofa 6 SideTable 5 CoffeeTable 5 DiningTable 4 ArmChair 3 Drawer 3"),
        "DeskLamp": _content(0.5, 1, "SideTable 5 CoffeeTable 1 Dresser 1"),
        "HousePlant": _content(0.6, 1, "SideTable 6 CoffeeTable 3 Dresser 1"),
        "KeyChain": _content(0.85, 2, "Drawer 5 CoffeeTable 5 SideTable 4 DiningTable 3 Sofa 3 ArmChair 1"),
        "Laptop": _content(1.0, 2, "Sofa 6 CoffeeTable 5 DiningTable 5 SideTable 2 ArmChair 1"),
        "Newspaper": _content(0.6, 2, "DiningTable 5 CoffeeTable 3 Sofa 3 Dresser 2 Shelf 2 SideTable 2"),
        "Pen": _content(0.2, 2, "CoffeeTable 4 SideTable 3 Dresser 2"),
        "Pencil": _content(0.2, 2, "SideTable 4 CoffeeTable 2 Drawer 2"),
        "Pillow": _content(1.0, 2, "Sofa 10 ArmChair 4"),
        "Plate": _content(0.4, 2, "DiningTable 5 CoffeeTable 3 SideTable 2 Shelf 1"),
        "RemoteControl": _content(1.0, 3, "CoffeeTable 6 SideTable 5 DiningTable 4 Sofa 4 Dresser 3"),
        "Statue": _content(0.95, 3, "CoffeeTable 6 Shelf 5 DiningTable 5 SideTable 5 Dresser 2"),
        "Television": _content(0.65, 1, "Dresser 5 TVStand 5 CoffeeTable 1 SideTable 1"),
        "TissueBox": _content(0.3, 2, "CoffeeTable 4 SideTable 3 Shelf 2 DiningTable 2 Drawer 1"),
        "Vase": _content(0.5, 3, "Shelf 6 CoffeeTable 4 DiningTable 4 Dresser 3 SideTable 3"),
        "Watch": _content(0.5, 2, "Drawer 4 CoffeeTable 4 DiningTable 3 SideTable 2 Dresser 2"),
        "WateringCan": _content(0.1, 1, "CoffeeTable 2 Shelf 1"),
    },
    "bedroom": {
        "AlarmClock": _content(1.0, 2, "Desk 6 SideTable 4 Shelf 3 Dresser 2"),
        "Book": _content(1.0, 3, "Bed 9 Desk 4 Drawer 3 Dresser 2 SideTable 2"),
        "Bowl": _content(0.45, 2, "Desk 4 Shelf 2 Dresser 1 SideTable 1"),
        "Box": _content(0.15, 1, "Desk 2 Shelf 1 Dresser 1"),
        "CD": _content(0.9, 3, "Drawer 5 Desk 4 Dresser 3 SideTable 2 GarbageCan 2 Shelf 1"),
        "CellPhone": _content(1.0, 3, "Bed 5 Desk 3 Drawer 3 Dresser 2 SideTable 2 ArmChair 1 Safe 1"),
        "CreditCard": _content(1.0, 3, "Drawer 5 Desk 5 Shelf 3 Dresser 3 SideTable 2 ArmChair 1"),
        "DeskLamp": _content(1.0, 1, "Desk 6 SideTable 5 Dresser 4 Shelf 1"),
        "HousePlant": _content(0.25, 1, "Desk 2 Shelf 2 Dresser 1"),
        "KeyChain": _content(1.0, 3, "Drawer 5 Desk 3 Dresser 3 SideTable 3 Shelf 2 Safe 1"),
        "Laptop": _content(1.0, 2, "Bed 9 Desk 4 Dresser 1"),
        "Mug": _content(0.5, 2, "Desk 4 Shelf 2 Dresser 2 SideTable 2"),
        "Pen": _content(1.0, 2, "Desk 4 Dresser 3 Drawer 3 SideTable 2 Shelf 2"),
        "Pencil": _content(1.0, 3, "SideTable 4 Desk 4 Drawer 4 Shelf 2 Dresser 2 GarbageCan 1"),
        "Pillow": _content(1.0, 3, "Bed 20 ArmChair 1"),
        "RemoteControl": _content(0.15, 2, "Drawer 3 Desk 2 SideTable 1"),
        "Statue": _content(0.15, 2, "Shelf 3 Desk 2 Dresser 1"),
        "TeddyBear": _content(0.15, 1, "Bed 1"),
        "TissueBox": _content(0.15, 2, "Desk 2 Drawer 2 SideTable 1"),
        "Watch": _content(0.2, 2, "Drawer 3 Dresser 2 Shelf 1 SideTable 1"),
    },
    "bathroom": {
        "Candle": _content(1.0, 3, "CounterTop 5 Toilet 4 Cabinet 3 Drawer 3 Shelf 2 Cart 1"),
        "Cloth": _content(1.0, 3, "BathtubBasin 4 CounterTop 3 Drawer 3 Cabinet 3 SinkBasin 1 Shelf 1"),
        "DishSponge": _content(0.3, 2, "BathtubBasin 3 Drawer 2 CounterTop 2 Toilet 1 SinkBasin 1"),
        "HandTowel": _content(1.0, 2, "HandTowelHolder 20 CounterTop 1"),
        "SoapBar": _content(1.0, 3, "CounterTop 3 Drawer 3 SinkBasin 3 Toilet 2 BathtubBasin 2 Cabinet 2"),
        "SoapBottle": _content(1.0, 2, "CounterTop 5 Toilet 2 Cabinet 2 Shelf 2 GarbageCan 1 Cart 1"),
        "SprayBottle": _content(1.0, 3, "CounterTop 6 Toilet 5 Cabinet 2 GarbageCan 1 Shelf 1 Cart 1"),
        "TissueBox": _content(0.35, 2, "CounterTop 3 Shelf 3 Drawer 2 Cart 1"),
        "ToiletPaper": _content(1.0, 3, "CounterTop 4 Toilet 3 GarbageCan 2 ToiletPaperHanger 2 Cabinet 2"),
        "Towel": _content(1.0, 1, "TowelHolder 20"),
    },
}
