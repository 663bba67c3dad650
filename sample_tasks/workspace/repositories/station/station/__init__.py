"""Reports of a weather station."""
