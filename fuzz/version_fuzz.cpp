// Versions, specifiers and file names: normal forms are stable, and the order is one. Two texts are separated by 0x1e.
#include "dist/name.hpp"
#include "fuzzing.hpp"

using namespace quarry;

namespace {
void check_order(const dist::Version& a, const dist::Version& b) {
  auto forth = a <=> b, back = b <=> a;
  fuzzing::require((forth < 0) == (back > 0) && (forth == 0) == (back == 0));
  fuzzing::require((forth == 0) == (a.key() == b.key()));
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = fuzzing::as_text(data, size);
  auto cut = text.find('\x1e');
  auto left = text.substr(0, cut), right = cut == text.npos ? std::string_view() : text.substr(cut + 1);
  auto a = dist::Version::parse(left), b = dist::Version::parse(right);
  if (a) {
    auto again = dist::Version::parse(a->str());
    fuzzing::require(again && *again == *a && again->str() == a->str());
    if (b) check_order(*a, *b);
  }
  if (auto specifiers = dist::Specifiers::parse(right)) {
    auto again = dist::Specifiers::parse(specifiers->str());
    fuzzing::require(again && again->str() == specifiers->str());
    if (a) fuzzing::require(specifiers->contains(*a) == again->contains(*a));
  }
  if (auto name = dist::ProjectName::parse(left))
    fuzzing::require(dist::ProjectName::parse(name->str()).value() == *name);
  if (auto wheel = dist::WheelName::parse(left)) {
    auto written = dist::wheel_file_name(wheel->project, wheel->version, wheel->raw_build, wheel->tags);
    auto again = dist::WheelName::parse(written);
    // A normal form may be longer than the name it came from, and names have a bound.
    fuzzing::require(written.size() > dist::k_file_name_bytes_max ||
                     (again && again->project == wheel->project && again->version == wheel->version));
  }
  (void)dist::SdistName::parse(left);
  (void)dist::DistributionName::parse(left);
  return 0;
}
