#include "dist/resolver_fields.hpp"

#include "base/text.hpp"
#include "dist/requirement.hpp"

#include <fmt/format.h>

namespace quarry::dist {

namespace {

constexpr std::size_t k_findings_max = 100;

class Checker {
public:
  Checker(const Metadata& metadata, const std::string& place)
      : metadata_(metadata), place_(place), severity_(must_resolve(metadata) ? Severity::error : Severity::warning) {}

  Findings run() {
    for (const auto& text : metadata_.requires_dist)
      if (auto parsed = Requirement::parse(text); !parsed) report("Requires-Dist", parsed.error());
    if (auto parsed = Specifiers::parse(metadata_.requires_python); !parsed) report("Requires-Python", parsed.error());
    for (const auto& text : metadata_.provides_extra) extra(text);
    return std::move(findings_);
  }

private:
  void extra(const std::string& text) {
    if (ProjectName::parse(text)) return;
    report("Provides-Extra",
           Error::of(ErrorKind::corrupt, "M011",
                     fmt::format("{:?} is not the name of an extra", std::string_view(text).substr(0, 100)))
               .with_hint("use ASCII letters, digits and - _ . between them"));
  }

  void report(std::string_view field, const Error& error) {
    if (findings_.size() == k_findings_max) return;
    findings_.push_back({error.code, severity_, place_, fmt::format("{}: {}", field, error.message), error.hint});
  }

  const Metadata& metadata_;
  const std::string& place_;
  Severity severity_;
  Findings findings_;
};

} // namespace

bool must_resolve(const Metadata& metadata) {
  std::string_view version = metadata.metadata_version;
  auto dot = version.find('.');
  auto major = text::parse_u64(version.substr(0, dot));
  auto minor = dot == version.npos ? std::nullopt : text::parse_u64(version.substr(dot + 1));
  // Metadata::parse() takes numbers only; what a caller made otherwise gets the strict reading.
  return !major || !minor || *major > 2 || (*major == 2 && *minor >= 1);
}

Findings check_resolver_fields(const Metadata& metadata, const std::string& place) {
  return Checker(metadata, place).run();
}

} // namespace quarry::dist
