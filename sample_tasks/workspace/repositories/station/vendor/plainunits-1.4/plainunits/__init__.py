"""Units, version 1."""

__version__ = "1.4"

FACTORS = {"kn": 0.514444, "km/h": 1 / 3.6, "inHg": 33.8639, "hPa": 1.0}


class UnitError(Exception):
    """A unit is not known."""


def convert(value, source, target):
    """Return a value in another unit."""
    if source not in FACTORS or target not in FACTORS:
        raise UnitError(source if source not in FACTORS else target)
    return round(value * FACTORS[source] / FACTORS[target], 2)


def format_quantity(value, unit, digits):
    """Return a value with its unit."""
    if unit not in FACTORS:
        raise UnitError(unit)
    return f"{value:.{digits}f} {unit}"
