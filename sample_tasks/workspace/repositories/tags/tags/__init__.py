"""The tags of notes."""
