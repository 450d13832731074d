// SPDX-License-Identifier: Apache-2.0
// What a page asks about boards, as JSON in and out; the tasks' own rows answer.
//
//   {"ask": "read", "task": "sudoku", "text": "3...", "cells": 81}   a board on one line: is it
//   one, what solves it
//   {"ask": "make", "task": "sudoku", "cells": 81, "seed": 7, "values": [...]}   a new one: a
//   number for each of the
//       generator's options, null for the usual one, or no values at all
//   {"ask": "judge", "task": ..., "input": [...], "label": [...], "answer": [...]}   whether an
//   answer is right
//   {"ask": "tasks"}   the tasks with their alphabets, sample boards and generator options
#pragma once

#include <string>
#include <string_view>

namespace driftless::web {

/// Throws InvalidArgument, BadFile or Unsupported.
std::string answer_request(std::string_view request);

}  // namespace driftless::web
