"""The page in a real browser: all is shown, opened by mouse and keyboard, inert, and asks for nothing outside."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from report_reading import named

from evoharness_cli.experience import journal
from evoharness_cli.experience.store import Store
from evoharness_cli.harness import Brief, Fact, Step
from evoharness_cli.report import opened, write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")

HOSTILE = "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'><svg onload=pwned=3>"
PHONE = {"width": 390, "height": 844}
Open = Callable[..., "sync_api.Page"]


@pytest.fixture(scope="module")
def chromium() -> Iterator[sync_api.Browser]:
    """The browser that Debian and others package, without a window."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("needs Chromium on the path: apt-get install chromium")
    with sync_api.sync_playwright() as browsers, closing(browsers.chromium.launch(executable_path=found)) as browser:
        yield browser


@pytest.fixture
def show(chromium: sync_api.Browser) -> Iterator[Open]:
    """Open the report of a store; at the end, nothing may have been asked for, refused or broken on the way."""
    asked: list[str] = []
    complaints: list[str] = []
    contexts: list[sync_api.BrowserContext] = []

    def write_and_open(store: Path, at: str = "", script: str = "", **options: object) -> sync_api.Page:
        out = store.with_suffix(".html")
        if not out.exists():
            with opened(None, named(store)) as subject:
                write_report(subject, out)
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        if script:
            page.add_init_script(script)
        page.on("request", lambda request: asked.append(request.url.split("#")[0]))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.goto(out.as_uri() + at)
        return page

    yield write_and_open
    for context in contexts:
        context.close()
    assert complaints == []
    assert len(asked) == len(contexts)
    assert all(url.startswith("file:///") and url.endswith(".html") for url in asked)


def said(page: sync_api.Page, selector: str) -> list[str]:
    """Return the words of each element."""
    return [" ".join(words.split()) for words in page.locator(selector).all_inner_texts()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_methods_stand_side_by_side_with_their_plots_in_the_pages_colours(
    show: Open, evaluation: Path, scheme: str
) -> None:
    page = show(evaluation, color_scheme=scheme)
    rows = said(page, "table >> nth=0 >> tbody tr")
    drawn = page.locator("figure svg")
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )

    assert rows[1].startswith("bpe 3 of 3 100.0% 43.9% to 100.0% 8.3 0.00 3.00 1.00 0.00")
    assert drawn.count() == 4
    assert all(box["width"] > 200 and box["height"] > 60 for box in (each.bounding_box() for each in drawn.all()))
    assert "bpe,steps=4" in page.locator("figure").first.locator("text").all_text_contents()
    assert page.locator("figure text").first.evaluate("each => getComputedStyle(each).fill") == ink
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_an_episode_is_opened_by_a_click_and_shows_every_step(show: Open, learnt: Path) -> None:
    page = show(learnt)
    page.click(".row >> text=heat-egg >> nth=1")
    page.wait_for_selector(".step")

    assert said(page, "#episode h3") == ["heat-egg"]
    assert page.locator(".step").count() == 14
    assert said(page, ".step >> nth=1 >> .action") == ["1 recall [egg]"]
    recalled = said(page, ".step >> nth=1 >> .recalled li")
    assert any(
        "the egg is in fridge 1" in each and "helped by 0.33: saw egg 1 at fridge 1" in each for each in recalled
    )
    page.click(".step >> nth=4")
    assert said(page, "[data-part=belief] .situation") == ["at fridge 1, holding nothing, 1 of 28 places searched"]
    assert "egg 1 at fridge 1 (step 4)" in said(page, "[data-part=belief] .news")
    assert said(page, "[data-part=progress] li")[0] == "→ find egg"
    page.click(".step >> nth=13")
    assert said(page, "[data-part=progress] li.won")[0] == "✓ find egg (done)"
    assert page.evaluate("location.hash") == "#episode=3"


def test_an_episode_is_opened_and_read_by_keyboard(show: Open, learnt: Path) -> None:
    page = show(learnt)
    page.keyboard.press("/")
    page.keyboard.type("keychain")
    assert said(page, "#count") == ["3 of 6 episodes"]
    page.keyboard.press("Escape")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".step")
    assert page.evaluate("location.hash") == "#episode=4"
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    assert said(page, ".step[aria-current=step] .action")[0].startswith("2 commit [")
    page.keyboard.press("]")
    page.wait_for_url("**/*#episode=6")
    page.keyboard.press("[")
    page.wait_for_url("**/*#episode=4")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "list"


def test_episodes_are_filtered_by_method_type_outcome_and_verb(show: Open, evaluation: Path) -> None:
    page = show(evaluation)
    counts = {}
    for name, value in (
        ("method", "bpe"), ("kind", "look_at_obj_in_light"), ("outcome", "out of steps"), ("verb", "recall")
    ):  # fmt: skip
        page.select_option(f"#filter-{name}", value)
        counts[name] = said(page, "#count")[0]
        page.select_option(f"#filter-{name}", "")
    page.select_option("#filter-method", "bpe,steps=4")
    page.select_option("#filter-outcome", "won")

    assert {name: int(count.split()[0]) for name, count in counts.items()} == {
        "method": 3, "kind": 3, "outcome": 3, "verb": 9
    }  # fmt: skip
    assert said(page, "#count") == ["0 of 9 episodes"]
    assert page.locator(".row").count() == 0


def test_a_link_leads_to_an_episode(show: Open, learnt: Path) -> None:
    page = show(learnt, "#episode=5")
    page.wait_for_selector(".step")
    assert said(page, ".row[aria-selected=true]")[0].startswith("won heat-egg")
    page.click("a[href='#episode=3'] >> nth=0")
    page.wait_for_selector("#episode dd:has-text('3, of run 2')", state="attached")


def test_what_environments_and_models_say_is_never_markup(show: Open, tmp_path: Path) -> None:
    path = tmp_path / "hostile.db"
    with closing(Store.open(path)) as store:
        run = journal.begin_run(store, {"method": HOSTILE, "model": HOSTILE})
        episode = journal.begin_episode(
            store, run, 0, HOSTILE, HOSTILE, "x", Brief(HOSTILE, HOSTILE, HOSTILE), "x", {"limits": {HOSTILE: 1}}
        )
        facts = (Fact(HOSTILE, "at", HOSTILE),)
        step = Step(1, "environment", HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, facts=facts, recalled=(7,))
        journal.add_step(store, episode, Step(0, "environment", HOSTILE))
        journal.add_step(store, episode, step)
        journal.add_step(store, episode, Step(2, "commit", HOSTILE, action=f"commit [{HOSTILE} | b]"))
        store.write("UPDATE episodes SET finished = started, outcome = ?, success = 0", [HOSTILE])
    page = show(path)
    page.click(".row")
    page.wait_for_selector(".step")
    page.click(".step >> nth=2")

    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.querySelectorAll('img, script:not([type]), svg[onload]').length") == 1
    assert said(page, "#episode h3") == [HOSTILE]
    assert said(page, ".step >> nth=1 >> .observation") == [HOSTILE]
    assert said(page, "[data-part=belief] li") == [f"{HOSTILE} at {HOSTILE} (step 1)"]
    assert said(page, ".step >> nth=2 >> [data-part=progress] li")[0] == f"→ {HOSTILE}"


def test_thousands_of_episodes_are_a_handful_of_rows(show: Open, many: Path) -> None:
    page = show(many)
    page.wait_for_selector(".row")
    assert said(page, "#count") == ["3000 of 3000 episodes"]
    assert page.locator(".row").count() < 40
    page.focus("#list")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_selector(".step")
    assert said(page, "#episode h3") == ["game 2999"]
    assert said(page, ".observation") == ["seen 2999"]


def test_a_browser_that_cannot_unpack_says_so(show: Open, many: Path) -> None:
    page = show(many, script="delete window.DecompressionStream")
    page.wait_for_selector(".warning")
    assert said(page, "#episode")[0].startswith("This browser can't unpack the episodes")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of three thousand short episodes, which a report packs."""
    path = tmp_path_factory.mktemp("many") / "many.db"
    with closing(Store.open(path)) as store, store.transaction():
        run = journal.begin_run(store, {"method": "react"})
        for number in range(3000):
            brief = Brief("look", "look", "house")
            episode = journal.begin_episode(store, run, number, f"game {number}", "", "x", brief, "x", {})
            journal.add_step(store, episode, Step(0, "environment", f"seen {number}"))
    return path


def test_it_can_be_read_on_a_phone(show: Open, evaluation: Path) -> None:
    page = show(evaluation, viewport=PHONE)
    page.click(".row >> nth=3")
    page.wait_for_selector(".step")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    box = page.locator(".step").first.bounding_box()
    assert box is not None
    assert box["width"] > 330
