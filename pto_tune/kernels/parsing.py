"""Text of a kernel -> tokens (tree-sitter with its MLIR grammar) -> plain operations with places.

The grammar knows the custom forms of MLIR's own dialects only, and joins the operations of others with what follows
them. Its leaves are right, though, and so is what it calls a region: operations are put together from those. An
operation starts with its results, with a name that has a dot, with a quoted name, or at the start of a line with one of
`BARE`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pto_tune.kernels.faults import START, Fault, Faults, KernelError, Place
from pto_tune.kernels.guards import check_brackets

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_TOKENS = 100_000

BARE = ("return", "module", "tput", "tget", "tput_async", "tget_async", "tnotify", "twait", "ttest")
"""Names without a dot: of the MLIR core, and the communication of the ISA pages."""

_WHOLE = {
    "string_literal": "text",
    "type": "type",
    "dialect_type": "type",
    "type_alias": "type",
    "dialect_attribute": "attribute",
    "attribute_alias": "attribute",
    "value_use": "value",
    "integer_literal": "number",
    "float_literal": "number",
    "symbol_ref_id": "symbol",
    "bare_id": "word",
    "custom_op_name": "word",
    "caret_id": "label",
}
"""Nodes of the grammar that are one token each."""

_OPEN, _CLOSE = ("(", "[", "{", "<"), (")", "]", "}", ">")


@dataclass(frozen=True)
class Token:
    """A word of the file. Kinds: value, word, number, text, type, attribute, symbol, label, sign, `open` and `close`
    (of a region)."""

    kind: str
    text: str
    place: Place
    first: bool = False  # on its line


@dataclass(frozen=True)
class Op:
    """An operation: its results with how many values each names, its name, the tokens behind the name outside of its
    regions, and the operations of those."""

    name: str
    results: tuple[str, ...]
    tokens: tuple[Token, ...]
    regions: tuple[tuple[Op, ...], ...]
    place: Place


@dataclass
class Parsed:
    """The top-level operations, and what `!name` and `#name` stand for."""

    ops: tuple[Op, ...]
    aliases: dict[str, str] = field(default_factory=dict)


def parse(text: str, source: str) -> Parsed:
    """The operations of a kernel. KernelError names every place that is no MLIR."""
    check_brackets(text, source)
    root = _parser().parse(text.encode()).root_node
    lines = text.split("\n")
    if root.has_error:
        raise KernelError(source, _syntax_faults(root, lines))
    tokens, aliases = _tokens(root, lines, source)
    _dictionaries(tokens)
    faults = Faults()
    ops, at = _Assembler(tokens, faults).block(0)
    if at < len(tokens):
        faults.say(tokens[at].place, f"{tokens[at].text!r} closes nothing", "syntax")
    faults.stop(source)
    return Parsed(ops, aliases)


def _parser() -> Any:
    try:
        import tree_sitter
        import tree_sitter_mlir
    except ImportError as e:
        raise ValueError(
            f"reading .pto files needs the package {e.name!r}, which is not installed: pip install 'pto-tune[pto]'"
        ) from None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_mlir.language()))


def _place(node: Node, lines: list[str], text: str = "") -> Place:
    """Tree-sitter counts bytes; a leading blank that it takes into a word is no part of it."""
    row, column = node.start_point
    blank = len(text) - len(text.lstrip())
    line = lines[row] if row < len(lines) else ""
    characters = column if line.isascii() else len(line.encode()[:column].decode("utf-8", "ignore"))
    return Place(row + 1, characters + blank + 1)


def _syntax_faults(root: Node, lines: list[str]) -> list[Fault]:
    found, stack = list[Fault](), [root]
    while stack and len(found) < 20:
        node = stack.pop()
        if node.is_missing:
            found.append(Fault(_place(node, lines), f"{node.type!r} is missing", "syntax"))
        elif node.is_error:
            words = " ".join((node.text or b"").decode("utf-8", "replace").split())
            shown = words if len(words) <= 40 else words[:37] + "..."
            found.append(Fault(_place(node, lines), f"{shown!r} is no MLIR here", "syntax"))
        elif node.has_error:
            stack += reversed(node.children)
    return found or [Fault(START, "is no MLIR", "syntax")]


def _leaves(root: Node) -> Iterator[tuple[Node, str, str]]:
    """Leaves and nodes that are one token each, with their kind and the type of their parent."""
    cursor = root.walk()
    parents = [""]
    while True:
        node = cursor.node
        assert node is not None
        kind = _WHOLE.get(node.type, "")
        skip = node.type in ("comment", "type_alias_def", "attribute_alias_def")
        if node.type in ("type_alias_def", "attribute_alias_def"):
            yield node, "alias", parents[-1]
        elif kind or (node.child_count == 0 and not skip):
            yield node, kind or "sign", parents[-1]
        elif not skip and cursor.goto_first_child():
            parents.append(node.type)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            parents.pop()


def _tokens(root: Node, lines: list[str], source: str) -> tuple[list[Token], dict[str, str]]:
    tokens, aliases, row = list[Token](), dict[str, str](), 0
    for node, kind, parent in _leaves(root):
        text = (node.text or b"").decode()
        place = _place(node, lines, text)
        text = text.strip()
        if kind == "alias":
            name, _, meaning = text.partition("=")
            aliases[name.strip()] = meaning.strip()
        elif text:
            if kind == "sign" and parent == "region" and text in "{}":
                kind = "open" if text == "{" else "close"
            elif kind == "sign" and (text[0].isalpha() or text[0] == "_"):
                kind = "word"
            tokens.append(Token(kind, text, place, place.line != row))
            row = place.line
        if len(tokens) > MAX_TOKENS:
            raise KernelError(source, [Fault(place, f"is longer than {MAX_TOKENS} words: expected fewer", "syntax")])
    return tokens, aliases


def _dictionaries(tokens: list[Token]) -> None:
    """Gives braces back to dictionaries that the grammar takes for regions, as those with `location = <vec>`: no
    operation starts with a plain word and `=`."""
    open_: list[tuple[int, bool]] = []
    for i, token in enumerate(tokens):
        if token.kind == "open":
            named = tokens[i + 1 : i + 3]
            open_.append((i, len(named) == 2 and named[0].kind == "word" and named[1].text == "="))
        elif token.kind == "close" and open_:
            start, is_dictionary = open_.pop()
            if is_dictionary:
                for at in (start, i):
                    tokens[at] = replace(tokens[at], kind="sign")


class _Assembler:
    """Puts operations together. Regions nest no deeper than brackets may."""

    def __init__(self, tokens: list[Token], faults: Faults) -> None:
        self.tokens, self.faults = tokens, faults

    def block(self, at: int) -> tuple[tuple[Op, ...], int]:
        """The operations up to the end of the region, which stays."""
        ops = list[Op]()
        while at < len(self.tokens) and self.tokens[at].kind != "close":
            if self.tokens[at].kind == "label":
                self.faults.say(self.tokens[at].place, "a labelled block: expected structured control flow (scf)")
                while at < len(self.tokens) and self.tokens[at].kind != "close" and not self.starts(at):
                    at += 1
                continue
            op, at = self.operation(at)
            ops.append(op)
        return tuple(ops), at

    def operation(self, at: int) -> tuple[Op, int]:
        place = self.tokens[at].place
        results, at = self.results(at)
        name = self.tokens[at]
        if name.kind not in ("word", "text"):
            self.faults.say(name.place, f"{name.text!r} starts no operation: expected a name", "syntax")
        at += 1
        own, regions, depth = list[Token](), list[tuple[Op, ...]](), 0
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.kind == "open":
                body, at = self.block(at + 1)
                regions.append(body)
                own.append(Token("region", "", token.place))
                at += 1
                continue
            if token.kind == "close" or (depth <= 0 and self.starts(at)):
                break
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
            own.append(token)
            at += 1
        return Op(name.text.strip('"'), results, tuple(own), tuple(regions), place), at

    def results(self, at: int) -> tuple[tuple[str, ...], int]:
        """Names of the results; `%r:2` is `%r#0` and `%r#1`."""
        end = self.results_end(at)
        if end < 0:
            return (), at
        found = list[str]()
        for i in range(at, end):
            token = self.tokens[i]
            if token.kind != "value":
                continue
            name, _, more = token.text.partition(":")
            if not more and self.tokens[i + 1].text == ":":
                more = self.tokens[i + 2].text
            found += [f"{name}#{k}" for k in range(min(int(more), 256))] if more.isdigit() else [name]
        return tuple(found), end + 1

    def results_end(self, at: int) -> int:
        """Where the `=` behind results stands that start here, -1 where none do."""
        tokens, n = self.tokens, len(self.tokens)
        while at < n and tokens[at].kind == "value":
            at += 1
            if at + 1 < n and tokens[at].text == ":" and tokens[at + 1].kind == "number":
                at += 2
            if at < n and tokens[at].text == ",":
                at += 1
                continue
            named = at + 1 < n and tokens[at].text == "=" and self.names(at + 1)
            return at if named else -1
        return -1

    def names(self, at: int) -> bool:
        """Whether a token is the name of an operation."""
        token = self.tokens[at]
        return token.kind == "text" or (token.kind == "word" and ("." in token.text or token.text in BARE))

    def starts(self, at: int) -> bool:
        token = self.tokens[at]
        if token.kind == "value":
            return self.results_end(at) >= 0
        if token.kind == "text":
            return token.first and at + 1 < len(self.tokens) and self.tokens[at + 1].text == "("
        if token.kind == "word":
            return "." in token.text or (token.first and token.text in BARE)
        return False
