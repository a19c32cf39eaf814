"""The small changes: each yields a module with one thing wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_TYPES = {"Literal", "tuple", "dict", "list", "Callable"}
_SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_params"}  # no decisions are in these


@dataclass(frozen=True)
class Mutant:
    """One change: `place` is the line of code as it stands, `change` what is done to it, `code` the changed module.

    :param lines: first and last line of the function that it is in the body of; None outside of functions.
    """

    line: int
    place: str
    change: str
    code: CodeType
    lines: tuple[int, int] | None

    @property
    def key(self) -> str:
        """Name that outlasts changes elsewhere in the file."""
        return f"{self.place} => {self.change}"


def mutants(source: str, path: str) -> Iterator[Mutant]:
    """Yield all mutants of a module, in the order of its lines; equal changes of equal lines are numbered."""
    tree = ast.parse(source)
    lines = source.splitlines()
    bodies = list(_function_bodies(tree))
    seen: dict[str, int] = {}
    for node, apply, undo, change in _changes(tree):
        apply()
        code = compile(ast.fix_missing_locations(tree), path, "exec")
        undo()
        place = lines[node.lineno - 1].strip()
        key = f"{place} => {change}"
        seen[key] = seen.get(key, 0) + 1
        change = change if seen[key] == 1 else f"{change} #{seen[key]}"
        inside = next((ends for first, ends in bodies if first <= node.lineno <= ends[1]), None)
        yield Mutant(node.lineno, place, change, code, inside)


def _function_bodies(tree: ast.AST) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the first line of the body, and the first and last lines of the whole, of each outermost function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            start = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            yield node.body[0].lineno, (start, node.end_lineno or start)
        else:
            yield from _function_bodies(node)


Change = tuple[ast.AST, Callable[[], None], Callable[[], None], str]


def _changes(tree: ast.AST) -> Iterator[Change]:
    for parent, field, index, node in _places(tree):
        for new, change in _instead(node):

            def put(value: ast.AST, parent: ast.AST = parent, field: str = field, index: int | None = index) -> None:
                if index is None:
                    setattr(parent, field, value)
                else:
                    getattr(parent, field)[index] = value

            new = ast.copy_location(new, node)
            yield node, lambda put=put, new=new: put(new), lambda put=put, node=node: put(node), change


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Yield every node that may be changed, with its parent, the field and the place in a list."""
    for field, value in ast.iter_fields(node):
        if field in _SKIPPED_FIELDS:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_left_alone(child):
                yield node, field, index, child
                yield from _places(child)


def _is_left_alone(node: ast.AST) -> bool:
    """Leave out docstrings, messages, names of types, imports and `__all__`."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) in (
        "Literal",
        "tuple",
        "dict",
        "list",
        "Callable",
    )


def _instead(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield what may stand instead of a node."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            new = _COMPARE[type(operator)]()
            ops = [*node.ops[:index], new, *node.ops[index + 1 :]]
            yield ast.Compare(node.left, ops, node.comparators), f"{_name(operator)} to {_name(new)}"
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _BINARY:
        new_op = _BINARY[type(node.op)]()
        change = f"{_name(node.op)} to {_name(new_op)}"
        yield (
            ast.BinOp(node.left, new_op, node.right)
            if isinstance(node, ast.BinOp)
            else ast.AugAssign(node.target, new_op, node.value),
            change,
        )
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield ast.BoolOp(other, node.values), f"{_name(node.op)} to {_name(other)}"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand, f"{_name(node.op)} dropped"
    elif isinstance(node, ast.Constant):
        yield from _other_constant(node.value)
    else:
        yield from _other_statement(node)


def _other_constant(value: object) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(value, bool):
        yield ast.Constant(not value), f"{value} to {not value}"
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1), f"{value} to {value + 1}"
    elif isinstance(value, str) and value:
        yield ast.Constant("XX"), f"{value!r} changed"


def _other_statement(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(node, ast.If | ast.While | ast.IfExp) and isinstance(node.test, ast.Name | ast.Call | ast.Attribute):
        values = {field: getattr(node, field) for field in node._fields}
        yield type(node)(**{**values, "test": ast.UnaryOp(ast.Not(), node.test)}), "condition negated"
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield ast.Return(ast.Constant(None)), "returns None"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass(), "call dropped"
    elif isinstance(node, ast.Raise):
        yield ast.Pass(), "raise dropped"
    elif isinstance(node, ast.Continue | ast.Break):
        other = ast.Break() if isinstance(node, ast.Continue) else ast.Continue()
        yield other, f"{_name(node)} to {_name(other)}"
    elif isinstance(node, ast.Slice) and node.lower is not None and node.upper is not None:
        yield ast.Slice(None, node.upper, node.step), "start dropped"
        yield ast.Slice(node.lower, None, node.step), "end dropped"
    elif isinstance(node, ast.Slice) and (node.lower is not None or node.upper is not None):
        yield ast.Slice(None, None, node.step), "slice dropped"


def _name(node: ast.AST) -> str:
    return type(node).__name__
