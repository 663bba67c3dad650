"""ALFWorld's household games: the engines that play them, what observations show, and games of one's own.

`adapter` plugs the environment in; `environment` is one game behind the harness's Protocol.
"""
