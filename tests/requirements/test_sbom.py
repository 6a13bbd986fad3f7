"""The list of what is shipped."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
GATEWAY = ROOT / "clients" / "nestjs"


def test_what_development_and_the_gateway_both_need_is_shipped_and_the_rest_of_development_is_not() -> None:
    bom = subprocess.run(
        ["npm", "sbom", "--package-lock-only", "--sbom-format", "cyclonedx"],
        cwd=GATEWAY,
        capture_output=True,
        check=True,
    )
    done = subprocess.run(
        ["node", "requirements/shipped.mjs"], cwd=ROOT, input=bom.stdout, capture_output=True, check=True
    )
    made = json.loads(done.stdout)
    listed = {f"{each.get('group', '')}/{each['name']}".removeprefix("/") for each in made["components"]}
    locked = json.loads((GATEWAY / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    shipped = {path.rpartition("node_modules/")[2] for path, package in locked.items() if path and "dev" not in package}
    assert listed == shipped
    assert "jose" in listed
    assert "oidc-provider" not in listed
