"""Units, version 2."""

import warnings
from dataclasses import dataclass

__version__ = "2.0"

_FACTORS = {"kn": 1.852 / 3.6, "km/h": 1 / 3.6, "inHg": 33.8639, "hPa": 1.0}


class UnknownUnit(LookupError):
    """A unit is not known."""


@dataclass(frozen=True)
class Quantity:
    """A number with its unit."""

    value: float
    unit: str

    def __post_init__(self):
        if self.unit not in _FACTORS:
            raise UnknownUnit(self.unit)

    def to(self, unit):
        """Return the same quantity in another unit."""
        if unit not in _FACTORS:
            raise UnknownUnit(unit)
        return Quantity(self.value * _FACTORS[self.unit] / _FACTORS[unit], unit)

    def text(self, *, digits):
        """Return the number with its unit."""
        return f"{self.value:.{digits}f} {self.unit}"


def convert(value, source, target):
    """Return a value in another unit. Deprecated."""
    warnings.warn("convert is deprecated; use Quantity(...).to(...)", DeprecationWarning, stacklevel=2)
    return Quantity(value, source).to(target).value
