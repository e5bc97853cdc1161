"""The cost of a run, computed where its spans do not have it.

Prices are those of the installed package `genai-prices` (extra `cost`), which is not updated: there
is no network access. A price is that of a model at a time, in US dollars per token; subscriptions
and other units (premium requests, credits) are not supported.
"""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from itertools import chain
from typing import Any

from agentool_otel.ground.integrations import integrations
from agentool_otel.ground.optional import library
from agentool_otel.model.operations import Embeddings, Inference
from agentool_otel.reading.rebuild.report.fidelity import Note
from agentool_otel.reading.rebuild.steps.model_calls import leaf_inferences
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import gen_ai

__all__ = ["COMPUTED_BY", "Prices", "add_cost"]

COMPUTED_BY = "total_cost_usd_computed_by"
"""Member of a trace's metadata: the prices that its cost was computed with."""
_FIELD = "metrics.total_cost_usd"

_Call = Inference | Embeddings


class _Unpriced(Exception):
    """A call has no price; the message has the reason."""


class Prices:
    """The price table.

    Raises:
        MissingDependencyError: if `genai-prices` is not installed.
    """

    def __init__(self) -> None:
        genai_prices = library("genai_prices", "computing cost", "cost", "genai-prices")
        self._table = genai_prices
        self.name = f"genai-prices {genai_prices.__version__}"
        declared = integrations().values()
        self._own_units = frozenset(chain.from_iterable(item.own_units for item in declared))

    def of(self, call: _Call, start_ns: int | None) -> Decimal:
        """Return the price of a model call in US dollars.

        Raises:
            _Unpriced: if the model, its usage or its time is not known well enough.
        """
        models = [name for name in (call.response_model, call.request_model) if name is not None]
        if not models:
            raise _Unpriced("its model is not known")
        if start_ns is None:
            raise _Unpriced("its time is not known, and prices change")
        counts, provider = self._counts(call), call.provider
        at = datetime.fromtimestamp(start_ns / 1e9, timezone.utc)
        for model in dict.fromkeys(models):
            try:
                price = self._table.calc_price(
                    counts, model, provider_id=provider, genai_request_timestamp=at
                )
            except LookupError:
                continue
            except ValueError as error:  # a part that is larger than the whole
                raise _Unpriced(str(error)) from error
            if price.provider.id not in self._own_units:
                total: Decimal = price.total_price
                return total
        of = f" of {provider!r}" if provider is not None else ""
        raise _Unpriced(f"{self.name} has no price for {models[0]!r}{of}")

    def _counts(self, call: _Call) -> Any:
        """Return the tokens of a call as the price table takes them."""
        usage = call.usage
        if usage is None or usage.input_tokens is None:
            raise _Unpriced("its input tokens are not known")
        if usage.output_tokens is None and isinstance(call, Inference):
            raise _Unpriced("its output tokens are not known")
        return self._table.Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,  # with those of reasoning, which cost the same
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )


def add_cost(nodes: list[Node], document: dict[str, Any], prices: Prices) -> list[Note]:
    """Add the computed cost of a run to its document, and return the notes for its report.

    A cost on the spans is kept. The sum needs the price of every call: if one has none, nothing is
    added.
    """
    totals = _object(document.get("metrics"))
    calls = [*leaf_inferences(nodes), *(n for n in nodes if isinstance(n.operation, Embeddings))]
    unpriced = [node for node in calls if _own_cost(node) is None and not _failed(node)]
    if not unpriced or (len(unpriced) == len(calls) and totals.get("total_cost_usd") is not None):
        return []
    total = sum((Decimal(str(_own_cost(node) or 0)) for node in calls), Decimal(0))
    missing: list[Note] = []
    for node in unpriced:
        assert isinstance(node.operation, _Call)
        try:
            total += prices.of(node.operation, node.start_ns)
        except _Unpriced as reason:
            span_id = node.span.span_id
            missing.append(
                Note("not_captured", _FIELD, None, span_id, gen_ai.REQUEST_MODEL, str(reason))
            )
    if missing:
        return missing
    totals["total_cost_usd"] = float(total)
    document["metrics"] = totals
    document["metadata"] = {**_object(document.get("metadata")), COMPUTED_BY: prices.name}
    return [Note("inferred", _FIELD, None, None, None, prices.name)]


def _object(member: Any) -> dict[str, Any]:
    return dict(member) if isinstance(member, dict) else {}


def _own_cost(node: Node) -> float | None:
    return node.operation.cost_usd if isinstance(node.operation, _Call) else None


def _failed(node: Node) -> bool:
    """True for a call that was rejected before it used any tokens."""
    operation = node.operation
    return isinstance(operation, _Call) and operation.error_type is not None and not operation.usage
