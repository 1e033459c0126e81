"""Words of an operation: its operands, groups such as `ins(...)`, attributes, and the types that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pto_tune.kernels.faults import Place
from pto_tune.kernels.parsing import Op, Token

_OPEN, _CLOSE = "([{<", ")]}>"


@dataclass(frozen=True)
class Attribute:
    """A value of a dictionary: its words, and where it stands."""

    text: str
    place: Place
    first: Token | None = None  # of the value; None where it has none, as a name by itself
    last: Token | None = None

    @property
    def integer(self) -> int | None:
        """As an integer (`8`, `8 : i32`)."""
        word = self.text.partition(":")[0].strip()
        return int(word) if word.lstrip("-").isdigit() and len(word) <= 12 else None

    @property
    def boolean(self) -> bool | None:
        return {"true": True, "false": False}.get(self.text.partition(":")[0].strip())

    @property
    def string(self) -> str:
        return self.text.strip().strip('"')

    @property
    def last_word(self) -> str:
        """`set` of `#pto<notify_op set>`, `vec` of `#pto.address_space<vec>` and of `<vec>`."""
        return self.text.replace("<", " ").replace(">", " ").split()[-1] if self.text.split() else ""


def matching(tokens: Sequence[Token], at: int) -> int:
    """The bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i].text in _OPEN) - (tokens[i].text in _CLOSE) if tokens[i].kind == "sign" else 0
        if depth == 0:
            return i
    return len(tokens) - 1


def attributes(op: Op) -> dict[str, Attribute]:
    """All dictionaries of an operation, those inside of its groups included."""
    found: dict[str, Attribute] = {}
    tokens = op.tokens
    for i, token in enumerate(tokens):
        if token.kind == "sign" and token.text == "{":
            found.update(_dictionary(tokens[i + 1 : matching(tokens, i)]))
    return found


def _dictionary(tokens: Sequence[Token]) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    for part in split(tokens):
        if part and part[0].kind in ("word", "text"):
            value = part[2:] if len(part) > 1 and part[1].text == "=" else ()
            text = " ".join(t.text for t in value) if value else "true"
            ends = (value[0], value[-1]) if value else (None, None)
            found[part[0].text.strip('"')] = Attribute(text, part[0].place, *ends)
    return found


def split(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """What stands between commas outside of brackets."""
    out, depth, start = list[Sequence[Token]](), 0, 0
    for i, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if token.text == "," and depth == 0:
            out.append(tokens[start:i])
            start = i + 1
    return [*out, tokens[start:]] if tokens else []


def group(op: Op, word: str) -> Sequence[Token] | None:
    """The words inside `word(...)`, `word = [...]` or `word [...]`; None where there is no such group."""
    tokens = op.tokens
    for i, token in enumerate(tokens):
        if token.kind == "word" and token.text == word:
            at = i + 1
            if at < len(tokens) and tokens[at].text == "=":
                at += 1
            if at < len(tokens) and tokens[at].kind == "sign" and tokens[at].text in "([":
                return tokens[at + 1 : matching(tokens, at)]
    return None


def named_operands(op: Op) -> dict[str, str]:
    """`name = %value` outside of dictionaries."""
    found: dict[str, str] = {}
    tokens, i = op.tokens, 0
    while i < len(tokens):
        if tokens[i].kind == "sign" and tokens[i].text == "{":
            i = matching(tokens, i)
        elif [t.kind for t in tokens[i : i + 3 : 2]] == ["word", "value"] and tokens[i + 1].text == "=":
            found[tokens[i].text] = tokens[i + 2].text
        i += 1
    return found


def operands(tokens: Sequence[Token]) -> list[str]:
    """Names of values in order, those of named operands included."""
    return [t.text for t in tokens if t.kind == "value"]


def types(tokens: Sequence[Token]) -> list[str]:
    """Types in order."""
    return [t.text for t in tokens if t.kind == "type"]


def plain_attribute(op: Op) -> str:
    """The first attribute that stands outside of any bracket, as `#pto.pipe<PIPE_ALL>`."""
    return next((t.text for t in op.tokens if t.kind == "attribute"), "")
