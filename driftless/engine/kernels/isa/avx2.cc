// SPDX-License-Identifier: Apache-2.0
#include "driftless/engine/kernels/epilogue_loops.inc"
#include "driftless/engine/kernels/isa/sets.h"

DRIFTLESS_EPILOGUE_SET(kAvx2Epilogues, "avx2")
