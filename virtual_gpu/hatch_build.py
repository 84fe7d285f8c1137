"""Puts the x-ray, which lies beside this folder, into the wheel."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict) -> None:
        beside = Path(self.root).parent
        xray = beside / "gpu_xray"
        for file in (*xray.glob("*.py"), *xray.glob("data/*.csv")):
            build_data["force_include"][str(file)] = str(file.relative_to(beside))
