"""Commands for a state that lies in PostgreSQL."""

from pathlib import Path

import pytest

from proviso_service.cli.backup import make_backup, restore_backup
from proviso_service.cli.output import UsageProblem

STATE = "postgresql://proviso:secret@db.example.com/proviso"
REFUSAL = r"^The state lies in PostgreSQL at db.example.com:5432/proviso: use pg_dump and pg_restore for it$"


def test_backup_and_restore_name_what_to_use_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVISO_STORAGE__STATE_URL", STATE)
    with pytest.raises(UsageProblem, match=REFUSAL):
        make_backup(tmp_path / "backup", tmp_path)
    with pytest.raises(UsageProblem, match=REFUSAL):
        restore_backup(tmp_path / "backup", tmp_path)
