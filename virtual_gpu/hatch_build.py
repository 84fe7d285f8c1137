"""The build hook that selects the files of the wheel: this package and gpu_xray."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("gpu_xray", "virtual_gpu")
LEFT_OUT = {"tests", "hatch_build.py"}
SUFFIXES = (".css", ".csv", ".html", ".js", ".py")


class CustomBuildHook(BuildHookInterface):
    """The hook that Hatch calls before it builds the wheel."""

    def initialize(self, version: str, build_data: dict) -> None:
        """Add the files of PACKAGES to ``build_data["force_include"]``.

        The dict maps each path on this machine to the path in the wheel. Only files with one of
        SUFFIXES are added, and none whose path has a part in LEFT_OUT. ``version`` is ignored.
        """
        beside = Path(self.root).parent
        for package in PACKAGES:
            for file in (beside / package).rglob("*"):
                place = file.relative_to(beside)
                if file.suffix in SUFFIXES and not LEFT_OUT & set(place.parts):
                    build_data["force_include"][str(file)] = str(place)
