#include "api/answers.h"

namespace telltale {

template Profile compute_profile(const XrayRecording&, const ProfileOptions&, ProblemLog&);
template Profile compute_profile(const XrayYamlRecording&, const ProfileOptions&, ProblemLog&);
template Profile compute_profile(const MonoRecording&, const ProfileOptions&, ProblemLog&);
template Profile compute_profile(const StacktrackRecording&, const ProfileOptions&, ProblemLog&);

template Result<CallTreePartial> collect_call_tree(const XrayRecording&, const CallFilter&, size_t,
                                                   const CallTreeOptions&, ProblemLog&);
template Result<CallTreePartial> collect_call_tree(const XrayYamlRecording&, const CallFilter&,
                                                   size_t, const CallTreeOptions&, ProblemLog&);
template Result<CallTreePartial> collect_call_tree(const MonoRecording&, const CallFilter&, size_t,
                                                   const CallTreeOptions&, ProblemLog&);
template Result<CallTreePartial> collect_call_tree(const StacktrackRecording&, const CallFilter&,
                                                   size_t, const CallTreeOptions&, ProblemLog&);

}  // namespace telltale
