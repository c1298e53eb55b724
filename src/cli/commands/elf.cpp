#include "elf/elf.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "sys/file.hpp"
#include <elf.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

std::string type_name(const elf::Facts& facts) {
  if (facts.type == ET_REL) return "object file";
  if (facts.type == ET_CORE) return "core dump";
  if (facts.is_program()) return facts.type == ET_DYN ? "program (position independent)" : "program";
  if (facts.is_shared_object()) return "shared library";
  return facts.type == ET_DYN ? "shared object without dynamic section" : fmt::format("type {}", facts.type);
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
  case EM_X86_64: return "x86-64";
  case EM_386: return "x86";
  case EM_AARCH64: return "aarch64";
  case EM_RISCV: return "riscv";
  case EM_AMDGPU: return "amdgpu";
  default: return fmt::format("machine {}", machine);
  }
}

std::string line(std::string_view name, std::string_view value) { return fmt::format("{:<12}{}\n", name, value); }

std::string as_text(const elf::Facts& facts) {
  auto text = line("type", type_name(facts)) +
              line("machine", machine_name(facts.machine) + (facts.is_64 ? ", 64 bit" : ", 32 bit"));
  if (!facts.interpreter.empty()) text += line("interpreter", facts.interpreter);
  if (facts.soname) text += line("soname", *facts.soname);
  for (const auto& name : facts.needed) text += line("needed", name);
  auto path = [&](std::string_view tag, const std::optional<std::string>& value) {
    if (!value) return;
    for (const auto& part : text::split(*value, ':')) text += line(tag, part);
  };
  path("rpath", facts.rpath);
  path("runpath", facts.runpath);
  return text;
}

Json optional_json(const std::optional<std::string>& value) { return value ? Json(*value) : Json(nullptr); }

Json as_json(const std::string& file, const elf::Facts& facts, const Findings& findings) {
  return {{"schema", "quarry.elf-show/1"},
          {"file", file},
          {"type", facts.type},
          {"kind", type_name(facts)},
          {"machine", facts.machine},
          {"bits", facts.is_64 ? 64 : 32},
          {"interpreter", facts.interpreter.empty() ? Json(nullptr) : Json(facts.interpreter)},
          {"soname", optional_json(facts.soname)},
          {"needed", facts.needed},
          {"rpath", optional_json(facts.rpath)},
          {"runpath", optional_json(facts.runpath)},
          {"findings", findings_json(findings)}};
}

Result<int> run_elf_show(Context& context, const Arguments& arguments) {
  const auto& path = arguments.operands.at(0);
  TRY(auto file, content::Rope::file(path));
  TRY(auto facts, elf::read_facts(file, path));
  auto findings = elf::verify(file, path);
  context.out.data(as_text(facts));
  context.out.findings(findings);
  context.out.document(as_json(path, facts, findings));
  return has_errors(findings) ? traits(ErrorKind::failed).exit_code : 0;
}

Result<elf::Edit> edit_of(const Arguments& arguments) {
  elf::Edit edit;
  edit.rpath = arguments.find("--rpath");
  edit.as_runpath = arguments.has("--runpath");
  edit.soname = arguments.find("--soname");
  for (const auto& pair : arguments.list("--replace-needed")) {
    auto at = pair.find('=');
    if (at == pair.npos || at == 0)
      return fail(ErrorKind::invalid_argument, "E017", fmt::format("--replace-needed {} is not OLD=NEW", pair));
    edit.replace_needed.emplace_back(pair.substr(0, at), pair.substr(at + 1));
  }
  if (edit.as_runpath && !edit.rpath)
    return fail(ErrorKind::invalid_argument, "E017", "--runpath needs --rpath",
                "name the path: --rpath '$ORIGIN/../lib' --runpath");
  if (edit.empty())
    return fail(ErrorKind::invalid_argument, "E017", "nothing to edit was named",
                "add --rpath, --soname or --replace-needed");
  return edit;
}

Result<void> write_edited(const content::Rope& rope, const std::string& input, const std::string& output) {
  TRY(auto original, sys::File::open_read(input));
  TRY(auto mode, original.mode());
  TRY(auto target, sys::AtomicFile::create(output, 0600));
  std::uint64_t at = 0;
  TRY_DO(content::pump(rope,
                       [&](std::span<const std::byte> bytes) -> Result<void> {
                         TRY_DO(sys::check_interrupted());
                         TRY_DO(target.file().write_at(at, bytes), "while writing " + output);
                         at += bytes.size();
                         return {};
                       }),
         "while writing " + output);
  TRY_DO(target.file().set_mode(mode & 0777));
  return target.commit_replace();
}

Result<int> run_edit(Context& context, const Arguments& arguments) {
  const auto& input = arguments.operands.at(0);
  auto output = arguments.get("--output");
  bool dry = arguments.has("--dry-run");
  if (output.empty() && !dry)
    return fail(ErrorKind::invalid_argument, "E017", "no output was named", "add --output FILE, or --dry-run");
  TRY(auto edit, edit_of(arguments));
  TRY(auto file, content::Rope::file(input));
  auto begin = context.clock.steady_ns();
  TRY(auto edited, elf::edit(file, edit, input));
  auto edit_ns = context.clock.steady_ns() - begin;
  if (!dry) TRY_DO(write_edited(edited.file, input, output));
  context.out.note(fmt::format("{}: {} of {} bytes are new, edited and proven in {:.2f} ms",
                               edited.strategy == "none" ? "nothing to change" : edited.strategy,
                               units::count(edited.changed_bytes), units::count(edited.file.size()),
                               static_cast<double>(edit_ns) / 1e6));
  if (!dry) context.out.data(output + "\n");
  context.out.document({{"schema", "quarry.elf-edit/1"},
                        {"file", input},
                        {"output", output},
                        {"strategy", edited.strategy},
                        {"changed_bytes", edited.changed_bytes},
                        {"size", edited.file.size()},
                        {"edit_ms", static_cast<double>(edit_ns) / 1e6}});
  return 0;
}

Command elf_show_command() {
  return {
      {"elf", "show"},
      "what the dynamic loader sees in an ELF file",
      "Prints type, machine, interpreter, SONAME, needed libraries and run path, and checks the file against the rules "
      "of the loader and of `strip`. Only headers and tables are read, whatever the size of the file.",
      {{"FILE", "program or shared library"}},
      {},
      false,
      {{"quarry elf show libamdhip64.so.6", "SONAME, needed libraries, run path"}},
      {{1, "the file breaks a rule (the findings say which), or is big-endian"},
       {3, "the file does not exist"},
       {6, "it is damaged or not an ELF file"}},
      "quarry.elf-show/1",
      run_elf_show};
}

Command edit_command() {
  return {
      {"elf", "edit"},
      "set the run path, SONAME or needed libraries of an ELF file",
      "The edit is planned and proven before a byte is written: nothing that the program can see at an old address "
      "changes. "
      "`--rpath` writes DT_RPATH, which LD_LIBRARY_PATH cannot override; with `--runpath`, DT_RUNPATH. The other of "
      "the two "
      "goes away; an empty path removes both. Several changes make one edit.\n\n"
      "`--output` may name the input: the new file then replaces it in one step.",
      {{"FILE", "64-bit program or shared library for x86-64 or aarch64"}},
      {{"--rpath", "PATH", "the run path, directories separated by colons; empty removes it"},
       {"--runpath", "", "write DT_RUNPATH instead of DT_RPATH"},
       {"--soname", "NAME", "the SONAME"},
       {.name = "--replace-needed", .value = "OLD=NEW", .help = "need NEW instead of OLD", .repeats = true},
       {.name = "--output", .value = "FILE", .help = "where the edited file goes"},
       {.name = "--dry-run", .value = "", .help = "plan and prove the edit, write nothing", .letter = 'n'}},
      false,
      {{"quarry elf edit a.so --rpath '$ORIGIN/../lib' --output b.so", "a copy that looks for libraries next to it"}},
      {{1, "its shape cannot be edited safely; the message says why"}, {6, "it is damaged or not an ELF file"}},
      "quarry.elf-edit/1",
      run_edit};
}

} // namespace

std::vector<Command> elf_commands() { return {elf_show_command(), edit_command()}; }

} // namespace quarry::cli
