# SPDX-License-Identifier: Apache-2.0
"""The version that CMakeLists.txt has; a test compares the two."""
__version__ = "0.1.0"
