// SPDX-License-Identifier: Apache-2.0
// Which files a run reads and which it writes, so that no run destroys what it reads.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace driftless::cli {

enum class FileRole {
  Input,   ///< a file or folder to read
  Output,  ///< a file to write, in a folder that exists
  Part,    ///< a file to write, in a folder that the verb makes
};

/// Files and folders of one role, known once the command line is parsed; "" names none.
struct FileArgument {
  std::string name;  ///< in messages: "--json"
  FileRole role;
  std::function<std::vector<std::filesystem::path>()> paths;
};

/// Throws, before hours of work, InvalidArgument where a file to write is one to read or one that
/// is read along with it, one in a folder to read, or written twice, standard output included,
/// whatever links lead there; Io where an output cannot be written. Devices and pipes can be
/// written any number of times.
void require_separate(std::span<const FileArgument> arguments);

}  // namespace driftless::cli
