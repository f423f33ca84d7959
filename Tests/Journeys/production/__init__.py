"""Puts together what production has: servers with tokens and TLS, nodes on PostgreSQL, nginx, Chromium, stock clients, and an App Store.

`world` is all of it; `stories` are the scripts that use a world. A wait has one guard, which is minutes long and says what was waited for.
"""
