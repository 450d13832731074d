// SPDX-License-Identifier: Apache-2.0
#include "driftless/run/backend.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/testing/expect_error.h"

namespace driftless::run {
namespace {

TEST(Devices, HaveNamesOfTheirOwnAndSimulatorsThatSimulate) {
  std::set<std::string_view> names;
  for (const Device& device : devices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_EQ(&find_device(device.name), &device);
    EXPECT_NE(device.make, nullptr) << device.name;
    const Device& simulator = find_device(device.simulator);
    EXPECT_EQ(simulator.execution, study::Execution::Simulated) << device.name;
    EXPECT_EQ(simulator.simulator, simulator.name) << device.name;
  }
}

TEST(Devices, UnknownOnesAreRefusedWithTheNearestName) {
  EXPECT_ERROR(find_device("cuba"), ErrorCode::InvalidArgument, "did you mean 'cuda'");
}

TEST(Devices, PackedModelsRunWhereTheTableSaysSo) {
  for (const Device& device : devices())
    if (device.make_packed == nullptr)
      EXPECT_ERROR(make_reasoner(store::PackedModel{}, {.device = std::string(device.name)}),
                   ErrorCode::Unsupported, "use their source");
}

TEST(Devices, ARunIsNamedByItsTypeWhereThatIsNotFloat32) {
  EXPECT_EQ(backend_name({.device = "native"}), "native");
  EXPECT_EQ(backend_name({.device = "cuda", .dtype = "bf16"}), "cuda bf16");
  EXPECT_EQ(backend_name(simulating({.device = "native"})), "cpu");
}

}  // namespace
}  // namespace driftless::run
