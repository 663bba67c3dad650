"""The store across sessions: one SQLite file with every run, episode and step, and what they taught.

Import what is needed from its modules: `store` and `errors`, `journal`, `claim` (playing a run), `session` (the
harness's Experience), `evolve` (closing an episode), `noting` (adding entries), `recall`, `entries`, `vocabulary`
(kinds and statuses), `places`, `overview`; and from its folders `exchange`, `upkeep` and `policies`.
"""
