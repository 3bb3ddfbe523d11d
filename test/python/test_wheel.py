"""The wheel: made without a network, installed into an environment of its own, it has all it needs with it."""
import os
import subprocess
import sys
import zipfile

from fixture import BUILD, ROOT

USE = """
import scree
assert scree.__path__[0].startswith({place!r}), scree.__path__
assert "sommer2022/hourglass" in scree.scenes()
with scree.World("holz2014/bulldozer", threads=1, set={{"method.radius": 0.06}}) as world:
    world.step()
    print(len(world.grains), world.render(size=(32, 24)).shape)
"""


def test_the_wheel_stands_alone(tmp_path):
    environment = {**os.environ, "SCREE_BUILD": str(BUILD), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment.pop("PYTHONPATH", None)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index",
                    "--no-cache-dir", "-w", tmp_path, ROOT / "python"], check=True, env=environment)
    (wheel,) = tmp_path.glob("scree-*-cp311-abi3-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("scree/_scree.abi3.so", "scree/libscree_python.so", "scree/py.typed", "scree/sections.pyi", "scree/_scree.pyi",
                 "scree/envs/dig.py", "scree/data/scenes/none/burst.yaml", "scree/data/assets/bulldozer_blade.obj"):
        assert name in names, name
    assert not [name for name in names if name.startswith("scree/data/") and name.endswith(".py")]
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", place], check=True, env=environment)
    subprocess.run([place / "bin/python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel], check=True,
                   env=environment)
    said = subprocess.run([place / "bin/python", "-c", USE.format(place=str(place))], check=True, env=environment,
                          cwd=tmp_path, text=True, capture_output=True).stdout
    assert "(24, 32, 3)" in said
