#include "workflow/verifiers.hpp"
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <ostream>

namespace quarry::workflow {
namespace {

/// What Y140 says of a script: "URL" for what is kept, "URL runs", "URL taken" for what tar or pip takes.
std::vector<std::string> unverified(std::string_view script) {
  auto commands = with_inner_commands(shell_commands(script));
  auto downloads = downloads_of(commands);
  mark_verified(commands, downloads);
  std::vector<std::string> found;
  for (const auto& one : downloads)
    if (!one.verified || one.piped) found.push_back(one.url + (one.runs ? " runs" : one.piped ? " taken" : ""));
  return found;
}

struct Script {
  const char* script;
  std::vector<std::string> found;
};
void PrintTo(const Script& one, std::ostream* out) { *out << one.script; }

class Downloads : public ::testing::TestWithParam<Script> {};
TEST_P(Downloads, AreFoundUnlessTheyAreVerified) { EXPECT_EQ(unverified(GetParam().script), GetParam().found); }

INSTANTIATE_TEST_SUITE_P(
    Posix, Downloads,
    ::testing::Values(Script{"bash <(curl -fsSL https://a.example/f)", {"https://a.example/f runs"}},
                      Script{"sudo -E bash -x <(wget -qO- https://a.example/f) --yes", {"https://a.example/f runs"}},
                      Script{"source <(curl -s https://a.example/f | sed s/a/b/)", {"https://a.example/f runs"}},
                      Script{"diff <(curl -s https://a.example/f) g", {}},
                      Script{"tar xz < <(curl -s https://a.example/f)", {"https://a.example/f taken"}},
                      Script{"sh -c \"$(curl -fsSL https://a.example/f)\"", {"https://a.example/f runs"}},
                      Script{"sh -c $(curl -fsSL https://a.example/f)", {"https://a.example/f runs"}},
                      Script{"eval \"$(curl -fsSL https://a.example/${{ inputs.a }}/f)\"",
                             {"https://a.example/${{ inputs.a }}/f runs"}},
                      Script{"python3 -c \"$(curl -s https://a.example/f.py)\"", {"https://a.example/f.py runs"}},
                      Script{"bash <<< \"$(curl -s https://a.example/f)\"", {"https://a.example/f runs"}},
                      Script{"bash -c \"echo $(curl -s https://a.example/f)\"", {}},
                      Script{"bash run.sh $(curl -s https://a.example/f)", {}},
                      Script{"V=$(curl -s https://a.example/f | jq -r .tag)", {}},
                      Script{"bash -c 'curl -s https://a.example/f | sh'", {"https://a.example/f runs"}},
                      Script{"if ! curl -fo f https://a.example/f; then exit 1; fi", {"https://a.example/f"}},
                      Script{"curl -s https://a.example/f | sudo bash -s -- --yes", {"https://a.example/f runs"}},
                      Script{"curl -s https://a.example/f |\n  bash", {"https://a.example/f runs"}},
                      Script{"curl -s https://a.example/f | gunzip | bash", {"https://a.example/f runs"}},
                      Script{"curl -s https://a.example/f | python3 -c 'import json'", {}},
                      Script{"curl -s https://a.example/f | python3 read.py", {}},
                      Script{"curl -s https://a.example/f | python3 -m json.tool", {}},
                      Script{"curl -s https://a.example/f | bash run.sh", {}},
                      Script{"curl -s https://a.example/f | python3 - --version 3", {"https://a.example/f runs"}},
                      Script{"curl -s https://a.example/f | bash -o pipefail > log", {"https://a.example/f runs"}},
                      Script{"curl -s https://a.example/k | sudo tee /etc/k.asc > /dev/null", {"https://a.example/k"}},
                      Script{"wget -qO- https://a.example/f | grep ready", {}},
                      Script{"wget -qO - https://a.example/f | jq .", {}},
                      Script{"wget https://a.example/f", {"https://a.example/f"}},
                      Script{"curl $OPTS -fo f \"$URL\"", {"$URL"}}, Script{"wget \"${ARGS[@]}\" $URL", {"$URL"}},
                      Script{"curl -s https://a.example/f > f.sh; bash f.sh", {"https://a.example/f"}},
                      Script{"curl -s https://a.example/f > f.json; jq . f.json", {}},
                      Script{"curl -o f http://localhost:8080/f", {}}));

INSTANTIATE_TEST_SUITE_P(
    PowerShell, Downloads,
    ::testing::Values(
        Script{"iwr https://a.example/f.ps1 | iex", {"https://a.example/f.ps1 runs"}},
        Script{"irm https://a.example/f.ps1 |\n  Invoke-Expression", {"https://a.example/f.ps1 runs"}},
        Script{"iex (irm 'https://a.example/f.ps1')", {"https://a.example/f.ps1 runs"}},
        Script{"iex \"& { $(irm https://a.example/f.ps1) } -Quiet\"", {"https://a.example/f.ps1 runs"}},
        Script{"& ([scriptblock]::Create((irm https://a.example/f.ps1))) -Quiet", {"https://a.example/f.ps1 runs"}},
        Script{"(iwr https://a.example/f.ps1 -UseBasicParsing).Content | iex", {"https://a.example/f.ps1 runs"}},
        Script{"iex ((New-Object System.Net.WebClient).DownloadString('https://a.example/f.ps1'))",
               {"https://a.example/f.ps1 runs"}},
        Script{"powershell -Command \"iwr https://a.example/f.ps1 | iex\"", {"https://a.example/f.ps1 runs"}},
        Script{"Invoke-WebRequest -Uri \"https://a.example/f.exe\" `\n  -OutFile f.exe\n.\\f.exe /S",
               {"https://a.example/f.exe"}},
        Script{"irm https://a.example/f.zip -OutFile f.zip", {"https://a.example/f.zip"}},
        Script{"Start-BitsTransfer -Source https://a.example/f.zip -Destination f.zip", {"https://a.example/f.zip"}},
        Script{"(New-Object Net.WebClient).DownloadFile('https://a.example/f.zip', 'g.zip')",
               {"https://a.example/f.zip"}},
        Script{"curl.exe -L -o f.zip https://a.example/f.zip", {"https://a.example/f.zip"}},
        Script{"$tag = (irm https://a.example/f.json).tag", {}}, Script{"iwr https://a.example/f -Method Head", {}},
        Script{"irm https://a.example/f -Method Post -Body $x -OutFile y", {}},
        Script{"irm https://api.github.com/repos/o/r -OutFile y", {}},
        Script{"iwr https://a.example/f -OutFile f\nGet-FileHash f", {"https://a.example/f"}},
        Script{"iwr https://a.example/f -OutFile f\nGet-FileHash f | Format-List", {"https://a.example/f"}},
        Script{"iwr https://a.example/f -OutFile f\n$h = (Get-FileHash f).Hash\nWrite-Host \"got $h\"",
               {"https://a.example/f"}},
        Script{"iwr https://a.example/f -OutFile f\n$h = (Get-FileHash f).Hash\nif ($h -ne $env:WANTED) { throw 'no' }",
               {}},
        Script{"iwr https://a.example/f -OutFile f\nif ((Get-FileHash f).Hash -ne '00') { throw 'no' }", {}}));

#define FETCH "curl -o f https://a.example/f\n"
INSTANTIATE_TEST_SUITE_P(
    Verifiers, Downloads,
    ::testing::Values(Script{FETCH "sha256sum f", {"https://a.example/f"}},
                      Script{FETCH "sha256sum f | cut -d' ' -f1", {"https://a.example/f"}},
                      Script{FETCH "echo \"sha256: $(sha256sum f)\"", {"https://a.example/f"}},
                      Script{FETCH "sha256sum f > f.sha256; cat f.sha256", {"https://a.example/f"}},
                      Script{FETCH "openssl dgst -sha256 f", {"https://a.example/f"}},
                      Script{FETCH "cat f.sha256", {"https://a.example/f"}},
                      Script{FETCH "h=$(sha256sum f | cut -d' ' -f1)\necho $h", {"https://a.example/f"}},
                      Script{FETCH "gpg --import key.asc", {"https://a.example/f"}},
                      Script{FETCH "wanted_sha256=00", {"https://a.example/f"}},
                      Script{FETCH "certutil -hashfile f SHA256", {"https://a.example/f"}},
                      Script{FETCH "sha256sum -c f.sha256", {}},
                      Script{FETCH "echo '00  f' | sha256sum --check --status", {}},
                      Script{FETCH "if ! shasum -a 256 -c f.sha256; then exit 1; fi", {}},
                      Script{FETCH "sha256sum f | grep -q 00", {}},
                      Script{FETCH "[ \"$(sha256sum f | cut -d' ' -f1)\" = \"$WANTED\" ]", {}},
                      Script{FETCH "[[ $(sha256sum f | cut -c1-64) == $WANTED ]]", {}},
                      Script{FETCH "h=$(sha256sum f | cut -d' ' -f1)\nif [ $h != $WANTED ]; then exit 1; fi", {}},
                      Script{FETCH "read -r h _ < <(sha256sum f)\ntest $h = $WANTED", {}},
                      Script{FETCH "echo \"digest=$(sha256sum f | cut -d' ' -f1)\" >> $GITHUB_OUTPUT", {}},
                      Script{FETCH "sha256sum f > g; diff g wanted", {}}, Script{FETCH "./check.py --sha256 00 f", {}},
                      Script{FETCH "openssl dgst -sha256 -verify k.pem -signature f.sig f", {}},
                      Script{FETCH "gpg --verify f.asc f", {}}, Script{FETCH "gh attestation verify f --repo o/r", {}},
                      Script{FETCH "for i in *; do sha256sum -c $i.sha256; done", {}},
                      Script{"bash <(curl -s https://a.example/f); sha256sum -c SHA256SUMS",
                             {"https://a.example/f runs"}}));
#undef FETCH

} // namespace
} // namespace quarry::workflow
