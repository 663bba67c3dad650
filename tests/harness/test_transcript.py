"""The transcript is only ever added to, so what was evaluated stays a prefix of what comes next."""

from __future__ import annotations

from evoharness_cli.harness import Message, Transcript


def test_it_opens_with_the_system_and_the_task() -> None:
    transcript = Transcript("You are in a house.", "Your task is to: look.")

    assert transcript.messages == (Message("system", "You are in a house."), Message("user", "Your task is to: look."))
    assert transcript.replies == 0


def test_replies_and_observations_are_appended_in_turn() -> None:
    transcript = Transcript("system", "opening")
    before = transcript.messages

    transcript.add("look", "You see nothing.")
    transcript.add("<think>hm</think>track []", "you are at no place yet")

    assert transcript.messages[:2] == before
    assert [(message.role, message.text) for message in transcript.messages[2:]] == [
        ("assistant", "look"),
        ("user", "You see nothing."),
        ("assistant", "<think>hm</think>track []"),
        ("user", "you are at no place yet"),
    ]
    assert transcript.replies == 2


def test_what_was_handed_out_does_not_change() -> None:
    transcript = Transcript("system", "opening")
    before = transcript.messages
    transcript.add("look", "You see nothing.")

    assert len(before) == 2


def test_a_panel_follows_the_latest_observation_in_a_copy_only() -> None:
    transcript = Transcript("system", "opening")
    transcript.add("look", "a room")
    shown = transcript.with_panel("Belief: nothing")

    assert [message.text for message in shown.messages] == ["system", "opening", "look", "a room\n\nBelief: nothing"]
    assert [message.text for message in transcript.messages] == ["system", "opening", "look", "a room"]
    assert shown.replies == 1
