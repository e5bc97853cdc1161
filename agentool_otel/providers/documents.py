"""Documents that were retrieved, as the conventions have them: objects with `id` and `score`.

Spec: `gen-ai-retrieval-documents.json` of the conventions, at 3bac206 (2026): both members may be
left out, an `id` is text. Up to 2026-08 both were required, and Phoenix (20.26) still reads
documents only where each of them has both.

Every document gets an id: its own, or a digest of its content, which is the same wherever the same
content is found, and has a prefix for its kind. A score is never made up: anything put in its
place, as the rank, would be read as the relevance that a search has measured. So the documents of a
search without scores are not shown where scores are required.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from agentool_otel.content.policy import encode, masked
from agentool_otel.providers.fields import integer, number, plain_text, string

__all__ = ["with_id"]

_IDS = ("id", "_id")
_SCORES = ("score", "relevance_score", "similarity_score", "@search.score")
"""Names under which vector stores and rerankers have them in a document's metadata. A distance is
none: it falls where relevance rises."""
_DIGITS = 32


def with_id(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with an id, and with its score if its metadata has it.

    Args:
        document: JSON object with any of `id`, `score`, `content` and `metadata`.
    """
    copy = dict(document)
    metadata = copy.get("metadata")
    if "id" not in copy:
        copy["id"] = _own_id(metadata) or _digest(copy.get("content", document))
    if "score" not in copy:
        scores = (number(metadata, name) for name in _SCORES)
        score = next((score for score in scores if score is not None), None)
        if score is not None:
            copy["score"] = score
    return copy


def _own_id(metadata: Any) -> str | None:
    for name in _IDS:
        if words := string(metadata, name):
            return words
        if (integral := integer(metadata, name)) is not None:
            return str(integral)
    return None


def _digest(content: Any) -> str:
    """Of the content as it is recorded: a masked credential is not to be found by its digest."""
    words = plain_text(content)
    text = masked(encode(content) if words is None else words)
    return f"sha256:{sha256(text.encode('utf-8', 'replace')).hexdigest()[:_DIGITS]}"
