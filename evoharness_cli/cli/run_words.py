"""What is said of a run and of its episodes, in words."""

from __future__ import annotations

from ..experience.journal import EpisodeRecord, RunRecord
from ..runs.spending import cost_of, shown


def status(run: RunRecord) -> str:
    """Return how a run ended, or that it has not."""
    return run.status or "unfinished"


def played_as(run: RunRecord) -> str:
    """Return how a run was played."""
    settings = run.settings
    admissible = ", admissible actions shown" if settings["show_admissible"] else ""
    curator = settings.get("curator") or settings["fingerprint"].get("curator")
    curated = f", curator {curator}" if curator else ""
    context = settings["fingerprint"].get("context")
    room = f", context {context:,} tokens" if context else ""
    return (
        f"method {settings['method']}, model {settings['model']}, adapter {settings['adapter'] or 'none'}, "
        f"temperature {settings['temperature']}, seed {settings['seed']}{room}{admissible}, "
        f"experience {settings.get('experience', 'bpe')}{curated}"
    )


def within(episode: EpisodeRecord) -> str:
    """Return how an episode's replies were decoded and what it might use up."""
    limits = [f"{value} {key.replace('_', ' ')}" for key, value in episode.settings["limits"].items() if value]
    return ", ".join([f"decode {episode.settings['decode']}", *([f"limits {', '.join(limits)}"] if limits else [])])


def ended(episode: EpisodeRecord) -> str:
    """Return how an episode ended, what kept it from going on, or that it goes on."""
    return episode.outcome or episode.fault or "unfinished"


def spent(episode: EpisodeRecord) -> str:
    """Return what an episode used up."""
    cost = cost_of(episode.settings, episode)
    kinds = ", ".join(f"{count} {kind}" for kind, count in episode.calls.items()) or "none"
    return (
        f"{episode.steps} steps ({kinds}), {episode.prompt_tokens:,} prompt tokens of which "
        f"{episode.evaluated_tokens:,} evaluated, {episode.completion_tokens:,} completion tokens, "
        f"{episode.seconds:.1f} s{'' if cost is None else f', {shown(cost)}'}"
    )
