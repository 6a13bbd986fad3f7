"""The library's public face."""

import subprocess
import sys

from proviso_service import embedded


def test_every_name_of_the_face_is_there() -> None:
    assert all(getattr(embedded, name) for name in embedded.__all__)
    assert not hasattr(embedded, "LocalModel")


def test_the_face_alone_imports_no_runtime() -> None:
    heavy = {"langchain_core", "onnxruntime", "tokenizers"}
    script = f"import sys, proviso_service.embedded; print(*({heavy} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
