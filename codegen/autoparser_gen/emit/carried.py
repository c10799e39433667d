"""Code of the generator that generated modules carry: definitions, unchanged, in fenced blocks.

What a skeleton imports from the package is followed through the package's own imports, name by name.
Only the definitions that are needed are taken, each as it stands in its file with the comment above
it, in blocks of one file each, those that others need before them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files

PACKAGE = "autoparser_gen"
FENCE = "# ==== Begin"  # begins the line above the part of a skeleton that modules hold
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


@dataclass(frozen=True)
class Import:
    """A name of a module that comes from another one; `name` is "" for the module itself."""

    module: str
    name: str
    local: str


@dataclass(frozen=True)
class Definition:
    """A statement at the top of a file: what it names, what it uses, and its text.

    The text begins with the blank lines and the comment before it.
    """

    defines: frozenset[str]
    uses: frozenset[str]
    text: str


@dataclass(frozen=True)
class Source:
    """A file of the package."""

    module: str
    text: str

    @cached_property
    def _tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def imports(self) -> list[Import]:
        """What it imports at its top, in order; in a skeleton, what stands before its fence."""
        found: list[Import] = []
        top, fence, _ = self.text.partition(FENCE)
        for node in (ast.parse(top) if fence else self._tree).body:
            if isinstance(node, ast.Import):
                found += [Import(a.name, "", a.asname or a.name) for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
                found += [Import(node.module or "", a.name, a.asname or a.name) for a in node.names]
        return found

    @cached_property
    def definitions(self) -> list[Definition]:
        """All other statements, in order. Raises ValueError at one that cannot be carried."""
        lines = self.text.splitlines()
        found: list[Definition] = []
        end = 0
        for node in self._tree.body:
            if isinstance(node, _DEFINITIONS):
                text = "\n".join(lines[end : node.end_lineno])
                found.append(Definition(frozenset(_defined(node)), frozenset(_used(node)), text))
            elif not isinstance(node, (ast.Import, ast.ImportFrom)) and node is not self._docstring:
                raise ValueError(f"{self.module}:{node.lineno}: neither a definition nor an import")
            end = node.end_lineno or end
        return found

    @property
    def _docstring(self) -> ast.stmt | None:
        return self._tree.body[0] if ast.get_docstring(self._tree) is not None else None

    def comment(self) -> str:
        """Its docstring as a comment."""
        said = ast.get_docstring(self._tree) or ""
        return "\n".join(f"# {line}".rstrip() for line in said.splitlines())


@dataclass
class Carried:
    """What is taken of each file, files in the order in which they must stand."""

    names: dict[str, set[str]] = field(default_factory=dict)
    renamed: dict[tuple[str, str], str] = field(default_factory=dict)
    standard: set[Import] = field(default_factory=set)  # imports of the standard library

    def blocks(self) -> Iterator[str]:
        """The fenced text of each file of which anything is taken."""
        for module, names in self.names.items():
            source = source_of(module)
            taken = [item for item in source.definitions if item.defines & names]
            if not taken:
                continue
            title = module.removeprefix(f"{PACKAGE}.").replace(".", "/")
            texts = [self._text(module, item) for item in taken]
            body = "\n".join([texts[0].lstrip("\n"), *texts[1:]])
            yield (
                f"# ==== Begin {title} block (identical in every file that has it) ====\n"
                f"{source.comment()}\n\n\n{body}\n\n\n# ==== End {title} block ===="
            )

    def _text(self, module: str, item: Definition) -> str:
        """A definition as it stands in its file, or under the name that the skeleton gives it."""
        text = item.text
        for name in item.defines:
            new = self.renamed.get((module, name), name)
            text = text.replace(f"def {name}(", f"def {new}(", 1)
        return text


def carried_for(skeleton: str) -> Carried:
    """All that a skeleton's imports from the package need, other skeletons aside."""
    carried = Carried()
    for item in source_of(skeleton).imports:
        if item.module.startswith(PACKAGE):
            if item.local != item.name:
                carried.renamed[item.module, item.name] = item.local
            _order(item.module, carried)
            _take(item.module, item.name, carried)
    return carried


def _order(module: str, carried: Carried) -> None:
    """Give a file its place, behind the files that it imports from."""
    if module in carried.names:
        return
    for item in source_of(module).imports:
        if item.module.startswith(PACKAGE):
            _order(item.module, carried)
    carried.names[module] = set()


def _take(module: str, name: str, carried: Carried) -> None:
    """Take a name of a file, and what it uses. Raises ValueError where the file has no such name."""
    if name in carried.names[module]:
        return
    source = source_of(module)
    imports = {item.local: item for item in source.imports}
    definitions = [item for item in source.definitions if name in item.defines]
    if not definitions:
        raise ValueError(f"{module} defines no {name}")
    carried.names[module].add(name)
    for definition in definitions:
        for used in sorted(definition.uses):
            origin = imports.get(used)
            if origin is None:
                if any(used in item.defines for item in source.definitions):
                    _take(module, used, carried)
            elif not origin.module.startswith(PACKAGE):
                carried.standard.add(origin)
            elif origin.local != origin.name:
                raise ValueError(f"{module}: {used} has another name in {origin.module}")
            else:
                _take(origin.module, used, carried)


def _defined(node: ast.stmt) -> Iterator[str]:
    """What a statement at the top of a file gives a name to."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from _used(target)


def _used(node: ast.AST) -> Iterator[str]:
    """All names in a statement."""
    return (item.id for item in ast.walk(node) if isinstance(item, ast.Name))


def names_given_twice(text: str) -> list[str]:
    """The names that two statements at the top of a module define or import."""
    source = Source("", text)
    tree = ast.parse(text)
    names = [item.local for item in source.imports]
    names += [name for node in tree.body for name in _defined(node)]
    return sorted({name for name in names if names.count(name) > 1})


@lru_cache
def source_of(module: str) -> Source:
    """A file of the package, by the name it is imported by."""
    path = files(PACKAGE)
    *folders, name = module.split(".")[1:]
    for folder in folders:
        path /= folder
    return Source(module, (path / f"{name}.py").read_text("utf-8"))
