"""Formats that are lists of tools: to ToolSpecs, or to the ToolRegistry they came from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from agentool_otel.converters.kit.fields import Object, describe, each
from agentool_otel.converters.kit.objects import Path, Translation
from agentool_otel.converters.kit.registries import join_specs, specs_of
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.documents import Document

__all__ = ["ToolConverter"]


class ToolConverter(ABC):
    """The base of a format whose documents are lists of tools.

    A subclass declares how one tool translates. A document is a list of tools, one tool alone, or
    an object with the list in its member `container`, if the format has such an object.
    """

    name: ClassVar[str]
    lossless: ClassVar[bool] = False
    container: ClassVar[str | None] = None
    room: ClassVar[Path | None] = None
    """Path in a tool's document for members that only the spec has; None if the format allows no
    additional members.
    """

    @abstractmethod
    def read_tool(self, tool: Object) -> Object:
        """Return the members of a ToolSpec that the format's own members give.

        Raises:
            DecodeError: if the tool is not valid.
        """

    @abstractmethod
    def write_tool(self, spec: Object) -> Object:
        """Return a tool with the content of a ToolSpec, as far as the format's own members
        allow.

        Raises:
            DecodeError: if that cannot be a tool of the format.
        """

    @abstractmethod
    def recognises_tool(self, tool: Object) -> bool:
        """Return whether an object can only be a tool of this format."""

    def normal_tool(self, tool: Object) -> Object:
        """Return a tool in the one shape that is written, of several that are read.

        Raises:
            DecodeError: if the tool is not valid.
        """
        return tool

    def recognises(self, value: Json) -> bool:
        try:
            tools = self._tools(value)
        except DecodeError:
            return False
        return bool(tools) and all(
            isinstance(tool, dict) and self.recognises_tool(tool) for tool in tools
        )

    def normal(self, value: Json) -> Json:
        tools = each(self._tools(value), "$", self.normal_tool)
        if self.container is None:
            return tools
        return {**(value if self._is_container(value) else {}), self.container: tools}

    def read(self, value: Json) -> list[Document]:
        path = f"$.{self.container}" if self._is_container(value) else "$"
        return join_specs(each(self._tools(value), path, self._to_agentool), path)

    def write(self, documents: Sequence[Document]) -> Json:
        specs = specs_of(documents, self.name)
        tools = each(specs, "$", self._translation().from_agentool)
        return tools if self.container is None else {self.container: tools}

    def _to_agentool(self, tool: Object) -> Object:
        return self._translation().to_agentool(self.normal_tool(tool))

    def _translation(self) -> Translation:
        return Translation(self._read_tool, self.write_tool, ("metadata", self.name), self.room)

    def _read_tool(self, tool: Object) -> Object:
        return self.read_tool(self.normal_tool(tool))

    def _is_container(self, value: Json) -> bool:
        return self.container is not None and isinstance(value, dict) and self.container in value

    def _tools(self, value: Json) -> list[Json]:
        if isinstance(value, dict) and self.container is not None and self.container in value:
            tools = value[self.container]
            if not isinstance(tools, list):
                raise DecodeError("array of tools", describe(tools), f"$.{self.container}")
            return tools
        return value if isinstance(value, list) else [value]
