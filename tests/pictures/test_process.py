"""The process that Graphviz runs in, and the fonts that travel with the package for it."""

import multiprocessing
import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path
from unittest.mock import Mock

import matplotlib
import pytest
from fontTools.ttLib import TTFont
from pictures import pixels

from autodiff import Value, draw
from autodiff.pictures import layout
from autodiff.pictures.layout import FOLDER

X = Value(1.0)
FONTS = [TTFont(path) for path in (FOLDER / "fonts").glob("*.ttf")]
PICTURES = """
import hashlib
from autodiff import Value, Vector, draw, tanh

x, y = Value(2.0, label="x̄ₜ₋₁ ∇ θ⁻¹"), Value(3.0, label="漢字 \\N{GRINNING FACE}")
root = tanh(Vector([0.5, -1.5]) @ Vector([x, y])) * y
for options in {"edges": "message"}, {"color": "grad", "rankdir": "TB"}:
    for format in "svg", "png":
        print(hashlib.sha256(draw(root, **options).pipe(format)).hexdigest())
"""


def run(code, **environment):
    """What a program prints, in a process of its own, where fontconfig has read nothing yet."""
    known = {name: x for name, x in os.environ.items() if name != "FONTCONFIG_FILE"}
    known |= {"PYTHONUTF8": "1"} | environment
    command, root = [sys.executable, "-c", code], FOLDER.parent.parent
    done = subprocess.run(command, env=known, cwd=root, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_pictures_are_the_same_whatever_fonts_the_system_has(tmp_path):
    font = Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSansMono-Bold.ttf")
    (tmp_path / "odd").mkdir()
    shutil.copy(font, tmp_path / "odd")
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
    inside = pixels(draw(Value(1.0, label=label)).pipe("png"))[10:-10, 10:-10, :3]
    return (inside.mean(axis=2) < 0.5).sum()


def test_a_png_has_letters():  # boxes in their place would have about the same ink
    assert ink(" " * 12) < ink("." * 12) < ink("l" * 12) < ink("W" * 12) / 2


def test_the_fonts_hold_the_characters_of_pictures():
    held = {chr(c) for font in FONTS for c in font.getBestCmap()}
    letters = "abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρςστυφχψω"
    accents = "\N{COMBINING MACRON}\N{COMBINING DOT ABOVE}\N{COMBINING CIRCUMFLEX ACCENT}"
    labels = {unicodedata.normalize("NFC", x + accent) for x in letters for accent in accents}
    signs = "0123456789.−+·*/=<>≤≥|~[]()…→←∂∇Σ∏∫√∞±×≈≠∈⊙⊗⊕ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₙₜ\ufffd"
    assert set("".join(labels) + letters.upper() + signs) <= held


def test_no_font_has_a_reserved_name():
    for font in FONTS:
        names = {name.nameID: str(name) for name in font["name"].names}
        told = {word for code in (1, 3, 4, 6) for word in names.get(code, "").split()}
        assert "Autodiff" in told
        assert not {"Liberation", "Arimo", "Bitstream", "Vera"} & told
        assert "icense" in names.get(13, "") + names.get(0, "")


def test_nothing_is_written_beside_the_fonts_or_to_standard_error(tmp_path):
    folder = Path(shutil.copytree(FOLDER, tmp_path / "copy"))
    settings = folder / "fonts" / "fonts.conf"
    unknown = settings.read_text().replace("</fontconfig>", "<unknown/></fontconfig>")
    settings.write_text(unknown)  # of which fontconfig prints a warning
    before = {path.name for path in folder.rglob("*")}
    program = f"""
from autodiff import Value, draw
from autodiff.pictures import layout
layout.FOLDER = layout.Path({str(folder)!r})
draw(Value(1.0) * 2).pipe()
"""
    run(program, XDG_CACHE_HOME=str(tmp_path))
    assert {path.name for path in folder.rglob("*")} == before


def test_without_pygraphviz_the_executable_serves_and_reads_our_settings_alone(monkeypatch):
    svg = b'<svg width="9pt" height="9pt"><g transform="scale(1 1)"/></svg>'
    run = Mock(return_value=Mock(stdout=svg))
    monkeypatch.setattr(layout, "pygraphviz_folder", str)
    monkeypatch.setattr(layout, "run", run)
    assert draw(X * 2).pipe() == svg
    (command,), given = run.call_args
    assert command == ["dot", "-Tsvg", "-Gbgcolor=transparent"]
    assert b'size="9.167,1000"' in given["input"]
    assert Path(given["env"]["FONTCONFIG_FILE"]).is_file()


def test_threads_draw_while_another_writes():
    """It loses nothing of what it writes, and finds the environment as it was."""
    run("""
import os
from concurrent.futures import ThreadPoolExecutor, wait
from autodiff import Value, draw

read, write = os.pipe()
errors = os.dup(2)
os.dup2(write, 2)
os.environ["FONTCONFIG_FILE"] = "of the user"
before, found = dict(os.environ), []
with ThreadPoolExecutor(4) as threads:
    drawn = [threads.submit(lambda i: draw(Value(i % 3) * 2).pipe(), i) for i in range(240)]
    while wait(drawn, 1e-4).not_done:
        os.write(2, b"line")
        found.append((os.read(read, 4), dict(os.environ)))
os.dup2(errors, 2)
pictures = [picture.result() for picture in drawn]
assert found.count((b"line", before)) == len(found) > 9
assert len(set(pictures)) == 3
assert pictures == pictures[:3] * 80
""")


def drawn(_=0):
    return draw(X * 2).pipe()


def test_a_process_that_was_ended_or_interrupted_is_replaced(monkeypatch):
    expected = drawn()
    (*_, process) = layout._idle[os.getpid()]
    process.kill()
    process.wait()
    assert drawn() == expected
    with monkeypatch.context() as patch:
        patch.setattr(layout.pickle, "load", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            draw(X * 3).pipe()
    assert drawn() == expected  # not the picture of X * 3
    monkeypatch.setattr(layout, "FOLDER", Path("nowhere"))
    layout._end()
    with pytest.raises(ValueError, match="could not draw"):
        drawn()


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, if a test before imported it
def test_a_fork_draws_too():
    expected = drawn()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(drawn, range(4)) == [expected] * 4
    assert drawn() == expected
