"""TextWorld's games: the engine in a process of its own, which speaks the protocol of the environment `process`."""
