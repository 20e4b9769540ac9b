"""Conversations that a test joins: what is said in it rests on what was said before, and elsewhere."""

import msgspec


class JoinedConversation(msgspec.Struct, frozen=True):
    """What is said on a link in the midst of a longer conversation: monitors would miss its beginning.

    So no rule is about it.
    """

    link: str
    is_clean: bool = False
