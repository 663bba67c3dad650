"""Environments that are programs in any language: they speak JSON lines on standard input and output.

`program` is the child process, `protocol` what it may say, `environment` the task that it plays.
"""
