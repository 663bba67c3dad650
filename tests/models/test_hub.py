"""Model files are fetched whole, on from where they were cut off, and never taken for what they aren't."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from conversations import at_once
from stand_in_hub import COMMIT, Hub, hub_of

from evoharness_cli.harness import OutsideFault
from evoharness_cli.models import ModelFileError, resolve
from evoharness_cli.models.catalogue import CATALOGUE, HubFile
from evoharness_cli.models.files import recorded_sha256
from evoharness_cli.models.hub import DamagedDownload, HubFault, pull

FILE = HubFile("Qwen/Qwen3-0.6B-GGUF", "Qwen3-0.6B-Q8_0.gguf")
CONTENT = b"GGUF" + bytes(range(256)) * 400
CHUNK = 1000


def nobody(done: int, total: int) -> None:
    """Watch nothing."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and a client that reads little at a time and asks again at once."""
    monkeypatch.setenv("EVOHARNESS_CACHE", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", CHUNK)
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
    return tmp_path


@pytest.fixture
def hub() -> Iterator[Hub]:
    with hub_of(FILE.repository, FILE.name, CONTENT) as hub:
        yield hub


def test_a_file_is_fetched_checked_and_found_by_its_name(hub: Hub) -> None:
    with pytest.raises(ModelFileError, match=r"qwen3-0.6b is not here, or not whole: `evoharness models pull qwen3"):
        resolve("qwen3-0.6b")
    seen: list[tuple[int, int]] = []

    place = pull(FILE, lambda done, total: seen.append((done, total)), hub.url)

    assert place.read_bytes() == CONTENT
    assert resolve("qwen3-0.6b") == place == FILE.place
    assert recorded_sha256(place) == CATALOGUE["qwen3-0.6b"].sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert seen[0] == (CHUNK, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    # The version that the hash belongs to, whatever is put in its place meanwhile.
    assert hub.asked[-1][1] == hub.path.replace("/main/", f"/{COMMIT}/")

    pull(FILE, nobody, hub.url)
    assert len(hub.asked) == 2


def test_a_connection_that_breaks_is_gone_on_with(hub: Hub) -> None:
    hub.cuts = [3 * CHUNK + 10, 0, 2 * CHUNK]
    pull(FILE, nobody, hub.url)
    assert FILE.place.read_bytes() == CONTENT
    assert hub.ranges == [None, f"bytes={3 * CHUNK}-", f"bytes={3 * CHUNK}-", f"bytes={5 * CHUNK}-"]


def test_what_came_is_kept_for_the_next_time(hub: Hub) -> None:
    hub.cuts = [3 * CHUNK, *[0] * 5]
    with pytest.raises(HubFault, match=r"broke off .* pull again to go on from what came"):
        pull(FILE, nobody, hub.url)
    assert not FILE.place.exists()

    pull(FILE, nobody, hub.url)

    assert FILE.place.read_bytes() == CONTENT
    assert hub.ranges[-1] == f"bytes={3 * CHUNK}-"
    assert [path.suffix for path in sorted(FILE.place.parent.iterdir())] == [".gguf", ".json", ".lock"]


def test_a_file_that_is_damaged_on_its_way_is_thrown_away(hub: Hub) -> None:
    right, hub.content = hub.content, hub.content[:-1] + b"?"
    with pytest.raises(DamagedDownload, match=f"SHA-256 {hub.sha256}, found .*: pull it again"):
        pull(FILE, nobody, hub.url)
    assert not FILE.place.exists()

    hub.content = right
    pull(FILE, nobody, hub.url)
    assert hub.ranges == [None, None]
    assert FILE.place.read_bytes() == CONTENT


def test_what_is_left_of_another_version_is_not_gone_on_with(hub: Hub) -> None:
    hub.cuts = [3 * CHUNK, *[0] * 5]
    with pytest.raises(HubFault):
        pull(FILE, nobody, hub.url)
    hub.content = CONTENT[::-1]
    hub.sha256 = hashlib.sha256(hub.content).hexdigest()

    pull(FILE, nobody, hub.url)

    assert hub.ranges[-1] is None
    assert FILE.place.read_bytes() == hub.content
    assert not list(FILE.place.parent.glob("*.part"))


def test_a_file_that_was_damaged_here_is_fetched_again_and_a_whole_one_only_looked_at(hub: Hub) -> None:
    place = pull(FILE, nobody, hub.url)
    # As it is where the process ends between the file and the note on it.
    place.with_suffix(".json").unlink()
    pull(FILE, nobody, hub.url)
    assert (len(hub.ranges), place.read_bytes()) == (1, CONTENT)

    place.write_bytes(b"?" * len(CONTENT))
    with pytest.raises(ModelFileError, match="not whole"):
        resolve("qwen3-0.6b")
    with pytest.raises(DamagedDownload):
        pull(FILE, nobody, hub.url)
    assert pull(FILE, nobody, hub.url).read_bytes() == CONTENT


def test_of_several_that_fetch_one_does(hub: Hub) -> None:
    places = at_once([lambda: pull(FILE, nobody, hub.url)] * 4)
    assert places == [FILE.place] * 4
    assert len(hub.ranges) == 1


@pytest.mark.parametrize(
    ("code", "headers", "sentence"),
    [
        (404, {"X-Error-Code": "RepoNotFound"}, "has no Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf"),
        (404, {"X-Error-Code": "EntryNotFound"}, "has no Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf"),
        (403, {"X-Error-Code": "GatedRepo"}, "to those who accepted its licence: accept it there and set HF_TOKEN"),
        (503, {}, "does not give Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf (HTTP 503)"),
        (200, {"X-Linked-ETag": '"abc"'}, "found an answer without: is it a hub?"),
    ],
)
def test_what_the_hub_refuses_is_a_sentence(hub: Hub, code: int, headers: dict[str, str], sentence: str) -> None:
    hub.code, hub.headers = code, headers
    with pytest.raises(HubFault) as caught:
        pull(FILE, nobody, hub.url)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_connection_it_says_what_else_can_be_done() -> None:
    with hub_of(FILE.repository, FILE.name, CONTENT) as gone:
        pass
    with pytest.raises(HubFault, match=r"can't be reached.*Or fetch Qwen/.* elsewhere, and name the file with --model"):
        pull(FILE, nobody, gone.url)


def test_offline_mode_is_respected(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubFault, match="HF_HUB_OFFLINE is set"):
        pull(FILE, nobody, hub.url)
    assert hub.asked == []


def test_a_full_disk_is_found_before_anything_is_fetched(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = os.statvfs_result((4096, 4096, 0, 0, 0, 0, 0, 0, 0, 255))
    monkeypatch.setattr("os.statvfs", lambda _: usage)
    with pytest.raises(OutsideFault, match=r"GB of free space in .*, found 0.0: make room"):
        pull(FILE, nobody, hub.url)
    assert hub.ranges == []


def test_a_cache_that_cannot_be_written_is_a_sentence(hub: Hub, cache: Path) -> None:
    (cache / "models").write_text("a file")
    with pytest.raises(OutsideFault, match="Expected to write to the cache at"):
        pull(FILE, nobody, hub.url)


def test_every_file_of_the_catalogue_is_named_once_and_has_its_size(model_file: Path) -> None:
    files = [entry.hub for entry in CATALOGUE.values() if entry.hub]
    assert len(files) == len(set(files)) == len(CATALOGUE) - 1
    for entry in CATALOGUE.values():
        # From four to nine bits a weight.
        assert 4 < entry.size * 8 / (entry.parameters * 1e9) < 9, entry.name
    assert CATALOGUE["smollm2-135m"].size == model_file.stat().st_size
