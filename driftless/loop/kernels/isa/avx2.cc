// SPDX-License-Identifier: Apache-2.0
#include "driftless/loop/kernels/epilogue_loops.inc"
#include "driftless/loop/kernels/isa/sets.h"

DRIFTLESS_EPILOGUE_SET(kAvx2Epilogues, "avx2")
