"""Turns a temperature of one scale into one of another."""

ABSOLUTE_ZERO = -273.15


def fahrenheit_to_celsius(degrees: float) -> float:
    """Return a temperature in Celsius."""
    return (degrees - 32) * 9 / 5


def celsius_to_fahrenheit(degrees: float) -> float:
    """Return a temperature in Fahrenheit."""
    return degrees * 9 / 5 + 32


def celsius_to_kelvin(degrees: float) -> float:
    """Return a temperature in Kelvin; ValueError for one below absolute zero."""
    if degrees < ABSOLUTE_ZERO:
        raise ValueError(f"{degrees} is below absolute zero")
    return degrees - ABSOLUTE_ZERO
