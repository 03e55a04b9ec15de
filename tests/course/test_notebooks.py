"""The notebooks run from a clean kernel, and what is committed is what they print."""

import ast
import base64
import html
import importlib
import inspect
import re
import sys
import zlib
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from autodiff.course import __main__ as grading
from notebooks import CONTENTS, LESSONS, NOTEBOOKS, PATHS, code_cells, prose, read

each = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


def tags(cell):
    return cell.metadata.get("tags", [])


def shown(cell):
    """What a reader sees of the outputs of a cell, as far as it is the same on every machine."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            if found and found[-1][0] == output.name:  # texts are cut into pieces at random
                found[-1] = (output.name, found[-1][1] + output.text)
            else:
                found.append((output.name, output.text))
        elif output.output_type == "error":
            found.append((output.ename, output.evalue))
        else:
            found += [(kind, seen(kind, data)) for kind, data in sorted(output.data.items())]
    return found


def graph_of(packed):
    """What a live graph shows, out of its packed page: how it is packed depends on zlib.

    Of a number only the digits that a page shows.
    """
    page = zlib.decompress(base64.b64decode(packed)).decode()
    data = re.search("^const data = .*$", page, re.M)[0]
    return re.sub(r"-?\d+\.\d{7,}(e-\d+)?", lambda number: f"{float(number[0]):.6g}", data)


def text_of(svg):
    return " ".join(sorted(re.findall("<text[^>]*>([^<]*)<", svg)))


def seen(kind, data):
    if kind == "image/svg+xml":  # where the letters stand depends on the version of Graphviz
        return text_of(data)
    if kind.startswith("image/"):
        return "a picture"
    if "srcdoc" in data:  # a page with a picture, and its size in pixels
        data = html.unescape(data)
        data = re.sub(r'atob\("([^"]*)"\)', lambda found: graph_of(found[1]), data)
        data = re.sub(r'\d+px|sandbox="[\w -]*"', "", data)  # what a reader does not see
        return re.sub("<svg.*?</svg>|base64.*", lambda found: text_of(found[0]), data, flags=re.S)
    same_look = '0x[0-9a-f]+|base64,[^"]+|style="[^"]*"'
    return re.sub(same_look, "", data) if isinstance(data, str) else data


CHECK = re.compile(r"^(?:check_(\d)\((\w+)\)|%%(my_engine))", re.MULTILINE)
MY_ENGINE = "7", "my_engine"  # the last exercise of notebook 4 is the text of a cell


def exercises(path):
    """The numbers of the exercises and what a learner's answers are called."""
    found = [found for cell in code_cells(path) for found in CHECK.findall(cell.source)]
    return [MY_ENGINE if magic else (number, name) for number, name, magic in found]


def filled(path, number, name):
    """A cell with our answer to an exercise, as a learner would copy it."""
    import nbformat

    lesson = importlib.import_module(f"autodiff.course.{path.stem[3:]}")
    solution, check = (vars(lesson)[f"{kind}_{number}"] for kind in ("solution", "check"))
    source = inspect.getsource(solution).replace(f"def solution_{number}(", f"def {name}(")
    if (number, name) == MY_ENGINE:
        return nbformat.v4.new_code_cell(f"%%my_engine\n{source}")
    call = "" if callable(check.solution) else f"{name} = {name}()\n"
    return nbformat.v4.new_code_cell(f"{source}\n\n{call}check_{number}({name})")


def unrun(path):
    """A notebook without its outputs."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    return notebook


def assert_prints_what_is_committed(path, cells):
    for before, after in zip(read(path).cells, cells):
        if before.cell_type == "code" and "varies" not in tags(before):
            assert shown(after) == shown(before), before.source


@pytest.mark.parametrize("path", PATHS[::-1], ids=lambda path: path.stem)  # the longest first
def test_it_prints_what_is_committed_and_its_exercises_are_graded(path, tmp_path):
    """Run alone in an empty folder, with dots for answers, and after that with our answers."""
    notebook = unrun(path)
    numbers = [number for number, _ in exercises(path)]
    notebook.cells += [filled(path, *exercise) for exercise in exercises(path)]
    noted = grading.executed(notebook, tmp_path, 600)
    assert_prints_what_is_committed(path, notebook.cells)
    expected = [(number, right) for right in (False, True) for number in numbers]
    assert [(n, right) for _, n, right, _ in noted] == expected, noted
    verdicts = grading.verdicts(notebook, notebook.metadata.autodiff, noted, 600)
    assert [(n, right) for n, (right, _) in verdicts.items()] == [(n, True) for n in numbers]
    notebook.cells = []
    assert grading.lesson_of(notebook, "training.ipynb") == path.stem[3:]


ON_YOURS = [p for p in PATHS if "your_engine()" in "".join(c.source for c in code_cells(p))]
VERDICT = re.compile(r"^(?:[✓✗]|Exercise|From here on).*$", re.MULTILINE)


def beside_verdicts(cell):
    return [(kind, VERDICT.sub("", str(text))) for kind, text in shown(cell)]


@pytest.mark.parametrize("path", ON_YOURS, ids=lambda path: path.stem)
def test_it_prints_the_same_on_the_engine_of_a_reader(path, tmp_path):
    """And on his dot: without it, a walk goes through fifteen times as many nodes."""
    engine = (Path(__file__).with_name("engines") / "closures.py").read_text(encoding="utf-8")
    (tmp_path / "my_engine.py").write_text(engine, encoding="utf-8")
    notebook = unrun(path)
    for cell in notebook.cells:
        if "check_1(dot)" in cell.source:
            cell.source = engine[engine.index("def dot") :] + "\n\ncheck_1(dot)"
    grading.executed(notebook, tmp_path, 600)
    texts = "".join(o.get("text", "") for cell in notebook.cells for o in cell.get("outputs", []))
    assert texts.count("From here on your engine runs: my_engine.py") == 1
    if path.stem.startswith("07"):
        assert "Exercise 1: we go on with yours." in texts
    for before, after in zip(read(path).cells, notebook.cells):
        if before.cell_type == "code" and "varies" not in tags(before):
            assert beside_verdicts(after) == beside_verdicts(before), before.source


TRAIN = [p for p in PATHS if re.search("optim|Adam", "\n".join(c.source for c in code_cells(p)))]


@pytest.mark.thorough
@pytest.mark.parametrize("path", TRAIN, ids=lambda path: path.stem)
@pytest.mark.parametrize("turn", range(2))  # one nudge may happen to print the same digits
def test_no_training_enlarges_what_processors_round_in_another_way(path, turn, tmp_path, seed):
    """With first weights that are wrong by 1e-15 it prints the same."""
    import nbformat

    notebook = unrun(path)
    folder = str(NOTEBOOKS.with_name("tests") / "support")
    nudge = f"import sys; sys.path.append({folder!r}); import nudged; nudged.nudge({seed + turn})"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(nudge))
    grading.executed(notebook, tmp_path, 600)
    assert notebook.cells[0].outputs == []
    assert_prints_what_is_committed(path, notebook.cells[1:])


@each
def test_all_cells_were_run_in_order_and_what_one_prints_is_committed_in_one_piece(path):
    """Cut in two by chance, it would be drawn as two outputs. So would each state of a bar."""
    for i, cell in enumerate(code_cells(path), start=1):
        assert cell.execution_count == i
        streams = [o.get("name") for o in cell.outputs]
        assert not any(a and a == b for a, b in pairwise(streams)), cell.source
        assert not any("\r" in o.get("text", "") for o in cell.outputs), cell.source


@each
def test_no_picture_is_wider_than_the_page(path):
    """JupyterLab draws an SVG as wide as it says; a window of 1,000 pixels has 816 for outputs."""
    outputs = [o for cell in code_cells(path) for o in cell.outputs]
    drawn = [o.data["image/svg+xml"] for o in outputs if "image/svg+xml" in o.get("data", {})]
    widths = [re.search(r'<svg[^>]*? width="([\d.]+)pt"', svg)[1] for svg in drawn]
    assert all(float(width) * 96 / 72 <= 816 for width in widths), widths


@each_lesson
def test_a_lesson_is_one_sitting_of_short_cells_with_exercises_and_an_error_on_purpose(path):
    cells = read(path).cells
    assert 25 <= len(cells) <= 42
    assert len(prose(path).split()) <= 2250
    assert cells[0].cell_type == "markdown"
    assert path.stat().st_size < 500_000
    assert len(exercises(path)) >= 3
    assert any("raises-exception" in tags(cell) for cell in code_cells(path))
    for cell in code_cells(path):
        failed = any(output.output_type == "error" for output in cell.outputs)
        assert failed == ("raises-exception" in tags(cell)), cell.source
        assert not re.search(r"solution_?\d?\(", cell.source), "given away before it is asked for"
        assert len(cell.source.splitlines()) <= 20, cell.source
        assert cell.outputs, cell.source
        assert not cell.metadata.get("jupyter", {}).get("source_hidden"), cell.source
        if re.search(r"(?m)^check_\d\(", cell.source):
            imported = re.search(r"import .*\b(check_\d|predict|solution)\b", cell.source)
            assert not imported, "if this cell is broken, others miss what it imports"


def parsed(cell):
    return ast.parse(re.sub(r"(?m)^%.*", "", cell.source))


def imports(cell):
    found = [x for x in ast.walk(parsed(cell)) if isinstance(x, (ast.Import, ast.ImportFrom))]
    return {name.asname or name.name for x in found for name in x.names}


@each_lesson
def test_after_a_restart_the_first_cell_has_the_imports_of_each_exercise(path):
    first, *cells = code_cells(path)
    for i, cell in enumerate(cells):
        if re.search(r"(?m)^check_\d\(|your_engine\(", cell.source):
            used = {x.id for x in ast.walk(parsed(cell)) if isinstance(x, ast.Name)}
            earlier = set().union(*map(imports, cells[:i]))
            assert not used & earlier - imports(first) - imports(cell), cell.source


BOX = re.compile(r"<details><summary>After your guess.*?</details>", re.DOTALL)
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def in_sight(cell):
    """The text that a reader sees before a box is opened: of a cell's outputs, or of a paragraph."""
    if cell.cell_type == "markdown":
        return re.sub(r"\[.*?\]\(.*?\)", "", cell.source.partition("\n\n")[0])  # without links
    pages = [o.get("data", {}).get("text/html", "") for o in cell.outputs]
    shown = [*(o.get("text", "") for o in cell.outputs), *(BOX.sub("", page) for page in pages)]
    return "\n".join(text for text in shown if "srcdoc" not in text)  # a page waits by itself


def tables_of(path):
    """What is said to guesses, question by question."""
    lesson = importlib.import_module(f"autodiff.course.{path.stem[3:]}")
    return inspect.getclosurevars(lesson.predict).nonlocals["tables"]


def right_guesses(path, number):
    """What a right guess looks like, as a pattern; a range has none."""
    for (guess, end), text in tables_of(path)[number - 1].items():
        if text.startswith("Right") and guess == end > 2:
            word = rf"|\b{NUMBERS[guess]}\b" if guess in range(11) else ""
            yield re.compile(rf"(?<![\w.,]){guess:,}(?![\w]|[.,]\d){word}", re.IGNORECASE)


@each_lesson
def test_each_question_is_asked_once_and_its_answer_waits_for_its_reader(path):
    """Up to the next paragraph, what is in sight after a question holds no right guess."""
    cells, asked = read(path).cells, []
    for i, cell in enumerate(cells):
        numbers = re.findall(r"^predict\((\d+), [.a-z]+\)", cell.source, re.MULTILINE)
        later = [k for k in range(i + 1, len(cells)) if cells[k].cell_type == "markdown"][:1]
        for number in map(int, numbers):
            asked.append(number)
            for pattern in right_guesses(path, number):
                for after in cells[i : later[0] + 1]:
                    assert not pattern.search(in_sight(after)), (number, in_sight(after))
    assert asked == [*range(1, len(tables_of(path)) + 1)]
    assert len(asked) >= 2


def words_before(path, pattern):
    """How much of a lesson's words stand before the first cell with this in it."""
    asks = re.compile(pattern, re.MULTILINE)
    before = takewhile(lambda cell: not asks.search(cell.source), read(path).cells)
    words = sum(len(cell.source.split()) for cell in before if cell.cell_type == "markdown")
    return words / len(prose(path).split())


@each_lesson
def test_the_first_thing_to_do_comes_in_a_quarter_of_the_words_and_an_exercise_in_a_third(path):
    assert words_before(path, r"^(predict|check_\d)\(") < 1 / 4
    assert words_before(path, r"^check_\d\(") <= 1 / 3


def test_boxes_are_closed_in_an_exported_page():
    exporter = pytest.importorskip("nbconvert").HTMLExporter()
    page, _ = exporter.from_filename(str(LESSONS[0]))
    boxes = BOX.findall(page)
    assert len(boxes) == sum("after_your_guess()" in c.source for c in code_cells(LESSONS[0]))
    assert "central: 4.15 4.04" in "".join(boxes)
    assert "central: 4.15 4.04" not in BOX.sub("", page)


def test_each_lesson_leads_to_its_neighbours_and_to_the_page_of_contents():
    for before, path, after in zip(PATHS, LESSONS, [*LESSONS[1:], CONTENTS]):
        links = re.findall(r"\]\((\w+\.ipynb)", prose(path))
        assert {before.name, CONTENTS.name, after.name} <= {*links}


@each
def test_nothing_of_the_machine_is_in_it(path):
    text = path.read_text(encoding="utf-8")
    for place in (str(NOTEBOOKS.parent), str(Path.home()), sys.prefix, "site-packages"):
        assert place not in text
    assert '"iopub' not in text  # times of execution
    assert read(path).metadata.kernelspec.name == "python3"


@each_lesson
def test_the_page_of_contents_and_the_readme_have_the_title_and_the_question_of_each_lesson(path):
    heading = re.search(r"(?m)^# (\d+)\. (.*)\n+\*\*(.*)\*\*$", prose(path))
    number, title, question = heading.groups()
    line = f"[{title}]({path.name}): {question[0].lower()}{question[1:]}"
    assert line in re.sub(r"\s+", " ", prose(CONTENTS))
    readme = NOTEBOOKS.with_name("README.md").read_text(encoding="utf-8")
    assert f"\n| [{number:0>2}](notebooks/{path.name}) | {question} |\n" in readme


def uses(path, sign):
    """Whether a sign is used: by its first command, such as \\dot, or else as it stands."""
    mathematics = "\n".join(re.findall(r"\$+(.+?)\$+", prose(path), re.DOTALL))
    command = re.match(r"\\[a-zA-Z]+", sign)
    sign = re.escape(command[0] if command else sign)
    return re.search(rf"(?<![a-zA-Z\\]){sign}(?![a-zA-Z])", mathematics) is not None


NOTATION = (NOTEBOOKS / "guides" / "notation.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| \$(.+?)\$.* \| (\d+) \|$", NOTATION, re.MULTILINE)


@pytest.mark.parametrize(("sign", "number"), ROWS)
def test_a_sign_is_used_first_where_the_page_of_notation_says(sign, number):
    first = next(path for path in LESSONS if uses(path, sign))
    assert first.stem.startswith(f"{int(number):02}")


def test_all_signs_are_read_from_the_page():
    assert len(ROWS) == 26
    words = ("value", "tangent", "local derivative", "message", "adjoint", "gradient")
    assert all(f"| {word} |" in NOTATION for word in words)
    assert "(guides/notation.md)" in prose(CONTENTS)
