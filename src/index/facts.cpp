#include "index/facts.hpp"

#include "index/pages.hpp"

#include "base/text.hpp"
#include "content/rope.hpp"
#include "dist/resolver_fields.hpp"
#include "index/describe.hpp"
#include "sys/path.hpp"
#include "wheel/wheel.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace quarry::index {

namespace {

constexpr std::uint64_t k_page_age_max_s = 3600; // a promotion that stays invisible for longer surprises people

/// The longest that caches keep an answer; nullopt: they guess.
std::optional<std::uint64_t> age_of(const std::string& cache_control) {
  auto words = text::split_any(text::lower(cache_control), ", ");
  std::optional<std::uint64_t> age;
  for (const auto& word : words) {
    if (word == "no-store" || word == "no-cache") return 0;
    if (word == "immutable") return UINT64_MAX;
    if (word.starts_with("max-age=")) age = text::parse_u64(word.substr(8));
  }
  return age;
}

std::string media_type(const std::string& content_type) {
  return text::lower(text::trim(content_type.substr(0, content_type.find(';'))));
}

void find(Findings& found, std::string code, const std::string& place, std::string message, Severity severity) {
  found.push_back({std::move(code), severity, place, std::move(message), std::string(k_set_headers)});
}

Result<void> read_file(const std::string& path, unsigned workers, FileFacts& facts) {
  facts.read = true;
  if (path.ends_with(".whl")) {
    TRY(auto report, wheel::verify(path, workers));
    facts.sha256 = *report.sha256;
    if (report.metadata) facts.requires_python = report.metadata->requires_python;
    facts.metadata = std::move(report.metadata_text);
    std::ranges::move(report.findings, std::back_inserter(facts.findings));
    return {};
  }
  TRY(facts.sha256, content::sha256_of_file(path));
  auto metadata = read_sdist_metadata(path);
  if (metadata) {
    facts.requires_python = metadata->requires_python;
    std::ranges::move(dist::check_resolver_fields(*metadata, std::string(path::basename(path))),
                      std::back_inserter(facts.findings));
  } else
    facts.findings.push_back({metadata.error().code, Severity::error, std::string(path::basename(path)),
                              metadata.error().message, metadata.error().hint});
  return {};
}

} // namespace

std::string shown_target(const std::string& target) { return target.substr(0, target.find('?')); }

Result<FileFacts> look_at(Site& site, const std::string& target, const LookOptions& options) {
  FileFacts facts;
  TRY(auto reply, site.look(target));
  facts.exists = reply.there();
  facts.denied = reply.state == SiteReply::State::denied;
  facts.size = reply.size;
  if (!facts.exists) return facts;
  if (!reply.content_encoding.empty() && reply.content_encoding != "identity")
    facts.findings.push_back({"I023", Severity::error, shown_target(target),
                              fmt::format("it is sent with Content-Encoding {:?}: clients unpack it and its hash is "
                                          "another one",
                                          reply.content_encoding),
                              std::string(k_set_headers)});
  if (options.sidecar) {
    TRY(facts.sidecar, site.read(metadata_address(target), dist::k_metadata_bytes_max));
  }
  if (!options.contents) return facts;
  TRY(auto local, site.local(target));
  TRY_DO(read_file(local.path(), options.workers, facts));
  return facts;
}

Findings header_findings(const std::string& place, const SiteReply& reply) {
  Findings found;
  if (!reply.has_headers) return found;
  auto type = media_type(reply.content_type);
  bool json = reply.text.find_first_not_of(" \t\r\n") == reply.text.find('{');
  bool fits = json ? type == "application/vnd.pypi.simple.v1+json"
                   : type == "text/html" || type == "application/vnd.pypi.simple.v1+html";
  if (!fits)
    find(found, "I022", place,
         fmt::format("a page in {} has the type {:?}, for which installers pass it over", json ? "JSON" : "HTML",
                     reply.content_type),
         Severity::error);
  auto age = age_of(reply.cache_control);
  if (!age)
    find(found, "I023", place, "no Cache-Control: each client guesses how long the page stays true", Severity::warning);
  else if (*age > k_page_age_max_s)
    find(found, "I023", place,
         fmt::format("Cache-Control {:?} keeps the page for more than an hour: what is published stays invisible",
                     reply.cache_control),
         Severity::warning);
  return found;
}

} // namespace quarry::index
