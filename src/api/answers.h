#pragma once

#include "analysis/call_tree.h"
#include "analysis/profile.h"
#include "import/open_recording.h"

namespace telltale {

// The answers that most verbs begin with, compiled once for each format and not in every file that
// asks for one: they are what building telltale takes longest over. A format has its lines here and
// in answers.cc.

extern template Profile compute_profile(const XrayRecording&, const ProfileOptions&, ProblemLog&);
extern template Profile compute_profile(const XrayYamlRecording&, const ProfileOptions&,
                                        ProblemLog&);
extern template Profile compute_profile(const MonoRecording&, const ProfileOptions&, ProblemLog&);
extern template Profile compute_profile(const StacktrackRecording&, const ProfileOptions&,
                                        ProblemLog&);

extern template Result<CallTreePartial> collect_call_tree(const XrayRecording&, const CallFilter&,
                                                          size_t, const CallTreeOptions&,
                                                          ProblemLog&);
extern template Result<CallTreePartial> collect_call_tree(const XrayYamlRecording&,
                                                          const CallFilter&, size_t,
                                                          const CallTreeOptions&, ProblemLog&);
extern template Result<CallTreePartial> collect_call_tree(const MonoRecording&, const CallFilter&,
                                                          size_t, const CallTreeOptions&,
                                                          ProblemLog&);
extern template Result<CallTreePartial> collect_call_tree(const StacktrackRecording&,
                                                          const CallFilter&, size_t,
                                                          const CallTreeOptions&, ProblemLog&);

}  // namespace telltale
