#include "tar/tar.hpp"

#include "tar/header.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::tar {

namespace {
constexpr std::size_t k_name_max = 100, k_prefix_max = 155,
                      k_record = 10240; // ustar's fields; 20 blocks, every tar's default record

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The slash that leaves at most 155 bytes before it and at most 100 after it.
std::optional<std::size_t> split_point(std::string_view path) {
  if (path.size() <= k_name_max) return std::nullopt;
  auto slash = path.find('/', path.size() - k_name_max - 1);
  if (slash > k_prefix_max || slash + 1 == path.size()) return std::nullopt; // npos, no slash, is above every maximum
  return slash;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}
} // namespace

Writer::Writer(codec::ByteSink out, CaseRule case_rule)
    : out_([sink = std::move(out)](const content::Rope& part) { return content::pump(part, sink); }),
      paths_(Limits{.case_rule = case_rule}) {}

Result<void> Writer::write(std::span<const std::byte> bytes) {
  written_ += bytes.size();
  return out_(content::Rope::literal({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

Result<void> Writer::pad() {
  static constexpr std::array<std::byte, k_record> zeros{};
  auto rest = written_ % k_block;
  return rest ? write(std::span(zeros).first(k_block - rest)) : Result<void>{};
}

Result<void> Writer::header(const std::string& path, char type, std::uint64_t size, unsigned mode,
                            const std::string& link) {
  HeaderFields fields{path, link, {}, type, size, mode};
  std::string records;
  if (auto slash = split_point(path); slash && is_ascii(path)) {
    fields.prefix = path.substr(0, *slash);
    fields.name = path.substr(*slash + 1);
  } else if (path.size() > k_name_max || !is_ascii(path)) {
    records += pax_record("path", path);
    fields.name = is_ascii(path) ? path.substr(0, k_name_max - 1) : "pax"; // never read; a cut must not end in a slash
    if (fields.name.ends_with('/')) fields.name.back() = '_';
  }
  if (link.size() > k_name_max || !is_ascii(link)) {
    records += pax_record("linkpath", link);
    fields.link = is_ascii(link) ? link.substr(0, k_name_max) : "pax";
  }
  if (size >= k_octal_size_end) records += pax_record("size", std::to_string(size));
  if (!records.empty()) {
    TRY_DO(write(make_header({"PaxHeaders/member", {}, {}, 'x', records.size(), 0644})));
    TRY_DO(write(bytes_of(records)));
    TRY_DO(pad());
  }
  return write(make_header(fields));
}

Result<void> Writer::member(const std::string& path, Type type, std::uint64_t size, bool executable,
                            const std::string& link) {
  TRY(auto plain, checked_path(path));
  if (plain != path)
    return fail(ErrorKind::invalid_argument, "T010", fmt::format("member {:?} is not a plain relative path", path));
  TRY_DO(paths_.add(path, type, link));
  bool directory = type == Type::directory;
  char letter = type == Type::file ? '0' : directory ? '5' : '2';
  return header(directory ? path + "/" : path, letter, size,
                type == Type::symlink     ? 0777
                : directory || executable ? 0755
                                          : 0644,
                link);
}

Result<void> Writer::file(const std::string& path, const content::Rope& data, bool executable) {
  TRY_DO(member(path, Type::file, data.size(), executable, {}));
  TRY_DO(out_(data), "while packing " + path);
  written_ += data.size();
  data_ += data.size();
  return pad();
}
Result<void> Writer::symlink(const std::string& path, const std::string& target) {
  return member(path, Type::symlink, 0, false, target);
}
Result<void> Writer::directory(const std::string& path) { return member(path, Type::directory, 0, true, {}); }

Result<void> Writer::check_readable(const PackedSize& packed) const {
  auto limits = Limits::for_archive(packed);
  if (written_ <= limits.stream_bytes_max && written_ - data_ <= limits.framing_bytes_max) return {};
  return fail(ErrorKind::invalid_argument, "T008",
              fmt::format("{} bytes pack to {}, and readers refuse what unpacks to more than {}", written_,
                          packed.archive_bytes, limits.stream_bytes_max),
              fmt::format("if this is meant, pack and fetch with `--max-ratio {}`",
                          written_ / std::max<std::uint64_t>(packed.archive_bytes, 1) + 1));
}

Result<void> Writer::finish() {
  TRY_DO(paths_.check_links());
  static constexpr std::array<std::byte, k_record> zeros{};
  TRY_DO(write(std::span(zeros).first(2 * k_block)));
  auto rest = written_ % k_record;
  return rest ? write(std::span(zeros).first(k_record - rest)) : Result<void>{};
}

} // namespace quarry::tar
