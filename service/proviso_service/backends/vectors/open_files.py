"""The number of files that the process may hold open."""

import resource


def raise_open_file_limit() -> int:
    """Raises the soft limit to the hard one where the system allows it; returns the limit in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # some systems have a lower limit that they do not tell
        return soft
    return hard
