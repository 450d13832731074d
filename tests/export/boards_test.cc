// SPDX-License-Identifier: Apache-2.0
// Exported models on emulated boards: the native engine's bits after every step, memory as the
// exporter says, and instructions, which qemu counts with -icount shift=0.
#include <gtest/gtest.h>

#include "tests/export/firmware.h"
#include "tests/export/small_models.h"

namespace driftless::exporter {
namespace {

using driftless::testing::Outcome;
using driftless::testing::run_program;
using testing::CheckOptions;
using testing::Firmware;

/// A processor and where it is emulated.
struct Board {
  const char* name;
  const char* compiler;
  const char* flags;
  const char* emulator;
  const char* machine;
  const char* port;
  const char* script;
  /// Most instructions for each multiply-add: of the products alone, and of a step of a small model
  /// with everything else.
  double most_of_products, most_of_step;
};

std::ostream& operator<<(std::ostream& out, const Board& board) { return out << board.name; }

constexpr const char* kArm = "arm-none-eabi-gcc";
constexpr const char* kRiscv = "riscv64-unknown-elf-gcc";
constexpr const char* kQemuArm = "qemu-system-arm";

constexpr Board kBoards[] = {
    {"M3", kArm, "-mcpu=cortex-m3 -mthumb", kQemuArm, "mps2-an385", "port_arm.c", "mps2.ld", 2.6,
     80},
    {"M4", kArm, "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard", kQemuArm,
     "mps2-an386", "port_arm.c", "mps2.ld", 1.3, 4},
    {"M4WithoutFpu", kArm, "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft", kQemuArm, "mps2-an386",
     "port_arm.c", "mps2.ld", 1.3, 80},
    {"M7", kArm, "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard", kQemuArm, "mps2-an500",
     "port_arm.c", "mps2.ld", 1.3, 4},
    {"M7PlainC", kArm, "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard -DPROBE_KERNELS=0",
     kQemuArm, "mps2-an500", "port_arm.c", "mps2.ld", 2.6, 5},
    {"M55", kArm, "-mcpu=cortex-m55 -mthumb -mfloat-abi=hard", kQemuArm, "mps3-an547", "port_arm.c",
     "mps3.ld", 0.3, 2},
    {"Rv32", kRiscv, "--specs=picolibc.specs -march=rv32im -mabi=ilp32", "qemu-system-riscv32",
     "virt -bios none", "port_riscv.c", "riscv.ld", 3.9, 100},
    {"Rv32F", kRiscv, "--specs=picolibc.specs -march=rv32imf -mabi=ilp32f", "qemu-system-riscv32",
     "virt -bios none", "port_riscv.c", "riscv.ld", 3.9, 10},
};

Outcome compile(const Firmware& firmware, const Board& board, const std::string& main = "check.c") {
  const std::string linking =
      "-nostartfiles -Wl,--gc-sections -T " + std::string(testing::kFirmware) + "/" + board.script;
  return firmware.compile(std::string(board.compiler) + " -O2 " + board.flags, board.port, linking,
                          main);
}

Outcome run(const Firmware& firmware, const Board& board) {
  return run_program("{ timeout 300 " + std::string(board.emulator) + " -M " + board.machine +
                     " -icount shift=0 -nographic -semihosting-config enable=on,target=native"
                     " -kernel " +
                     (firmware.path() / "check").string() + " </dev/null 2>&1; }");
}

/// Bytes of a section of the linked program.
int64_t section_bytes(const Firmware& firmware, const Board& board, const std::string& section) {
  const std::string compiler = board.compiler;
  const std::string size = compiler.substr(0, compiler.size() - 3) + "size";
  const std::string text = run_program(size + " -A " + (firmware.path() / "check").string()).out;
  const size_t at = text.find("\n" + section + " ");
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + 1 + section.size()));
}

class Emulated : public ::testing::TestWithParam<Board> {
 protected:
  void SetUp() override {
    for (const char* program : {GetParam().compiler, GetParam().emulator})
      if (!testing::has_program(program)) GTEST_SKIP() << "skipped: no " << program;
  }
};

TEST_P(Emulated, HasTheBitsOfTheNativeEngine) {
  const Board& board = GetParam();
  const CheckOptions check{.boards = 1, .steps = 2};
  const store::PackedModel model = testing::packed(testing::sudoku_like());
  const Firmware firmware(model, check, {.section = ".constants"});
  const Outcome compiled = compile(firmware, board);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Outcome ran = run(firmware, board);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(testing::without_counts(ran.out), testing::expected_lines(model, check));
  const auto count = static_cast<double>(testing::instructions_of(ran.out));
  const double each = count / static_cast<double>(firmware.made().multiply_adds);
  RecordProperty("instructions_each_multiply_add", std::to_string(each));
  std::printf("%s: %.3f instructions a multiply-add\n", board.name, each);
  EXPECT_GT(each, 0.05);
  EXPECT_LT(each, board.most_of_step);
}

// Unpacking included, in tiles of 16 rows.
TEST_P(Emulated, MultipliesInFewInstructions) {
  const Board& board = GetParam();
  const Firmware firmware(testing::packed(testing::sudoku_like()), {});
  const Outcome compiled = compile(firmware, board, "products.c");
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const Outcome ran = run(firmware, board);
  EXPECT_EQ(ran.exit_code, 0) << "the sums are wrong: " << ran.out;
  ASSERT_EQ(ran.out.rfind("thousandths ", 0), 0u) << ran.out;
  const double each = std::stod(ran.out.substr(12)) / 1000;
  std::printf("%s: %.3f instructions a multiply-add of products\n", board.name, each);
  EXPECT_GT(each, 0.05);
  EXPECT_LT(each, board.most_of_products);
}

// The arena is all the memory there is; constants are the weights and tables, and pointers to them.
TEST_P(Emulated, TakesTheMemoryThatTheExporterSays) {
  const Board& board = GetParam();
  const store::PackedModel model = testing::packed(testing::sudoku_like());
  const Firmware firmware(model, {.boards = 0, .steps = 1, .has_wrong_calls = false},
                          {.section = ".constants"});
  const Outcome compiled = compile(firmware, board);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const bool has_dsp = std::string(board.name) == "M4" || std::string(board.name) == "M7" ||
                       std::string(board.name) == "M4WithoutFpu";
  const int64_t arena = has_dsp ? firmware.made().dsp_arena_bytes : firmware.made().arena_bytes;
  const int64_t ram = section_bytes(firmware, board, ".bss");
  EXPECT_GE(ram, arena);
  EXPECT_LE(ram, arena + 64);  // what counts instructions
  const int64_t constants = section_bytes(firmware, board, ".constants");
  EXPECT_GE(constants, firmware.made().flash_bytes());
  EXPECT_LE(constants, firmware.made().flash_bytes() + 2048);
  EXPECT_LE(section_bytes(firmware, board, ".text"), 20 * 1024);
}

INSTANTIATE_TEST_SUITE_P(All, Emulated, ::testing::ValuesIn(kBoards),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace driftless::exporter
