# SPDX-License-Identifier: Apache-2.0
"""One wheel for every Python: the library is C, so only the machine is in the tag (DRIFTLESS_PLATFORM)."""
import os
import re
from pathlib import Path

from setuptools import setup
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

here = Path(__file__).parent
version = re.search(r'= "(.+)"', (here / "driftless" / "_version.py").read_text()).group(1)


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", os.environ["DRIFTLESS_PLATFORM"]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(
    name="driftless",
    version=version,
    description="exact number formats, quantized recursive reasoners and their trajectories",
    license="Apache-2.0",
    python_requires=">=3.8",
    install_requires=["numpy"],
    packages=["driftless"],
    package_data={"driftless": ["py.typed", "libdriftless.so", "*.safetensors"]},
    cmdclass={"bdist_wheel": PlatformWheel},
    distclass=BinaryDistribution,
    zip_safe=False,
)
