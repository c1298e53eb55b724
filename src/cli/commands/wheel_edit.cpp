#include "cli/commands.hpp"
#include "cli/rewritten.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "wheel/edit.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {
constexpr std::uint64_t k_added_bytes_max = 64u << 20; // the SBOM of PyTorch with all that it bundles has 5 MB

/// "Summary=the value"
Result<std::vector<wheel::Edit::Field>> fields_of(const Arguments& arguments, const std::string& flag) {
  std::vector<wheel::Edit::Field> fields;
  for (const auto& said : arguments.list(flag)) {
    auto sign = said.find('=');
    if (sign == said.npos)
      return fail(ErrorKind::invalid_argument, "C006", fmt::format("{} is {}, without a `=`", flag, said),
                  fmt::format("write it like {} 'Summary=what the package is for'", flag));
    fields.emplace_back(said.substr(0, sign), said.substr(sign + 1));
  }
  return fields;
}

Result<std::vector<wheel::AddedText>> texts_of(const Arguments& arguments, const std::string& flag) {
  std::vector<wheel::AddedText> texts;
  for (const auto& file : arguments.list(flag)) {
    TRY(auto text, sys::read_file(file, k_added_bytes_max), "while reading " + flag);
    texts.push_back({std::string(path::basename(file)), std::move(text)});
  }
  return texts;
}

Result<int> run_wheel_edit(Context& context, const Arguments& arguments) {
  const auto& path = arguments.operands.at(0);
  wheel::Edit edit;
  TRY(edit.set, fields_of(arguments, "--set"));
  TRY(edit.add, fields_of(arguments, "--add"));
  edit.remove = arguments.list("--remove");
  TRY(edit.licenses, texts_of(arguments, "--license"));
  TRY(edit.sboms, texts_of(arguments, "--sbom"));
  return run_rewriting(context, {path, "the files that it installs are the same bytes, dist-info has changed",
                                 "quarry.wheel-edit/1", [&](const CopiedBytes& copied) {
                                   return wheel::edit(path, edit, arguments.get("--output-dir"), copied);
                                 }});
}
} // namespace

Command wheel_edit_command() {
  return {
      .path = {"wheel", "edit"},
      .summary = "change fields of METADATA, add licences or an SBOM",
      .description =
          "Writes the wheel under its own name into another directory. METADATA and RECORD change, licences go "
          "to dist-info/licenses with a License-File field (PEP 639), SBOMs to dist-info/sboms (PEP 770). All other "
          "files are copied as they are stored, which is proven by `quarry wheel verify NEW --derived-from OLD`.\n\n"
          "Name, Version, Metadata-Version and License-File follow from the file's name and files, so they cannot be "
          "set; a licence "
          "raises Metadata-Version to 2.4. What installers resolve with must stay readable. `quarry wheel check` tells "
          "what PyPI would not take. The archive's framing is checked, but its files are not read.\n\n"
          "Signatures of RECORD are dropped. A wheel that has been published needs another version or build number "
          "for an edit: a published name never gets other bytes.",
      .operands = {{.name = "FILE", .help = "the wheel"}},
      .flags =
          {{.name = "--set", .value = "FIELD=TEXT", .help = "replace all values of a field", .repeats = true},
           {.name = "--add",
            .value = "FIELD=TEXT",
            .help = "add a value, such as one more Requires-Dist",
            .repeats = true},
           {.name = "--remove", .value = "FIELD", .help = "remove a field", .repeats = true},
           {.name = "--license", .value = "FILE", .help = "add a licence file", .repeats = true},
           {.name = "--sbom", .value = "FILE", .help = "add a CycloneDX SBOM as JSON", .repeats = true},
           {.name = "--output-dir", .value = "DIR", .help = "where to put the wheel", .required = true, .letter = 'd'}},
      .examples = {{"quarry wheel edit x-1.0-py3-none-any.whl --set 'Requires-Python=>=3.10' -d dist",
                    "correct a field"},
                   {"quarry wheel edit x-1.0-py3-none-any.whl --sbom x.cdx.json --license NOTICE -d dist",
                    "add what a release needs"}},
      .exit_codes = {{1, "the wheel is not sound"},
                     {2, "the edit cannot be made, or changes nothing"},
                     {6, "the archive is broken"}},
      .schema = "quarry.wheel-edit/1",
      .run = run_wheel_edit};
}

} // namespace quarry::cli
