"""The native kernel, for whoever has a compiler; without one, numpy does the same more slowly."""

import re
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

# Products and sums are not contracted: the kernel and its fallback give the same bits.
FLAGS = ["/O2", "/fp:precise"] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fno-math-errno"]
PICTURES = "https://raw.githubusercontent.com/whygrad/whygrad/main/"
PAGES = "https://github.com/whygrad/whygrad/blob/main/"
# A free-threaded python has no stable ABI (before 3.15): numpy stands in there.
STABLE_ABI = not sysconfig.get_config_var("Py_GIL_DISABLED")

KERNEL = Extension(
    "whygrad.summaries._kernel",
    ["src/whygrad/summaries/native/kernel.c"],
    depends=[f"src/whygrad/summaries/native/{name}.h" for name in ("scan", "wide", "wire")],
    extra_compile_args=FLAGS,
    py_limited_api=True,
    optional=True,
)

# Python reads it when it starts: processes that a watched program starts are watched, too.
START = "whygrad-start.pth"


class WithStart(build_py):
    """The package, and beside it the file that python reads when it starts."""

    def run(self) -> None:
        """Copy both to where the wheel is made from."""
        super().run()
        if not self.editable_mode:
            shutil.copy(START, Path(self.build_lib, START))


class EditableWithStart(editable_wheel):
    """The same for an editable install, whose package stays where it is."""

    def _run_build_commands(self, dist_name, unpacked_wheel, build_lib, tmp_dir):
        shutil.copy(START, Path(unpacked_wheel, START))
        return super()._run_build_commands(dist_name, unpacked_wheel, build_lib, tmp_dir)


def readme() -> str:
    """The README as the package index shows it: there are no files beside it there."""
    text = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:|#)", rf"\1{PICTURES}", text)
    return re.sub(r"(\]\()(?!https?:|#)", rf"\1{PAGES}", text)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    cmdclass={"build_py": WithStart, "editable_wheel": EditableWithStart},
    ext_modules=[KERNEL] if STABLE_ABI else [],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {},
)
