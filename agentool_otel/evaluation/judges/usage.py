"""Usage of the judges, apart from the usage of the agents that they judge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from importlib import import_module
from typing import Any

__all__ = ["JudgeUsage"]


class JudgeUsage:
    """Calls and tokens of a judge so far."""

    def __init__(self) -> None:
        self.calls = 0
        """Calls that were made, retries included."""
        self.answers = 0
        """Answers that a model gave, also those that could not be read."""
        self.timeouts = 0
        """Calls that were given up because they took too long."""
        self.waiting = 0
        """Questions that wait for their answer now."""
        self.changed: Callable[[], None] = lambda: None
        """Called in the judge's thread after a change; it must return at once."""
        self.gave_up: str | None = None
        """Why questions stopped; None while they go on."""
        self.kept = 0
        """Answers that were on disk already."""
        self.input_tokens = 0
        self.output_tokens = 0
        """With those of reasoning."""
        self._cost: Decimal | None = Decimal(0)

    @property
    def cost_usd(self) -> float | None:
        """Return the cost of the calls in US dollars; None without calls or where a price is
        unknown, as without the extra `cost`.
        """
        return float(self._cost) if self._cost is not None and self.answers else None

    def add(self, usage: Any, model: str, url: str) -> None:
        """Add an answer.

        Args:
            usage: the endpoint's usage, with `prompt_tokens` and `completion_tokens`; None if it
                reported none.
            model: the model that answered.
            url: the endpoint, which decides about the prices.
        """
        self.answers += 1
        input_tokens = _count(getattr(usage, "prompt_tokens", None))
        output_tokens = _count(getattr(usage, "completion_tokens", None))
        self.input_tokens += input_tokens or 0
        self.output_tokens += output_tokens or 0
        details = getattr(usage, "prompt_tokens_details", None)
        cached = _count(getattr(details, "cached_tokens", None))
        price = None
        if input_tokens is not None and output_tokens is not None:
            price = _price((input_tokens, output_tokens, cached), model, url)
        self._cost = None if price is None or self._cost is None else self._cost + price


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _price(tokens: tuple[int, int, int | None], model: str, url: str) -> Decimal | None:
    try:
        prices: Any = import_module("genai_prices")
    except ImportError:
        return None
    input_tokens, output_tokens, cached = tokens
    counts = prices.Usage(
        input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached
    )
    now = datetime.now(timezone.utc)
    try:
        calculation = prices.calc_price(
            counts, model, provider_api_url=url, genai_request_timestamp=now
        )
    except (LookupError, ValueError):  # a server of one's own has no price
        return None
    price: Decimal = calculation.total_price
    return price
