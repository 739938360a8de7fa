// SPDX-License-Identifier: Apache-2.0
// Temporary files and folders, and child programs, which must not outlive this process. Each is
// registered while it exists. A program that calls clean_up_on_signals() removes all of them before
// a signal ends it; without that call registering costs nothing and does nothing, because a library
// must leave signals to the program it is part of.
#pragma once

#include <list>
#include <string>

namespace ww {

/// One thing to take away, registered from construction to destruction.
class Leftover {
 public:
  static Leftover file(std::string path);
  /// With all it holds.
  static Leftover folder(std::string path);
  /// A process group, by the id of its first process, which is a child of this process and must
  /// not be reaped before the object is gone.
  static Leftover process_group(int id);

  Leftover(Leftover&& other) noexcept;
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;
  Leftover& operator=(Leftover&&) = delete;
  ~Leftover();

 private:
  struct Entry {
    enum class Kind { File, Folder, ProcessGroup } kind;
    std::string path;
    int process = 0;
    int owner = 0;  // the process that registered it: one that fork() makes has a copy of the list
  };
  friend class Leftovers;
  using Place = std::list<Entry>::iterator;

  explicit Leftover(Entry entry);

  Place place_;
  bool is_mine_ = true;
};

/// While one exists, no signal cleans up. For the moments in which something is there and not yet
/// registered, or the other way round.
class LeftoverPause {
 public:
  LeftoverPause();
  LeftoverPause(const LeftoverPause&) = delete;
  LeftoverPause& operator=(const LeftoverPause&) = delete;
  ~LeftoverPause();
};

/// From here on SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU take away what is registered, then end
/// the process as they do without this. A signal that is ignored stays ignored (`nohup`). To be
/// called once, by main.
void clean_up_on_signals();
/// Whether it was.
bool cleans_up_on_signals();

}  // namespace ww
