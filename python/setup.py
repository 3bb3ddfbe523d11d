"""Builds the package: libscree_python.so by CMake, the module by cffi, and the shipped scenes and assets beside them.

SCREE_BUILD names a build folder that has libscree_python.so; without it `scripts/build.sh release` makes one."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))


def library_folder():
    """The build folder with libscree_python.so, made where nobody has."""
    given = os.environ.get("SCREE_BUILD")
    if not given:
        subprocess.run([ROOT / "scripts/build.sh", "release"], check=True, env={**os.environ, "TARGETS": "scree_python"})
    return Path(given or ROOT / "build").resolve()


class BuildExt(build_ext):
    """Links the module to the library that lies beside it, and writes the types of what is made from the library."""

    def run(self):
        self.library = library_folder()
        for extension in self.extensions:
            extension.library_dirs.append(str(self.library))
        super().run()
        package = Path(self.get_ext_fullpath("scree._scree")).parent
        shutil.copy2(self.library / "libscree_python.so", package)
        subprocess.run([sys.executable, HERE / "make_stubs.py", package.parent], check=True)


class BuildPy(build_py):
    """Puts scenes and assets into the package."""

    def run(self):
        super().run()
        data = Path(self.build_lib) / "scree" / "data"
        shutil.rmtree(data, ignore_errors=True)
        for folder in ("scenes", "assets"):
            shutil.copytree(ROOT / folder, data / folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))


class Wheel(bdist_wheel):
    """One wheel for Python 3.11 and up."""

    def finalize_options(self):
        self.py_limited_api = "cp311"
        super().finalize_options()


setup(
    version=re.search(r"project\(scree VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1],
    packages=["scree", "scree.envs"],
    package_data={"scree": ["py.typed", "_scree.pyi"]},
    cffi_modules=["build_module.py:builder"],
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy, "bdist_wheel": Wheel},
    zip_safe=False,
)
