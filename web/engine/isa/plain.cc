// SPDX-License-Identifier: Apache-2.0
// The module without vectors: the table of driftless/base/isa/wasm32.cc is right.
