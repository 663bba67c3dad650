"""Tasks go in, episodes are played and recorded: task files, how tasks are found, and the run itself."""
