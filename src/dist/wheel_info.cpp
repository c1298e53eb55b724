#include "base/text.hpp"
#include "dist/headers.hpp"
#include "dist/metadata.hpp"

#include <fmt/format.h>

namespace quarry::dist {

namespace {

const std::string k_wheel_code = "M007";

Unexpected wheel_error(std::string_view why) {
  return fail(ErrorKind::corrupt, k_wheel_code, fmt::format("WHEEL: {}", why), "build the wheel again");
}

bool is_major_minor(std::string_view text) {
  auto dot = text.find('.');
  return dot != text.npos && text::parse_u64(text.substr(0, dot)) && text::parse_u64(text.substr(dot + 1));
}

class WheelInfoReader {
public:
  Result<WheelInfo> read(std::string_view text) {
    if (text.size() > k_wheel_bytes_max) return wheel_error("it is larger than 1 MiB");
    TRY(auto block, parse_headers(text, k_wheel_code, "WHEEL"));
    // Line-based readers would find headers below an empty line, header parsers do not.
    if (!text::trim(block.body).empty()) return wheel_error("there is text below the headers");
    info_.wheel_version.clear();
    for (const auto& header : block.headers) TRY_DO(take(header));
    if (!is_major_minor(info_.wheel_version))
      return wheel_error(fmt::format("Wheel-Version is {:?}, not a number like 1.0", info_.wheel_version));
    if (purelib_.empty()) return wheel_error("Root-Is-Purelib is missing");
    return std::move(info_);
  }

private:
  Result<void> take(const Header& header) {
    if (header.folded()) return wheel_error(fmt::format("{} must be one line", header.name));
    std::string value(text::trim(header.value));
    if (header.is("Wheel-Version")) return set_once(header, info_.wheel_version, value);
    if (header.is("Build")) return set_once(header, info_.build, value);
    if (header.is("Root-Is-Purelib")) return take_purelib(header, value);
    if (header.is("Tag")) info_.tags.push_back(value);
    // Tools that rewrite a wheel add a line of their own.
    if (header.is("Generator")) info_.generator += (info_.generator.empty() ? "" : ", ") + value;
    return {};
  }

  static Result<void> set_once(const Header& header, std::string& into, const std::string& value) {
    if (!into.empty()) return wheel_error(fmt::format("{} appears twice", header.name));
    into = value;
    return {};
  }

  Result<void> take_purelib(const Header& header, const std::string& value) {
    TRY_DO(set_once(header, purelib_, text::lower(value)));
    if (purelib_ != "true" && purelib_ != "false")
      return wheel_error(fmt::format("Root-Is-Purelib is {:?}, neither true nor false", value));
    info_.root_is_purelib = purelib_ == "true";
    return {};
  }

  WheelInfo info_;
  std::string purelib_;
};

} // namespace

Result<WheelInfo> WheelInfo::parse(std::string_view text) { return WheelInfoReader().read(text); }

std::string WheelInfo::render() const {
  std::string out = fmt::format("Wheel-Version: {}\n", wheel_version);
  if (!generator.empty()) out += fmt::format("Generator: {}\n", generator);
  out += fmt::format("Root-Is-Purelib: {}\n", root_is_purelib);
  for (const auto& tag : tags) out += fmt::format("Tag: {}\n", tag);
  if (!build.empty()) out += fmt::format("Build: {}\n", build);
  return out;
}

} // namespace quarry::dist
