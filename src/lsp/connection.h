// SPDX-License-Identifier: Apache-2.0
// The way to the client: what it can do, and the messages that it is sent. One lock covers all
// that the server knows and sends, so messages leave in the order in which things happen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "lsp/analysis.h"
#include "lsp/documents.h"
#include "lsp/protocol.h"

namespace ww::lsp {

// --- client --------------------------------------------------------------------------------------
//
// What the client said it can do, and a question about a place of a document.

struct ClientFeatures {
  Encoding encoding = Encoding::Utf16;
  bool has_markdown = false;  // in hovers
  bool has_pictures = false;  // in Markdown: it says how it renders that, or asked for pictures
  bool has_related_places = false;        // of diagnostics
  bool shows_documents = false;           // window/showDocument
  std::vector<std::string> folders = {};  // of the workspace, where modules are looked for

  /// From the parameters of `initialize`.
  static ClientFeatures of(const Json& params);
};

/// A question about a document that has been analysed.
struct Question {
  const std::string& uri;
  const Analysis& analysis;
  const ClientFeatures& client;

  [[nodiscard]] Json range(Span span) const {
    return range_json(*analysis.text, span, client.encoding);
  }
};

/// As the protocol numbers them.
enum class MessageType : std::uint8_t { Error = 1, Warning = 2, Info = 3 };

class Connection {
 public:
  /// Gets each message, from several threads, one at a time.
  using Send = std::function<void(const Json& message)>;
  /// `version` is of the program.
  Connection(std::string version, Send send)
      : version_(std::move(version)), send_(std::move(send)) {}

  /// Hold it while you call the functions below.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  /// What every client can do, until `initialize` has said more.
  [[nodiscard]] const ClientFeatures& client() const { return client_; }
  void set_client(ClientFeatures client) { client_ = std::move(client); }

  void respond(const Json& id, Json result);
  void refuse(const Json& id, ErrorCode code, std::string_view text);
  void notify(std::string_view method, Json params);
  /// A request with a number of its own; its response changes nothing here.
  void ask(std::string_view method, Json params);
  void say(MessageType type, std::string_view text);  // window/showMessage
  void log(MessageType type, std::string_view text);  // window/logMessage
  /// Says that something failed which cannot fail, and that it is our fault.
  void say_bug(std::string_view what);

 private:
  std::string version_;
  Send send_;
  std::mutex mutex_;
  ClientFeatures client_;
  int requests_ = 0;  // that were sent
};

}  // namespace ww::lsp
