#include <algorithm>
#include <array>
#include <string_view>

#include "frontend/site_inserter.h"

namespace telltale::instrument {
namespace {

// Temporaries of the original's front end and of some C libraries' macros have no sites
// (docs/formats/sampler.md).
constexpr std::array<std::string_view, 9> kIgnoredLocals = {
    "tmp", "__result", "__s", "__s1", "__s1_len", "__s2", "__s2_len", "__u", "__c"};
constexpr std::array<std::string_view, 4> kIgnoredGlobals = {"gdk_debug_level", "gdk_show_events",
                                                             "gdk_stack_trace", "sys_nerr"};
// Thread-local in C libraries: a program that declares them as plain variables, as old ones do,
// links only if it does not use them.
constexpr std::array<std::string_view, 2> kThreadLocalInLibc = {"errno", "h_errno"};

bool is_one_of(llvm::ArrayRef<std::string_view> names, llvm::StringRef name) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view one) { return name == llvm::StringRef(one); });
}

bool is_ignored(const clang::VarDecl& variable) {
  const llvm::StringRef name = variable.getName();
  if (variable.hasGlobalStorage())
    return name.starts_with("cbi_") || is_one_of(kIgnoredGlobals, name);
  return name.starts_with("__cil_tmp") || is_one_of(kIgnoredLocals, name);
}

// Can the variable be read without a call and without a visible effect?
bool can_be_read(const clang::VarDecl& variable, const clang::ASTContext& context) {
  if (variable.getType().isVolatileQualified() || variable.getType()->isReferenceType())
    return false;
  if (variable.getName().empty() || is_ignored(variable)) return false;
  if (variable.hasGlobalStorage() && variable.getStorageClass() == clang::SC_Register) return false;
  if (variable.hasDefinition() == clang::VarDecl::DeclarationOnly &&
      is_one_of(kThreadLocalInLibc, variable.getName()))
    return false;
  const bool cxx = context.getLangOpts().CPlusPlus;
  if (variable.getTLSKind() != clang::VarDecl::TLS_None)
    return !cxx && variable.hasDefinition() != clang::VarDecl::DeclarationOnly;
  if (!cxx) return true;
  return !variable.isInline() && variable.getTemplateSpecializationKind() == clang::TSK_Undeclared;
}

bool same_type(clang::QualType left, clang::QualType right) {
  return left.getCanonicalType() == right.getCanonicalType();
}

}  // namespace

std::optional<SiteInserter::AssignedLvalue> SiteInserter::variable_lvalue(
    clang::VarDecl& variable) const {
  const clang::QualType type = variable.getType();
  if (type->isReferenceType() || is_ignored(variable)) return std::nullopt;
  if (value_kind(type, state_.context) == ValueKind::kNone) return std::nullopt;
  return AssignedLvalue{variable.hasGlobalStorage() ? "global" : "local", "direct", &variable,
                        local_name(variable), type};
}

std::optional<SiteInserter::AssignedLvalue> SiteInserter::assigned_lvalue(
    const clang::Expr& expr) const {
  const Options& options = state_.unit.options;
  if (value_kind(expr.getType(), state_.context) == ValueKind::kNone) return std::nullopt;
  AssignedLvalue left{"", "direct", nullptr, "", expr.getType()};
  const clang::Expr* base = expr.IgnoreParens();
  bool is_last = true;
  while (left.host[0] == 0) {
    const char* offset = "direct";
    if (const auto* const member = llvm::dyn_cast<clang::MemberExpr>(base)) {
      offset = "field";
      if (llvm::isa<clang::VarDecl>(member->getMemberDecl())) {
        left.host = "global";  // a static member
        offset = "direct";
      } else if (member->isArrow()) {
        left.host = "mem";
      } else {
        base = member->getBase()->IgnoreParens();
      }
    } else if (const auto* const element = llvm::dyn_cast<clang::ArraySubscriptExpr>(base)) {
      const clang::Expr* const array = element->getBase()->IgnoreParens();
      const auto* const decay = llvm::dyn_cast<clang::ImplicitCastExpr>(array);
      if (decay != nullptr && decay->getCastKind() == clang::CK_ArrayToPointerDecay) {
        offset = "index";
        base = decay->getSubExpr()->IgnoreParens();
      } else {
        left.host = "mem";
      }
    } else if (const auto* const name = llvm::dyn_cast<clang::DeclRefExpr>(base)) {
      auto* const variable =
          llvm::dyn_cast<clang::VarDecl>(const_cast<clang::ValueDecl*>(name->getDecl()));
      if (variable == nullptr || is_ignored(*variable)) return std::nullopt;
      left.host = variable->hasGlobalStorage() ? "global" : "local";
      if (is_last) left.variable = variable;
    } else if (llvm::isa<clang::UnaryOperator>(base)) {
      left.host = "mem";
    } else {
      return std::nullopt;
    }
    if (is_last) left.offset = offset;
    is_last = false;
  }
  const std::string_view host = left.host;
  const std::string_view offset = left.offset;
  if (host == "mem" && !options.assign_across_pointer) return std::nullopt;
  if (offset == "field" && !options.assign_into_field) return std::nullopt;
  if (offset == "index" && !options.assign_into_index) return std::nullopt;
  left.text = left.variable != nullptr ? local_name(*left.variable) : text(expr);
  return left;
}

void SiteInserter::add_pair(const AssignedLvalue& left, const std::string& right, const char* kind,
                            Mark& mark) {
  mark.sites.push_back(
      add_site(Scheme::kScalarPairs, {left.text, left.host, left.offset, right, kind}, left.type));
}

void SiteInserter::add_variables(const AssignedLvalue& left, const void* place, Mark& mark,
                                 std::vector<clang::VarDecl*>& variables) {
  const clang::SourceManager& sources = state_.context.getSourceManager();
  const auto add = [&](clang::VarDecl* variable, const char* kind) {
    add_pair(left, local_name(*variable), kind, mark);
    variables.push_back(variable);
    mark.operands.push_back({});
  };
  for (auto global = state_.globals.rbegin(); global != state_.globals.rend(); ++global) {
    if (!same_type((*global)->getType(), left.type) || !can_be_read(**global, state_.context))
      continue;
    if (sources.isBeforeInTranslationUnit((*global)->getLocation(), function_.getLocation()))
      add(*global, "global");
  }
  for (clang::VarDecl* const local : scope_) {
    if (local->isStaticLocal() && same_type(local->getType(), left.type) &&
        can_be_read(*local, state_.context))
      add(local, "global");
  }
  for (clang::ParmVarDecl* const formal : function_.parameters()) {
    if (!is_detached_ && same_type(formal->getType(), left.type) &&
        can_be_read(*formal, state_.context))
      add(formal, "local-init");
  }
  for (clang::VarDecl* const local : scope_) {
    if (!local->hasLocalStorage() || !same_type(local->getType(), left.type)) continue;
    if (!can_be_read(*local, state_.context)) continue;
    const Reach reach = reaching_definitions_->reach(*local, place);
    if (reach != Reach::kNothing || state_.unit.options.compare_uninitialized)
      add(local, reach == Reach::kAlways ? "local-init" : "local-uninit");
  }
}

void SiteInserter::add_constants(const AssignedLvalue& left, Mark& mark) {
  const ValueKind kind = value_kind(left.type, state_.context);
  const auto add = [&](std::int64_t number, const std::string& name) {
    add_pair(left, name, "const", mark);
    mark.operands.push_back({true, number});
  };
  if (kind == ValueKind::kPointer)
    return add(0, "(" + text_of_type(left.type, state_.context) + ")0");
  if (!state_.unit.options.compare_constants)
    return add(0, kind == ValueKind::kSigned ? "0LL" : "0ULL");
  // All constants are known at the end of the unit.
  const unsigned like =
      add_site(Scheme::kScalarPairs, {left.text, left.host, left.offset, "", "const"}, left.type);
  mark.constant_template = state_.unit.sites[like];
  state_.unit.sites.pop_back();
}

clang::Expr* SiteInserter::add_pair_mark(clang::Expr* value, const AssignedLvalue& left,
                                         const void* place) {
  Mark mark;
  mark.scheme = Scheme::kScalarPairs;
  std::vector<clang::VarDecl*> variables;
  add_variables(left, place, mark, variables);
  add_constants(left, mark);
  return builder_.forward(finish_mark(std::move(mark)), value, variables);
}

clang::Expr* SiteInserter::add_assignment_marks(clang::Expr* value, const AssignedLvalue& left,
                                                const void* place) {
  const ValueKind kind = value_kind(left.type, state_.context);
  if (kind == ValueKind::kNone || value_kind(value->getType(), state_.context) != kind)
    return value;
  if (kind == ValueKind::kFloat) {
    if (!is_enabled(Scheme::kFloatKinds)) return value;
    return builder_.forward(
        add_mark(Scheme::kFloatKinds, {left.text, left.host, left.offset}, left.type), value);
  }
  if (is_enabled(Scheme::kScalarPairs) && reaching_definitions_)
    value = add_pair_mark(value, left, place);
  if (is_enabled(Scheme::kBounds))
    value = builder_.forward(
        add_mark(Scheme::kBounds, {left.text, left.host, left.offset}, left.type), value);
  return value;
}

void SiteInserter::instrument_assignment(clang::BinaryOperator& expr) {
  const Target target = store_target(*expr.getLHS());
  instrument_children(expr, Use::kValue);
  expr.setRHS(add_store_marks(expr.getRHS(), target, &expr));
}

void add_constant_sites(InserterState& state) {
  for (Mark& mark : state.unit.marks) {
    if (!mark.constant_template) continue;
    const bool is_signed = mark.constant_template->kind == ValueKind::kSigned;
    for (const std::int64_t number : state.constants) {
      Site site = *mark.constant_template;
      site.fields[3] = is_signed ? std::to_string(number) + "LL"
                                 : std::to_string(static_cast<std::uint64_t>(number)) + "ULL";
      mark.sites.push_back(static_cast<unsigned>(state.unit.sites.size()));
      state.unit.sites.push_back(std::move(site));
      mark.operands.push_back({true, number});
    }
  }
}

}  // namespace telltale::instrument
