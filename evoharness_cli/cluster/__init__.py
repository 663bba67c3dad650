"""Episodes on the nodes of a Ray cluster, which one program directs and records.

The harness, the store and the order of the games stay with that program. On the nodes are what takes the time: the
environments, and the model's engine. Each is reached through the Protocol by which it would be reached here, so that
nothing else knows of the cluster. `places` is where that is chosen; only `connection` and `crew` import Ray.
"""
