"""`python -m proviso_service.reading.worker SECONDS` runs a supervisor on its standard input and output, which ends
after so many seconds without a request."""

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


if __name__ == "__main__":
    run(read_document, lambda media_type: format_by_media_type(media_type).load())
