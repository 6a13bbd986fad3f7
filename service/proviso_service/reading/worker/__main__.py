"""`python -m proviso_service.reading.worker SECONDS` runs a supervisor on its standard input and output, which ends
after so many seconds without a request."""

import codecs
import os
import sys

from proviso_service.reading.formats import format_by_media_type, read_document
from proviso_service.reading.worker.child import Read
from proviso_service.reading.worker.supervisor import Prepare, supervise


def run(read: Read, prepare: Prepare) -> None:
    """Runs a supervisor. It moves the standard descriptors away first, so that they belong to the service alone and
    what a library prints goes nowhere."""
    requests, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    supervise(requests, answers, read, prepare, idle_s=float(sys.argv[1]))


def _prepare(media_type: str) -> None:
    format_by_media_type(media_type).load()
    # Texts may come in the first two, names in archives in the last; the tables of UTF-8 are part of the interpreter.
    for encoding in ("utf-16-le", "utf-16-be", "cp437"):
        codecs.lookup(encoding)


if __name__ == "__main__":
    run(read_document, _prepare)
