"""Servers of the Model Context Protocol as environments: their tools are the actions, what these return is observed.

`connection` is the official client behind synchronous calls, `offers` turns tools into actions, `environment` is one
task.
"""
