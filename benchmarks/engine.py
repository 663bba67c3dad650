"""How many episodes a minute the engine plays, against llama-cpp-python's chat completion on the same turns.

    python -m benchmarks.engine [--games 40] [--steps 20] [--sessions 8] [--rerendered 2] [--alone 4]

Plays the first games of `valid_seen` below ALFWORLD_DATA with the embedded model, all four meta-actions and the
grammar, several at once; its time is that of the whole run. Then each turn is answered again, with the same prompt and
the same constraint, by `create_chat_completion`, game after game, with the threads and the attention that are fastest
for it on the first turns. `vs_chat_loop` compares with the time of these calls, `vs_chat_loop_textworld` adds what the
official engine takes to load the games and to play the same actions, and `vs_rerendered` is on the first games only,
with prompts whose beginning changes at every step. Some games are played one at a time too, to see that the actions are
the same.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from evoharness_cli.environments.alfworld.environment import AlfworldEnvironment
from evoharness_cli.environments.alfworld.games import read_game, split_games
from evoharness_cli.environments.alfworld.official import OfficialEngine
from evoharness_cli.environments.alfworld.simulator import SimulatorEngine
from evoharness_cli.harness import Constraint, Episode, Limits, Reply, Settings, Transcript, Workspace
from evoharness_cli.harness.episode import ENVIRONMENT
from evoharness_cli.models import LlamaModel, resolve
from evoharness_cli.models.llama import Session
from evoharness_cli.models.native import physical_cores

from .chat_loop import ChatLoop, Turn, fastest

CONTEXT = 8192
TRIED_TURNS = 8
"""With which the chat loop is set up."""


@dataclass
class Recorded:
    """A session that remembers its turns, and the game's actions."""

    inner: Session
    name: str
    turns: list[Turn] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    """All that was evaluated or copied, prompts and replies."""
    evaluated: int = 0
    """Tokens of prompts and replies that went through the model."""
    actions: list[str] = field(default_factory=list)

    @property
    def fingerprint(self) -> dict[str, object]:
        """The model's."""
        return self.inner.fingerprint

    def session(self, task: str) -> Recorded:
        """Return the same, since it is one episode's."""
        del task
        return self

    def reply(self, transcript: Transcript, constraint: Constraint | None, max_tokens: int, seed: int) -> Reply:
        """Answer, and remember it."""
        reply = self.inner.reply(transcript, constraint, max_tokens, seed)
        self.turns.append(Turn(transcript.messages, constraint, max_tokens, reply.text))
        self.ids = list(self.inner.sequence.ids)
        self.evaluated += reply.evaluated_tokens + max(0, len(self.ids) - reply.prompt_tokens)
        return reply

    def close(self) -> None:
        """Leave the slot to others."""
        self.inner.close()


def main() -> None:
    """Measure, print a line a way of playing and the ratios as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=40, help="how many games are played")
    parser.add_argument("--steps", type=int, default=20, help="charged steps of an episode")
    parser.add_argument("--sessions", type=int, default=8, help="episodes at once")
    parser.add_argument("--rerendered", type=int, default=2, help="games whose prompts are rendered anew as well")
    parser.add_argument("--alone", type=int, default=4, help="games that are played one at a time as well")
    options = parser.parse_args()
    games = split_games("valid_seen")[: options.games]
    path = resolve("smollm2-135m")
    with LlamaModel(path, context=CONTEXT, slots=options.sessions) as model:
        started = time.perf_counter()
        with ThreadPoolExecutor(options.sessions) as threads:
            played = list(threads.map(lambda game: play(model, game, options.steps), games))
        engine = time.perf_counter() - started
    with LlamaModel(path, context=CONTEXT) as model:
        alone = [play(model, game, options.steps).actions for game in games[: options.alone]]
    setup = fastest(path, CONTEXT, physical_cores(), played[0].turns[:TRIED_TURNS])
    print(f"chat loop set up as {setup}")
    loop = ChatLoop(path, CONTEXT, setup)
    answers = [loop.answer(turn) for episode in played for turn in episode.turns]
    anew = [
        loop.answer_rendered_anew(turn, number)[0]
        for episode in played[: options.rerendered]
        for number, turn in enumerate(episode.turns)
    ]
    loop.close()
    chat = sum(seconds for seconds, _ in answers)
    official = play_officially(games, played)
    each = engine / len(games)
    rerendered = sum(anew) / max(1, min(options.rerendered, len(games)))
    lines = {"engine": each, "chat loop": chat / len(games), "with textworld": (chat + official) / len(games)}
    for name, seconds in {**lines, "rerendered": rerendered}.items():
        print(f"{name:<15}{seconds:8.2f} s an episode {60 / seconds if seconds else 0:8.1f} episodes a minute")
    said = [turn.reply for episode in played for turn in episode.turns]
    print(
        json.dumps(
            {
                "vs_chat_loop": round(chat / engine, 2),
                "vs_chat_loop_textworld": round((chat + official) / engine, 2),
                "vs_rerendered": round(rerendered / each, 2),
                "evaluated_over_distinct": round(evaluated_over_distinct(played), 4),
                "same_replies_as_chat_loop": sum(a == b for (_, a), b in zip(answers, said, strict=True)),
                "same_actions_alone": sum(one == other.actions for one, other in zip(alone, played, strict=False)),
                "alone": len(alone),
                "games": len(games),
                "turns": len(answers),
                "rerendered_turns": len(anew),
            }
        )
    )


def play(model: LlamaModel, path: Path, steps: int) -> Recorded:
    """Play a game to its end or the limit."""
    session = Recorded(model.session(path.parent.name), model.name)
    environment = AlfworldEnvironment(read_game(path), SimulatorEngine())
    workspace = Workspace(environment.brief.goal, environment.evidence)
    episode = Episode(environment, session, workspace, Settings(Limits(steps=steps)))
    session.actions += [step.action for step in episode.play() if step.kind == ENVIRONMENT and step.number]
    session.close()
    return session


def play_officially(games: Sequence[Path], played: Sequence[Recorded]) -> float:
    """Return the seconds that the official engine takes for the same games and actions."""
    with OfficialEngine() as engine:
        started = time.perf_counter()
        for path, episode in zip(games, played, strict=True):
            environment = AlfworldEnvironment(read_game(path), engine)
            environment.reset()
            for action in episode.actions:
                environment.step(action)
        return time.perf_counter() - started


def evaluated_over_distinct(played: Sequence[Recorded]) -> float:
    """Return the tokens that went through the model over those that had to: each beginning of a conversation once."""
    nodes: dict[tuple[int, int], int] = {}
    for episode in played:
        at = 0
        for token in episode.ids:
            at = nodes.setdefault((at, token), len(nodes) + 1)
    return sum(episode.evaluated for episode in played) / len(nodes)


if __name__ == "__main__":
    main()
