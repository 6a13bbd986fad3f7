"""The catalog: the rules, references and tools that an agent's folder defines for its sessions and requests.

`loader` reads a folder and finds every fault in it. `catalog` is what the service asks; it also keeps the catalog in
use and replaces it as a whole. The folder `default_agent` holds the agent that ships with the service.
"""
