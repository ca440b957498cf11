# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer expressions of run-time sizes (guards, grids), the same language as ir/Expression.h.

    or, and, not, == != < <= > >=, + -, * / %, unary -, parentheses, integers, names,
    min(a, b), max(a, b), ceildiv(a, b); `/` is floor division.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Mapping

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS = {"min": min, "max": max, "ceildiv": lambda a, b: -(-a // b)}


class ExpressionError(ValueError):
    """The text is no expression, or names a size that is not given."""


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ExpressionError(f"'{text}' is not an expression") from error


def _value(node: ast.expr, sizes: Mapping[str, int], text: str) -> int:
    def value(child: ast.expr) -> int:
        return _value(child, sizes, text)

    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            if name not in sizes:
                raise ExpressionError(f"'{text}' names '{name}', which is not a size")
            return sizes[name]
        case ast.BinOp(op=op) if type(op) in _BINARY:
            return _BINARY[type(op)](value(node.left), value(node.right))
        case ast.UnaryOp(op=ast.USub()):
            return -value(node.operand)
        case ast.UnaryOp(op=ast.Not()):
            return int(not value(node.operand))
        case ast.BoolOp(op=ast.And()):
            return int(all(value(child) for child in node.values))
        case ast.BoolOp(op=ast.Or()):
            return int(any(value(child) for child in node.values))
        case ast.Compare(ops=[op]) if type(op) in _COMPARE:
            return int(_COMPARE[type(op)](value(node.left), value(node.comparators[0])))
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](value(left), value(right))
    raise ExpressionError(f"'{text}' uses something that guards and grids do not have")


def evaluate(text: str, sizes: Mapping[str, int]) -> int:
    """Value of `text`; comparisons give 0 or 1."""
    try:
        return _value(_parse(text), sizes, text)
    except ZeroDivisionError as error:
        raise ExpressionError(f"'{text}' divides by zero") from error
