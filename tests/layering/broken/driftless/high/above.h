// SPDX-License-Identifier: Apache-2.0
// The upper half of the broken example.
#pragma once
