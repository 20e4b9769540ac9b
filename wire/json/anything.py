"""Any value in a text of JSON, for messages that carry what others have made."""

from typing import Any

from wire.json.primitives import KINDS, JsonArrayOf, JsonConstruct, JsonMapOf, JsonNumeric, any_name
from wire.json.strict import ParsedValue

any_number = JsonNumeric()


class JsonAnything(JsonConstruct):
    """Any value of JSON, null and what is nested among them."""

    kinds = frozenset({*KINDS, type(None)})

    def expected(self) -> str:
        return "a value"

    def taken(self, node: ParsedValue, path: str) -> Any:
        return plain(node)

    def text(self, value: Any, path: str) -> str:
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return any_name.text(value, path)
        if isinstance(value, int | float):
            return any_number.text(value, path)
        if isinstance(value, list | tuple):
            return any_list.text(value, path)
        return any_members.text(value, path)


anything = JsonAnything()
any_list, any_members = JsonArrayOf(anything), JsonMapOf(anything)


def plain(node: ParsedValue) -> Any:
    """Return the value of a node that was read, and of all in it."""
    if isinstance(node.value, dict):
        return {name: plain(member.node) for name, member in node.value.items()}
    if isinstance(node.value, list):
        return [plain(inner) for inner in node.value]
    return node.value
