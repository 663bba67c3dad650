"""Puts what requirements.txt names on the path."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
for requirement in (ROOT / "requirements.txt").read_text(encoding="utf-8").split():
    sys.path.insert(0, str(ROOT / "vendor" / requirement.replace("==", "-")))
