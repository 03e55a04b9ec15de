"""The fonts that travel with the package, and Graphviz, which is shown them alone."""

import io
import os
import shutil
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import graphviz
import matplotlib
import matplotlib.image
from fontTools.ttLib import TTFont

from autodiff import Value, draw
from autodiff.pictures import layout
from autodiff.pictures.fontconfig import FOLDER

X = Value(1.0)
PICTURES = """
import hashlib
from autodiff import Value, Vector, draw, tanh

x, y = Value(2.0, label="x̄ₜ₋₁ ∇ θ⁻¹"), Value(3.0, label="漢字 \\N{GRINNING FACE}")
root = tanh(Vector([0.5, -1.5]) @ Vector([x, y])) * y
for options in {"edges": "message"}, {"legend": True, "rankdir": "TB"}:
    for format in "svg", "png":
        print(hashlib.sha256(draw(root, **options).pipe(format)).hexdigest())
"""


def run(code, **environment):
    """What a program prints, in a process of its own, where fontconfig has read nothing yet."""
    system = {name: x for name, x in os.environ.items() if name != "FONTCONFIG_FILE"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=system | {"PYTHONUTF8": "1"} | environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=FOLDER.parent.parent.parent,
    )
    assert done.stderr == ""
    return done.stdout


def test_pictures_are_the_same_whatever_fonts_the_system_has(tmp_path):
    (tmp_path / "odd").mkdir()
    shutil.copy(
        Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSansMono-Bold.ttf"), tmp_path / "odd"
    )
    found = []
    for name in "none", "odd":
        settings = tmp_path / f"{name}.conf"
        dirs = f"<dir>{tmp_path}/{name}</dir><cachedir>{tmp_path}/cache</cachedir>"
        settings.write_text(f"<fontconfig>{dirs}</fontconfig>")
        found.append(run(PICTURES, FONTCONFIG_FILE=str(settings)))
    assert found[0] == found[1]
    assert len(set(found[0].split())) == 4


def ink(label):
    """How many dark pixels a picture has inside its box."""
    png = draw(Value(1.0, label=label)).pipe("png")
    pixels = matplotlib.image.imread(io.BytesIO(png))[10:-10, 10:-10, :3]
    return (pixels.mean(axis=2) < 0.5).sum()


def test_a_png_has_letters():  # boxes in their place would have about the same ink
    assert ink(" " * 12) < ink("." * 12) < ink("l" * 12) < ink("W" * 12) / 2


def test_the_fonts_hold_the_characters_of_pictures():
    held = {chr(c) for path in FOLDER.glob("*.ttf") for c in TTFont(path).getBestCmap()}
    letters = "abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρςστυφχψω"
    accents = "\N{COMBINING MACRON}\N{COMBINING DOT ABOVE}\N{COMBINING CIRCUMFLEX ACCENT}"
    labels = {unicodedata.normalize("NFC", x + accent) for x in letters for accent in accents}
    signs = "0123456789.−+·*/=<>≤≥|~[]()…→←∂∇Σ∏∫√∞±×≈≠∈⊙⊗⊕ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₙₜ\ufffd"
    assert set("".join(labels) + letters.upper() + signs) <= held


def test_no_font_has_a_reserved_name():
    for path in FOLDER.glob("*.ttf"):
        names = {name.nameID: str(name) for name in TTFont(path)["name"].names}
        told = {word for code in (1, 3, 4, 6) for word in names.get(code, "").split()}
        assert "Autodiff" in told
        assert not {"Liberation", "Arimo", "Bitstream", "Vera"} & told
        assert "icense" in names.get(13, "") + names.get(0, "")


def test_nothing_is_written_beside_the_fonts_or_to_standard_error(tmp_path):
    folder = Path(shutil.copytree(FOLDER, tmp_path / "fonts"))
    run(
        "from autodiff import Value, draw\n"
        "from autodiff.pictures import fontconfig\n"
        f"fontconfig.FOLDER = {str(folder)!r}\n"
        "end = '<unknown/></fontconfig>'\n"  # of which fontconfig prints a warning
        "fontconfig.SETTINGS = fontconfig.SETTINGS.replace('</fontconfig>', end)\n"
        "draw(Value(1.0) * 2).pipe()",
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert {path.name for path in folder.iterdir()} == {path.name for path in FOLDER.iterdir()}


def test_without_pygraphviz_the_executable_serves_and_reads_our_settings_alone(monkeypatch):
    def pipe(self, format, **options):
        settings = Path(os.environ["FONTCONFIG_FILE"]).read_text(encoding="utf-8")
        assert (format, str(FOLDER) in settings, settings.count("<dir>")) == ("svg", True, 1)
        return b'<svg width="9pt" height="9pt"><g transform="scale(1 1)"/></svg>'

    monkeypatch.setattr(layout, "pygraphviz_module", lambda: None)
    monkeypatch.setattr(graphviz.Source, "pipe", pipe)
    assert draw(X * 2).pipe().endswith(b"</svg>")


def test_the_environment_is_as_before_also_after_threads(monkeypatch):
    monkeypatch.setenv("FONTCONFIG_FILE", "of the user")
    before = dict(os.environ)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda i: draw(X * i).pipe(), range(40)))
    assert dict(os.environ) == before
