"""Parsing DynamoDB's expressions: conditions, updates and projections, with AWS's messages for what it refuses.

The rules are those of these pages; an engine on a laptop or in a tab knows only some of them:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.Attributes.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path as File
from typing import Any, NamedTuple

from shared.dynamodb.attributes import marshal

LONGEST, MOST_OPERATORS, MOST_IN, DEEPEST = 4096, 300, 100, 32
"""Bytes and operators of an expression, values that IN compares with, and names and positions of a path:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters"""

COMPARISONS = {"=", "<>", "<", "<=", ">", ">="}
TESTS = {"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2}
"""Functions that are a condition by themselves, with the number of their operands."""
MAKES = {"if_not_exists": 2, "list_append": 2}
"""Functions of an update's values."""
_ORDERED = {"S", "N", "B"}
_SETS = {"SS", "NS", "BS"}
_TYPES = ("B", "BOOL", "BS", "L", "M", "N", "NS", "NULL", "S", "SS")
_IN_WORDS = {"S": "STRING", "N": "NUMBER", "B": "BINARY", "L": "LIST", "M": "MAP", "BOOL": "BOOLEAN", "NULL": "NULL"}

_TOKEN = re.compile(r"\s*([#:]\w+|[A-Za-z]\w*|\d+|<>|<=|>=|[=<>+\-().,\[\]]|\S)", re.ASCII)
_END = "<EOF>"


class Refused(Exception):  # it is no error, but DynamoDB's answer
    """DynamoDB refuses the request. The text is the message of its ValidationException."""


@dataclass(frozen=True, slots=True)
class Path:
    """A document path with its placeholders replaced: names, and positions in lists."""

    parts: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"[{', '.join(f'[{part}]' if isinstance(part, int) else part for part in self.parts)}]"


@dataclass(frozen=True, slots=True)
class Value:
    """A placeholder of a value, and the value in DynamoDB's form."""

    name: str
    typed: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Its type, such as ``S``."""
        return next(iter(self.typed))


@dataclass(frozen=True, slots=True)
class Node:
    """A condition, or a function: its operator and its operands."""

    operator: str
    operands: tuple[Operand, ...]


Operand = Path | Value | Node


class Changed(NamedTuple):
    """A path that an update changes, with its section, such as ``SET``, and the value that this names or makes."""

    section: str
    path: Path
    value: Operand | None


@dataclass(slots=True)
class Expression:
    """One expression of a request while it is read. ``used`` gathers its placeholders."""

    kind: str
    text: str
    names: Mapping[str, str]
    values: Mapping[str, Any]
    used: set[str]
    tokens: Sequence[str] = ()
    at: int = 0

    def __post_init__(self) -> None:
        self.tokens = _TOKEN.findall(self.text)
        if not self.tokens:
            raise self.invalid("The expression can not be empty;")
        size = len(self.text.encode())
        if size > LONGEST:
            raise self.invalid(f"Expression size has exceeded the maximum allowed size; expression size: {size}")
        if self._operators() > MOST_OPERATORS:
            why = "The expression contains too many operators"
            raise self.invalid(f"{why}; operator count: {MOST_OPERATORS + 1}")

    def _operators(self) -> int:
        """Comparisons, words, functions and signs, as AWS counts them: BETWEEN with its AND, and no = of an update."""
        counted = {"AND", "OR", "NOT", "IN", "+", "-", *(COMPARISONS if self.kind != "UpdateExpression" else ())}
        functions = {*TESTS, *MAKES, "size"}
        pairs = zip(self.tokens, [*self.tokens[1:], _END], strict=True)
        return sum(token.upper() in counted or (token in functions and after == "(") for token, after in pairs)

    # What is refused.

    def invalid(self, why: str) -> Refused:
        return Refused(f"Invalid {self.kind}: {why}")

    def syntax(self) -> Refused:
        near = " ".join(self.tokens[max(self.at - 1, 0) : self.at + 2])
        return self.invalid(f'Syntax error; token: "{self.token}", near: "{near}"')

    # Tokens.

    @property
    def token(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    def next(self) -> str:
        token = self.token
        self.at += 1
        return token

    def takes(self, *wanted: str) -> bool:
        """Take the next token if it is one of these, in any case."""
        found = self.token.upper() in wanted
        self.at += found
        return found

    def expect(self, wanted: str) -> None:
        if not self.takes(wanted):
            raise self.syntax()

    def end(self) -> None:
        if self.token != _END:
            raise self.syntax()

    # Operands.

    def path(self) -> Path:
        parts: list[str | int] = [self._name()]
        while self.token in {".", "["}:
            if self.next() == ".":
                parts.append(self._name())
                continue
            if not self.token.isdecimal():
                raise self.syntax()
            parts.append(int(self.next()))
            self.expect("]")
        if len(parts) > DEEPEST:
            why = "The document path has too many nesting levels"
            raise self.invalid(f"{why}; nesting levels: {len(parts)}")
        return Path(tuple(parts))

    def _name(self) -> str:
        word = self.token
        if not re.fullmatch(r"#\w+|[A-Za-z]\w*", word, re.ASCII):
            raise self.syntax()
        self.at += 1
        if word.startswith("#"):
            if word not in self.names:
                why = "An expression attribute name used in the document path is not defined"
                raise self.invalid(f"{why}; attribute name: {word}")
            self.used.add(word)
            return str(self.names[word])
        if word.upper() in reserved():
            raise self.invalid(f"Attribute name is a reserved keyword; reserved keyword: {word}")
        return word

    def operand(self) -> Operand:
        word = self.token
        if word.startswith(":") and len(word) > 1:
            self.at += 1
            if word not in self.values:
                why = "An expression attribute value used in expression is not defined"
                raise self.invalid(f"{why}; attribute value: {word}")
            self.used.add(word)
            return Value(word, marshal(self.values[word]))
        if self.tokens[self.at + 1 : self.at + 2] == ["("] and re.fullmatch(r"[A-Za-z]\w*", word):
            return self._function()
        return self.path()

    def _function(self) -> Node:
        name, wanted = self.next(), {**TESTS, **MAKES, "size": 1}
        if name not in wanted:
            raise self.invalid(f"Invalid function name; function: {name}")
        update = self.kind == "UpdateExpression"
        if update != (name in MAKES):
            of = "an update" if update else "a condition"
            raise self.invalid(f"The function is not allowed in {of} expression; function: {name}")
        operands = self._list(self.operand)
        if len(operands) != wanted[name]:
            raise self._wrong_operands("number of operands", name, str(len(operands)))
        _function_rules(self, name, operands)
        return Node(name, operands)

    def _list(self, read: Callable[[], Operand]) -> tuple[Operand, ...]:
        """A comma-separated list in parentheses."""
        self.expect("(")
        found = [read()]
        while self.takes(","):
            found.append(read())
        self.expect(")")
        return tuple(found)

    def _wrong_operands(self, what: str, operator: str, came: str) -> Refused:
        number = "number" in what
        why = "Incorrect number of operands" if number else "Incorrect operand type"
        return self.invalid(f"{why} for operator or function; operator or function: {operator}, {what}: {came}")

    def typed(self, operator: str, operand: Operand, kinds: set[str]) -> None:
        """Refuse a value whose type an operator does not take."""
        if isinstance(operand, Value) and operand.kind not in kinds:
            raise self._wrong_operands("operand type", operator, operand.kind)

    def distinct(self, operator: str, operands: Sequence[Operand]) -> None:
        """Refuse the same operand twice."""
        if operands[0] in operands[1:]:
            first = operands[0] if isinstance(operands[0], Path) else "the same"
            why = "The first operand must be distinct from the remaining operands for this operator or function"
            raise self.invalid(f"{why}; operator: {operator}, first operand: {first}")

    # Conditions.

    def condition(self) -> Node:
        """The whole expression as a condition."""
        node = self._either()
        self.end()
        return node

    def _either(self) -> Node:
        return self._joined("OR", lambda: self._joined("AND", self._negated))

    def _joined(self, word: str, read: Callable[[], Node]) -> Node:
        node = read()
        while self.takes(word):
            node = Node(word, (node, read()))
        return node

    def _negated(self) -> Node:
        if self.takes("NOT"):
            return Node("NOT", (self._negated(),))
        if not self.takes("("):
            return self._comparison()
        begun = self.at
        inner = self._either()
        self.expect(")")
        if self.tokens[begun] == "(" and _closes(self.tokens, begun) == self.at - 2:
            raise self.invalid("The expression has redundant parentheses;")
        return inner

    def _comparison(self) -> Node:
        left = self.operand()
        if isinstance(left, Node) and left.operator in TESTS:
            return left
        if self.token in COMPARISONS:
            operator, right = self.next(), self._compared()
            self.distinct(operator, (left, right))
            if operator not in {"=", "<>"}:
                for each in (left, right):
                    self.typed(operator, each, _ORDERED)
            return Node(operator, (left, right))
        if self.takes("BETWEEN"):
            low = self._compared()
            self.expect("AND")
            return self._between(left, low, self._compared())
        if self.takes("IN"):
            members = self._list(self._compared)
            if len(members) > MOST_IN:
                why = "The IN operator is provided with too many operands"
                raise self.invalid(f"{why}; number of operands: {len(members)}")
            self.distinct("IN", (left, *members))
            return Node("IN", (left, *members))
        if isinstance(left, Node):
            raise self.invalid(
                f"The function is not allowed to be used this way in an expression; function: {left.operator}"
            )
        raise self.syntax()

    def _compared(self) -> Operand:
        right = self.operand()
        if isinstance(right, Node) and right.operator in TESTS:
            raise self._misused(right)
        return right

    def _misused(self, function: Node) -> Refused:
        why = "The function is not allowed to be used this way in an expression"
        return self.invalid(f"{why}; function: {function.operator}")

    def _between(self, left: Operand, low: Operand, high: Operand) -> Node:
        for each in (left, low, high):
            self.typed("BETWEEN", each, _ORDERED)
        if isinstance(low, Value) and isinstance(high, Value):
            bounds = f"lower bound operand: {_shown(low)}, upper bound operand: {_shown(high)}"
            if low.kind != high.kind:
                why = "The BETWEEN operator requires same data type for lower and upper bounds"
                raise self.invalid(f"{why}; {bounds}")
            if _order(low) > _order(high):
                why = "The BETWEEN operator requires upper bound to be greater than or equal to lower bound"
                raise self.invalid(f"{why}; {bounds}")
        return Node("BETWEEN", (left, low, high))

    # Projections and updates.

    def projection(self) -> list[Path]:
        """The paths of a projection."""
        paths = [self.path()]
        while self.takes(","):
            paths.append(self.path())
        self.end()
        self.apart(paths)
        return paths

    def apart(self, paths: Sequence[Path]) -> None:
        """Refuse two paths if one contains the other."""
        for n, one in enumerate(paths):
            for two in paths[n + 1 :]:
                shorter, longer = sorted((one.parts, two.parts), key=len)
                if longer[: len(shorter)] == shorter:
                    why = "Two document paths overlap with each other; must remove or rewrite one of these paths"
                    raise self.invalid(f"{why}; path one: {one}, path two: {two}")

    def update(self) -> list[Changed]:
        """What an update changes."""
        readers: dict[str, Callable[[], tuple[Path, Operand | None]]] = {
            "SET": self._set,
            "REMOVE": lambda: (self.path(), None),
            "ADD": partial(self._changed, "ADD", {"N", *_SETS}),
            "DELETE": partial(self._changed, "DELETE", _SETS),
        }
        changes: list[Changed] = []
        sections: set[str] = set()
        while self.token != _END:
            section = self.token.upper()
            if section not in readers:
                raise self.syntax()
            if section in sections:
                raise self.invalid(f'The "{section}" section can only be used once in an update expression;')
            sections.add(section)
            self.at += 1
            changes.append(Changed(section, *readers[section]()))
            while self.takes(","):
                changes.append(Changed(section, *readers[section]()))
        self.apart([each.path for each in changes])
        return changes

    def _set(self) -> tuple[Path, Operand]:
        path = self.path()
        self.expect("=")
        first = self.operand()
        if self.token not in {"+", "-"}:
            return path, first
        sign, second = self.next(), self.operand()
        for each in (first, second):
            self.typed(sign, each, {"N"})
        return path, Node(sign, (first, second))

    def _changed(self, section: str, kinds: set[str]) -> tuple[Path, Operand]:
        """A path of ``ADD`` or ``DELETE``, with the value that it takes."""
        path, value = self.path(), self.operand()
        if not isinstance(value, Value):
            raise self.syntax()
        if value.kind not in kinds:
            why = "Incorrect operand type for operator or function"
            kind, types = _IN_WORDS.get(value.kind, value.kind), f"ALLOWED_FOR_{section}_OPERAND"
            raise self.invalid(f"{why}; operator: {section}, operand type: {kind}, typeSet: {types}")
        return path, value


_TAKES = {
    "begins_with": {"S", "B"},
    "list_append": {"L"},
    "size": {"S", "B", "L", "M", *_SETS},
}
"""The types of the values that a function takes."""


def _function_rules(read: Expression, name: str, operands: Sequence[Operand]) -> None:
    """What a function takes besides the number of its operands."""
    of_paths = {"attribute_exists", "attribute_not_exists", "attribute_type", "if_not_exists"}
    if name in of_paths and not isinstance(operands[0], Path):
        why = "Operator or function requires a document path"
        raise read.invalid(f"{why}; operator or function: {name}")
    if len(operands) > 1:
        read.distinct(name, operands)
    for each in operands if name in _TAKES else ():
        read.typed(name, each, _TAKES[name])
    if name == "attribute_type":
        read.typed(name, operands[1], {"S"})
        if isinstance(operands[1], Value) and operands[1].typed["S"] not in _TYPES:
            found, known = operands[1].typed["S"], ",".join(_TYPES)
            raise read.invalid(f"Invalid attribute type name found; type: {found}, valid types: {{{known}}}")


def paths_in(operand: Operand) -> Iterator[Path]:
    """All document paths of a condition."""
    match operand:
        case Path():
            yield operand
        case Node():
            for each in operand.operands:
                yield from paths_in(each)


@cache
def reserved() -> frozenset[str]:
    """DynamoDB's reserved words, in capitals:
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html"""
    return frozenset(File(__file__).with_name("reserved.txt").read_text(encoding="utf-8").split())


def _closes(tokens: Sequence[str], opening: int) -> int:
    """The position of the parenthesis that closes one."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at] == "(") - (tokens[at] == ")")
        if not depth:
            return at
    return len(tokens)


def _order(value: Value) -> Any:
    content = value.typed[value.kind]
    if value.kind == "N":
        return float(content)
    return content.encode() if isinstance(content, str) else content


def _shown(value: Value) -> str:
    return f"AttributeValue: {{{value.kind}:{value.typed[value.kind]}}}"
