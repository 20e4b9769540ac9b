"""What a shell completes: rules and readings, with their gist where the shell shows it."""

from collections.abc import Iterator

import click
from click.shell_completion import CompletionItem

from conformance.catalogue.loading import load_catalogue, protocols


def rules(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the rules whose ids begin so: of the protocol that is named before, or of all."""
    return [item for item in _found(context, readings=False) if item.value.startswith(begun.upper())]


def rules_and_readings(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the rules and the readings whose ids begin so."""
    return [item for item in _found(context, readings=True) if item.value.startswith(begun.upper())]


def _found(context: click.Context, *, readings: bool) -> Iterator[CompletionItem]:
    named = context.params.get("protocol")
    for protocol in protocols():
        if named in (None, protocol):
            catalogue = load_catalogue(protocol)
            for id, rule in catalogue.rules.items():
                yield CompletionItem(id, help=rule.gist)
            for id, reading in catalogue.readings.items() if readings else ():
                yield CompletionItem(id, help=reading.question)
