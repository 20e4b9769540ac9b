"""HTML: a run as one static page that needs no network, for those who have to act on it."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from conformance.catalogue.loading import load_catalogue
from conformance.catalogue.rules import Catalogue
from conformance.gate.terminal import messages_of, showing
from conformance.run.records import TRACES, CasePlayed, Record, RunStarted
from conformance.run.summary import RuleSummary, RunSummary
from conformance.verdicts import EvidenceMessage, Verdict
from reports.exports.runs import load
from wire.files import write_file

NON_PASSES = (Verdict.FAIL, Verdict.ERROR, Verdict.WARN, Verdict.INCONCLUSIVE)
STYLE = """
:root { color-scheme: light dark; --fg: #1b1f24; --bg: #fff; --soft: #f3f4f6; --line: #d0d4da;
  --link: #0b57d0; --PASS: #17692f; --WARN: #7a5200; --FAIL: #b3141b; --INCONCLUSIVE: #7a3aa8;
  --ERROR: #b3141b; --UNTESTED: #5b6470; }
@media (prefers-color-scheme: dark) { :root { --fg: #e4e7eb; --bg: #14171b; --soft: #1f242a; --line: #3a414a;
  --link: #8ab4f8; --PASS: #6fcf8a; --WARN: #e3b341; --FAIL: #ff7b80; --INCONCLUSIVE: #c9a0f0;
  --ERROR: #ff7b80; --UNTESTED: #9aa4b0; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--fg); background: var(--bg); margin: 2rem auto;
  max-width: 80rem; padding: 0 1rem; }
a { color: var(--link); }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; }
article { background: var(--soft); border-left: 4px solid var(--line); padding: .6rem 1rem; margin: .8rem 0; }
article h3 { font-size: 1rem; margin: 0 0 .4rem; }
dl { display: grid; grid-template-columns: 7rem 1fr; margin: 0; gap: .15rem .6rem; }
dt { color: var(--UNTESTED); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.messages td { border: 0; padding: .1rem .8rem .1rem 0; white-space: nowrap; }
.messages td:last-child { white-space: normal; overflow-wrap: anywhere; width: 100%; }
mark { background: var(--FAIL); color: var(--bg); padding: 0 .15rem; border-radius: 2px; }
pre { margin: 0; white-space: pre-wrap; font-size: .85rem; }
input, button { font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--line);
  border-radius: 4px; padding: .25rem .6rem; }
button[aria-pressed=false] { opacity: .45; }
[hidden] { display: none; }
""" + "".join(f"b.{verdict.value} {{ color: var(--{verdict.value}); }}\n" for verdict in Verdict)
SCRIPT = """
const rows = [...document.querySelectorAll('[data-verdict]')], text = document.querySelector('#text');
const buttons = [...document.querySelectorAll('button[data-show]')];
function filter() {
  const shown = new Set(buttons.filter(b => b.ariaPressed === 'true').map(b => b.dataset.show));
  const wanted = text.value.toLowerCase();
  for (const row of rows)
    row.hidden = !shown.has(row.dataset.verdict) || !row.textContent.toLowerCase().includes(wanted);
}
for (const b of buttons)
  b.onclick = () => { b.ariaPressed = b.ariaPressed === 'true' ? 'false' : 'true'; filter(); };
text.oninput = filter;
"""


def export(report_dir: Path) -> None:
    """Write ``index.html`` into a run's folder."""
    write_file(report_dir / "index.html", page(*load(report_dir)))


def page(records: Sequence[Record], summary: RunSummary) -> str:
    """Return the page of a run."""
    catalogue = load_catalogue(summary.protocol)
    # All that comes from a run is escaped: cases cite what an implementation sent, and it may send anything.
    title = escape(f"{summary.protocol}: {summary.name} {summary.version}")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{STYLE}</style></head><body>",
            *_header(records, summary, title),
            *_filters(summary),
            *_details(records, summary, catalogue),
            *_table(summary, catalogue),
            f"<script>{SCRIPT}</script></body></html>\n",
        ]
    )


def _header(records: Sequence[Record], summary: RunSummary, title: str) -> Iterator[str]:
    started = next((record for record in records if isinstance(record, RunStarted)), None)
    state = "as expected" if summary.exit == 0 else "interrupted" if summary.interrupted else "not as expected"
    word = Verdict.PASS if summary.exit == 0 else Verdict.FAIL
    yield f'<header><h1>{title} <b class="v {word.value}">{state}</b></h1>'
    facts = [
        f"role {summary.role}",
        f"over {summary.transport}",
        f"profile {summary.profile}",
        f"--iut {summary.iut}",
        f"{summary.played} cases" + (f", {summary.blocked} blocked" if summary.blocked else ""),
        f"goldwire {summary.goldwire}",
        started.time if started else "",
    ]
    yield f"<p>{escape(' · '.join(filter(None, facts)))}</p></header>"
    errors = [f"{name}: {text}" for name, text in summary.errors.items()]
    # What fails the gate without any rule stands above everything: else the page looks green and the exit status says
    # 1.
    stopped = f"stopped {summary.stopped}: what stands here is not the whole picture" if summary.stopped else ""
    notices = [summary.not_started, stopped, *summary.complaints, *errors, *summary.trouble]
    if any(notices):
        yield "<section><h2>What fails the gate beside rules</h2><ul>"
        yield from (f"<li><pre>{escape(text)}</pre></li>" for text in notices if text)
        yield "</ul></section>"


def _filters(summary: RunSummary) -> Iterator[str]:
    yield '<p role="group" aria-label="Filter">'
    for verdict in Verdict:
        number = summary.counts[verdict.value]
        label = f'{number} <b class="v {verdict.value}">{verdict.value}</b>'
        yield f'<button type="button" data-show="{verdict.value}" aria-pressed="true">{label}</button>'
    yield '<input id="text" type="search" placeholder="filter by text" aria-label="Filter by text"></p>'


def _details(records: Sequence[Record], summary: RunSummary, catalogue: Catalogue) -> Iterator[str]:
    # The articles come before the table: what somebody has to act on is seen without scrolling.
    played = [record for record in records if isinstance(record, CasePlayed)]
    yield "<section><h2>What is not kept, or not certain</h2>"
    roots = summary.roots
    for key, rule in summary.by_urgency(NON_PASSES).items():
        yield from _article(key, rule, catalogue, played, roots.get(key, []))
    yield "</section>"


def _article(
    key: str, rule: RuleSummary, catalogue: Catalogue, played: Sequence[CasePlayed], blocked: Sequence[str]
) -> Iterator[str]:
    entry = catalogue.rules[key]
    yield f'<article id="{key}" data-verdict="{rule.verdict.value}"><h3>{_verdict(rule)} {key} '
    yield f"{escape(entry.weight)}: {escape(entry.gist)}</h3><dl>"
    yield _term("document", f"{entry.document}, {entry.section}, lines {entry.lines}")
    yield _term("follows", entry.follows)
    yield _term("taste", entry.taste)
    yield _term("blocks", f"what cannot be judged without it: {', '.join(blocked)}" if blocked else "")
    yield _term("reading", rule.reading)
    yield _term("flaky", rule.flaky)
    for each in rule.by_finding():
        yield from _finding(key, each, showing(key, each, played))
    yield "</dl></article>"


def _finding(key: str, rule: RuleSummary, record: CasePlayed | None) -> Iterator[str]:
    """Yield one way in which a rule is not kept: what came, what is known of it, and what shows it."""
    yield _term("came", f"{rule.outcome}: {rule.what}", preformatted=True)
    yield _term("known", rule.reason if rule.expected else "")
    if record is None:
        return
    yield from _messages(messages_of(key, rule, record))
    yield _term("stimulus", f"{record.sentence} ({record.case})")
    if record.trace:
        names = [f"{TRACES}/{record.trace}{suffix}" for suffix in (".pcapng", ".ndjson")]
        links = " ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name in names)
        yield f"<dt>trace</dt><dd>{links}</dd>"
    yield _term("repeat", record.reproduce, preformatted=True)


def _messages(messages: Sequence[EvidenceMessage]) -> Iterator[str]:
    if not messages:
        return
    yield '<dt>messages</dt><dd><table class="messages"><tbody>'
    for each in messages:
        yield f"<tr><td>{each.time:.4f} s</td><td>{escape(each.link)}</td><td>{each.way}</td><td>{escape(each.text)}"
        if each.pieces:
            texts = (f"<mark>{escape(text)}</mark>" if wrong else escape(text) for text, wrong in each.pieces)
            yield f"<br><code>{('' if each.is_text else ' ').join(texts)}</code>"
        yield "</td></tr>"
    yield "</tbody></table></dd>"


def _table(summary: RunSummary, catalogue: Catalogue) -> Iterator[str]:
    heads = (
        "rule",
        "verdict",
        "outcome",
        "strength",
        "gist",
        "section",
        "reading",
        "why it is known, or untested",
    )
    yield "<section><h2>All rules</h2><table><thead><tr>"
    yield "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr></thead><tbody>"
    for key, rule in summary.rules.items():
        entry = catalogue.rules[key]
        # Only what has an article below can be linked to.
        name = f'<a href="#{key}">{key}</a>' if rule.verdict in NON_PASSES else key
        texts = (rule.outcome, entry.weight, entry.gist, entry.section, rule.reading, rule.reason)
        cells = [name, _verdict(rule), *map(escape, texts)]
        yield f'<tr data-verdict="{rule.verdict.value}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    yield "</tbody></table></section>"


def _term(name: str, text: str, *, preformatted: bool = False) -> str:
    if not text:
        return ""
    body = f"<pre>{escape(text)}</pre>" if preformatted else escape(text)
    return f"<dt>{name}</dt><dd>{body}</dd>"


def _verdict(rule: RuleSummary) -> str:
    return f'<b class="v {rule.verdict.value}">{rule.verdict.value}</b>'
