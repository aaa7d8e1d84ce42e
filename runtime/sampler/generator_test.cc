#include "generator.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "abi.h"
#include "formats/sampler/wire.h"

namespace telltale::sampler {
namespace {

TEST(Generator, DrawsWhatTheCLibraryWouldDraw) {
  uint64_t state = 0x123456789abc;
  std::array<unsigned short, 3> words = {0x9abc, 0x5678, 0x1234};
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(draw_uniform(state), ::erand48(words.data()));
}

TEST(Generator, GeometricNumbersFollowTheirDefinition) {
  // P(n > k) = (1 - 1/s)^k: the k-th threshold of u is where n steps from k to k + 1.
  for (int k = 1; k < 50; ++k) {
    const double edge = std::pow(0.9, k);
    EXPECT_EQ(geometric_countdown(edge * 1.0000001, log_of_passing(10)), k);
    EXPECT_EQ(geometric_countdown(edge * 0.9999999, log_of_passing(10)), k + 1);
  }
  EXPECT_EQ(geometric_countdown(0.5, log_of_passing(1)), 1);
  EXPECT_EQ(geometric_countdown(1e-300, log_of_passing(1)), 1);
  EXPECT_EQ(geometric_countdown(1e-300, log_of_passing(1e18)), 0x3fffffff);
}

// As the definition has it, but for a share of 1e-5 around each threshold.
TEST(Geometric, NumbersFollowTheDefinition) {
  constexpr auto kAll = static_cast<double>(kUniformModulus);
  for (const double mean : {1.0, 1.01, 1.5, 2.0, 2.5, 8.0, 125.0, 1000.0, 1e6}) {
    const Geometric distance(mean);
    for (int k = 1; k < 100; ++k) {
      const double edge = std::pow(1 - 1 / mean, k) * kAll;
      if (edge < 1e7) break;  // 48 bits know it no better
      const double above = std::min(edge * (1 + 1e-5), kAll - 1);
      EXPECT_LE(distance.of(static_cast<uint64_t>(above)), k) << mean;
      EXPECT_GT(distance.of(static_cast<uint64_t>(edge * (1 - 1e-5))), k) << mean;
    }
  }
  EXPECT_EQ(Geometric().of(1), 1);
  EXPECT_EQ(Geometric(1).of(kUniformModulus - 1), 1);
  EXPECT_EQ(Geometric(1e18).of(1), Geometric::kMost);
  EXPECT_EQ(Geometric(1e18).mean(), Geometric::kMost);
}

TEST(Generator, ASeedGivesTheSameCountdownsAgain) {
  Settings settings;
  set_sparsity(settings, 50);
  settings.has_seed = true;
  settings.seed = 99;
  Generator one;
  Generator other;
  double sum = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const int32_t number = one.draw(settings, settings.regions[0]);
    EXPECT_EQ(number, other.draw(settings, settings.regions[0]));
    EXPECT_GE(number, 1);
    sum += number;
  }
  // Four standard deviations of the mean, which is 50; the seed is fixed.
  EXPECT_NEAR(sum / kDraws, 50, 4 * std::sqrt(50 * 49.0 / kDraws));
}

// How often each of 16 equally likely classes comes: chi-square of 15 degrees of freedom, and four
// standard deviations above its mean.
void expect_uniform(const std::array<unsigned, 16>& classes) {
  double all = 0;
  for (const unsigned count : classes) all += count;
  double squares = 0;
  for (const unsigned count : classes) squares += std::pow(count - all / 16, 2) / (all / 16);
  EXPECT_LT(squares, 15 + 4 * std::sqrt(2 * 15.0));
}

TEST(Generator, SeedsThatAreCountedOffBeginIndependently) {
  constexpr uint64_t kSeeds = 4096;
  std::array<unsigned, 16> first{};
  std::array<unsigned, 16> second{};
  std::array<unsigned, 16> steps{};
  double before = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    uint64_t state = begin_uniform(seed);
    const double uniform = draw_uniform(state);
    ++first[static_cast<std::size_t>(uniform * 16)];
    ++second[static_cast<std::size_t>(draw_uniform(state) * 16)];
    // From one seed to the next, round the circle.
    ++steps[static_cast<std::size_t>((uniform - before + (uniform < before ? 1 : 0)) * 16)];
    before = uniform;
  }
  for (const auto& classes : {first, second, steps}) expect_uniform(classes);
}

// Turns for one call in t, and one region in s / t of such calls, are one region in s.
TEST(Generator, TurnsAndWhatIsObservedInThemMakeUpTheSparsity) {
  for (const double sparsity : {2.0, 8.0, 20.0, 1000.0, 1e6}) {
    Settings settings;
    set_sparsity(settings, sparsity);
    settings.has_seed = true;
    settings.seed = 7;
    Generator generator;
    constexpr int kDraws = 20000;
    const auto expect_mean = [&](double mean, const Geometric& distance) {
      double sum = 0;
      for (int i = 0; i < kDraws; ++i) sum += generator.draw(settings, distance);
      EXPECT_NEAR(sum / kDraws, mean, 4 * mean / std::sqrt(kDraws));
    };
    for (uint32_t stage = 0; stage < kStages; ++stage) {
      const double calls =
          stage == 0 ? 1 : std::max(1.0, std::min(sparsity / 8, 4 * std::exp2(stage)));
      expect_mean(calls, settings.calls[stage]);
      expect_mean(sparsity / calls, settings.regions[stage]);
    }
  }
}

TEST(Generator, DrawsNothingUnlessAsked) {
  Generator generator;
  Settings settings;
  EXPECT_EQ(generator.draw(settings, settings.regions[0]), 0);
  settings.random = kOffline;
  EXPECT_EQ(generator.draw(settings, settings.regions[0]), 0);
}

TEST(Generator, PutsOffWhatIsAskedBeforeAnyUnitIsThere) {
  ASSERT_EQ(settings(), nullptr) << "another test of this process has read them";
  EXPECT_EQ(static_cast<int32_t>(telltale_sampler_next(0)), kUnset);
  RegionCountdown countdown = {kUnset, 0};
  EXPECT_EQ(telltale_sampler_region_due_v1(&countdown), 0U);
  EXPECT_EQ(countdown.left, 0);  // code that goes on from here has one region to pass
  CallCounter turn = {};
  EXPECT_EQ(telltale_sampler_turn_v1(&turn), 0U);
  EXPECT_EQ(turn.left, 0);
}

std::array<uint64_t, 20> draw_by(uint64_t (*next)(int32_t)) {
  std::array<uint64_t, 20> drawn{};
  for (uint64_t& one : drawn) one = next(kUnset);
  return drawn;
}

// What the child of a fork draws, in which `prepare` runs first.
std::array<uint64_t, 20> draw_in_child(uint64_t (*next)(int32_t), void (*prepare)()) {
  std::array<uint64_t, 20> drawn{};
  int ends[2];
  if (::pipe(ends) != 0) return drawn;
  const pid_t child = ::fork();
  if (child == 0) {
    prepare();
    drawn = draw_by(next);
    ::_exit(::write(ends[1], drawn.data(), sizeof(drawn)) == sizeof(drawn) ? 0 : 1);
  }
  ::close(ends[1]);
  EXPECT_EQ(::read(ends[0], drawn.data(), sizeof(drawn)), static_cast<ssize_t>(sizeof(drawn)));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return drawn;
}

TEST(Generator, AChildDrawsOtherCountdownsThanItsParent) {
  ASSERT_EQ(settings(), nullptr) << "another test of this process has read them";
  ::setenv("SAMPLER_SPARSITY", "50", 1);
  ::setenv("SAMPLER_SEED", "99", 1);
  read_settings();
  for (const auto next : {telltale_sampler_next, telltale_sampler_next_r}) {
    draw_by(next);  // the generator has begun when the process is copied
    const auto copied = draw_in_child(next, [] {});
    count_fork();
    const auto first = draw_in_child(next, restart_generators);
    count_fork();
    const auto second = draw_in_child(next, restart_generators);
    const auto parents = draw_by(next);
    EXPECT_EQ(copied, parents) << "a copy goes on as the parent does";
    EXPECT_NE(first, parents);
    EXPECT_NE(second, parents);
    EXPECT_NE(first, second);
  }
}

// Two threads fork at once: both are counted before either child exists.
TEST(Generator, ChildrenThatThreadsForkAtOnceDrawOtherCountdowns) {
  ASSERT_EQ(settings(), nullptr) << "another test of this process has read them";
  ::setenv("SAMPLER_SPARSITY", "50", 1);
  ::setenv("SAMPLER_SEED", "99", 1);
  read_settings();
  std::array<uint64_t, 20> drawn[2];
  std::thread([&] {
    count_fork();
    std::thread([&] {
      count_fork();
      drawn[1] = draw_in_child(telltale_sampler_next, restart_generators);
    }).join();
    drawn[0] = draw_in_child(telltale_sampler_next, restart_generators);
  }).join();
  EXPECT_NE(drawn[0], drawn[1]);
}

// The system call fails with EPERM from now on, as in a sandbox.
bool refuse(uint32_t system_call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, system_call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {4, program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// The first countdowns of many processes that start at the same moment, with random seeds;
// `prepare` runs in each of them first.
std::set<std::array<uint64_t, 20>> draw_in_processes(int count, void (*prepare)()) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  std::vector<pid_t> processes;
  for (int i = 0; i < count; ++i) {
    processes.push_back(::fork());
    if (processes.back() != 0) continue;
    prepare();
    const auto drawn = draw_by(telltale_sampler_next);
    ::_exit(::write(ends[1], drawn.data(), sizeof(drawn)) == sizeof(drawn) ? 0 : 1);
  }
  ::close(ends[1]);
  std::set<std::array<uint64_t, 20>> all;
  std::array<uint64_t, 20> drawn{};
  while (::read(ends[0], drawn.data(), sizeof(drawn)) == static_cast<ssize_t>(sizeof(drawn)))
    all.insert(drawn);
  ::close(ends[0]);
  for (const pid_t process : processes) {
    int status = 0;
    EXPECT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
  return all;
}

TEST(Generator, ProcessesWithoutASeedDrawDifferentCountdowns) {
  ASSERT_EQ(settings(), nullptr) << "another test of this process has read them";
  ::setenv("SAMPLER_SPARSITY", "1000", 1);
  ::unsetenv("SAMPLER_SEED");
  read_settings();
  constexpr int kProcesses = 100;
  EXPECT_EQ(draw_in_processes(kProcesses, [] {}).size(), std::size_t{kProcesses});
  const auto without_descriptors = draw_in_processes(kProcesses, [] {
    const rlimit none = {0, 0};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) ::_exit(1);
  });
  EXPECT_EQ(without_descriptors.size(), std::size_t{kProcesses});
}

TEST(Generator, ProcessesDrawDifferentCountdownsWithoutRandomNumbersOfTheKernel) {
  ASSERT_EQ(settings(), nullptr) << "another test of this process has read them";
  ::setenv("SAMPLER_SPARSITY", "1000", 1);
  ::unsetenv("SAMPLER_SEED");
  read_settings();
  constexpr int kProcesses = 100;
  const auto drawn = draw_in_processes(kProcesses, [] {
    if (!refuse(SYS_getrandom) || !refuse(SYS_openat)) ::_exit(1);
    uint64_t number = 0;
    if (::syscall(SYS_getrandom, &number, sizeof(number), 0) != -1) ::_exit(2);
  });
  EXPECT_EQ(drawn.size(), std::size_t{kProcesses});
}

// With no environment set, every countdown that comes back says "not now".
TEST(Pairs, PassAllSitesOfAGroup) {
  read_settings();
  std::vector<uint64_t> counters(9);
  SiteGroup group = {};
  group.counters = counters.data();
  group.sites = 3;
  const std::array<uint64_t, 3> operands = {1, 2, 3};
  EXPECT_EQ(telltale_sampler_pairs_v1(10, &group, 2, operands.data()), 7);
  EXPECT_EQ(telltale_sampler_pairs_v1(4, &group, 2, operands.data()), 1);
  EXPECT_EQ(telltale_sampler_pairs_v1(3, &group, 2, operands.data()), 0x7fffffff);
  EXPECT_EQ(telltale_sampler_pairs_v1(kUnset, &group, 2, operands.data()), 0x7fffffff - 2);
  EXPECT_EQ(counters, std::vector<uint64_t>(9));
}

}  // namespace
}  // namespace telltale::sampler
