"""What keeps a store good as it grows: merging, pruning, thinning, and the undoing of each."""
