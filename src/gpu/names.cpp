#include "gpu/names.hpp"

#include "base/ascii.hpp"
#include <algorithm>
#include <array>

namespace quarry::gpu {

namespace {
using ascii::is_digit;
using ascii::is_lower;

std::string_view basename(std::string_view path) { return path.substr(path.rfind('/') + 1); }

struct Found {
  Target target;
  std::size_t begin = 0, end = 0; ///< in the text that was searched
};

std::size_t run_of(std::string_view text, std::size_t at, bool (*is)(char)) {
  while (at < text.size() && is(text[at])) ++at;
  return at;
}

// "-3-generic" or "-generic" at `at`: where it ends; else `at`.
std::size_t generic_end(std::string_view text, std::size_t at) {
  constexpr std::string_view k_generic = "-generic";
  if (text.substr(at).starts_with(k_generic)) return at + k_generic.size();
  if (at >= text.size() || text[at] != '-') return at;
  auto digits = run_of(text, at + 1, is_digit);
  return digits > at + 1 && text.substr(digits).starts_with(k_generic) ? digits + k_generic.size() : at;
}

/// The first "gfx90a", "gfx90a-xnack+" or "gfx9-4-generic" at or after `from`.
std::optional<Found> find_target(std::string_view text, std::size_t from = 0) {
  for (auto at = text.find("gfx", from); at != text.npos; at = text.find("gfx", at + 1)) {
    auto digits = run_of(text, at + 3, is_digit);
    if (digits == at + 3) continue;
    auto end = generic_end(text, run_of(text, digits, is_lower));
    Found found{{std::string(text.substr(at, end - at))}, at, end};
    for (auto [suffix, value] : {std::pair{"-xnack+", Feature::on}, {"-xnack-", Feature::off}})
      if (text.substr(end).starts_with(suffix)) {
        found.target.xnack = value;
        found.end = end + std::string_view(suffix).size();
      }
    return found;
  }
  return std::nullopt;
}

NamedTarget named(std::string_view path, std::size_t text_at, const Found& found, std::string_view maker) {
  std::string unit(path.substr(0, text_at + found.begin));
  unit += '*';
  unit += path.substr(text_at + found.end);
  return {found.target, maker, std::move(unit)};
}

/// "_mod0" behind a target: AOTriton's name of a variant of the GPU, such as one with fewer units.
bool is_variant(std::string_view text) {
  constexpr std::string_view k_mod = "_mod";
  return text.starts_with(k_mod) && text.size() > k_mod.size() && run_of(text, k_mod.size(), is_digit) == text.size();
}

/// A directory below `anchor` that is exactly a target, behind `prefix`, or a variant of one.
std::optional<NamedTarget> by_directory(std::string_view path, std::string_view anchor, std::string_view prefix,
                                        std::string_view maker) {
  auto at = path.find(anchor);
  if (at == path.npos || (at > 0 && path[at - 1] != '/')) return std::nullopt;
  at += anchor.size();
  for (auto slash = path.find('/', at); slash != path.npos; at = slash + 1, slash = path.find('/', at)) {
    auto part = path.substr(at, slash - at);
    if (!part.starts_with(prefix)) continue;
    auto found = find_target(part);
    if (!found || found->begin != prefix.size()) continue;
    if (found->end == part.size() || is_variant(part.substr(found->end))) return named(path, at, *found, maker);
  }
  return std::nullopt;
}

std::optional<NamedTarget> tensile(std::string_view path) {
  for (std::string_view anchor : {"rocblas/library/", "hipblaslt/library/", "hipsparselt/library/"}) {
    auto begin = path.find(anchor);
    if (begin == path.npos || (begin > 0 && path[begin - 1] != '/')) continue;
    auto name = basename(path);
    bool known = name.ends_with(".co") || name.ends_with(".hsaco") || name.ends_with(".dat");
    if (auto found = known ? find_target(name) : std::nullopt)
      return named(path, path.size() - name.size(), *found, "Tensile");
    return by_directory(path, anchor, "", "Tensile");
  }
  return std::nullopt;
}

// The number of compute units follows the processor directly ("gfx90878"), or after "_" ("gfx1030_36").
std::optional<NamedTarget> miopen_database(std::string_view path) {
  auto name = basename(path);
  bool known =
      name.ends_with(".kdb") || name.ends_with(".model") || name.ends_with(".db.txt") || name.ends_with(".fdb.txt");
  if (!known || path.find("miopen/db/") == path.npos) return std::nullopt;
  auto at = name.find("gfx");
  auto processor = at == name.npos ? std::string_view() : known_processor(name.substr(at));
  if (processor.empty()) return std::nullopt;
  return named(path, path.size() - name.size(), {{std::string(processor)}, at, at + processor.size()}, "MIOpen");
}

// libMIOpenCK…_gfx942.so, MIOpenCK…_gfx942.dll.
std::optional<NamedTarget> miopen_kernels(std::string_view path) {
  auto name = basename(path);
  if (!name.starts_with("libMIOpenCK") && !name.starts_with("MIOpenCK")) return std::nullopt;
  auto found = find_target(name);
  if (!found || name[found->begin - 1] != '_') return std::nullopt;
  auto rest = name.substr(found->end);
  if (!rest.starts_with(".so") && !rest.starts_with(".dll")) return std::nullopt;
  return named(path, path.size() - name.size(), *found, "MIOpen");
}

struct Suffix {
  std::string_view text;
  Feature Target::* feature;
  Feature value;
};
constexpr Suffix k_suffixes[] = {{"_xnackp", &Target::xnack, Feature::on},
                                 {"_xnack_", &Target::xnack, Feature::off},
                                 {"_srameccp", &Target::sramecc, Feature::on},
                                 {"_sramecc_", &Target::sramecc, Feature::off}};

bool take_suffix(std::string_view name, Found& found) {
  for (const auto& suffix : k_suffixes)
    if (name.substr(found.end).starts_with(suffix.text)) {
      found.target.*suffix.feature = suffix.value;
      found.end += suffix.text.size();
      return true;
    }
  return false;
}

// libdevice_conv_operations_gfx950_xnackp.a: "_xnackp" is ":xnack+", "_xnack_" is ":xnack-".
std::optional<NamedTarget> composable_kernel(std::string_view path) {
  auto name = basename(path);
  auto at = name.find("device_conv_operations_");
  bool archive = name.ends_with(".a") || name.ends_with(".lib");
  auto found = at != name.npos && archive ? find_target(name, at) : std::nullopt;
  if (!found) return std::nullopt;
  while (take_suffix(name, *found)) {
  }
  return named(path, path.size() - name.size(), *found, "CK");
}

// blas_lib_gfx942.kpack
std::optional<NamedTarget> kpack(std::string_view path) {
  auto name = basename(path);
  auto found = name.ends_with(".kpack") ? find_target(name) : std::nullopt;
  // "gfx94X-dcgpu" is a family: it says nothing about the code inside.
  if (!found || known_processor(found->target.processor) != found->target.processor) return std::nullopt;
  return named(path, path.size() - name.size(), *found, "kpack");
}

/// A library of kernels has hundreds of files, and not the same ones for each target: they are one unit.
NamedTarget as_folder(NamedTarget one) {
  auto star = one.unit.find('*'), slash = one.unit.rfind('/', star);
  bool in_directory = one.unit.find('/', star) != one.unit.npos;
  one.unit = in_directory ? one.unit.substr(0, one.unit.find('/', star)) : one.unit.substr(0, slash + 1) + "*";
  return one;
}

std::optional<NamedTarget> named_target(std::string_view path) {
  for (auto* rule : {miopen_kernels, composable_kernel, kpack})
    if (auto found = rule(path)) return found;
  for (auto* rule : {tensile, miopen_database})
    if (auto found = rule(path)) return as_folder(*std::move(found));
  if (auto found = by_directory(path, "aotriton.images/", "amd-", "AOTriton")) return as_folder(*std::move(found));
  for (std::string_view anchor : {"engines/arch_content/", "engines/test_arch_content/"})
    if (auto found = by_directory(path, anchor, "", "hipDNN")) return as_folder(*std::move(found));
  return std::nullopt;
}

/// By the end of the name. What is not known is not counted as kernels: lists, texts, `__signature__`.
Kernels kernels_in(std::string_view path) {
  constexpr std::array<std::string_view, 2> k_unread = {".aks2", ".kdb"};
  constexpr std::array<std::string_view, 7> k_read = {".co", ".hsaco", ".kpack", ".so", ".dll", ".a", ".lib"};
  auto ends = [&](std::string_view ending) { return path.ends_with(ending); };
  if (std::ranges::any_of(k_unread, ends)) return Kernels::unread;
  bool versioned = basename(path).find(".so.") != std::string_view::npos; // libMIOpenCK…_gfx942.so.1
  return versioned || std::ranges::any_of(k_read, ends) ? Kernels::read : Kernels::none;
}
} // namespace

std::optional<NamedTarget> target_of_path(std::string_view path) {
  auto found = named_target(path);
  if (found) found->kernels = kernels_in(path);
  return found;
}

} // namespace quarry::gpu
