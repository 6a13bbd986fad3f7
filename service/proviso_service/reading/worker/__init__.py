"""The processes that read files: one supervisor, and under it a child for each document.

The service's side is `reader.py` in the folder above: it starts a supervisor (`python -m
proviso_service.reading.worker`), sends a request with the file's bytes and takes the answer. `supervisor.py` forks a
child for each request, so that no two documents share a process and the cost of starting is paid once; it passes bytes
on, keeps time, and kills. The child (`child.py`) gives up its rights (`confinement.py`), parses, cuts, and writes its
answer (`answers.py`).

Everything between the processes is a frame (`messages.py`): a kind, a length, and JSON or text; nothing that could be
executed. The service checks what a child writes as if an enemy had written it, because a file that takes over its
parser is one.
"""
