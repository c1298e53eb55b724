#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/doctor.hpp"
#include "cli/version.hpp"
#include "net/http.hpp"
#include "sys/file.hpp"
#include "sys/kernel.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_certificates_max = 16u << 20; // Debian's bundle has 0.2 MB

Check program_check(const Context& context) {
  auto commit = std::string(build_commit());
  auto found = fmt::format("{} {}, {}", program_version(),
                           commit.empty() ? "of an unknown commit" : "of commit " + commit, context.program);
  auto file = sys::File::open_read(context.program);
  if (!file) return {"program", Health::warning, found, ""};
  auto bytes = file->size();
  return {"program", Health::ok, fmt::format("{}, {}", found, units::bytes(bytes ? *bytes : 0)), ""};
}

Check libraries_check() {
  std::vector<std::string> names;
  for (const auto& library : libraries()) names.push_back(library.name + " " + library.version);
  return {"libraries", Health::ok, "inside: " + text::join(names, ", "), ""};
}

Check kernel_check(const sys::KernelFeature& feature) {
  if (feature.works) return {feature.name, Health::ok, "works", ""};
  return {feature.name, Health::note, feature.answer, "not needed: " + feature.instead + " is used instead"};
}

Check certificates_check(const Context& context) {
  auto settings = net::settings_from(context.environment);
  auto file = net::trusted_certificates(settings);
  const auto* advice = "install the package ca-certificates, or name a file with SSL_CERT_FILE";
  if (file.empty())
    return {"certificates", Health::warning, "none found: https:// and s3:// cannot be reached", advice};
  auto bundle = sys::read_file(file, k_certificates_max);
  if (!bundle) return {"certificates", Health::failed, bundle.error().message, advice};
  std::size_t count = 0;
  for (const auto& line : text::lines(*bundle)) count += line == "-----BEGIN CERTIFICATE-----" ? 1 : 0;
  if (count == 0) return {"certificates", Health::failed, file + " holds no certificate", advice};
  return {"certificates", Health::ok, fmt::format("{} in {}", count, file), ""};
}

/// Names alone: the value may hold a password.
Check proxy_check(const Context& context) {
  std::vector<std::string> names;
  for (const auto* name :
       {"http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"})
    if (!context.variable(name).empty()) names.emplace_back(name);
  return {"proxies", Health::ok, names.empty() ? "none" : "as these variables say: " + text::join(names, ", "), ""};
}
} // namespace

std::vector<Check> examine_self(const Context& context) {
  std::vector<Check> checks{program_check(context),
                            libraries_check(),
                            data_check(context),
                            system_check(),
                            {"C library", Health::ok, sys::c_library(), ""}};
  for (const auto& feature : sys::kernel_features()) checks.push_back(kernel_check(feature));
  checks.push_back(certificates_check(context));
  checks.push_back(proxy_check(context));
  return checks;
}

} // namespace quarry::cli
