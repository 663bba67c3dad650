"""One model on every node, whose sessions are spread over them.

A reply depends on nothing but what is asked, so a session whose node is lost goes on from another one.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Unpack

from ..harness import Constraint, OutsideFault, Reply, Transcript
from ..models.llama import Sampled
from ..models.load import Options
from .crew import Crew, Hosted, Member, Node, NodeLost, Seat
from .hosts import HOST, AdapterFile, ModelHost


class RemoteModel:
    """A model in an engine on each node."""

    def __init__(self, nodes: Sequence[Node], spec: str, **options: Unpack[Options]) -> None:
        """Load it on all nodes; `slots` are those of all together.

        An adapter's file is one here, and is sent there; the model's is there. Raises what `load_model` raises, and
        OutsideFault where a node has another model than the first.
        """
        self._spec = spec
        adapter = options.pop("adapter", None)
        self._adapter = adapter and _sent(adapter)
        self._options: Options = {**options, "slots": -(-options.get("slots", 1) // len(nodes))}
        self.name = spec
        self._found: Mapping[str, object] | None = None
        self._comparing = threading.Lock()
        self._crew = Crew(ModelHost, nodes, takes_all=True, prepare=self._load)

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """What its replies depend on, the same on all nodes."""
        assert self._found is not None
        return self._found

    def session(self, task: str) -> RemoteSession:
        """Return what answers in one episode of the task, on the node that has the fewest."""

        def make(seat: Seat) -> None:
            seat.hold("session", task)

        return RemoteSession(self, Hosted(self._crew, make))

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer in a session for this reply only."""
        return self.session("").reply(transcript, constraint, max_tokens, seed)

    def attach(self, adapter: Path) -> None:
        """Go on with another adapter, while no session is asked. Raises ModelFileError where it doesn't fit."""
        self._adapter, self._found = _sent(adapter), None
        for member in self._crew.members:
            try:
                self._compare(member, member.ask(HOST, "attach", self._adapter))
            except NodeLost:
                self._crew.lose(member)

    def close(self) -> None:
        """Free the model on all nodes."""
        for member in self._crew.members:
            with suppress(NodeLost):
                member.ask(HOST, "free")
        self._crew.close()

    def _load(self, member: Member) -> None:
        self.name, found = member.ask(HOST, "load", self._spec, self._adapter, self._options)
        self._compare(member, found)

    def _compare(self, member: Member, found: Mapping[str, object]) -> None:
        with self._comparing:
            if self._found not in (None, found):
                raise OutsideFault(
                    f"Expected one model on all nodes; {member.node.name} has {found}, another one {self._found}."
                )
            self._found = found


class RemoteSession:
    """One conversation of a model on some node."""

    def __init__(self, model: RemoteModel, hosted: Hosted) -> None:
        self.name = model.name
        self._model, self._hosted = model, hosted

    @property
    def fingerprint(self) -> Mapping[str, object]:
        """The model's."""
        return self._model.fingerprint

    def session(self, task: str) -> RemoteSession:
        """Return another session of the model."""
        return self._model.session(task)

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer as a session of the model does."""
        reply: Reply = self._hosted.ask("reply", transcript, constraint, max_tokens, seed)
        return reply

    def sample(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Sampled:
        """Answer with every token, which models in an engine can."""
        sampled: Sampled = self._hosted.ask("sample", transcript, constraint, max_tokens, seed)
        return sampled

    def fork(self) -> RemoteSession:
        """Return a session that goes on separately from here."""
        return RemoteSession(self._model, self._hosted.fork())

    def close(self) -> None:
        """Have it held no more."""
        self._hosted.close()


def _sent(adapter: Path) -> AdapterFile:
    try:
        return AdapterFile(adapter.name, adapter.read_bytes())
    except OSError as error:
        raise OutsideFault(f"The adapter {adapter} can't be read: {error.strerror or error}.") from error
