"""An exercise, and its verdict on an answer: praise, the hint of a slip, or what differs.

A slip is a wrong program and what to say to everybody whose program does the same. Mostly it is our
answer with something else in one place, an Edit.

    >>> def double(x):
    ...     return 2 * x
    >>> check = Exercise(double, at=[(3,), (4,)], praise="Right.", slips={
    ...     "That is the square.": lambda x: x * x,
    ...     "Twice, not three times.": Edit("2", "3"),
    ... })
    >>> check(lambda x: x + x)
    ✓ Right.
    >>> check(lambda x: x**2)
    ✗ That is the square.
    >>> check(lambda x: x + 2 * x)
    ✗ Twice, not three times.
    >>> check(lambda x: x - 1)
    ✗ At x = 3, the result should be 6, not 2.
"""

import copy
import inspect
import json
import math
import os
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dis import get_instructions
from functools import cache, cached_property, wraps
from html import escape
from itertools import count, islice, zip_longest
from pathlib import Path
from textwrap import dedent, fill
from types import GeneratorType
from typing import Any, NamedTuple

from autodiff.engine.errors import kind_of

NOTHING = "Nothing here yet: put your answer where the dots are."
NO_RETURN = "Your function returns nothing: a `return` is missing."

Parts = list[tuple[str, Any]]
VERDICTS = "AUTODIFF_VERDICTS"  # where the name of a file stands into which verdicts are written
HINT, ERROR = "<hint>", "<error>"  # parts that end an answer
ANY = "-Infinity to Infinity"  # what `else` means in a table of guesses


class Hint(Exception):
    """What to say about an answer that cannot be asked any further."""


class Verdict(NamedTuple):
    right: bool
    text: str
    hint: str = ""  # as the exercise states it


class Edit:
    """A slip by its text: our answer with something else in one place, or in several.

    Args:
        texts: what stands there and what stands there instead, place by place.
    """

    def __init__(self, *texts: str) -> None:
        self.instead = dict(zip(texts[::2], texts[1::2]))

    def program(self, answer: Any) -> Any:
        """What somebody wrote who wrote this; it sees the names that our answer sees."""
        source, names = inspect.getsource(answer), {**vars(sys.modules[answer.__module__])}
        if missing := [old for old in self.instead if old not in source]:
            raise ValueError(f"{answer.__name__} has no {missing[0]!r}")
        places = re.compile("|".join(map(re.escape, self.instead)))
        source = places.sub(lambda place: self.instead[place[0]], source)
        exec(source, names)
        return names[answer.__name__]


def edits(text: str) -> dict[str, list[Edit]]:
    """Slips as a text: what to say, and under it what stands there instead, slip by slip.

    A slip that begins with its arrow is in the same place as the one before.

    Twice, not three times.
        2 → 3
          → 4; x → x - 1
    """
    found: dict[str, list[Edit]] = {}
    hint = place = ""
    for line in dedent(text).strip().splitlines():
        if line.startswith(" "):
            places = [part.strip() for part in re.split("[→;]", line)]
            place = places[0] = places[0] or place
            found.setdefault(hint, []).append(Edit(*places))
        else:  # a hint may go on in the next line
            hint = line if hint in found else f"{hint} {line}".strip()
    return found


class Exercise:
    """Calling it with an answer prints the verdict.

    Args:
        solution: our answer; its results are the right ones.
        praise: what to say to a right answer; or a function of the answer that returns it.
        slips: a text of Edits, see `edits`; or wrong answers by their hints, one or a list. A hint may
            name the {part} and the input {at} which it shows, what is {found} there and {expected}.
        at: the points at which an answer is asked: tuples, or a dict of tuples by their names.
        ask: what an answer does at a point, ask(answer, *point): a number, an array or a text; or a
            generator of several, in the order of judging, each as (its name, what it is). May raise
            a Hint. By default the answer is called.
        otherwise: what to say to other wrong answers, or a function of the part and what it is;
            beside what differs, if there are points.
        close: how far a number may be off, beside 1 or itself.
        rests_on: earlier exercises, by the names of their answers in the reader's notebook: they are
            judged first.
        ours: what goes on until the answer is right, if that is not the solution itself.
    """

    def __init__(
        self,
        solution: Any,
        *,
        praise: str | Callable[[Any], str],
        slips: str | Mapping[str, Any],
        at: Sequence[tuple[Any, ...]] | Mapping[str, tuple[Any, ...]] = ((),),
        ask: Callable[..., Any] | None = None,
        otherwise: str | Callable[[str, Any], str] = "",
        close: float = 1e-9,
        rests_on: Mapping[str, "Exercise"] | None = None,
        ours: Any = None,
    ) -> None:
        self.solution, self.praise, self.close = solution, praise, close
        self.rests_on, self.ours = rests_on or {}, ours or solution
        self.theirs: Any = None  # the reader's right answer, once it goes on with that
        slips = edits(slips) if isinstance(slips, str) else slips
        self.wrong = {hint: x if isinstance(x, list) else [x] for hint, x in slips.items()}
        self.ask = ask or (lambda answer, *point: answer(*point))
        self.otherwise = otherwise if callable(otherwise) else lambda *_: otherwise
        self.place = "", ""  # its lesson and number, which `solutions` knows
        self.expected: dict[int, Parts] = {}  # what our answer does at each point
        self.returns = inspect.isfunction(solution) and "return" in inspect.getsource(solution)
        if not isinstance(at, Mapping):
            names = [*inspect.signature(ask or solution).parameters] if any(at) else []
            pairs = [(zip(names[ask is not None :], point), point) for point in at]
            at = {"".join(f"{n} = {x}, " for n, x in pair).strip(): point for pair, point in pairs}
        self.at = {f"At {name}" if name else "": point for name, point in at.items()}

    @cached_property
    def slips(self) -> dict[str, list[Any]]:
        """The wrong answers by their hints, as programs: made when the first one is asked for."""
        return {
            hint: [x.program(self.solution) if isinstance(x, Edit) else x for x in slips]
            for hint, slips in self.wrong.items()
        }

    def __call__(self, answer: Any) -> None:
        self.said(answer)

    def said(self, answer: Any) -> bool:
        """Print the verdict on an answer; return whether it is right."""
        right, text, _ = self.verdict(answer)
        print(wrapped(f"{'✓' if right else '✗'} {text}"))
        if path := os.environ.get(VERDICTS):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps([*self.place, right, text]) + "\n")
        return right

    def yours_or_ours(self, answer: Any) -> Any:
        """The answer if it is right, else our own, so that the next cells run; says which."""
        right = answer is not self.ours and self.verdict(answer).right
        begin = f"Exercise {self.place[1]}: " + "until yours is right, " * (not right)
        print(f"{begin}we go on with {'yours' if right else 'ours'}.")
        self.theirs = answer if right else None
        return self.theirs or self.ours

    def verdict(self, answer: Any) -> Verdict:
        """Whether the answer is right, what to say about it, and which hint that is."""
        if empty(answer):
            return Verdict(False, NOTHING, NOTHING)
        try:
            self._check_kind(answer)
            self._check_earlier(answer)
            for label, point in self.at.items():
                if wrong := self._wrong(answer, label, point):
                    return wrong
            return Verdict(True, self.praise(answer) if callable(self.praise) else self.praise)
        except Hint as hint:
            return Verdict(False, str(hint), str(hint))

    def _check_kind(self, answer: Any) -> None:
        if inspect.isclass(self.solution):
            expect(inspect.isclass(answer), "the class itself", answer)
        elif callable(self.solution):
            example = f"a function, `def answer{inspect.signature(self.solution)}:`"
            expect(callable(answer), example, answer)

    def _check_earlier(self, answer: Any) -> None:
        for name, check in self.rests_on.items():
            earlier = known(answer).get(name, check.ours)
            if earlier is not check.ours and not (verdict := check.verdict(earlier)).right:
                raise Hint(f"First mend your `{name}`: {verdict.text}")

    def _wrong(self, answer: Any, label: str, point: Any) -> Verdict | None:
        """The verdict at one point, if something is wrong there."""
        done, blank = [], []
        for (name, found), (_, right) in zip(self._parts(answer, point), self._expected(point)):
            if name == HINT:
                return Verdict(False, found, found)
            if found is not None and empty(found):
                blank.append(name)
            elif name == ERROR or not same(found, right, self.close):
                return self._judged(answer, label, name, found, right)
            else:
                done.append(name)
        if not blank:
            return None
        nothing = f"Right so far: {', '.join(done)}. Nothing here yet: {', '.join(blank)}."
        return Verdict(False, nothing if done else NOTHING)

    def _judged(self, answer: Any, label: str, name: str, found: Any, right: Any) -> Verdict:
        """The verdict on a wrong part: the hint of a slip that does the same everywhere, or what differs."""
        place, was, expected = told_apart(found, right, self.close)
        parts = cache(lambda label: self._parts(answer, self.at[label]))
        for hint, slips in self.slips.items():
            if any(self._alike(slip, parts, label, name) for slip in slips):
                text = hint.format(part=name, at=label, found=was, expected=expected)
                return Verdict(False, text, hint)
        otherwise = "" if name == ERROR else self.otherwise(name, found)
        if name == ERROR:
            place = "" if ":" in found else f"{label.rstrip(':')}, "  # an arithmetic error
            text = f"{place}{'your' if place else 'Your'} code raises {found}"
            if "llipsis" in found:
                text = "A line still computes with the dots: put something in their place."
        elif text := not_comparable(found, right):
            text = f"{name}: {text}" if name else text
        elif otherwise and not label:
            text = otherwise
        else:
            begin = f"{label} {name or 'the result'}{place}".strip()
            text = f"{begin[0].upper()}{begin[1:]} should be {expected}, not {was}."
            near = same(found, right, 1e-3) and not isinstance(right, str)
            said = text, otherwise, "Close, but not exact." if near else ""
            text = " ".join(filter(None, said))
        return Verdict(False, text.strip())

    def _alike(self, slip: Any, parts: Callable[[str], Parts], here: str, last: str) -> bool:
        """Whether a slip does the same as the answer, whose parts these are, up to this part of it."""
        for label in [here, *islice(self.at, 200)]:
            point = self.at[label]
            pairs = zip_longest(parts(label), self._parts(slip, point), fillvalue=("", ...))
            for (name, found), (other, known) in pairs:
                unknown = name != last and (found is ... or known is ...)
                if name == ERROR == other:  # the sizes that it names may differ
                    found, known = (re.sub(r"\d", "", str(text)) for text in (found, known))
                if not unknown and not (name == other and same(found, known, self.close)):
                    return False
                if name == last:
                    break
        return True

    def _expected(self, point: Any) -> Parts:
        if id(point) not in self.expected:
            self.expected[id(point)] = self._parts(self.solution, point)
        return self.expected[id(point)]

    def _parts(self, answer: Any, point: Any) -> Parts:
        """What an answer does at a point, part by part; a hint or an error ends it."""
        found: Parts = []
        try:
            result = self.ask(self._returning(answer), *copy.deepcopy(point))
            for part in result if isinstance(result, GeneratorType) else [("", result)]:
                found.append(part)
        except Hint as hint:
            found.append((HINT, str(hint)))
        except ArithmeticError as error:  # its numbers differ from point to point
            found.append((ERROR, type(error).__name__))
        except Exception as error:
            found.append((ERROR, f"{type(error).__name__}: {error}"))
        return found

    def _returning(self, answer: Any) -> Any:
        """The answer, made to say so if it returns nothing though ours returns something."""
        if not self.returns:
            return answer

        @wraps(answer)
        def asked(*given: Any) -> Any:
            result = answer(*given)
            if not isinstance(result, Mapping) and empty(result):
                raise Hint(NO_RETURN if result is None else NOTHING)
            return result

        return asked


def empty(answer: Any) -> bool:
    """Whether there are only dots: nothing, or a function, or all of a class, that does nothing."""
    if isinstance(answer, (tuple, list)) and answer:
        return all(map(empty, answer))
    if isinstance(answer, Mapping) and answer:
        return all(map(empty, answer.values()))
    if isinstance(answer, type):
        methods = {name: empty(f) for name, f in vars(answer).items() if inspect.isfunction(f)}
        return any(methods.values()) and all((methods | {"__init__": True}).values())
    if inspect.isfunction(answer):
        code, dots = answer.__code__, (lambda x: None).__code__
        return code.co_code == dots.co_code and {*code.co_consts} <= {None, ...}
    return answer is None or answer is ...


def plain(x: Any) -> Any:
    """A number of any library as a float, arrays and tuples as lists; anything else as it is.

    A named tuple is no array: it keeps its kind.
    """
    if type(x) is float:  # quick, since arrays have thousands
        return x
    x = x.tolist() if hasattr(x, "tolist") else x
    if isinstance(x, (list, tuple)):
        return getattr(x, "_make", list)(map(plain, x))
    with suppress(TypeError, ValueError):
        return x if isinstance(x, (str, bool)) else float(x)
    return x


def shape(x: Any) -> tuple[int, ...] | None:
    """The shape of what is plain: () of a number, None of what is neither a number nor an array."""
    if not isinstance(x, list):
        return () if isinstance(x, float) else None
    inner = {shape(entry) for entry in x} or {()}
    of_entries = inner.pop()
    return None if inner or of_entries is None else (len(x), *of_entries)


def same(found: Any, right: Any, close: float) -> bool:
    """Whether two results are equal: numbers and arrays up to rounding, anything else exactly."""
    found, right = plain(found), plain(right)
    if type(found) is type(right) is float:
        return math.isclose(found, right, rel_tol=close, abs_tol=close) or found != found != right
    if type(found) is type(right) and isinstance(found, (list, tuple)):
        pairs = zip(found, right)
        return len(found) == len(right) and all(same(f, r, close) for f, r in pairs)
    return type(found) is type(right) and bool(found == right)


def not_comparable(found: Any, right: Any) -> str:
    """Why a result cannot be compared with the right one; else an empty text."""
    if isinstance(right, str):
        return ""
    if "complex" in str(getattr(found, "dtype", type(found))):
        return "That is a complex number. You need only one of its two parts: which?"
    if callable(found):
        return "That is a function. Call it, and return what it gives."
    expected, shaped = shape(plain(right)), shape(plain(found))
    if expected is None:
        alike = type(plain(found)) is type(plain(right))
        return "" if alike else f"Expected {kind_of(right)}, found {kind_of(found)}."
    if shaped is None:
        return f"Expected {'an array' if expected else 'a number'}, found {kind_of(found)}."
    if shaped == expected:
        return ""
    tip = " Yours is transposed." if shaped[::-1] == expected else ""
    return f"The shape should be {expected}, not {shaped}.{tip}"


def told_apart(found: Any, right: Any, close: float, place: str = "") -> tuple[str, str, str]:
    """The place of the first difference, and both results there, with digits enough to differ."""
    left, other = plain(found), plain(right)
    if type(left) is type(other) and isinstance(left, (list, tuple)) and len(left) == len(other):
        named = getattr(left, "_fields", ())
        for key, entry, its in zip(named or count(), left, other):
            if not same(entry, its, close):
                inner = f"{place[:-1]}, {key}]" if place.endswith("]") else f"{place}[{key}]"
                return told_apart(entry, its, close, f"{place}.{key}" if named else inner)
    if not type(left) is type(other) is float:
        return place, str(found), str(right)
    digits = next((d for d in (6, 9, 12) if f"{left:.{d}g}" != f"{other:.{d}g}"), 17)
    return place, f"{left:.{digits}g}", f"{other:.{digits}g}"


def wrapped(text: str) -> str:
    """The text in lines that fit a notebook's page; its own line breaks stay."""
    whole_words = {"break_long_words": False, "break_on_hyphens": False}
    return "\n".join(fill(line, 90, **whole_words) for line in text.split("\n"))  # type: ignore[arg-type]


def expect(fits: bool, expected: str, found: Any) -> None:
    """Unless what is found fits, a Hint that says what was expected."""
    if not fits:
        raise Hint(f"Expected {expected}, found {kind_of(found)}.")


def several(found: Any, count: int) -> bool:
    """Whether it is a tuple or a list of so many."""
    return isinstance(found, (tuple, list)) and len(found) == count


def number(answer: Any) -> float:
    """The answer as a float; a Hint if it is not a number."""
    found = plain(answer)
    expect(isinstance(found, float), "one number", answer)
    return float(found)


def known(answer: Any) -> Mapping[str, Any]:
    """The names that stand around a function or a class: those of the reader's notebook."""
    if inspect.isclass(answer):
        answer = next(filter(inspect.isfunction, vars(answer).values()), None)
    return getattr(inspect.unwrap(answer), "__globals__", {}) if answer else {}


def outside(answer: Any) -> list[Any]:
    """What the code of a function or class takes from outside: by its global names, by those of a
    module (nn.cross_entropy), by imports, and what the reader's functions take that it calls.
    """
    if inspect.isclass(answer):
        methods = filter(inspect.isfunction, vars(answer).values())
        return [*answer.__bases__, *[x for method in methods for x in outside(method)]]
    function = inspect.unwrap(answer)
    codes, found = [function.__code__], list[Any]()
    for code in codes:
        codes += filter(inspect.iscode, code.co_consts)
        names = [each.argval for each in get_instructions(code) if each.opname == "LOAD_GLOBAL"]
        taken = [*map(function.__globals__.get, names), *map(sys.modules.get, code.co_names)]
        for each in taken:
            if inspect.ismodule(each) and not any(each is x for x in found):
                taken += [getattr(each, name, None) for name in code.co_names]
            if getattr(each, "__globals__", None) is function.__globals__:
                codes += {each.__code__} - {*codes}
            found.append(each)
    return found


def solutions(module: Mapping[str, Any]) -> Callable[[int], None]:
    """The function that displays the code of `solution_<number>`; each check learns its place."""
    for name, check in module.items():
        if isinstance(check, Exercise):
            lesson = module["__name__"].rpartition(".")[2]
            check.place = lesson, name.removeprefix("check_")  # pyright: ignore

    def solution(number: int) -> None:
        """Display our solution."""
        from IPython.display import Code, display

        if f"solution_{number}" not in module:
            known = sorted(int(name[9:]) for name in module if name.startswith("solution_"))
            print(f"There is no exercise {number} here, only {known}.")
            return
        display(Code(inspect.getsource(module[f"solution_{number}"]), language="python"))

    return solution


def guesses(text: str) -> Callable[[int, Any], None]:
    """The `predict` of a module: `predict(1, 27)` prints what the first table says to 27.

    Args:
        text: in each table what is said to a number, to a range, and to anything else (a table without
            that says to open the box). What is said to a right guess begins with "Right".

        1. 3: Right: three.
           4 to 9.5: Too many.
           else: Count them.
    """
    tables = list[dict[tuple[float, float], str]]()
    for line in text.strip().splitlines():
        place, said = line.strip().split(": ", 1)
        first, _, place = place.rpartition(". ")
        if first:
            tables.append({})
        ends = [json.loads(end) for end in place.replace("else", ANY).split(" to ")]
        tables[-1][ends[0], ends[-1]] = said

    def predict(which: int, guess: Any) -> None:
        said = answered(tables[which - 1], guess)
        print(wrapped(f"{'✓' if said.startswith('Right') else '✗'} {said}"))

    return predict


def answered(table: Mapping[tuple[float, float], str], guess: Any) -> str:
    """What a table, by the ends of its ranges, says to a guess."""
    if empty(guess):
        return "Your guess first: put a number where the dots are."
    try:
        found = number(guess)
    except Hint as hint:
        return str(hint)
    ends = ((low, high, text) for (low, high), text in table.items())
    said = (text for low, high, text in ends if low <= found <= high or same(found, low, 1e-9))
    return next(said, "Open the box.")


@contextmanager
def after_your_guess(title: str = "After your guess: the answer") -> Iterator[None]:
    """Shows what is printed and displayed in it in a box that is closed until a reader opens it."""
    from IPython.display import display
    from IPython.utils.capture import capture_output

    with capture_output() as seen:
        yield
    style = "font-family: monospace; white-space: pre; overflow-x: auto"  # also on a phone
    boxed = [f'<pre style="{style}">{escape(seen.stdout)}</pre>', *map(in_html, seen.outputs)]
    page = f"<details><summary>{title}</summary>{''.join(boxed)}</details>"
    display({"text/html": page, "text/plain": seen.stdout}, raw=True)


def in_html(output: Any) -> str:
    """An output of IPython as HTML; a picture by what a notebook shows if it is not trusted."""
    data = output.data
    if "image/png" not in data:
        return data.get("text/html") or f"<pre>{escape(data['text/plain'])}</pre>"
    png, about = data["image/png"], (output.metadata or {}).get("image/png", {})
    png = png if isinstance(png, str) else b64encode(png).decode()
    about = {"alt": data["text/plain"], **about}
    facts = " ".join(f'{name}="{escape(str(fact))}"' for name, fact in about.items())
    return f'<img src="data:image/png;base64,{"".join(png.split())}" {facts}>'
