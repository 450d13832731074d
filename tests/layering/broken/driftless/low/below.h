// SPDX-License-Identifier: Apache-2.0
// A file that the layering test must refuse.
#pragma once
#include "driftless/high/above.h"
