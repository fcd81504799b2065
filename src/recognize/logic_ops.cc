#include <cmath>

#include "recognize/attention.h"
#include "recognize/handlers.h"

namespace weir::recognize {
namespace {

double equal(double x, double y) { return x == y ? 1 : 0; }
double less(double x, double y) { return x < y ? 1 : 0; }
double less_or_equal(double x, double y) { return x <= y ? 1 : 0; }
double greater(double x, double y) { return x > y ? 1 : 0; }
double greater_or_equal(double x, double y) { return x >= y ? 1 : 0; }
double conjunction(double x, double y) { return x != 0 && y != 0 ? 1 : 0; }
double disjunction(double x, double y) { return x != 0 || y != 0 ? 1 : 0; }
double exclusion(double x, double y) { return (x != 0) != (y != 0) ? 1 : 0; }

template <double (*f)(double, double)>
Outputs compared(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Constant* a, call.constant(0));
  WEIR_ASSIGN_OR_RETURN(const Constant* b, call.constant(1));
  WEIR_ASSIGN_OR_RETURN(Constant made, combined(*a, *b, DataType::kBool, f));
  return one(Value(std::move(made)));
}

Outputs negation(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Constant* x, call.constant(0));
  return one(Value(x->mapped(DataType::kBool, [](double v) { return v == 0 ? 1.0 : 0.0; })));
}

Outputs is_nan(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* x, call.value(0));
  if (const auto* constant = std::get_if<Constant>(x)) {
    return one(Value(constant->mapped(DataType::kBool, [](double v) { return std::isnan(v) ? 1.0 : 0.0; })));
  }
  WEIR_ASSIGN_OR_RETURN(const View* view, call.view(0));
  if (!view->is_plain()) return unsupported("a test for NaN of elements in another order");
  return one(Value(call.make(IsNan{view->of}, view->dims)));
}

Result<Value> chosen_constants(const Constant& condition, const Constant& yes, const Constant& no) {
  // Numbers of one side where the condition holds, NaN elsewhere, would lose NaN; so pairs are packed one by one.
  WEIR_ASSIGN_OR_RETURN(const Constant both, combined(yes, no, yes.type(), [](double x, double) { return x; }));
  const auto dims = broadcast_dims(condition.dims(), both.dims());
  if (!dims) return unsupported("shapes that do not fit");
  Constant::Numbers columns[3];
  const Constant* parts[3] = {&condition, &yes, &no};
  for (int i = 0; i < 3; ++i) {
    const auto selection = broadcast(parts[i]->dims(), *dims);
    if (!selection) return unsupported("a result of shape " + dims_text(*dims));
    WEIR_ASSIGN_OR_RETURN(const Constant small, parts[i]->selected(*selection).small());
    columns[i] = small.numbers();
  }
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    if (columns[0][i] == 0) columns[1][i] = columns[2][i];
  }
  return Value(Constant(yes.type(), *dims, std::move(columns[1])));
}

/// Where(IsNaN(x), 0, x): exporters guard rows without any token so.
std::optional<Value> guarded(const Value& condition, const Value& yes, const Value& no) {
  const auto* test = std::get_if<View>(&condition);
  const auto* constant = std::get_if<Constant>(&yes);
  const auto* x = std::get_if<View>(&no);
  if (test == nullptr || constant == nullptr || x == nullptr) return std::nullopt;
  const auto* nan = test->of->as<IsNan>();
  if (nan == nullptr || nan->x != x->of || !x->is_plain() || constant->single() != 0.0) return std::nullopt;
  return Value(*x);
}

Outputs where(const Call& call) {
  WEIR_ASSIGN_OR_RETURN(const Value* condition, call.value(0));
  WEIR_ASSIGN_OR_RETURN(const Value* yes, call.value(1));
  WEIR_ASSIGN_OR_RETURN(const Value* no, call.value(2));
  if (const auto same = guarded(*condition, *yes, *no)) return one(*same);
  WEIR_ASSIGN_OR_RETURN(const Constant* test, call.constant(0));
  const auto* yes_constant = std::get_if<Constant>(yes);
  const auto* no_constant = std::get_if<Constant>(no);
  if (yes_constant != nullptr && no_constant != nullptr) {
    return one(chosen_constants(*test, *yes_constant, *no_constant));
  }
  const Constant* fill = yes_constant != nullptr ? yes_constant : no_constant;
  if (fill == nullptr) return unsupported("a choice between " + kind_text(*yes) + " and " + kind_text(*no));
  const auto* scores = std::get_if<View>(yes_constant != nullptr ? no : yes);
  if (scores == nullptr || scores->of->as<Scores>() == nullptr) {
    return unsupported("a choice between " + kind_text(*yes) + " and " + kind_text(*no));
  }
  // As what is added to the scores: nothing, or the number that takes their place.
  const Value nothing = Constant::scalar(fill->type(), 0);
  const Constant& zero = std::get<Constant>(nothing);
  const bool fills_where_true = yes_constant != nullptr;
  WEIR_ASSIGN_OR_RETURN(const Value mask,
                        chosen_constants(*test, fills_where_true ? *fill : zero, fills_where_true ? zero : *fill));
  return one(masked_scores(call, *scores, std::get<Constant>(mask)));
}

constexpr Handler kHandlers[] = {
    {"Equal", compared<equal>},
    {"Less", compared<less>},
    {"LessOrEqual", compared<less_or_equal>},
    {"Greater", compared<greater>},
    {"GreaterOrEqual", compared<greater_or_equal>},
    {"And", compared<conjunction>},
    {"Or", compared<disjunction>},
    {"Xor", compared<exclusion>},
    {"Not", negation},
    {"IsNaN", is_nan},
    {"Where", where},
};

}  // namespace

std::span<const Handler> logic_handlers() { return kHandlers; }

}  // namespace weir::recognize
