"""What is published: an sdist that can be built, and a wheel that is whole, with a compiler and without one."""

from __future__ import annotations

import email
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import whygrad

ROOT = Path(__file__).parents[2]
NEEDED = (
    "pyproject.toml",
    "setup.py",
    "whygrad-start.pth",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "SECURITY.md",
)
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
COMPILER = shlex.split(sysconfig.get_config_var("CC") or "")[:1]

pytestmark = pytest.mark.long
compiled = pytest.mark.skipif(
    not COMPILER or not shutil.which(COMPILER[0]) or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="no C compiler, or a python without the stable ABI",
)


def build(what: str, source: Path, **env: str) -> Path:
    """What the build backend makes of a folder; nothing is fetched."""
    done = subprocess.run(
        [sys.executable, "-c", BUILD, f"build_{what}", str(source / "dist")],
        cwd=source,
        env=os.environ | env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return source / "dist" / done.stdout.splitlines()[-1]


def unpacked(sdist: Path, folder: Path) -> Path:
    """The one folder in an sdist."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


def installed(wheel: Path, folder: Path) -> Path:
    """A wheel, put where python can be told to look."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def checked(site: Path, kernel: str) -> subprocess.CompletedProcess[str]:
    """What scripts/check_wheel.py says about an installed wheel."""
    command = [sys.executable, str(ROOT / "scripts" / "check_wheel.py"), kernel]
    env = os.environ | {"PYTHONPATH": str(site)}
    return subprocess.run(command, cwd=site, env=env, capture_output=True, text=True)


def sources() -> set[str]:
    """All files of the package that are not made by python or a compiler."""
    files = (path for path in (ROOT / "src" / "whygrad").rglob("*") if path.is_file())
    made = {".pyc", ".so", ".pyd"}
    return {path.relative_to(ROOT / "src").as_posix() for path in files if path.suffix not in made}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made in a copy: a build leaves folders behind."""
    copy = tmp_path_factory.mktemp("clone")
    for name in NEEDED:
        shutil.copy(ROOT / name, copy / name)
    leave = shutil.ignore_patterns("*.egg-info", "__pycache__", "*.so", "*.pyd")
    shutil.copytree(ROOT / "src", copy / "src", ignore=leave)
    return build("sdist", copy)


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made of the sdist, as those do for whom there is no wheel."""
    return build("wheel", unpacked(sdist, tmp_path_factory.mktemp("sdist")))


@pytest.fixture(scope="module")
def described(wheel: Path) -> Message:
    """What the package index is told."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_string(archive.read(name).decode())


def test_the_sdist_has_all_that_a_build_needs(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {*NEEDED, *(f"src/{name}" for name in sources())}


def test_the_wheel_has_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert names >= sources()
    assert {name for name in names if name.endswith(("/LICENSE", "/LICENSES.txt"))} > {
        "whygrad/reporters/templates/vendor/LICENSES.txt"
    }


@compiled
def test_one_wheel_serves_every_python_and_its_kernel_works(wheel, tmp_path):
    assert f"whygrad-{whygrad.__version__}-cp311-abi3-" in wheel.name
    done = checked(installed(wheel, tmp_path), "native")
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="the compiler there is not named by CC")
def test_without_a_compiler_it_installs_and_numpy_stands_in(sdist, tmp_path):
    wheel = build("wheel", unpacked(sdist, tmp_path / "sdist"), CC="there-is-no-compiler")
    site = installed(wheel, tmp_path / "site")
    done = checked(site, "numpy")
    assert done.returncode == 0, done.stderr
    assert checked(site, "native").returncode == 1  # the check can fail


def test_the_version_is_that_of_the_package(described):
    assert described["Version"] == whygrad.__version__


def test_extras_are_what_is_watched(described):
    extras = {"torch", "tensorflow", "jax", "agents", "fix", "all", "dev", "libraries", "long"}
    assert set(described.get_all("Provides-Extra")) == extras


def test_the_index_can_follow_every_link_of_the_readme(described):
    text = described.get_payload()
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 40
    assert [link for link in links if not link.startswith("https://")] == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text)
    assert pictures and all("raw.githubusercontent.com" in picture for picture in pictures)
