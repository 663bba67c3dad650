"""Fetches model files from the hub: on from where it was cut off, and checked against the hash that the hub states."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..harness import OutsideFault
from .catalogue import HubFile
from .files import is_intact, keep
from .hashes import compute_sha256, make_folder, not_writable

if TYPE_CHECKING:
    from huggingface_hub import HfFileMetadata

Report = Callable[[int, int], None]
"""Is told how many bytes of how many are here; when all are, they are checked."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


class HubFault(OutsideFault):
    """The hub can't be reached, or doesn't give the file."""


class DamagedDownload(OutsideFault):
    """What came isn't what the hub says that it has."""


def pull(file: HubFile, report: Report, endpoint: str | None = None) -> Path:
    """Fetch a file into the cache, unless it is there and whole, and return its path.

    What came before the connection, or this process, broke is kept, and the next call goes on from there. Of several
    processes one fetches and the others wait. `endpoint` is the hub's address, that of HF_ENDPOINT or the public one
    by default. Raises HubFault, DamagedDownload, and CacheNotWritable.
    """
    from filelock import FileLock

    place = file.place
    make_folder(place.parent)
    with _writing(place), FileLock(place.with_suffix(".lock")):
        if not is_intact(place):
            _fetch(file, place, report, endpoint)
    return place


def _fetch(file: HubFile, place: Path, report: Report, endpoint: str | None) -> None:
    found, digest, size = _metadata(file, endpoint)
    # Named for what is to come, so that what is left of another version is never gone on with.
    part = place.with_name(f"{place.stem}.{digest[:16]}.part")
    if place.exists():
        place.replace(part)
    if part.exists() and part.stat().st_size > size:
        part.unlink()
    here = part.stat().st_size if part.exists() else 0
    _check_space(place.parent, size - here)
    _download(file, found, part, size, report, endpoint)
    report(size, size)
    if (got := compute_sha256(part)) != digest:
        part.unlink()
        raise DamagedDownload(
            f"Expected {file.name} with the SHA-256 {digest}, found {got}; it was thrown away: pull it again."
        )
    keep(part, place, digest)
    for stale in place.parent.glob(f"{place.stem}.*.part"):
        stale.unlink()


def _metadata(file: HubFile, endpoint: str | None) -> tuple[HfFileMetadata, str, int]:
    """Return what the hub says of the newest version of a file, with its SHA-256 and its size in bytes."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    with _told(file, endpoint):
        found = get_hf_file_metadata(hf_hub_url(file.repository, file.name, endpoint=endpoint))
    digest, size = found.etag or "", found.size
    if not _SHA256.fullmatch(digest) or size is None or found.commit_hash is None:
        raise HubFault(
            f"Expected {_address(endpoint)} to state a commit, a size and a SHA-256 of {file.repository}/{file.name},"
            " found an answer without: is it a hub? See HF_ENDPOINT."
        )
    return found, digest, size


def _download(
    file: HubFile, found: HfFileMetadata, part: Path, size: int, report: Report, endpoint: str | None
) -> None:
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    # What it logs of attempts that failed is not for the terminal: the bar stands still meanwhile.
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    url = hf_hub_url(file.repository, file.name, revision=found.commit_hash, endpoint=endpoint)
    with _told(file, endpoint), part.open("ab") as opened:
        http_get(
            url,
            opened,
            resume_size=opened.tell(),
            headers=build_hf_headers(),
            expected_size=size,
            tqdm_class=partial(_Bar, report),  # type: ignore[arg-type]
        )


class _Bar:
    """What huggingface_hub takes for a progress bar."""

    def __init__(self, report: Report, *, total: int, initial: int, **_: Any) -> None:
        self._report, self._total, self._done = report, total, initial

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the bar as it is."""

    def update(self, bytes: int) -> None:
        """Count bytes that came."""
        self._done += bytes
        self._report(self._done, self._total)


@contextmanager
def _told(file: HubFile, endpoint: str | None) -> Iterator[None]:
    """Turn what the hub's client raises into a HubFault."""
    from httpx2 import ProxyError, RequestError
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        OfflineModeIsEnabled,
        RemoteEntryNotFoundError,
        RepositoryNotFoundError,
    )

    hub, wanted = _address(endpoint), f"{file.repository}/{file.name}"
    elsewhere = f"Or fetch {wanted} elsewhere, and name the file with --model."
    try:
        yield
    except OfflineModeIsEnabled as error:
        raise HubFault(f"HF_HUB_OFFLINE is set, so {hub} is not asked: unset it. {elsewhere}") from error
    except GatedRepoError as error:
        raise HubFault(
            f"{hub} gives {wanted} only to those who accepted its licence: accept it there and set HF_TOKEN."
        ) from error
    except (RepositoryNotFoundError, RemoteEntryNotFoundError) as error:
        raise HubFault(f"{hub} has no {wanted}, or shows it only to some: set HF_TOKEN if you may see it.") from error
    except HfHubHTTPError as error:
        code = error.response.status_code
        raise HubFault(f"{hub} does not give {wanted} (HTTP {code}): try again later. {elsewhere}") from error
    except (ProxyError, RequestError) as error:
        reason = str(error) or type(error).__name__
        raise HubFault(
            f"{hub} can't be reached, or broke off ({reason}): check the connection, and pull again to go on from what"
            f" came. {elsewhere}"
        ) from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise HubFault(f"{hub} sent another size of {wanted} than it stated: pull it again.") from error


def _address(endpoint: str | None) -> str:
    from huggingface_hub.constants import ENDPOINT

    return endpoint or ENDPOINT


def _check_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OutsideFault(
            f"Expected {needed / 1e9:.1f} GB of free space in {folder}, found {free / 1e9:.1f}: make room, or set"
            " EVOHARNESS_CACHE to a folder that has it."
        )


@contextmanager
def _writing(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise not_writable(place, error) from error
