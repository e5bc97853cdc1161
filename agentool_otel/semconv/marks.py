"""Marks inside content in place of a value, or of a part of one.

Spec: this file. A JSON object with a member `$unencodable` or `$truncated` is such a mark or, where
it has other members too, the part of an object that was kept. A text that was shortened ends in
`TRUNCATED_TEXT`; one that was a credential is `MASK`, and base64 of media is `MEDIA_TEXT`.
"""

MARK_TYPE = "$type"
"""Qualified name of the value's class."""
MARK_UNENCODABLE = "$unencodable"
"""Why JSON cannot hold the value: `opaque` (only its own methods could show it), `circular`,
`binary`, `nan`, `not set`, ...
"""
MARK_TRUNCATED = "$truncated"
"""The limit that was reached: `depth`, `nodes`, `characters` or `seconds` while encoding, `changed`
where another thread was writing, `bytes` where an attribute was shortened to fit.
"""
MARK_LENGTH = "$length"
"""Original number of members, bytes or bits."""
MARK_TEXT = "$text"
"""Description of the value: a name, a time without its zone."""
TRUNCATED_TEXT = "… [truncated: {} characters]"
"""End of a text that was shortened, with the length it had."""

MARK_MEDIA = "$media_type"
"""Media type of bytes that are an image, a sound, a video or a PDF."""
MARK_SHA256 = "$sha256"
"""Hash of such bytes."""
MEDIA_TEXT = "media-{}-{}-bytes-sha256-{}"
"""Replacement for base64 of an image, a sound, a video or a PDF: its media type (`image-png`), its
size and its hash, both of the decoded bytes. All its characters are those of base64 for URLs: what
is around it, such as a token in front of it, ends where it did.
"""

MASK = "[masked]"
"""Replacement for a credential."""
