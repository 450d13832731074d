# SPDX-License-Identifier: Apache-2.0
"""Every script of examples/python runs, and says what its page says."""
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=str)
def test_example(script, tmp_path, root):
    done = subprocess.run([sys.executable, str(script), str(root)], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    if "No module named 'matplotlib'" in done.stderr:
        pytest.skip("no matplotlib")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example shows something"


def test_the_page_shows_the_scripts(root):
    page = (root / "docs" / "python.md").read_text()
    assert len(EXAMPLES) >= 3
    for script in EXAMPLES:
        assert f"examples/python/{script.name}" in page


def test_the_readme_runs(root):
    text = (root / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    assert 4 <= len(code.splitlines()) <= 6
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "95 % interval" in done.stdout, done.stderr
