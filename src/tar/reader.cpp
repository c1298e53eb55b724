#include "tar/tar.hpp"

#include "tar/header.hpp"
#include "tar/member.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace quarry::tar {

namespace {
constexpr std::uint64_t k_trailing_bytes_max = 16u << 20; // zeros after the end: `tar -b` at its largest useful value
// `git archive` writes one. Python reads each by a recursion that ends the program after some 300.
constexpr unsigned k_global_headers_max = 64;

constexpr const char* k_ratio_hint = "if this is meant, raise the bound with `--max-ratio`";

Unexpected broken(std::string_view what) {
  return fail(ErrorKind::corrupt, "T003", std::string(what), "fetch or make the archive again");
}
} // namespace

struct Reader::State {
  enum class At : std::uint8_t { header, data, extension, padding, lone_zero, end };

  State(Visitor& v, std::string archive_name, Limits l)
      : visitor(v), name(std::move(archive_name)), limits(l), paths(l) {}

  Visitor& visitor;
  std::string name;
  Limits limits;
  Paths paths;
  At at = At::header;
  std::array<std::byte, k_block> block{};
  std::size_t block_fill = 0;
  std::uint64_t left = 0;    ///< bytes of data or padding still to come
  std::uint64_t padding = 0; ///< after the data
  char extension_type = 0;
  std::string extension;
  Pending pending;
  unsigned global_headers = 0;
  std::uint64_t trailing = 0;
  std::uint64_t position = 0; ///< in the stream, of what comes next
  std::uint64_t framing = 0;  ///< bytes so far that are not data of files

  Result<void> feed(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      switch (at) {
      case At::header:
      case At::lone_zero: TRY_DO(take_block(bytes)); break;
      case At::data:
      case At::extension: TRY_DO(take_data(bytes)); break;
      case At::padding: TRY_DO(take_padding(bytes)); break;
      case At::end: return take_trailing(bytes);
      }
    }
    return {};
  }

  /// `bytes` of the stream that are not data of a file: headers, padding, what extension headers hold.
  Result<void> pass_framing(std::uint64_t bytes) {
    position += bytes;
    framing += bytes;
    if (framing > limits.framing_bytes_max)
      return fail(ErrorKind::corrupt, "T008",
                  fmt::format("the archive has more than {} bytes of headers", limits.framing_bytes_max), k_ratio_hint);
    return check_position(0);
  }
  /// `more` bytes are to come.
  Result<void> check_position(std::uint64_t more) const {
    if (position <= limits.stream_bytes_max && more <= limits.stream_bytes_max - position) return {};
    return fail(ErrorKind::corrupt, "T008",
                fmt::format("the archive unpacks to more than {} bytes", limits.stream_bytes_max), k_ratio_hint);
  }

  Result<void> take_block(std::span<const std::byte>& bytes) {
    auto n = std::min(bytes.size(), k_block - block_fill);
    std::memcpy(block.data() + block_fill, bytes.data(), n);
    block_fill += n;
    bytes = bytes.subspan(n);
    TRY_DO(pass_framing(n));
    if (block_fill < k_block) return {};
    block_fill = 0;
    bool zero = is_zero(block);
    if (zero && pending.any()) return broken("the archive ends after an extension header");
    if (at == At::lone_zero) {
      at = At::end;
      return zero ? Result<void>{} : Result<void>(broken("a lone zero block is between members"));
    }
    if (zero) {
      at = At::lone_zero;
      return {};
    }
    TRY(auto header, parse_header(block));
    return take_header(std::move(header));
  }

  Result<void> take_header(Header header) {
    if (is_extension(header.type)) return begin_extension(header);
    TRY(auto found, member_of(std::move(header), std::exchange(pending, {})));
    if (!found) return {}; // the archive's own directory
    found->offset = position;
    TRY_DO(check_position(found->size), "before member " + found->path);
    TRY_DO(paths.add(found->path, found->type, found->link));
    TRY_DO(visitor.begin(*found));
    return expect(At::data, found->size);
  }

  Result<void> begin_extension(const Header& header) {
    if (header.type == 'g' && ++global_headers > k_global_headers_max)
      return fail(ErrorKind::corrupt, "T006",
                  fmt::format("more than {} headers speak for all members", k_global_headers_max),
                  "some readers give up on so many: make the archive again");
    TRY_DO(check_extension(header, pending));
    extension_type = header.type;
    extension.clear();
    return expect(At::extension, header.size);
  }

  Result<void> expect(At next, std::uint64_t bytes) {
    at = next;
    left = bytes;
    padding = (k_block - bytes % k_block) % k_block;
    return left == 0 ? end_data() : Result<void>{};
  }

  Result<void> take_data(std::span<const std::byte>& bytes) {
    auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), left));
    if (at == At::data)
      TRY_DO(visitor.data(part));
    else
      extension.append(reinterpret_cast<const char*>(part.data()), part.size());
    left -= part.size();
    bytes = bytes.subspan(part.size());
    if (at == At::data)
      position += part.size();
    else
      TRY_DO(pass_framing(part.size()));
    return left == 0 ? end_data() : Result<void>{};
  }

  Result<void> end_data() {
    if (at == At::data)
      TRY_DO(visitor.end());
    else
      TRY_DO(add_extension(extension_type, std::move(extension), pending));
    left = padding;
    at = padding ? At::padding : At::header;
    return {};
  }

  Result<void> take_padding(std::span<const std::byte>& bytes) {
    auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), left));
    if (!is_zero(part)) return broken("bytes hide in the padding between two members");
    left -= part.size();
    bytes = bytes.subspan(part.size());
    if (left == 0) at = At::header;
    return pass_framing(part.size());
  }

  Result<void> take_trailing(std::span<const std::byte> bytes) {
    trailing += bytes.size();
    if (!is_zero(bytes)) return broken("bytes follow the end of the archive");
    if (trailing > k_trailing_bytes_max) return broken("too many zeros follow the end of the archive");
    return pass_framing(bytes.size());
  }
};

Reader::Reader(Visitor& visitor, std::string archive_name, Limits limits)
    : state_(std::make_unique<State>(visitor, std::move(archive_name), limits)) {}
Reader::~Reader() = default;

Result<void> Reader::feed(std::span<const std::byte> bytes) {
  TRY_DO(state_->feed(bytes), "while reading " + state_->name);
  return {};
}

std::uint64_t Reader::data_ahead() const { return state_->at == State::At::data ? state_->left : 0; }

Result<void> Reader::skip(std::uint64_t bytes) {
  auto& s = *state_;
  s.left -= bytes;
  s.position += bytes;
  TRY_DO(s.left == 0 ? s.end_data() : Result<void>{}, "while reading " + s.name);
  return {};
}

const CasePairs& Reader::case_pairs() const { return state_->paths.case_pairs(); }

Result<void> Reader::finish() {
  auto& s = *state_;
  auto close = [&]() -> Result<void> {
    if (s.at != State::At::end) return broken("the archive ends too early: its end marker is missing");
    if (s.trailing % k_block != 0) return broken("the archive does not end at a block boundary");
    return s.paths.check_links();
  };
  TRY_DO(close(), "while reading " + s.name);
  return {};
}

} // namespace quarry::tar
