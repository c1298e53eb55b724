// The part of servers.hpp that needs JSON.
#include "store/testing/servers.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>

namespace quarry::store::testing {

namespace {
[[noreturn]] void run(const std::vector<std::string>& words, int in, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM); // also when the test program crashes
  ::dup2(in, 0);
  ::dup2(out, 1);
  std::vector<char*> arguments = {const_cast<char*>("python3"), const_cast<char*>("-B")};
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp("python3", arguments.data());
  ::_exit(127);
}
} // namespace

Server::Server(const std::vector<std::string>& words) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  child_ = ::fork();
  if (child_ == 0) run(words, in[0], out[1]);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  std::string line;
  for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
  ::close(out[0]);
  auto said = json::parse({line, words[0]});
  if (!said)
    throw std::runtime_error("the test server does not start; `tools/setup --test` installs what it needs: " + line);
  endpoint = said->at("endpoint").get<std::string>();
  access_key = said->at("access_key").get<std::string>();
  secret_key = said->at("secret_key").get<std::string>();
  if (said->contains("bucket")) bucket = said->at("bucket").get<std::string>();
}

Json Server::control(const std::string& method, const std::string& body) const {
  net::Request request;
  request.method = method;
  request.url = *net::parse_url(endpoint + "/_control");
  request.response_bytes_max = 64u << 20;
  if (method == "POST") request.body = content::Rope::literal(body);
  auto answer = net::make_client({})->send(request);
  if (!answer) throw std::runtime_error(answer.error().error.message);
  return *json::parse({answer->body, "the ledger"});
}

} // namespace quarry::store::testing
