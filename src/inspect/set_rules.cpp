#include "inspect/set_rules.hpp"

#include "base/text.hpp"
#include "dist/platform_parts.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <vector>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_set_findings_max = 100;
constexpr std::string_view k_native_linux = "-linux_";

/// "py3-none-x86_64" for a tag that fits some Linux machine; nothing for others.
std::optional<std::string> linux_machine(std::string_view tag) {
  auto platform = tag.substr(tag.rfind('-') + 1);
  auto parts = dist::platform_parts(platform);
  if (parts.system != "linux" && parts.system != "manylinux") return std::nullopt;
  return fmt::format("{}{}", tag.substr(0, tag.size() - platform.size()), parts.machine);
}

std::string build_of(const Competitor& wheel) {
  return wheel.name.build ? "build " + wheel.name.raw_build : "no build number";
}

bool same_file(const Competitor& a, const Competitor& b) { return a.file == b.file && a.sha256 == b.sha256; }

/// What is said of two files with a tag in common.
std::string choice_among_equals(const Competitor& a, const Competitor& b) {
  auto left = a.name.build, right = b.name.build;
  const auto& first = std::min(a.file, b.file);
  auto pattern = a.file == b.file ? "" : fmt::format("; a script that takes the first match takes {}", first);
  if (left != right) {
    const auto& winner = left < right ? b : a;
    const auto& loser = left < right ? a : b;
    return fmt::format("pip and uv install {}, since {} is higher than {}{}", winner.file, build_of(winner),
                       build_of(loser), pattern);
  }
  return fmt::format("pip installs the one that the index lists last, and uv either of them{}", pattern);
}

class Competition {
public:
  void add(const Competitor& wheel) {
    const auto& name = wheel.name;
    auto& rivals = projects_[name.project.str() + "-" + name.version.key()];
    auto tags = name.tags.expanded();
    if (!compete_for_tag(rivals, wheel, tags)) compete_for_machine(rivals, wheel, tags);
    for (const auto& tag : tags) {
      rivals.by_tag.try_emplace(tag, &wheel);
      if (auto machine = linux_machine(tag))
        (is_native(tag) ? rivals.native : rivals.promised).try_emplace(*machine, &wheel);
    }
  }
  Findings take() { return std::move(findings_); }

private:
  using First = std::map<std::string, const Competitor*, std::less<>>; // the first wheel with a tag
  struct Rivals {
    First by_tag, native, promised;
  };
  static bool is_native(std::string_view tag) { return tag.find(k_native_linux) != tag.npos; }

  /// Reports the wheel if an earlier one has one of its tags. Returns whether there is such a wheel.
  bool compete_for_tag(const Rivals& rivals, const Competitor& wheel, const std::vector<std::string>& tags) {
    for (const auto& tag : tags) {
      auto other = rivals.by_tag.find(tag);
      if (other == rivals.by_tag.end()) continue;
      if (same_file(*other->second, wheel)) return true;
      report("Q241", name_of(wheel, *other->second),
             fmt::format("{} and it are both {} {} for {}: {}", name_of(*other->second, wheel),
                         wheel.name.project.str(), wheel.name.version.str(), tag,
                         choice_among_equals(*other->second, wheel)),
             "delete one of them, or build it under a version of its own");
      return true;
    }
    return false;
  }

  /// Reports a `linux` wheel and a `manylinux` wheel for the same machine.
  void compete_for_machine(const Rivals& rivals, const Competitor& wheel, const std::vector<std::string>& tags) {
    for (const auto& tag : tags) {
      auto machine = linux_machine(tag);
      if (!machine) continue;
      const auto& others = is_native(tag) ? rivals.promised : rivals.native;
      auto other = others.find(*machine);
      if (other == others.end()) continue;
      const auto& native = is_native(tag) ? wheel : *other->second;
      const auto& promised = is_native(tag) ? *other->second : wheel;
      report("Q242", wheel.file,
             fmt::format("{} and {} fit one machine: pip 26 installs {}, uv and pip 22 install {}", native.file,
                         promised.file, native.file, promised.file),
             fmt::format("delete {}, if the other one was made from it", native.file));
      return;
    }
  }

  /// The path where the names are equal: two directories of one call.
  static const std::string& name_of(const Competitor& other, const Competitor& wheel) {
    return other.file == wheel.file ? other.path : other.file;
  }

  void report(std::string_view code, std::string place, std::string message, std::string fix) {
    if (findings_.size() < k_set_findings_max)
      findings_.push_back({std::string(code), Severity::error, std::move(place), std::move(message), std::move(fix)});
  }

  std::map<std::string, Rivals> projects_; ///< by project and version
  Findings findings_;
};
} // namespace

Findings check_set(const std::vector<Competitor>& wheels) {
  Competition competition;
  for (const auto& wheel : wheels) competition.add(wheel);
  return competition.take();
}

} // namespace quarry::inspect
