#pragma once
// An output that says nothing, for tests of texts.
#include "cli/command.hpp"

namespace quarry::cli::testing {

class Silent final : public Output {
public:
  void data(std::string_view) override {}
  void bytes(std::string_view) override {}
  void note(std::string_view) override {}
  void warn(std::string_view) override {}
  std::string set_schema(std::string) override { return {}; }
  void document(const Json&, bool) override {}
  void findings(const Findings&) override {}
  void trace(std::string_view) override {}
  bool verbose() const override { return false; }
  Look data_look() const override { return {}; }
  Look note_look() const override { return {}; }
  bool json() const override { return false; }
  std::unique_ptr<Progress> progress(std::string, std::uint64_t) override { return nullptr; }
};

} // namespace quarry::cli::testing
