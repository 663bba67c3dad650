"""Amounts of money: whole cents everywhere, text only where it is read or printed."""


def parse(text: str) -> int:
    """Return an amount such as `12.30` or `-4` in cents; ValueError where it is none."""
    sign = -1 if text.strip().startswith("-") else 1
    whole, _, cents = text.strip().lstrip("-").partition(".")
    if not whole.isdigit() or (cents and not (cents.isdigit() and len(cents) == 2)):
        raise ValueError(f"expected an amount such as 12.30; found {text!r}")
    return sign * (int(whole) * 100 + int(cents or 0))


def show(cents: int) -> str:
    """Return an amount as it is printed."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}{whole}.{rest:02d}"


def split(cents: int, people: int) -> list[int]:
    """Return what each of so many people pays of an amount."""
    part = round(cents / people)
    return [part] * people
