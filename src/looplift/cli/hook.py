"""Imports of the chosen packages, with their loops lifted."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType

from looplift.cli.session import Session


class LiftingLoader(SourceFileLoader):
    """Loads a module from its source, never from a cache: the lifted code belongs to this run."""

    def __init__(self, fullname: str, path: str, session: Session):
        super().__init__(fullname, path)
        self._session = session

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        return self._session.rewrite(source, importlib.util.decode_source(source), path)


class LiftingFinder(MetaPathFinder):
    """Finds what the other finders find, and gives the modules of ``packages`` a lifting loader."""

    def __init__(self, packages: list[str], session: Session):
        self._packages = packages
        self._session = session

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        if not any(fullname == name or fullname.startswith(f"{name}.") for name in self._packages):
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None and finder is not self else None
            if spec is not None:
                return self._lifting(spec)
        return None

    def _lifting(self, spec: ModuleSpec) -> ModuleSpec:
        if type(spec.loader) is SourceFileLoader:
            spec.loader = LiftingLoader(spec.loader.name, spec.loader.path, self._session)
        return spec
