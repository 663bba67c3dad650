"""Software tasks: a repository at a commit, a request, and the checks that tell whether it was met.

`adapter` plugs the environment in; `environment` is one task behind the harness's Protocol; `sandbox` runs commands.
"""
