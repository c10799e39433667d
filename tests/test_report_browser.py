"""The page of `--inspect --html` in a browser: it loads nothing, runs nothing and fits its window.

Needs `pip install playwright` and a Chromium: of `playwright install chromium-headless-shell`, or of
the system. AUTOPARSER_SCREENSHOTS is a folder to leave pictures in.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_injection import in_json

from autoparser_gen import pipeline, report
from autoparser_gen.request import Options

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")

TEMPLATES = Path(__file__).parents[1] / "templates"
SYSTEM_BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
HOSTILE = "</style><script>document.title = 'caught'</script><img src=//x.test>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    ours = next(filter(None, map(shutil.which, SYSTEM_BROWSERS)), None)
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium
        installed = Path(chromium.executable_path).exists()
        if not installed and ours is None:
            pytest.skip("no Chromium here: playwright install chromium-headless-shell")
        # Chromium refuses its own sandbox to root, whom containers run as.
        launched = chromium.launch(
            executable_path=None if installed else ours,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    hostile = folder / "hostile.jinja"
    hostile.write_text(in_json(HOSTILE), encoding="utf-8")
    written = {}
    for source in (TEMPLATES / "qwen3.jinja", TEMPLATES / "kimi_k3.jinja", hostile):
        found = pipeline.find_format(source, Options(verify=False))
        written[source.stem] = folder / f"{source.stem}.html"
        text = report.page(source, found, Options(verify=False))
        written[source.stem].write_text(text, encoding="utf-8")
        found.prober.renderer.close()
    return written


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390])
@pytest.mark.parametrize("name", ["qwen3", "kimi_k3", "hostile"])
def test_a_page(browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    requests: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(pages[name].as_uri())

    assert requests == [pages[name].as_uri()]
    assert said == []  # a policy that stops something says so
    assert page.title() == f"{name}.jinja: its format"
    # The policy lets the page's own style through, and wide parts scroll inside the page.
    assert page.evaluate("getComputedStyle(document.body).maxWidth") == "1056px"
    assert page.evaluate("document.documentElement.scrollWidth") == width
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
    assert dark == (scheme == "dark")
    picture = page.screenshot(full_page=True)
    assert picture.startswith(b"\x89PNG")
    if folder := os.environ.get("AUTOPARSER_SCREENSHOTS"):
        Path(folder, f"{name}-{width}-{scheme}.png").write_bytes(picture)
    page.close()


def test_text_in_the_diagram_stays_in_its_place(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.goto(pages["kimi_k3"].as_uri())
    overlaps = page.evaluate("""() => [...document.querySelectorAll('svg g')].flatMap(row => {
        const texts = [...row.children].filter(e => e.matches('text:not(:empty)'));
        const boxes = texts.map(text => text.getBBox());
        return boxes.slice(1).filter((box, i) => boxes[i].x + boxes[i].width > box.x);
    }).length""")
    assert overlaps == 0
    page.close()
