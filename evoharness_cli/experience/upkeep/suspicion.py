"""Marks texts that read like orders to override an agent's rules rather than like something learnt.

A rule is a name, what it says to a person, and a pattern over the text without case. The list is meant to be read: an
entry is marked for the reasons shown and for nothing else, and a mark alone changes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from ...harness.actions import VERBS

_RULES_OF_AGENT = r"(?:instructions?|prompts?|rules?|guidelines?|directives?|orders|policy|policies|guardrails?)"
_WHOSE = (
    r"(?:(?:all|any|of|the|your|my|our|these|those|its|other|safety|system|previous|prior|earlier|above|preceding) )"
)
_DISREGARD = r"(?:ignore|disregard|forget|override|overrule|bypass|disobey|drop)"
_ANY = r"(?:answer|reply|respond|say|output|print|write)"


@dataclass(frozen=True)
class Rule:
    """What is looked for, and what to tell a person who asks why."""

    name: str
    reason: str
    pattern: re.Pattern[str]


def _rule(name: str, reason: str, *patterns: str) -> Rule:
    return Rule(name, reason, re.compile("|".join(f"(?:{pattern})" for pattern in patterns)))


RULES = (
    _rule(
        "override",
        "It tells its reader to set rules or instructions aside.",
        rf"\b{_DISREGARD} {_WHOSE}+{_RULES_OF_AGENT}\b",
        rf"\b{_DISREGARD} (?:what|everything|anything|all) (?:that )?"
        r"(?:you|was|is|has been|the (?:user|system|developer))\b",
        rf"\b{_DISREGARD} (?:everything|all|anything) (?:above|before|else|so far)\b",
        rf"\bdo(?: not|n't) (?:follow|obey|listen to) {_WHOSE}*(?:{_RULES_OF_AGENT}|user|system|developer)\b",
        r"\b(?:new|updated|real|actual) (?:system )?(?:instructions?|prompt|directive)s?\s*:",
        r"\b(?:rules|restrictions|guidelines|limitations) (?:no longer|don't|do not) (?:apply|hold)\b",
    ),
    _rule(
        "fixed answer",
        "It dictates what to answer whatever is asked.",
        rf"\b(?:always|only|never|must|from now on,? (?:always )?) ?{_ANY}\b"
        r"(?! (?:to|in the (?:file|log)|a (?:file|log|test)))",
        r"\bwhatever (?:you are|you're|is|the user) (?:asked|asks|says)\b",
        rf"\b{_ANY} (?:only )?with (?:exactly|nothing but|only)\b",
    ),
    _rule(
        "role play",
        "It gives its reader another role.",
        r"\byou are (?:now|no longer|henceforth) (?:a|an|the|in|my|bound|called|free)\b",
        r"\bfrom now on,? you\b",
        r"\b(?:pretend|act|behave|roleplay|role-play) (?:to be|as if you|as though you|as an?|like an?) "
        r"(?:\w+ ){0,3}(?:assistant|ai|agent|model|admin|administrator|hacker|developer|user|human|dan)\b",
        r"\b(?:jailbreak|developer mode|dan mode|god mode)\b",
    ),
    _rule(
        "conversation markup",
        "It holds marks of who speaks in a conversation.",
        r"<\|?(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id|system|user|assistant)\|?>",
        r"\[/?(?:inst|sys|system)\]|<</?sys>>|</?(?:s|start_of_turn|end_of_turn)>",
        r"(?:^|[.!?;]\s+)(?:system|assistant|user|human|developer)\s*:\s*\S",
        r"###\s*(?:system|instruction|assistant|user|human|response)\b",
    ),
    _rule(
        "action markup",
        "It holds an action written as a reply would write it.",
        r"</?(?:action|think|tool_call|tool_use|function_call)>",
        rf"\b(?:{'|'.join(VERBS)}) ?\[[^\]]*\]",
    ),
    _rule(
        "link",
        "It holds an address to go to.",
        r"\b(?:https?|ftp|file|data|javascript):(?://|\w)",
        r"\bwww\.\w+\.\w+",
    ),
    _rule(
        "command",
        "It holds a command that fetches or destroys.",
        r"\b(?:curl|wget)\s+(?:-\w+\s+)*\S*[./]\S*",
        r"\brm\s+-\w*[rf]\w*\b",
        r"\|\s*(?:ba|z)?sh\b",
        r"\b(?:sudo|eval|exec)\s+[\w./$(]+",
        r"\bpowershell\s+-\w+|\binvoke-expression\b",
        r"\bbase64\s+(?:-d|--decode)\b",
        r"\bchmod\s+[0-7+]\w+",
        r"\bos\.system\(|\bsubprocess\.\w+\(",
    ),
    _rule(
        "secrets",
        "It asks for secrets to be told or sent.",
        r"\b(?:send|post|email|upload|leak|reveal|print|tell|share|exfiltrate|forward)\b(?: [\w']+){0,4} "
        r"(?:passwords?|api keys?|credentials|secrets|tokens? of|private keys?|system prompt)\b",
    ),
    _rule(
        "hidden text",
        "It holds characters that can't be seen.",
        "[\u200b\u200c\u200d\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]",
    ),
)


def suspicions(text: str) -> tuple[str, ...]:
    """Return why a text reads like an order to override rules, a sentence each; empty where it doesn't."""
    plain = " ".join(text.replace("\u2019", "'").casefold().split())
    # Letters that only look like Latin ones fold to them in part; what stays foreign is no English order.
    folded = unicodedata.normalize("NFKC", plain)
    return tuple(rule.reason for rule in RULES if rule.pattern.search(folded) or rule.pattern.search(_bare(folded)))


def _bare(text: str) -> str:
    """Return a text without characters that can't be seen, which could part the letters of a word."""
    return "".join(char for char in text if unicodedata.category(char) not in ("Cf", "Cc"))
