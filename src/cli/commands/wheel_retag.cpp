#include "cli/commands.hpp"
#include "cli/rewritten.hpp"
#include "wheel/rewrite.hpp"
#include <fmt/core.h>

namespace quarry::cli {

namespace {

Result<int> run_retag(Context& context, const Arguments& arguments) {
  const auto& path = arguments.operands.at(0);
  wheel::Retag changes{arguments.find("--python-tag"), arguments.find("--abi-tag"), arguments.find("--platform-tag"),
                       arguments.find("--build")};
  return run_rewriting(context, {path, "its files are the same bytes, WHEEL and RECORD are new", "quarry.wheel-retag/1",
                                 [&](const CopiedBytes& copied) {
                                   return wheel::retag(path, changes, arguments.get("--output-dir"), copied);
                                 }});
}

Flag tag_flag(const std::string& name, const std::string& what) {
  return {.name = name, .value = "TAGS", .help = "the " + what + ": TAG replaces, +TAG adds, -TAG removes"};
}

} // namespace

Command wheel_retag_command() {
  return {
      .path = {"wheel", "retag"},
      .summary = "give a wheel other tags or another build number",
      .description =
          "Writes the wheel under its new name. Only WHEEL and RECORD are new. All other files are copied as "
          "they "
          "are stored, so a wheel of 260 MB takes a tenth of a second, and the files are proven to be the same: "
          "`quarry wheel verify NEW --derived-from OLD`.\n\n"
          "Tags are sets that are joined by dots, such as `cp311.cp312`. A tag replaces the set in the file name; "
          "behind "
          "`+` it is added to it, behind `-` removed from it (write `--platform-tag=-TAG`). Whether the files fit the "
          "new tags is not checked. Signatures of RECORD are dropped, since RECORD changes. The archive's framing is "
          "checked, but its files are not read: run `quarry wheel verify` on a wheel that comes from elsewhere.",
      .operands = {{.name = "FILE", .help = "the wheel"}},
      .flags =
          {tag_flag("--python-tag", "Python tags, such as py3 or cp312"),
           tag_flag("--abi-tag", "ABI tags, such as none or abi3"),
           tag_flag("--platform-tag", "platform tags, such as manylinux_2_28_x86_64"),
           {.name = "--build", .value = "N", .help = "the build number; empty removes it"},
           {.name = "--output-dir", .value = "DIR", .help = "where to put the wheel", .required = true, .letter = 'd'}},
      .examples = {{"quarry wheel retag x-1.0-py3-none-linux_x86_64.whl --platform-tag manylinux_2_28_x86_64 -d dist",
                    "name the platform that the files were checked for"},
                   {"quarry wheel retag x-1.0-py3-none-any.whl --build 2 -d dist", "make a second build of it"}},
      .exit_codes = {{1, "WHEEL or RECORD is missing or wrong"},
                     {2, "the file's name is not a wheel's, or the tags cannot be set or change nothing"},
                     {3, "the file does not exist"},
                     {6, "the archive is damaged or cut off"}},
      .schema = "quarry.wheel-retag/1",
      .run = run_retag};
}

} // namespace quarry::cli
