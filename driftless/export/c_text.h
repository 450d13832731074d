// SPDX-License-Identifier: Apache-2.0
// Constants as C99.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace driftless::exporter {

/// A float with all its bits: 0x1.8p-3f.
std::string literal(float value);

/// Definitions of constant arrays in the model's section: static const TYPE NAME[] = {...};
std::string array(const std::string& name, std::span<const uint8_t> values);
std::string array(const std::string& name, std::span<const uint16_t> values);
std::string array(const std::string& name, std::span<const float> values);

/// `text` with every `from` replaced.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace driftless::exporter
