#pragma once
// Words of records that have a fixed meaning: how a test ended, what a move of a channel was. They are parsed when a
// record is read. Value types without I/O, safe to copy between threads.
#include "base/word.hpp"
#include <array>
#include <cstdint>
#include <string_view>

namespace quarry::registry {

struct OutcomeWords {
  enum Kind : std::uint8_t { passed, failed, skipped, error, timed_out };
  static constexpr std::array<std::string_view, 5> k_texts = {"passed", "failed", "skipped", "error", "timed_out"};
};
/// How a test or a suite ended. A test is never `timed_out`: only its suite has a deadline. A suite is never `skipped`.
using Outcome = WordOf<OutcomeWords>;

struct ActionWords {
  enum Kind : std::uint8_t { publish, promote, rollback, protect, unprotect, unblock, prune, acknowledge };
  static constexpr std::array<std::string_view, 8> k_texts = {"publish",   "promote", "rollback", "protect",
                                                              "unprotect", "unblock", "prune",    "acknowledge"};
};
/// What a move of a channel or a distribution was: the command that made it. Programs also write words that are not
/// listed here, and that every program keeps as text: "yank"; for distributions "adopt" and "found".
using Action = WordOf<ActionWords>;

struct RetirementWords {
  enum Kind : std::uint8_t { tombstoned, purging, purged, kept };
  static constexpr std::array<std::string_view, 4> k_texts = {"tombstoned", "purging", "purged", "kept"};
};
/// How far retention has come with a set (registry/retired.hpp).
using Retirement = WordOf<RetirementWords>;

} // namespace quarry::registry
