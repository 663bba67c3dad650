"""BPE itself: Belief, Progress and Experience behind four meta-actions, and the loop that plays an episode.

Pure Python without I/O; environments, models and the store reach it through the Protocols of `protocols`.
"""

from .actions import VERBS, EnvironmentAction, FormatError, MetaAction, parse_reply
from .belief import Belief, Fact, Known
from .constraint import Constraint, Decode, FreeText, OneOf
from .episode import Diverged, Episode, Limits, Outcome, Settings, Step
from .progress import Progress, Status, Subgoal
from .protocols import (
    Answer,
    Brief,
    Condition,
    ContextFull,
    Environment,
    Experience,
    Lasting,
    Model,
    Observation,
    OutsideFault,
    Reply,
    WrongUsage,
)
from .transcript import Message, Transcript
from .workspace import Part, Workspace

__all__ = [
    "VERBS",
    "Answer",
    "Belief",
    "Brief",
    "Condition",
    "Constraint",
    "ContextFull",
    "Decode",
    "Diverged",
    "Environment",
    "EnvironmentAction",
    "Episode",
    "Experience",
    "Fact",
    "FormatError",
    "FreeText",
    "Known",
    "Lasting",
    "Limits",
    "Message",
    "MetaAction",
    "Model",
    "Observation",
    "OneOf",
    "Outcome",
    "OutsideFault",
    "Part",
    "Progress",
    "Reply",
    "Settings",
    "Status",
    "Step",
    "Subgoal",
    "Transcript",
    "Workspace",
    "WrongUsage",
    "parse_reply",
]
