//! The Mem0 filter language: which memories a request is about.
//!
//! A filter is parsed once ([`Filter::parse`]) and then asked about records ([`Filter::matches`]). Every
//! place for memories uses this one, so a filter means the same everywhere. Times are in [`moment`];
//! building the filters of a search is [`crate::scope::filters`].
//!
//! | written | passes when |
//! | --- | --- |
//! | `{}` | always |
//! | `{"a": …, "b": …}` | every key passes |
//! | `{"AND": […]}`, `{"OR": […]}` | all, or at least one of the list passes |
//! | `{"NOT": […]}` or `{"NOT": {…}}` | none of them passes |
//! | `{"f": "x"}`, `{"f": {"eq": "x"}}` | the field equals `x`, or is a list that holds it; `null` = absent |
//! | `{"f": "*"}` | the field is not null |
//! | `{"f": {"ne": "x"}}` | the opposite of `eq`; true for absent fields |
//! | `{"f": {"in": […]}}` | equal to one of the list |
//! | `{"f": {"contains": "x"}}` | a list with the element, or a text with the part (never for entity ids) |
//! | `{"f": {"icontains": "x"}}` | the same, whatever the case |
//! | `{"f": {"gt": …}}` `gte` `lt` `lte` | numbers by value, texts by code point, `created_at` and `updated_at` by time |
//! | `{"metadata": {"k": …}}` | the same, one level down, to any depth |
//!
//! Invariant: parsing never recurses deeper than [`MAX_DEPTH`] and never keeps more than [`MAX_LEAVES`] values.

mod moment;
mod record;

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

pub use moment::Moment;
pub use record::Record;

/// Deepest nesting a filter may have.
pub const MAX_DEPTH: usize = 64;
/// Most values a filter may compare with, members of `in` lists included.
pub const MAX_LEAVES: usize = 200_000;

/// A parsed filter.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// Passes every record.
    All,
    /// Passes when every part does; an empty list passes.
    And(Vec<Filter>),
    /// Passes when at least one part does; an empty list does not.
    Or(Vec<Filter>),
    /// Passes when the part does not.
    Not(Box<Filter>),
    /// Passes when the field passes the test.
    Field {
        /// The field's name, then the keys below it.
        path: Vec<String>,
        /// What is asked of it.
        test: Test,
    },
}

/// What a filter asks of one field.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// It is there and not null.
    Present,
    /// It equals the value, or is a list that holds it.
    Is(Operand),
    /// It equals one of the values, or is a list that holds one.
    In(Members),
    /// It is a list with this element, or a text with this part.
    Contains(Value),
    /// [`Test::Contains`], both sides in lower case.
    ContainsIgnoringCase(String),
    /// It is ordered so against the value.
    Compare(Order, Operand),
}

/// An order relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Above.
    Gt,
    /// Above or equal.
    Gte,
    /// Below.
    Lt,
    /// Below or equal.
    Lte,
}

/// A value to compare with; for the time fields also the time it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Operand {
    /// As written.
    pub value: Value,
    /// The time, when the field holds times and the value is one.
    pub moment: Option<Moment>,
}

/// The values of an `in` list. Texts are looked up, so 40,000 ids cost no more than one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Members {
    /// The texts.
    pub texts: HashSet<String>,
    /// Everything else, and texts that are times of a time field.
    pub others: Vec<Operand>,
}

/// Why a filter was refused. `path` leads to the place inside it, such as `AND[1].created_at.gte`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// A value has the wrong type or form for its place.
    #[error("filter: {path} must be {expected}")]
    Expected {
        /// Where.
        path: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// A field's condition names an operator nobody knows.
    #[error("filter: {path} is not an operator (known: {})", OPERATORS.join(", "))]
    UnknownOperator {
        /// Where.
        path: String,
    },
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("filter: {path} is nested deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Where.
        path: String,
    },
    /// More than [`MAX_LEAVES`] values.
    #[error("filter: {path} is beyond the limit of {MAX_LEAVES} values")]
    TooLarge {
        /// Where.
        path: String,
    },
}

/// The operators a field's condition may use.
const OPERATORS: [&str; 9] = ["in", "contains", "icontains", "eq", "ne", "gt", "gte", "lt", "lte"];
/// Fields that hold times.
const TIMES: [&str; 2] = ["created_at", "updated_at"];
/// Fields that hold entity ids: exact only, so that no partial id ever widens a scope.
const ENTITIES: [&str; 4] = ["user_id", "agent_id", "app_id", "run_id"];

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// [`FilterError`] when it is not in the language or beyond its limits.
    pub fn parse(value: &Value) -> Result<Self, FilterError> {
        let mut parser = Parser { trail: Vec::new(), fields: Vec::new(), leaves: 0 };
        parser.object(value)
    }

    /// Tells whether a record passes.
    pub fn matches(&self, record: &dyn Record) -> bool {
        match self {
            Self::All => true,
            Self::And(parts) => parts.iter().all(|part| part.matches(record)),
            Self::Or(parts) => parts.iter().any(|part| part.matches(record)),
            Self::Not(part) => !part.matches(record),
            Self::Field { path, test } => test.matches(path, record::lookup(record, path).as_deref()),
        }
    }

    /// Returns a field the filter asks about that no memory has: such a filter lets nothing through, or with `NOT`
    /// everything, and is hardly ever meant.
    pub fn unknown_field(&self) -> Option<&str> {
        self.field_names().into_iter().find(|name| !record::MEMORY_FIELDS.contains(name))
    }

    /// Returns the fields the filter asks about, without what is below them.
    pub fn field_names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.collect_names(&mut names);
        names
    }

    fn collect_names<'a>(&'a self, names: &mut BTreeSet<&'a str>) {
        match self {
            Self::All => {}
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.collect_names(names)),
            Self::Not(part) => part.collect_names(names),
            Self::Field { path, .. } => names.extend(path.first().map(String::as_str)),
        }
    }

    /// All of the parts, without needless wrapping.
    fn all_of(mut parts: Vec<Self>) -> Self {
        match parts.len() {
            0 => Self::All,
            1 => parts.remove(0),
            _ => Self::And(parts),
        }
    }
}

impl Test {
    fn matches(&self, path: &[String], field: Option<&Value>) -> bool {
        let field = field.unwrap_or(&Value::Null);
        match self {
            Self::Present => !field.is_null(),
            Self::Is(operand) => any_element(field, |element| operand.equals(element)),
            Self::In(members) => any_element(field, |element| members.hold(element)),
            Self::Contains(part) => match (field, part) {
                (Value::Array(elements), _) => elements.iter().any(|element| same(element, part)),
                (Value::String(text), Value::String(part)) => !is_entity(path) && text.contains(part.as_str()),
                _ => false,
            },
            Self::ContainsIgnoringCase(part) => match field {
                Value::Array(elements) => {
                    elements.iter().filter_map(Value::as_str).any(|element| element.to_lowercase() == *part)
                }
                Value::String(text) => !is_entity(path) && text.to_lowercase().contains(part.as_str()),
                _ => false,
            },
            Self::Compare(order, operand) => operand.orders(*order, field),
        }
    }
}

impl Operand {
    fn equals(&self, field: &Value) -> bool {
        if let (Some(moment), Some(time)) = (&self.moment, field.as_str().and_then(Moment::parse)) {
            return moment.holds(time.start());
        }
        same(&self.value, field)
    }

    fn orders(&self, order: Order, field: &Value) -> bool {
        if let Some(moment) = &self.moment {
            return field.as_str().and_then(Moment::parse).is_some_and(|time| moment.orders(order, time.start()));
        }
        let ordering = match (field, &self.value) {
            (Value::Number(left), Value::Number(right)) => {
                left.as_f64().zip(right.as_f64()).and_then(|(l, r)| l.partial_cmp(&r))
            }
            (Value::String(left), Value::String(right)) => Some(left.as_str().cmp(right)),
            _ => None,
        };
        ordering.is_some_and(|ordering| match order {
            Order::Gt => ordering.is_gt(),
            Order::Gte => ordering.is_ge(),
            Order::Lt => ordering.is_lt(),
            Order::Lte => ordering.is_le(),
        })
    }
}

impl Members {
    fn hold(&self, field: &Value) -> bool {
        field.as_str().is_some_and(|text| self.texts.contains(text))
            || self.others.iter().any(|operand| operand.equals(field))
    }
}

fn is_entity(path: &[String]) -> bool {
    matches!(path, [name] if ENTITIES.contains(&name.as_str()))
}

/// Asks the field itself and, if it is a list, its elements.
fn any_element(field: &Value, test: impl Fn(&Value) -> bool) -> bool {
    test(field) || field.as_array().is_some_and(|elements| elements.iter().any(test))
}

/// Equality in which `1` and `1.0` are the same number.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(l), Value::Number(r)) => l == r || l.as_f64() == r.as_f64(),
        _ => left == right,
    }
}

/// Where parsing stands.
struct Parser {
    /// The way from the root, for errors.
    trail: Vec<String>,
    /// The field names that lead here: empty outside a field.
    fields: Vec<String>,
    leaves: usize,
}

impl Parser {
    /// Parses an object of conditions: the root, a member of a list, or what is below `metadata`.
    fn object(&mut self, value: &Value) -> Result<Filter, FilterError> {
        let object = value.as_object().ok_or_else(|| self.expected("an object"))?;
        let mut parts = Vec::with_capacity(object.len());
        for (key, value) in object {
            parts.push(self.within(key.clone(), |parser| parser.entry(key, value))?);
        }
        Ok(Filter::all_of(parts))
    }

    fn entry(&mut self, key: &str, value: &Value) -> Result<Filter, FilterError> {
        match key {
            "AND" => Ok(Filter::And(self.list(value)?)),
            "OR" => Ok(Filter::Or(self.list(value)?)),
            "NOT" => {
                let part = if value.is_object() { self.object(value)? } else { Filter::Or(self.list(value)?) };
                Ok(Filter::Not(Box::new(part)))
            }
            name => {
                self.fields.push(name.to_owned());
                let condition = self.condition(value);
                self.fields.pop();
                condition
            }
        }
    }

    fn list(&mut self, value: &Value) -> Result<Vec<Filter>, FilterError> {
        let items = value.as_array().ok_or_else(|| self.expected("a list of conditions"))?;
        let mut parts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            parts.push(self.within(format!("[{index}]"), |parser| {
                parser.count(1)?;
                parser.object(item)
            })?);
        }
        Ok(parts)
    }

    /// Parses what stands after a field's name.
    fn condition(&mut self, value: &Value) -> Result<Filter, FilterError> {
        let Value::Object(object) = value else {
            return match value {
                Value::Array(_) => Err(self.expected("a value or an object of operators")),
                _ => self.test("eq", value),
            };
        };
        let inside_metadata = self.fields.first().is_some_and(|name| name == "metadata");
        if inside_metadata && (self.fields.len() == 1 || !is_operators(object)) {
            return self.object(value);
        }
        if object.is_empty() {
            return Err(self.expected("a value or an object of operators"));
        }
        let mut parts = Vec::with_capacity(object.len());
        for (operator, operand) in object {
            parts.push(self.within(operator.clone(), |parser| parser.test(operator, operand))?);
        }
        Ok(Filter::all_of(parts))
    }

    fn test(&mut self, operator: &str, value: &Value) -> Result<Filter, FilterError> {
        self.count(1)?;
        let test = match operator {
            "eq" | "ne" if value == "*" => Test::Present,
            "eq" | "ne" => Test::Is(self.operand(value)),
            "in" => {
                let items = value.as_array().ok_or_else(|| self.expected("a list of values"))?;
                self.count(items.len())?;
                let mut members = Members::default();
                for item in items {
                    match (self.operand(item), item) {
                        (Operand { moment: None, .. }, Value::String(text)) => {
                            members.texts.insert(text.clone());
                        }
                        (operand, _) => members.others.push(operand),
                    }
                }
                Test::In(members)
            }
            "contains" => Test::Contains(value.clone()),
            "icontains" => match value.as_str() {
                Some(text) => Test::ContainsIgnoringCase(text.to_lowercase()),
                None => return Err(self.expected("a text")),
            },
            "gt" => Test::Compare(Order::Gt, self.comparable(value)?),
            "gte" => Test::Compare(Order::Gte, self.comparable(value)?),
            "lt" => Test::Compare(Order::Lt, self.comparable(value)?),
            "lte" => Test::Compare(Order::Lte, self.comparable(value)?),
            _ => return Err(FilterError::UnknownOperator { path: self.path() }),
        };
        let field = Filter::Field { path: self.fields.clone(), test };
        Ok(if operator == "ne" { Filter::Not(Box::new(field)) } else { field })
    }

    fn operand(&self, value: &Value) -> Operand {
        let moment = if self.at_time() { value.as_str().and_then(Moment::parse) } else { None };
        Operand { value: value.clone(), moment }
    }

    fn comparable(&self, value: &Value) -> Result<Operand, FilterError> {
        let operand = self.operand(value);
        if self.at_time() && operand.moment.is_none() {
            return Err(self.expected("a time (RFC 3339), or a date with or without an offset"));
        }
        if !matches!(value, Value::String(_) | Value::Number(_)) {
            return Err(self.expected("a number or a text"));
        }
        Ok(operand)
    }

    fn at_time(&self) -> bool {
        matches!(self.fields.as_slice(), [name] if TIMES.contains(&name.as_str()))
    }

    fn within<T>(
        &mut self,
        step: String,
        parse: impl FnOnce(&mut Self) -> Result<T, FilterError>,
    ) -> Result<T, FilterError> {
        self.trail.push(step);
        if self.trail.len() > MAX_DEPTH {
            return Err(FilterError::TooDeep { path: self.path() });
        }
        let parsed = parse(self)?;
        self.trail.pop();
        Ok(parsed)
    }

    fn count(&mut self, leaves: usize) -> Result<(), FilterError> {
        self.leaves = self.leaves.saturating_add(leaves);
        if self.leaves > MAX_LEAVES { Err(FilterError::TooLarge { path: self.path() }) } else { Ok(()) }
    }

    fn expected(&self, expected: &'static str) -> FilterError {
        FilterError::Expected { path: self.path(), expected }
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.trail {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.extend(step.chars().take(80));
        }
        if path.is_empty() { "the filter".to_owned() } else { path }
    }
}

fn is_operators(object: &Map<String, Value>) -> bool {
    !object.is_empty() && object.keys().all(|key| OPERATORS.contains(&key.as_str()))
}

#[cfg(test)]
mod tests;
