"""The other processors that this machine can be: `python processors.py` prints the settings of each.

OpenBLAS, NumPy and the C library choose at run time what to compute with, by what the processor has.
Each can be told to do with less: then it adds and rounds as on an older processor.
"""

import os
import subprocess
import sys

# of OpenBLAS, from the oldest; those before Haswell multiply and add in two steps, not in one
BEFORE_FMA = "Prescott", "Nehalem", "Sandybridge"
KERNELS = *BEFORE_FMA, "Haswell", "SkylakeX"
FOUND = """
import numpy
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from threadpoolctl import threadpool_info
ones = numpy.ones((400, 400))  # large enough for every kernel
assert (ones @ ones[:, :50] == 400.0).all()  # not if it lacks an instruction, or crashes
print(*{each.get("architecture") for each in threadpool_info()})
print(",".join(name for name in __cpu_dispatch__ if __cpu_features__[name]))
"""


def found(settings: dict[str, str]) -> list[str] | None:
    """The kernels of OpenBLAS that run, and what NumPy has for this processor; None: it fails."""
    environment = os.environ | settings
    done = subprocess.run(
        [sys.executable, "-c", FOUND], env=environment, capture_output=True, text=True
    )
    return done.stdout.splitlines() if done.returncode == 0 else None


def processors() -> list[dict[str, str]]:
    """The settings of each processor that this one can be, and where other kernels run than here."""
    here = found({})
    assert here, "NumPy or threadpoolctl is missing"
    seen, usable = {here[0]}, []
    for kernel in KERNELS:
        settings = {"OPENBLAS_CORETYPE": kernel}
        answer = found(settings)
        if answer is None or answer[0] in seen:
            continue
        seen.add(answer[0])
        if kernel in BEFORE_FMA:
            settings["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"
            if answer[1]:
                settings["NPY_DISABLE_CPU_FEATURES"] = answer[1]
        usable.append(settings)
    return usable


if __name__ == "__main__":
    for settings in processors():
        print(*[f"{name}={value}" for name, value in settings.items()])
