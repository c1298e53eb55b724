#include "gpu/target.hpp"

#include "base/ascii.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>

namespace quarry::gpu {

namespace {
constexpr std::uint16_t k_machine_amdgpu = 224;
constexpr std::uint32_t k_processor_mask = 0xFF;
constexpr std::uint8_t k_abi_v3 = 1, k_abi_v4 = 2;
// e_flags of V3, and of V4 and later.
constexpr std::uint32_t k_v3_xnack = 0x100, k_v3_sramecc = 0x200;
constexpr unsigned k_v4_xnack_shift = 8, k_v4_sramecc_shift = 10;

struct Processor {
  std::uint8_t number;
  std::string_view name;
};
// EF_AMDGPU_MACH_AMDGCN_* of LLVM 22, and the numbers that LLVM reserved for processors under way.
constexpr Processor k_processors[] = {
    {0x20, "gfx600"},          {0x21, "gfx601"},          {0x22, "gfx700"},        {0x23, "gfx701"},
    {0x24, "gfx702"},          {0x25, "gfx703"},          {0x26, "gfx704"},        {0x28, "gfx801"},
    {0x29, "gfx802"},          {0x2a, "gfx803"},          {0x2b, "gfx810"},        {0x2c, "gfx900"},
    {0x2d, "gfx902"},          {0x2e, "gfx904"},          {0x2f, "gfx906"},        {0x30, "gfx908"},
    {0x31, "gfx909"},          {0x32, "gfx90c"},          {0x33, "gfx1010"},       {0x34, "gfx1011"},
    {0x35, "gfx1012"},         {0x36, "gfx1030"},         {0x37, "gfx1031"},       {0x38, "gfx1032"},
    {0x39, "gfx1033"},         {0x3a, "gfx602"},          {0x3b, "gfx705"},        {0x3c, "gfx805"},
    {0x3d, "gfx1035"},         {0x3e, "gfx1034"},         {0x3f, "gfx90a"},        {0x40, "gfx940"},
    {0x41, "gfx1100"},         {0x42, "gfx1013"},         {0x43, "gfx1150"},       {0x44, "gfx1103"},
    {0x45, "gfx1036"},         {0x46, "gfx1101"},         {0x47, "gfx1102"},       {0x48, "gfx1200"},
    {0x49, "gfx1250"},         {0x4a, "gfx1151"},         {0x4b, "gfx941"},        {0x4c, "gfx942"},
    {0x4e, "gfx1201"},         {0x4f, "gfx950"},          {0x50, "gfx1310"},       {0x51, "gfx9-generic"},
    {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"}, {0x54, "gfx11-generic"}, {0x55, "gfx1152"},
    {0x57, "gfx1154"},         {0x58, "gfx1153"},         {0x59, "gfx12-generic"}, {0x5a, "gfx1251"},
    {0x5b, "gfx12-5-generic"}, {0x5c, "gfx1172"},         {0x5d, "gfx1170"},       {0x5e, "gfx1171"},
    {0x5f, "gfx9-4-generic"},  {0x62, "gfx11-7-generic"}, {0x63, "gfx13-generic"},
};

struct Generic {
  std::string_view name;
  std::array<std::string_view, 9> devices;
};
constexpr Generic k_generics[] = {
    {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
    {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
    {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
    {"gfx10-3-generic", {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
    {"gfx11-generic",
     {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1154"}},
    {"gfx11-7-generic", {"gfx1170", "gfx1171", "gfx1172"}},
    {"gfx12-generic", {"gfx1200", "gfx1201"}},
    {"gfx12-5-generic", {"gfx1250", "gfx1251"}},
    {"gfx13-generic", {"gfx1310"}},
};

bool is_name(char c) { return ascii::is_alnum(c) || c == '-' || c == '_'; }

// "xnack-" of a target id.
bool set_feature(Target& target, std::string_view text) {
  if (text.empty()) return false;
  auto value = text.back() == '+' ? Feature::on : text.back() == '-' ? Feature::off : Feature::any;
  auto name = text.substr(0, text.size() - 1);
  if (value == Feature::any) return false;
  if (name == "xnack")
    target.xnack = value;
  else if (name == "sramecc")
    target.sramecc = value;
  else
    return false;
  return true;
}

std::string suffix(std::string_view name, Feature feature) {
  if (feature == Feature::any) return {};
  return ":" + std::string(name) + (feature == Feature::on ? "+" : "-");
}

// 0 unsupported, 1 any, 2 off, 3 on.
Feature v4_feature(std::uint32_t flags, unsigned shift) {
  auto value = (flags >> shift) & 3;
  return value == 2 ? Feature::off : value == 3 ? Feature::on : Feature::any;
}
} // namespace

std::string Target::str() const { return processor + suffix("sramecc", sramecc) + suffix("xnack", xnack); }

std::optional<Target> parse_target(std::string_view text) {
  auto end = std::min(text.find(':'), text.size());
  Target target{std::string(text.substr(0, end))};
  if (target.processor.empty() || !std::all_of(target.processor.begin(), target.processor.end(), is_name))
    return std::nullopt;
  while (end < text.size()) {
    auto begin = end + 1;
    end = std::min(text.find(':', begin), text.size());
    if (!set_feature(target, text.substr(begin, end - begin))) return std::nullopt;
  }
  return target;
}

std::optional<Target> parse_entry_id(std::string_view id) {
  if (id.starts_with("host-")) return std::nullopt;
  // The triple has four or five parts, and a generic processor has dashes of its own: the target begins at its prefix.
  for (std::string_view prefix : {"-gfx", "-sm_", "--"})
    if (auto at = id.find(prefix); at != id.npos) {
      auto target = id.substr(at + (prefix == "--" ? 2 : 1));
      return target.empty() ? std::nullopt : parse_target(target);
    }
  return std::nullopt;
}

bool ElfHead::is_amdgpu() const { return machine == k_machine_amdgpu; }

std::optional<ElfHead> parse_elf_head(std::string_view bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr) || !bytes.starts_with(ELFMAG)) return std::nullopt;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  auto end_of = [](std::uint64_t at, std::uint64_t count, std::uint64_t size) {
    return count == 0 ? 0 : at > UINT64_MAX - count * size ? UINT64_MAX : at + count * size;
  };
  auto tables_end = std::max(end_of(header.e_phoff, header.e_phnum, header.e_phentsize),
                             end_of(header.e_shoff, header.e_shnum, header.e_shentsize));
  return ElfHead{header.e_machine, header.e_ident[EI_ABIVERSION], header.e_flags, tables_end};
}

std::optional<Target> target_of(const ElfHead& head) {
  auto number = head.flags & k_processor_mask;
  const auto* found = std::find_if(std::begin(k_processors), std::end(k_processors),
                                   [&](const Processor& p) { return p.number == number; });
  if (!head.is_amdgpu() || found == std::end(k_processors)) return std::nullopt;
  Target target{std::string(found->name)};
  if (head.abi_version >= k_abi_v4) {
    target.xnack = v4_feature(head.flags, k_v4_xnack_shift);
    target.sramecc = v4_feature(head.flags, k_v4_sramecc_shift);
  } else if (head.abi_version == k_abi_v3) {
    if (head.flags & k_v3_xnack) target.xnack = Feature::on;
    if (head.flags & k_v3_sramecc) target.sramecc = Feature::on;
  }
  return target;
}

bool agrees(const Target& label, const ElfHead& head) {
  auto found = target_of(head);
  if (!found || found->processor != label.processor) return false;
  if (head.abi_version >= k_abi_v4) return *found == label;
  auto same = [](Feature said, Feature is) { return (said == Feature::on) == (is == Feature::on); };
  return head.abi_version < k_abi_v3 || (same(label.xnack, found->xnack) && same(label.sramecc, found->sramecc));
}

bool runs_on(std::string_view code, std::string_view device) {
  if (code == device) return true;
  for (const auto& generic : k_generics)
    if (generic.name == code)
      return !device.empty() &&
             std::find(generic.devices.begin(), generic.devices.end(), device) != generic.devices.end();
  if (code.size() != device.size() || !code.ends_with('x')) return false;
  for (std::size_t i = 0; i < code.size(); ++i)
    if (code[i] != device[i] && (i < 3 || code[i] != 'x')) return false; // the x of "gfx" is a letter
  return true;
}

bool is_foreign(const Target& target) {
  return target.processor.starts_with("sm_") || target.processor.starts_with("compute_");
}

std::string_view known_processor(std::string_view text) {
  std::string_view best;
  for (const auto& processor : k_processors)
    if (text.starts_with(processor.name) && processor.name.size() > best.size()) best = processor.name;
  return best.empty() ? best : text.substr(0, best.size());
}

} // namespace quarry::gpu
