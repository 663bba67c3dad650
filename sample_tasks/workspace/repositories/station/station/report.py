"""What the station reports."""

from plainunits import UnitError, format_quantity

from station.readings import pressure, wind


def line(knots: float, inches: float) -> str:
    """Return the report of one moment."""
    speed = format_quantity(wind(knots), "km/h", 1)
    return f"wind {speed}, pressure {format_quantity(pressure(inches), 'hPa', 0)}"


def known(unit: str) -> bool:
    """Tell whether a unit can be printed."""
    try:
        format_quantity(1, unit, 0)
    except UnitError:
        return False
    return True
