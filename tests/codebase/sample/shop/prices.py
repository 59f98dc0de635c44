"""Prices."""


def price_of(item: str) -> int:
    """What an item costs, in cents."""
    return len(item)
