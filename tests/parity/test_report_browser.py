"""The page of a report in a real browser: nothing is asked of the network, and the figures are drawn."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import lexmill
from small import byte_level

pytestmark = pytest.mark.external

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def browser() -> str:
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    pytest.skip(f"no browser is installed: none of {', '.join(BROWSERS)}")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("plotly")
    folder = tmp_path_factory.mktemp("report")
    corpus = [folder / "one.jsonl", folder / "two.jsonl"]
    for number, path in enumerate(corpus):
        records = [
            {"text": f"the cat {at} sat on the mat. Größe, 東京 🦀", "lang": "ab"[at % 2]} for at in range(number + 9)
        ]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    tokenizers = {"one": byte_level(("t", "h"), ("th", "e")), "two": byte_level(("a", "t"))}
    lexmill.report(tokenizers, corpus, group_by="lang").save(folder / "report.html")
    return folder / "report.html"


def run(browser: str, page: Path, *options: str) -> str:
    profile = page.parent / "profile"
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={profile}",
        "--virtual-time-budget=20000",
        *options,
        page.as_uri(),
    ]
    return subprocess.run(command, capture_output=True, check=True, timeout=240, text=True).stdout


def requests(log: Path) -> list[str]:
    """The addresses that pages asked for: what the browser asks of its own makers has no origin."""
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    asked = [event["params"] for event in events if "initiator" in event.get("params", {})]
    urls = {one["url"] for one in asked if one["initiator"] != "not an origin"}
    return sorted(url for url in urls if not url.startswith(("file:", "data:", "blob:")))


def test_nothing_is_asked_of_the_network_and_all_figures_are_drawn(browser: str, page: Path) -> None:
    log = page.with_name("net.json")
    document = run(browser, page, f"--log-net-log={log}", "--dump-dom")
    assert requests(log) == []
    places = re.findall('<div id="figure-([a-z-]+)"', document)
    figures = re.search('<script type="application/json" id="figures">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert figures is not None
    assert sorted(places) == sorted(json.loads(figures[1]))
    for name in places:
        drawn = document[document.index(f'<div id="figure-{name}"') :]
        assert re.match(
            r'<div id="[a-z-]+" class="js-plotly-plot">.{0,2000}?<svg class="main-svg"', drawn, re.DOTALL
        ), name
    assert document.count('class="main-svg"') >= len(places)


def test_a_page_that_asks_the_network_is_found_out(browser: str, page: Path) -> None:
    log = page.with_name("net-bad.json")
    bad = page.with_name("bad.html")
    asking = (
        '<img src="https://example.org/x.png"><script>fetch("https://example.org/y").catch(() => 0)</script></main>'
    )
    bad.write_text(page.read_text(encoding="utf-8").replace("</main>", asking), encoding="utf-8")
    run(browser, bad, f"--log-net-log={log}", "--dump-dom")
    assert requests(log) == ["https://example.org/x.png", "https://example.org/y"]
