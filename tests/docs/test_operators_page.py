"""The programs of docs/operators.md run, one after the other."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"


def test_the_page_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    file = tmp_path / "operators.py"
    file.write_text("\n".join(blocks))
    assert len(blocks) == 3
    exec(compile(file.read_text(), str(file), "exec"), {"__name__": "operators"})
