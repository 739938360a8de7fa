// SPDX-License-Identifier: Apache-2.0
#include "eval/cta/cta.h"

#include <algorithm>

#include "eval/memory/address.h"

namespace ww::eval {
namespace {

std::uint32_t ctas_per_cluster(const Launch& launch) {
  const auto& c = launch.shape.cluster;
  return static_cast<std::uint32_t>(c[0] * c[1] * c[2]);
}

Variables make_variables(const Launch& launch) {
  const ir::Function& f = *launch.function;
  Variables out{.threads = launch.threads(), .first_row = {}, .values = {}, .trips = {}};
  std::size_t rows = 0;
  for (std::uint32_t v = 0; v < f.var_count(); ++v) {
    out.first_row.push_back(rows);
    rows += std::max<std::size_t>(1, f[ir::VarId{v}].type.lanes);
  }
  out.values.resize(rows * out.threads);
  out.trips.resize(launch.steps.loops * out.threads);
  return out;
}

}  // namespace

Cta::Cta(Run& shared, Clock& clock, std::uint32_t cta_number, std::array<std::int64_t, 3> where)
    : run(shared),
      launch(run.launch),
      f(*launch.function),
      number(cta_number),
      at(where),
      in_cluster{where[0] % launch.shape.cluster[0], where[1] % launch.shape.cluster[1],
                 where[2] % launch.shape.cluster[2]},
      order(launch.threads(), clock, cta_number % ctas_per_cluster(launch),
            ctas_per_cluster(launch)),
      races(order, clock, ctas_per_cluster(launch), launch.has_global_atomics && launch.has_fences),
      pc(launch.threads(), 0),
      status(launch.threads(), Status::Ready),
      parked(launch.threads(), 0),
      spins(launch.threads(), 0),
      alive(launch.threads()),
      vars(make_variables(launch)),
      memory(launch.roots.size()) {
  async.threads.resize(launch.threads());
  met_cluster.resize(launch.threads());
  const auto set = [&](ir::VarId var, Word value) {
    std::fill_n(vars.row(var), thread_count(), value);
  };
  for (std::uint32_t v = 0; v < f.var_count(); ++v)
    if (launch.host[v]) set(ir::VarId{v}, *launch.host[v]);
  for (std::size_t r = 0; r < launch.roots.size(); ++r) {
    const Root& root = launch.roots[r];
    const std::size_t times = root.scope == ir::Scope::Local ? thread_count() : 1;
    if (root.scope == ir::Scope::Global)
      set(f.params[root.param].var, pointer_to({static_cast<std::int32_t>(r), 0}));
    else
      memory[r] = Storage(root.bytes * times, root.granule, false);
  }
}

}  // namespace ww::eval
