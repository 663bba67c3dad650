"""Methods side by side: what is compared, playing it all in parallel, and the statistics of the results."""
