"""Readings as the sensors send them."""

from plainunits import convert


def wind(knots: float) -> float:
    """Return the wind's speed in kilometres an hour."""
    return convert(knots, "kn", "km/h")


def pressure(inches: float) -> float:
    """Return the pressure in hectopascal, from inches of mercury."""
    return convert(inches, "inHg", "hPa")
