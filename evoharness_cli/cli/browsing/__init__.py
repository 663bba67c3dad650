"""The browser of a run in the terminal: its episodes, an episode's steps, and all that is known of a step.

It is made with Textual. What a pager of one's own would need besides Rich is keys and resizing on each system, a screen
that comes back whatever ends the program, wide characters, the mouse, and rows that are drawn only where they are seen.
Textual brings no other package than those that come with Rich, but for two small ones, and is imported only here.
"""

from .browser import browse

__all__ = ["browse"]
