"""What generated rooms are made of: receptacles, the properties of objects, and what fits where.

How many receptacles of a class a room has follows the official `train` games; `CAN_CONTAIN` and the
properties follow their PDDL facts.
"""

from __future__ import annotations

from dataclasses import dataclass

ROOMS = ("kitchen", "livingroom", "bedroom", "bathroom")


@dataclass(frozen=True)
class Furniture:
    """A class of receptacle in a room: how many there are, and with what chance there is any."""

    kind: str
    least: int
    most: int
    chance: float = 1.0


FURNITURE: dict[str, tuple[Furniture, ...]] = {
    "kitchen": (
        Furniture("Cabinet", 4, 14),
        Furniture("Drawer", 2, 8),
        Furniture("Shelf", 2, 3, 0.2),
        Furniture("SideTable", 1, 1, 0.15),
        Furniture("DiningTable", 1, 2, 0.75),
        Furniture("CoffeeMachine", 1, 1),
        Furniture("CounterTop", 1, 3),
        Furniture("Toaster", 1, 1),
        Furniture("StoveBurner", 4, 4),
        Furniture("Microwave", 1, 1),
        Furniture("Fridge", 1, 1),
        Furniture("SinkBasin", 1, 1),
        Furniture("GarbageCan", 1, 1),
    ),
    "livingroom": (
        Furniture("Sofa", 1, 1),
        Furniture("ArmChair", 1, 2, 0.9),
        Furniture("CoffeeTable", 1, 1, 0.85),
        Furniture("DiningTable", 1, 1, 0.5),
        Furniture("SideTable", 1, 3),
        Furniture("Dresser", 1, 1, 0.45),
        Furniture("Drawer", 2, 6, 0.8),
        Furniture("TVStand", 1, 1, 0.3),
        Furniture("Shelf", 2, 6, 0.35),
        Furniture("Cabinet", 2, 4, 0.1),
        Furniture("Ottoman", 1, 1, 0.2),
        Furniture("GarbageCan", 1, 1),
    ),
    "bedroom": (
        Furniture("Bed", 1, 1),
        Furniture("Desk", 1, 1, 0.75),
        Furniture("SideTable", 1, 2),
        Furniture("Dresser", 1, 1, 0.5),
        Furniture("Drawer", 2, 8),
        Furniture("Shelf", 1, 6, 0.6),
        Furniture("ArmChair", 1, 1, 0.2),
        Furniture("Cabinet", 2, 3, 0.2),
        Furniture("Safe", 1, 1, 0.2),
        Furniture("LaundryHamper", 1, 1, 0.3),
        Furniture("GarbageCan", 1, 1),
    ),
    "bathroom": (
        Furniture("CounterTop", 1, 1, 0.9),
        Furniture("Cabinet", 2, 6, 0.5),
        Furniture("Drawer", 2, 6, 0.6),
        Furniture("Shelf", 1, 3, 0.25),
        Furniture("SideTable", 1, 1, 0.1),
        Furniture("Cart", 1, 1, 0.15),
        Furniture("Toilet", 1, 1),
        Furniture("ToiletPaperHanger", 1, 1),
        Furniture("HandTowelHolder", 1, 2),
        Furniture("TowelHolder", 1, 1),
        Furniture("SinkBasin", 1, 2),
        Furniture("BathtubBasin", 1, 1, 0.7),
        Furniture("GarbageCan", 1, 1),
    ),
}

SHARED_PLACES = {
    ("Cabinet", "Cabinet"): 0.15,
    ("Drawer", "Drawer"): 0.1,
    ("StoveBurner", "StoveBurner"): 0.5,
    ("CoffeeMachine", "CounterTop"): 0.2,
    ("CounterTop", "Toaster"): 0.25,
}
"""With what chance two receptacles listed one after the other are reached from one place."""

OPENABLE = frozenset({"Cabinet", "Drawer", "Fridge", "Microwave", "Safe"})
SOMETIMES_FIXED = frozenset({"Cabinet", "Drawer"})
"""Openable classes of which about one in six is not openable, as in the official games."""

CAPACITY = {
    "CoffeeMachine": 1, "StoveBurner": 1, "ToiletPaperHanger": 1, "HandTowelHolder": 1, "TowelHolder": 1,
    "Microwave": 1, "Toaster": 0, "Drawer": 3, "Cabinet": 3, "Shelf": 4, "SinkBasin": 4, "Safe": 2,
}  # fmt: skip
"""How many objects a receptacle starts with at most; those not named here have no limit."""


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


CLEANABLE = _kinds(
    "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan Plate Pot"
    " Potato SoapBar Spatula Spoon Tomato"
)
HEATABLE = _kinds("Apple Bread Cup Egg Mug Plate Potato Tomato")
COOLABLE = _kinds("Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle")
SLICEABLE = _kinds("Apple Bread Egg Lettuce Potato Tomato")
HOLLOW = _kinds("Bowl Box Cup Mug Pan Plate Pot")
"""Objects that the domain calls receptacle objects."""
TOGGLEABLE = frozenset({"DeskLamp"})
FIXTURES = frozenset({"DeskLamp", "HousePlant", "Television"})
"""Objects that cannot be taken."""

_SEAT = "Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl"
_SURFACE = (
    "AlarmClock Apple Book Bowl Box Bread ButterKnife CD Candle CellPhone Cloth CreditCard Cup DishSponge"
    " Egg Fork Glassbottle Kettle KeyChain Knife Ladle Laptop Lettuce Mug Newspaper Pan Pen Pencil"
    " PepperShaker Plate Pot Potato RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle"
    " Statue TissueBox ToiletPaper Tomato Vase Watch WateringCan WineBottle"
)
CAN_CONTAIN: dict[str, frozenset[str]] = {
    kind: _kinds(names)
    for kind, names in {
        "ArmChair": f"{_SEAT} Cloth",
        "BathtubBasin": "Cloth DishSponge HandTowel SoapBar",
        "Bed": "Book CellPhone Laptop Pillow TeddyBear",
        "Cabinet": "Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle Mug"
        " Newspaper Pan PepperShaker Plate Pot SaltShaker SoapBar SoapBottle SprayBottle TissueBox"
        " ToiletPaper Vase WateringCan WineBottle",
        "Cart": "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox ToiletPaper",
        "CoffeeMachine": "Mug",
        "CoffeeTable": "Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil Plate"
        " RemoteControl Statue TissueBox Vase Watch WateringCan",
        "CounterTop": f"{_SURFACE} HandTowel",
        "Desk": "AlarmClock Book Bowl Box CD CellPhone Cloth CreditCard KeyChain Laptop Mug Pen Pencil"
        " RemoteControl Statue TissueBox Vase Watch WateringCan",
        "DiningTable": _SURFACE,
        "Drawer": "Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel KeyChain"
        " Knife Ladle Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker SoapBar SoapBottle"
        " Spatula Spoon SprayBottle TissueBox ToiletPaper Watch WateringCan",
        "Dresser": "AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard KeyChain Laptop Mug"
        " Newspaper Pen Pencil Plate RemoteControl SprayBottle Statue TissueBox ToiletPaper Vase Watch"
        " WateringCan",
        "Fridge": "Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato WineBottle",
        "GarbageCan": "Apple Bread CD Cloth DishSponge Egg HandTowel Lettuce Newspaper Pen Pencil Potato"
        " SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Tomato WineBottle",
        "HandTowelHolder": "HandTowel",
        "LaundryHamper": "Cloth",
        "Microwave": "Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato",
        "Ottoman": _SEAT,
        "Safe": "CD CellPhone CreditCard KeyChain Statue Vase",
        "Shelf": "AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge Glassbottle"
        " HandTowel Kettle KeyChain Mug Newspaper Pen Pencil PepperShaker Plate Pot RemoteControl"
        " SaltShaker SoapBar SoapBottle SprayBottle Statue TissueBox ToiletPaper Vase Watch WateringCan"
        " WineBottle",
        "SideTable": f"{_SURFACE} HandTowel",
        "SinkBasin": "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle"
        " Knife Ladle Lettuce Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato",
        "Sofa": _SEAT,
        "StoveBurner": "Kettle Pan Pot",
        "TVStand": "TissueBox",
        "Toilet": "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox ToiletPaper",
        "Toaster": "",
        "ToiletPaperHanger": "ToiletPaper",
        "TowelHolder": "Towel",
    }.items()
}
