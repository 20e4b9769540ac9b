"""The documents' texts, where they are at hand: finding them in a folder and taking over a changed one.

Maintainers run ``python -m conformance.catalogue.documents DIR PROTOCOL`` after a document has changed: the digests of
the listed lines are computed anew, their kinds are kept, and ``documents.toml`` is rewritten.
"""

import hashlib
from importlib.resources import as_file, files
from pathlib import Path

import click
import msgspec

from conformance.catalogue.loading import CatalogueError, load_catalogue, protocols
from conformance.catalogue.rules import Document, NormativeLine, line_digests

SHARE = 0.5
"""Share of a document's normative lines that a file must have to be taken for it: below, it is another document."""


def closest(document: Document, directory: Path) -> tuple[Path, bytes] | None:
    """Return a document's file in a folder, with its bytes: the very same or else the most similar one.

    Found by content, as everybody calls the files otherwise. ``None`` when no file has more than half of the
    normative lines.
    """
    wanted = {line.digest for line in document.normative.values()}
    best: tuple[float, Path, bytes] | None = None
    # Sorted, so that of two equal ones it is the same everywhere.
    for path in sorted(path for path in directory.iterdir() if path.is_file()):
        text = path.read_bytes()
        # The very same ends the search: no other file can be more like it.
        if hashlib.sha256(text).hexdigest() == document.sha256:
            return path, text
        # Of the normative lines alone: front matter, page breaks and examples change without a change of rules.
        share = len(wanted & set(line_digests(text))) / len(wanted) if wanted else 0.0
        if share > SHARE and (best is None or share > best[0]):
            best = (share, path, text)
    return best[1:] if best else None


def updated(document: Document, text: bytes, file: str) -> tuple[Document, list[str]]:
    """Return a document with the digests of a new text, and the changes line by line.

    Numbers and kinds of the normative lines stay. Raises CatalogueError when the text ends before one of
    them.
    """
    digests = line_digests(text)
    normative, changes = {}, []
    for number, line in document.normative.items():
        if number > len(digests):
            raise CatalogueError(
                "documents.toml",
                document.name,
                f"line {number} is beyond the new text; remove it from 'normative'",
            )
        normative[number] = NormativeLine(line.kind, digests[number - 1])
        if normative[number] != line:
            changes.append(f"line {number} ({line.kind}): {line.digest} becomes {digests[number - 1]}")
    return msgspec.structs.replace(
        document, file=file, sha256=hashlib.sha256(text).hexdigest(), lines=len(digests), normative=normative
    ), changes


def render(documents: dict[str, Document]) -> str:
    """Return the text of ``documents.toml``, without its leading comment."""
    blocks = []
    for name, document in documents.items():
        head = [f"[{name}]"] + [
            f"{key} = {msgspec.json.encode(getattr(document, key)).decode()}"
            for key in ("title", "file", "sha256", "lines")
        ]
        body = [f"[{name}.normative]"] + [
            f'{number} = "{line.kind} {line.digest}"' for number, line in document.normative.items()
        ]
        blocks += ["\n".join(head) + "\n", "\n".join(body) + "\n"]
    return "\n".join(blocks)


@click.command()
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("protocol", type=click.Choice(protocols()))
def main(directory: Path, protocol: str) -> None:
    """Take over the digests of PROTOCOL's documents from the texts in DIRECTORY."""
    try:
        documents = {}
        for name, document in load_catalogue(protocol).documents.items():
            found = closest(document, directory)
            if found is None:
                raise click.ClickException(f"{name}: no file in {directory} has most of its normative lines")
            path, text = found
            documents[name], changes = updated(document, text, path.name)
            for change in changes:
                click.echo(f"{name}: {change}")
            click.echo(f"{name}: {path.name}, {len(changes)} of {len(document.normative)} normative lines changed")
    except CatalogueError as error:
        raise click.ClickException(str(error)) from None
    with as_file(files("conformance").joinpath(protocol, "documents.toml")) as target:
        old = target.read_text(encoding="utf-8")
        # The comment before the first table is written by hand and stays.
        comment = old[: old.index("[")]
        target.write_text(comment + render(documents), encoding="utf-8")


if __name__ == "__main__":
    main()
