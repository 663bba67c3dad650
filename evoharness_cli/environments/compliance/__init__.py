"""Compliance cases: rules, evidence and checks that are decided on quotations, with a report of every decision's trail.

`adapter` plugs the environment in; `environment` is one case behind the harness's Protocol.
"""
