// SPDX-License-Identifier: Apache-2.0
// The open documents, and what is known of them. One that was opened or changed is analysed on a
// thread; then its problems are sent, and requests that waited for that are answered. The next
// change cancels the analysis and refuses what waits for it.
//
// All but wait_until_idle and the destructor is called with the connection's lock held.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/analysis.h"
#include "lsp/connection.h"
#include "lsp/documents.h"
#include "lsp/worker.h"

namespace ww::lsp {

// --- answers -------------------------------------------------------------------------------------
//
// The requests about an open document, a row each: what it has to wait for, and the function that
// reads its parameters and asks a feature (lsp/features.h, lsp/diagnostics.h).

/// A request's parameters, and what they are about.
struct Asked {
  const Question& about;
  const Document& document;    // its text may be newer than the analysis in `about`
  const Documents& documents;  // all that are open
  const Json& params;

  /// `position` and `range` of the parameters, in bytes of the document. BadArgument where they are
  /// missing.
  [[nodiscard]] Result<std::size_t> offset() const;
  [[nodiscard]] Result<Span> range() const;
};

struct RequestMethod {
  enum class Wants : std::uint8_t { Anything, Analysis };  // of the newest text

  std::string_view name;  // "textDocument/hover"
  Wants wants;
  /// The `result` of the response, or what is wrong with the parameters.
  Result<Json> (*answer)(const Asked& asked);
};

/// Null when there is none of that name.
const RequestMethod* find_request_method(std::string_view name);

class Analyst {
 public:
  /// `connection` outlives it.
  explicit Analyst(Connection& connection) : connection_(connection) {}
  /// Refuses what waits.
  ~Analyst();
  Analyst(const Analyst&) = delete;
  Analyst& operator=(const Analyst&) = delete;

  /// Parameters of didOpen, didChange, didClose. What is wrong with them is logged.
  void open(const Json& params);
  void change(const Json& params);
  void close(const Json& params);

  /// Sends a response to the request, at once or when what the method wants is known.
  void answer(const RequestMethod& method, const Message& request);
  /// Refuses the request with that id if it waits; else false.
  bool cancel(const Json& id);

  /// Null when it is not open.
  [[nodiscard]] const Document* find(std::string_view uri) const { return documents_.find(uri); }
  /// The newest there is, which may be of an older text; null: none.
  [[nodiscard]] std::shared_ptr<const Analysis> analysis(std::string_view uri) const;
  /// Shows the problems of a run until the next change; not when the document or its analysis has
  /// another version.
  void show_run(std::string_view uri, std::int64_t version, std::vector<Problem> problems);

  /// Waits until no job is left.
  void wait_until_idle();

 private:
  struct Waiting {
    const RequestMethod* method;
    Json id;
    Json params;
  };
  struct Known {
    std::shared_ptr<const Analysis> analysis = {};
    std::vector<Problem> emission = {};  // of that analysis
    std::vector<Problem> run = {};       // of the last run
    std::vector<Waiting> waiting = {};   // for the analysis of the newest text
  };
  void text_changed(const Result<std::string>& uri);
  void start(const Document& document);
  void analysed(const std::string& uri, const std::shared_ptr<const Analysis>& analysis);
  void emitted(const std::string& uri, const std::shared_ptr<const Analysis>& analysis,
               std::vector<Problem> problems);
  void publish(const std::string& uri, const Known& known);
  void answer_now(const Document& document, const Known& known, const Waiting& waiting);
  void give_up(Known& known, ErrorCode code, std::string_view text);

  Connection& connection_;
  Documents documents_;
  std::map<std::string, Known, std::less<>> known_;  // by URI, of each open document
  // Their jobs use all of the above.
  Worker emitter_;  // gets jobs from the other
  Worker worker_;
};

}  // namespace ww::lsp
