"""The page of contents and notation says what each lesson asks, and where each sign is used first."""

import re

import pytest

from notebooks import CONTENTS, LESSONS, prose


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_page_of_contents_has_the_title_and_the_question_of_each_lesson(path):
    title, question = re.search(
        r"^# \d+\. (.*)\n+\*\*(.*)\*\*$", prose(path), re.MULTILINE
    ).groups()
    line = f"[{title}]({path.name}): {question[0].lower()}{question[1:]}"
    assert line in re.sub(r"\s+", " ", prose(CONTENTS))


def mathematics(path):
    return "\n".join(re.findall(r"\$+(.+?)\$+", prose(path), re.DOTALL))


def uses(path, sign):
    """Whether a sign is used: by its first command, such as \\dot, or else as it stands."""
    command = re.match(r"\\[a-zA-Z]+", sign)
    sign = re.escape(command[0] if command else sign)
    return re.search(rf"(?<![a-zA-Z\\]){sign}(?![a-zA-Z])", mathematics(path)) is not None


ROWS = re.findall(r"^\| \$(.+?)\$.* \| (\d+) \|$", prose(CONTENTS), re.MULTILINE)


@pytest.mark.parametrize(("sign", "number"), ROWS)
def test_a_sign_is_used_first_where_the_page_of_notation_says(sign, number):
    first = next(path for path in LESSONS if uses(path, sign))
    assert first.stem.startswith(f"{int(number):02}")


def test_all_signs_are_read_from_the_page():
    assert len(ROWS) == 14
    words = ("value", "tangent", "local derivative", "message", "adjoint", "gradient")
    assert all(f"| {word} |" in prose(CONTENTS) for word in words)
