"""The process that reads files: one supervisor, and under it a child for each document.

`process.py` is the service's side: it starts a supervisor (`python -m proviso_service.reading.worker`), sends a
request with the file's bytes and takes the answer. `supervisor.py` forks a child for each request, so that no two
documents share a process and starting up is paid for once; it passes bytes on, keeps time, and kills. The child
(`child.py`) gives up its rights (`confinement.py`), parses, cuts, and writes its answer (`answers.py`).

Everything between the processes is `frames.py`: kinds, lengths, JSON and text; nothing that could run. What a child
writes is checked by the service as if an enemy had written it, because a file that takes over its parser is one.
"""
