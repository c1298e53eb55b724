#pragma once
// A world for tests: a clock that stands still, streams that are strings, data files that are a map.
#include "cli/engine.hpp"
#include <map>
#include <string>
#include <vector>

namespace quarry::cli::testing {

class MapResources final : public Resources {
public:
  std::map<std::string, std::string, std::less<>> files;
  std::vector<std::string> list(std::string_view prefix) const override {
    std::vector<std::string> names;
    for (const auto& [name, content] : files)
      if (name.starts_with(prefix)) names.push_back(name);
    return names;
  }
  std::optional<std::string> read(std::string_view name) const override {
    auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  std::string origin(std::string_view) const override { return "embedded"; }
};

struct TestWorld {
  std::map<std::string, std::string> environment;
  sys::FixedClock clock{1'000'000'000};
  MapResources resources;
  std::string out, err;
  std::string directory = "/nowhere";
  bool is_terminal = false;

  int run(const std::vector<Command>& commands, const std::vector<std::string>& words) {
    out.clear();
    err.clear();
    World world{.environment = environment,
                .clock = clock,
                .resources = resources,
                .out = [this](std::string_view text) { out += text; },
                .err = [this](std::string_view text) { err += text; },
                .program = "/bin/quarry",
                .directory = directory,
                .out_is_terminal = is_terminal,
                .err_is_terminal = is_terminal,
                .columns = 80,
                .processors = 4};
    return run_engine(world, commands, words);
  }
};

} // namespace quarry::cli::testing
