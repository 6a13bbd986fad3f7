"""The catalog: the rules, references and tools that an agent's folder defines for its sessions and requests.

`loader.py` reads a folder and finds every fault in it; `catalog.py` is what the service asks; `holder.py` keeps the one
in use and exchanges it as a whole. A default agent stands in `default_agent`.
"""
