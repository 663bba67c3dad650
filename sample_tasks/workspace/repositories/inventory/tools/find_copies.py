"""Fails where functions of a package have the same body, or are longer than they should be."""

import ast
import sys
from pathlib import Path

LONGEST = 10


def main(folder: str) -> int:
    """Print what is wrong in a folder's modules, and return how much that is."""
    seen: dict[str, str] = {}
    wrong = []
    for path in sorted(Path(folder).glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kinds = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                name, body = f"{path.name}: {node.name}", _body(node, kinds)
                if len(body) > 1 and (other := seen.setdefault("\n".join(body), name)) != name:
                    wrong.append(f"{name} is a copy of {other}")
                if node.end_lineno - node.body[0].lineno > LONGEST:
                    wrong.append(f"{name} is longer than {LONGEST} lines")
    print("\n".join(wrong) or "no copies")
    return len(wrong)


def _body(node: ast.FunctionDef, kinds: set[str]) -> list[str]:
    """Return a function's statements without its docstring, with each class of the module called alike."""
    statements = node.body[1:] if ast.get_docstring(node) else node.body
    for inner in (inner for statement in statements for inner in ast.walk(statement)):
        if isinstance(inner, ast.Name) and inner.id in kinds:
            inner.id = "Kind"
    return [ast.dump(statement) for statement in statements]


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1]), 1))
