"""Runs in a process of its own, before a command does, and confines itself: standard library only, quick to start.

The folder above is put on `sys.path` and this package imported as `launcher`, so that nothing else is loaded.
"""
