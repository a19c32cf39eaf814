"""The contract of all methods, as a check that other packages can run on theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lnmap.errors import LnmapError
from lnmap.methods.registry import declaration_problem, explain
from lnmap.testing.case import BrokenRuleError, Case
from lnmap.testing.problem import Planted, plant
from lnmap.testing.rules import RULES

__all__ = ["RULES", "Contract", "ContractError", "Planted", "check_method", "plant"]


class ContractError(LnmapError, AssertionError):
    """A method breaks a rule of the contract."""

    def __init__(self, method: str, rule: str, found: str) -> None:
        self.method, self.rule = method, rule
        super().__init__(f"the method {method} breaks the rule {rule!r}: {found}")


class Contract:
    """The contract of one method's class; what is fitted for one rule is kept for the others."""

    def __init__(self, cls: Any) -> None:
        name = str(getattr(cls, "name", None) or getattr(cls, "__name__", cls))
        problem = declaration_problem(cls)
        if problem:  # no other rule can be checked
            raise ContractError(name, "declaration", problem)
        self.case = Case(cls)

    def check(self, rule: str) -> None:
        """Check one of the `RULES`."""
        try:
            RULES[rule](self.case)
        except BrokenRuleError as error:
            raise ContractError(self.case.name, rule, str(error)) from error
        except Exception as error:
            raise ContractError(self.case.name, rule, explain(error)) from error


def check_method(cls: Any, rules: Sequence[str] = tuple(RULES)) -> None:
    """Run the contract on a method's class, which need not be registered.

    :param rules: the rules to check; `RULES` has them all, with what each asks for as its docstring.
    :raises ContractError: the message names the method and the first rule that it breaks.
    """
    contract = Contract(cls)
    for rule in rules:
        contract.check(rule)
