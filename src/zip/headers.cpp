#include "zip/headers.hpp"

#include "base/text.hpp"
#include "digest/sha256.hpp"
#include "zip/format.hpp"
#include <algorithm>

namespace quarry::zip {

using namespace zip;

namespace {

constexpr std::uint16_t k_extra_strong_encryption = 0x0017, k_extra_aes = 0x9901;

// The fields of a header that ZIP64 can widen, in the order in which its field holds them.
struct Wide {
  std::uint64_t* value;
  bool widened;
};

class Extras {
public:
  Extras(std::string_view bytes, const Header& header, Defects& findings)
      : bytes_(bytes), header_(header), findings_(findings) {}

  // The ZIP64 field, if any. Everything else only has to be well formed.
  void read() {
    while (!bytes_.empty()) {
      if (bytes_.size() < 4 || get16(bytes_, 2) > bytes_.size() - 4)
        return error("Z007", "an extra field reaches beyond its header");
      auto id = get16(bytes_, 0);
      take(id, bytes_.substr(4, get16(bytes_, 2)));
      bytes_.remove_prefix(4u + get16(bytes_, 2));
    }
  }
  const std::optional<std::string_view>& zip64() const { return zip64_; }

private:
  void error(std::string code, std::string message) {
    findings_.error(std::move(code), header_.name, std::move(message));
  }

  void take(std::uint16_t id, std::string_view data) {
    if (id == k_extra_zip64) {
      if (zip64_) error("Z007", "two ZIP64 fields");
      zip64_ = data;
    }
    if (id == k_extra_unicode_path) unicode_path(data);
    if (id == k_extra_strong_encryption || id == k_extra_aes) error("Z015", "the entry is encrypted");
  }

  // Info-ZIP's second name: some readers prefer it.
  void unicode_path(std::string_view data) {
    if (seen_unicode_path_) return error("Z007", "two Unicode path fields");
    seen_unicode_path_ = true;
    bool valid = data.size() >= 5 && data[0] == 1 && get32(data, 1) == crc32(0, std::as_bytes(std::span(header_.name)));
    if (!valid || data.substr(5) != header_.name) error("Z003", "the Unicode path field holds another name");
  }

  std::string_view bytes_;
  const Header& header_;
  Defects& findings_;
  std::optional<std::string_view> zip64_;
  bool seen_unicode_path_ = false;
};

// A ZIP64 field holds exactly the fields whose slots are saturated; readers that count otherwise read other numbers.
bool widen(std::string_view field, std::span<const Wide> fields) {
  std::size_t at = 0;
  for (const auto& f : fields) {
    if (!f.widened) continue;
    if (field.size() < at + 8) return false;
    *f.value = get64(field, at);
    at += 8;
  }
  return at == field.size();
}

void check_text(const Header& h, Defects& findings) {
  bool ascii = std::all_of(h.name.begin(), h.name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii && !(h.flags & k_flag_utf8))
    findings.error("Z013", h.name, "the name is not ASCII and not marked as UTF-8: readers guess its encoding");
}

void check_support(const Header& h, Defects& findings) {
  if (h.flags & k_flag_descriptor)
    findings.error("Z006", h.name, "sizes are in a data descriptor behind the data, which PyPI refuses");
  if (h.flags & (k_flag_encrypted | k_flag_strong_encryption | k_flag_masked))
    findings.error("Z015", h.name, "the entry is encrypted");
  if (h.flags & k_flag_patched) findings.error("Z015", h.name, "the entry is a patch of another file");
  if (h.method != k_method_stored && h.method != k_method_deflate)
    findings.error("Z015", h.name, fmt::format("method {} is neither stored nor deflate", h.method));
  constexpr unsigned k_version_known = 63; // APPNOTE 6.3
  if ((h.version & 255) > k_version_known)
    findings.error("Z015", h.name, fmt::format("the entry needs version {} of the format", h.version & 255));
}

} // namespace

std::optional<Header> parse_central_header(std::string_view in, Defects& findings) {
  if (in.size() < k_central_bytes || get32(in, 0) != k_central_signature) return std::nullopt;
  Header h;
  std::size_t name = get16(in, 28), extra = get16(in, 30), comment = get16(in, 32);
  h.bytes = k_central_bytes + name + extra + comment;
  if (h.bytes > in.size()) return std::nullopt;
  h.version = get16(in, 6);
  h.flags = get16(in, 8);
  h.method = get16(in, 10);
  h.crc = get32(in, 16);
  h.stored_size = get32(in, 20);
  h.size = get32(in, 24);
  h.maker = static_cast<std::uint8_t>(get16(in, 4) >> 8);
  h.mode = get16(in, 40);
  h.dos_attributes = get16(in, 38);
  h.header_offset = get32(in, 42);
  h.name = in.substr(k_central_bytes, name);
  std::uint64_t disk = get16(in, 34);
  if (comment != 0) findings.error("Z010", h.name, "the entry has a comment");
  Extras extras(in.substr(k_central_bytes + name, extra), h, findings);
  extras.read();
  const Wide wide[] = {{&h.size, h.size == k_max32},
                       {&h.stored_size, h.stored_size == k_max32},
                       {&h.header_offset, h.header_offset == k_max32}};
  auto field = extras.zip64().value_or("");
  if (disk == k_max16 && field.size() >= 4) {
    disk = get32(field, field.size() - 4);
    field.remove_suffix(4);
  }
  if (!widen(field, wide))
    findings.error("Z007", h.name, "the ZIP64 field does not hold exactly what the header leaves to it");
  if (disk != 0) findings.error("Z008", h.name, "the entry claims to be on another disk");
  check_text(h, findings);
  check_support(h, findings);
  return h;
}

std::optional<Header> parse_local_header(std::string_view in, Defects& findings) {
  if (in.size() < k_local_bytes || get32(in, 0) != k_local_signature) return std::nullopt;
  Header h;
  std::size_t name = get16(in, 26), extra = get16(in, 28);
  h.bytes = k_local_bytes + name + extra;
  if (h.bytes > in.size()) return std::nullopt;
  h.version = get16(in, 4);
  h.flags = get16(in, 6);
  h.method = get16(in, 8);
  h.crc = get32(in, 14);
  h.stored_size = get32(in, 18);
  h.size = get32(in, 22);
  h.name = in.substr(k_local_bytes, name);
  Extras extras(in.substr(k_local_bytes + name, extra), h, findings);
  extras.read();
  const Wide wide[] = {{&h.size, h.size == k_max32}, {&h.stored_size, h.stored_size == k_max32}};
  auto field = extras.zip64().value_or("");
  // Bazel's zipper writes both sizes here although they fit into the header. That says nothing else, and PyPI takes it.
  bool repeats = field.size() == 16 && !wide[0].widened && !wide[1].widened && get64(field, 0) == h.size &&
                 get64(field, 8) == h.stored_size;
  // APPNOTE 4.5.3 wants both sizes here; one alone is unambiguous only where both are the same.
  bool one_alone = wide[0].widened != wide[1].widened && h.method != k_method_stored;
  if (!repeats && (one_alone || !widen(field, wide)))
    findings.error("Z007", h.name, "the local ZIP64 field does not hold exactly what the header leaves to it");
  return h;
}

} // namespace quarry::zip
