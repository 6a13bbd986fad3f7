"""How results name the documents that could not be read."""

from proviso_service.analysis.document_scoring import Target

MAX_ERRORS_SHOWN = 3


def error_data(target: Target) -> dict[str, str]:
    return {"document_id": target.document_id, "filename": target.filename, "error": target.error}
