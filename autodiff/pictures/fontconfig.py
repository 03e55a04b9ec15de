"""The fonts that pictures are laid out with, so that they are the same on every machine.

Graphviz measures texts with the fonts that fontconfig knows: here, those in `fonts/` alone.
Characters that they lack, such as 漢, are boxes with their code in a PNG or PDF; in an SVG they are
text, for which the browser has fonts.

Fontconfig reads its settings when a process first uses it. The wheels of pygraphviz for Linux and
Windows have a copy of their own, so only other layouts with pygraphviz in the same process matter:
after a picture they use our fonts too, and before it they make ours use the system's. The wheel for
macOS asks the system, where Helvetica has the same widths.
"""

import html
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

FOLDER = Path(__file__).parent / "fonts"

# No rescan: the settings are read once. No hinting: versions of FreeType differ in it.
SETTINGS = """<?xml version="1.0"?>
<fontconfig>
  <dir>{folder}</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <config><rescan><int>0</int></rescan></config>
  <match>
    <edit name="family" mode="prepend" binding="strong"><string>Autodiff Sans</string></edit>
  </match>
  <match target="font"><edit name="hinting"><bool>false</bool></edit></match>
</fontconfig>
"""
_one_at_a_time = RLock()  # the environment is the whole process's


@contextmanager
def our_fonts() -> Iterator[None]:
    """Inside, Graphviz uses the fonts of the package alone, in this process and in others."""
    with _one_at_a_time:
        descriptor, path = tempfile.mkstemp(suffix=".conf")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(SETTINGS.format(folder=html.escape(str(FOLDER))))
        ours = {"FONTCONFIG_FILE": path, "PANGOCAIRO_BACKEND": "fc"}  # fc: on Windows too
        before = {name: os.environ[name] for name in ours if name in os.environ}
        os.environ.update(ours)
        try:
            yield
        finally:
            for name in ours:
                del os.environ[name]
            os.environ.update(before)
            Path(path).unlink()
