"""The cffi module scree._scree: its declarations are the public headers themselves, so that nothing is written twice and
the compiler checks every one of them."""
import re
import subprocess
import tempfile
from pathlib import Path

from cffi import FFI

ROOT = Path(__file__).resolve().parent.parent
SOURCE = '#include "scree/scree.h"\n#include "python/glue/frames.h"\n#include "python/glue/many.h"\n#include "python/glue/shot.h"\n'


def declarations():
    """The headers after the preprocessor, without what is no declaration. cffi knows what the C library's headers have:
    empty ones stand in for them."""
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stdbool.h", "stddef.h", "stdint.h"):
            (Path(empty) / name).touch()
        command = ["cc", "-E", "-P", "-nostdinc", "-D__attribute__(x)=", f"-I{empty}", f"-I{ROOT}/include", f"-I{ROOT}",
                   "-x", "c", "-"]
        text = subprocess.run(command, input=SOURCE, text=True, stdout=subprocess.PIPE, check=True).stdout
    return re.sub(r"static inline [^{]*\{.*?\}", "", text, flags=re.S)


builder = FFI()
builder.cdef(declarations())
builder.cdef("""
    extern "Python" int scree_py_scene(void *context, const char *name, const char *path, const char *title);
    extern "Python" void scree_py_warning(void *context, const char *line);
    extern "Python" void scree_py_log(void *context, ScreeLogLevel level, const char *line);
""")
builder.set_source("scree._scree", SOURCE,
                   include_dirs=[str(ROOT / "include"), str(ROOT)], libraries=["scree_python"],
                   extra_link_args=["-Wl,-rpath,$ORIGIN"], py_limited_api=True)
