// SPDX-License-Identifier: Apache-2.0
// The language server: messages in, messages out. What needs a compiled document waits for it on a
// thread; a change of the document cancels that and what waited for it.
//
//   Server server({.version = "1.0"}, [](const Json& message) { send(message); });
//   while (!server.is_done()) server.receive(next_message());
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/client.h"
#include "lsp/documents.h"
#include "lsp/explorer.h"
#include "lsp/protocol.h"
#include "lsp/worker.h"

namespace ww::lsp {

struct ServerOptions {
  std::string version = {};
  std::vector<std::string> explore = {};  // the words that start the explorer, before the file
};

class Server {
 public:
  /// `send` is called from several threads, one at a time.
  using Send = std::function<void(const Json& message)>;
  Server(ServerOptions options, Send send);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The contents of one message, whatever they are.
  void receive(std::string_view contents);
  /// A message that could not be read at all.
  void refuse(ErrorCode code, std::string_view text);

  /// After `exit`.
  [[nodiscard]] bool is_done() const { return is_done_; }
  /// By the protocol: 0 when `shutdown` came before the end, else 1.
  [[nodiscard]] int status() const { return is_shut_down_ ? 0 : 1; }

  /// For tests: until no job is left.
  void wait_until_idle();

 private:
  struct Waiting {
    Json id;
    std::string method;
    Json params;
  };
  /// What is known of an open document.
  struct Open {
    std::shared_ptr<const Analysis> analysis = {};
    std::vector<Problem> emission = {};  // of that analysis
    std::vector<Problem> run = {};       // of the last run
    std::vector<Waiting> waiting = {};   // for the analysis of the newest text
  };
  enum class Wants { Anything, Analysis };
  struct Method {
    std::string_view name;
    Wants wants;
    Result<Json> (Server::*answer)(const Document& document, const Question& about,
                                   const Json& params);
  };
  static std::span<const Method> methods();

  // Messages
  void handle(const Message& message);
  void handle_request(const Message& message);
  void handle_notification(const Message& message);
  void initialize(const Message& message);
  void answer_now(const Method& method, const Document& document, const Waiting& waiting);
  void cancel_request(const Json& params);

  // Documents
  void document_changed(const Result<std::string>& uri);
  void document_closed(const Result<std::string>& uri);
  void start_analysis(const Document& document);
  void analysed(const std::string& uri, const std::shared_ptr<const Analysis>& analysis);
  void emitted(const std::string& uri, const std::shared_ptr<const Analysis>& analysis,
               std::vector<Problem> problems);
  void publish(const std::string& uri);
  void give_up(Open& open, ErrorCode code, std::string_view text);

  // Answers
  Result<Json> answer_hover(const Document&, const Question&, const Json&);
  Result<Json> answer_inlay(const Document&, const Question&, const Json&);
  Result<Json> answer_lens(const Document&, const Question&, const Json&);
  Result<Json> answer_symbols(const Document&, const Question&, const Json&);
  Result<Json> answer_actions(const Document&, const Question&, const Json&);
  Result<Json> answer_completion(const Document&, const Question&, const Json&);
  Result<Json> answer_signature(const Document&, const Question&, const Json&);
  Result<Json> answer_definition(const Document&, const Question&, const Json&);

  // Commands
  void execute(const Message& message);
  /// The job of a command, which answers the request where it is dropped or fails.
  Job command_job(const Json& id, std::string key);
  void execute_run(const Json& id, const Document& document, const KernelChoice& choice);
  void execute_explore(const Json& id, const Document& document, const KernelChoice& choice);
  void finish_run(const Json& id, const std::string& uri, std::int64_t version,
                  std::vector<Problem> problems, std::string_view message, bool good,
                  const std::string& report);

  // Messages out, with the lock held
  void send(const Json& message);
  void say(int type, std::string_view text);  // window/showMessage
  void log(int type, std::string_view text);  // window/logMessage
  void bug(const std::string& what);

  ServerOptions options_;
  Send send_;
  ClientFeatures client_;
  bool is_initialized_ = false;
  bool is_shut_down_ = false;
  bool is_done_ = false;
  int requests_ = 0;  // that were sent

  std::mutex mutex_;  // of all that follows, and of sending
  Documents documents_;
  std::map<std::string, Open, std::less<>> open_;
  std::map<std::string, std::string> commands_;  // jobs by the id of their requests, as text
  Explorers explorers_;
  std::unique_ptr<Worker> emitter_;  // gets jobs from the analyst
  std::unique_ptr<Worker> analyst_;
  std::unique_ptr<Worker> runner_;
};

}  // namespace ww::lsp
