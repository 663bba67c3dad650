"""The project's figures, one module each: `python -m benchmarks.NAME` prints a table and, last, one JSON object."""
