#include "artifact/checksum.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

Result<Sha256> parse_checksum(NamedText named) {
  const auto& [text, file] = named;
  auto bad = [&](std::string_view why) {
    return fail(ErrorKind::corrupt, "A011", fmt::format("{}.sha256sum {}", file, why),
                "it must hold one line: the digest in hex, or `DIGEST  FILE`");
  };
  if (text.size() > k_checksum_bytes_max) return bad("is too long");
  auto lines = text::lines(text);
  if (lines.size() != 1) return bad("does not hold exactly one line");
  std::string_view line = text::trim(lines[0]);
  auto digest = Sha256::from_hex(line.substr(0, 64));
  if (!digest || line.size() < 64) return bad("does not begin with a sha256");
  auto rest = line.substr(64);
  if (rest.empty()) return *digest;
  if (rest.size() < 3 || rest[0] != ' ' || (rest[1] != ' ' && rest[1] != '*'))
    return bad("holds more than a digest and a name");
  // sha256sum keeps the path it was given; only the file's own name is promised.
  if (path::basename(rest.substr(2)) != file)
    return bad(fmt::format("is about another file, {:?}", std::string(rest.substr(2))));
  return *digest;
}

std::string checksum_line(const Sha256& digest, std::string_view file) {
  return fmt::format("{}  {}\n", digest.hex(), file);
}

} // namespace quarry::artifact
