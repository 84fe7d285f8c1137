"""Lets files that import `cuda` from `numba` use another compiler, without a change of their text.

While such a file is loaded, the names that it imports for kernels are taken from the chosen
compiler instead: `from numba import cuda, float32` gives `numba_cuda_mlir.cuda` and
`numba_cuda_mlir.types.float32`. Lines keep their numbers, and a reader, the virtual GPU and the
x-ray see the text of the file. A file that imports no `cuda` is loaded as it is, because its types
are those of functions for the CPU. With numba-cuda nothing is replaced.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

from utils.compilers.choice import NUMBA_CUDA, Compiler, chosen

KERNELS = ("gemm_kernels", "reduce_kernels", "latency_kernels", "tensor_kernels")
PACKAGES = (*KERNELS, "labs", "utils")
# These files are about numba's own names, or implement functions for both compilers.
LEFT_ALONE = ("utils.compilers", "utils.intrinsics", "labs.checking", "labs.grading")


class Replaced(ast.NodeTransformer):
    """Replaces the imports of names for kernels by those from a compiler.

    package: the compiler's package. A tree without an import of `cuda` stays as it is.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Return the tree of a file or of a notebook's cell, with its imports replaced."""
        imports = [each for each in ast.walk(node) if isinstance(each, ast.ImportFrom)]
        if not any(_is_of_kernels(each) for each in imports):
            return node
        return ast.fix_missing_locations(self.generic_visit(node))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | list[ast.ImportFrom]:
        """Return the import or the list of imports that replaces an import of numba's names.

        An import from "numba" becomes a list with one import per module that has its names. One
        from "numba.types", or from "numba.cuda" or its modules, becomes one from the same module of
        the compiler's package. Any other import is returned unchanged.
        """
        if node.level or node.module is None:
            return node
        if node.module == "numba.types" or node.module.startswith("numba.cuda"):
            module = f"{self._package}{node.module.removeprefix('numba')}"
            return ast.copy_location(ast.ImportFrom(module, node.names, 0), node)
        if node.module != "numba":
            return node
        by_module: dict[str, list[ast.alias]] = {}
        for alias in node.names:
            by_module.setdefault(self._home_of(alias.name), []).append(alias)
        return [
            ast.copy_location(ast.ImportFrom(module, names, 0), node)
            for module, names in by_module.items()
        ]

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        """Return `inline="always"` instead of `forceinline=True`, and any other keyword as it is.

        Version 0.6.0 of numba-cuda-mlir inlines the former alone before it lays out shared memory,
        and refuses a function with shared memory that a kernel calls twice.
        """
        if node.arg == "forceinline" and ast.unparse(node.value) == "True":
            return ast.copy_location(ast.keyword("inline", ast.Constant("always")), node)
        return node

    def _home_of(self, name: str) -> str:
        """Return the name of the module from which a name of `numba` is imported instead.

        For "cuda" and "types" it is the compiler's package, for a name in the package's module
        `types` it is that module, and for any other name it is "numba" still.
        """
        if name in ("cuda", "types"):
            return self._package
        types = importlib.import_module(f"{self._package}.types")
        return types.__name__ if hasattr(types, name) else "numba"


def _is_of_kernels(node: ast.ImportFrom) -> bool:
    """Return True for an import of `cuda` from numba, or from `numba.cuda` or its modules."""
    if (node.module or "").startswith("numba.cuda"):
        return True
    return node.module == "numba" and any(alias.name == "cuda" for alias in node.names)


class _Loader(SourceFileLoader):
    """Loads a file with the names of a compiler. Its code is not kept on disk."""

    compiler: Compiler

    def get_code(self, fullname: str):
        """Return the code of the file, with its imports replaced."""
        path = self.get_filename(fullname)
        tree = Replaced(self.compiler.package).visit(ast.parse(self.get_data(path), path))
        return compile(tree, path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds the course's files that may have kernels, and loads them with a compiler's names."""

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a file of `PACKAGES`; None for `LEFT_ALONE` and any other module."""
        if not _inside(fullname, PACKAGES) or _inside(fullname, LEFT_ALONE):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
        spec.loader.compiler = self._compiler
        return spec


def _inside(module: str, packages: tuple[str, ...]) -> bool:
    """Return True if a module is one of these packages, or in one of them."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def use(compiler: Compiler) -> None:
    """Load all files of the course with this compiler's names from now on.

    Nothing changes for numba-cuda, or if another compiler's names are already in use.
    """
    if compiler != NUMBA_CUDA and not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder(compiler))


def use_in_cells(compiler: Compiler, shell) -> None:
    """Let the cells of a notebook use this compiler's names; ``shell`` is IPython's, or None.

    Nothing changes for numba-cuda, without a shell, or if the cells already use a compiler's names.
    """
    known = shell is None or any(isinstance(each, Replaced) for each in shell.ast_transformers)
    if compiler != NUMBA_CUDA and not known:
        shell.ast_transformers.append(Replaced(compiler.package))


@contextlib.contextmanager
def second_copy(compiler: Compiler) -> Iterator[None]:
    """Within the context, load the packages of kernels anew, with this compiler's names.

    The modules that were loaded before come back afterwards, and keep their own names. Objects of
    the second copy stay usable.
    """
    before = {name: sys.modules.pop(name) for name in [*sys.modules] if _inside(name, KERNELS)}
    finders = list(sys.meta_path)
    sys.meta_path[:] = [each for each in finders if not isinstance(each, _Finder)]
    use(compiler)
    try:
        yield
    finally:
        sys.meta_path[:] = finders
        for name in [each for each in sys.modules if _inside(each, KERNELS)]:
            del sys.modules[name]
        sys.modules.update(before)


def module_of(name: str, compiler: Compiler) -> ModuleType:
    """Return a module of a package of kernels, such as "gemm_kernels.sgemm", made with a compiler.

    Unless the compiler is the chosen one, each call makes a new copy of the package. Raises
    CourseError if COURSE_COMPILER names a compiler that is unknown or not installed.
    """
    if compiler == chosen():
        return importlib.import_module(name)
    with second_copy(compiler):
        return importlib.import_module(name)


def ladder_of(package: str, compiler: Compiler):
    """Return the ladder of a package of kernels, such as "gemm_kernels", made with a compiler.

    Unless the compiler is the chosen one, it is that of a new copy of the package.
    """
    return module_of(package, compiler).LADDER
