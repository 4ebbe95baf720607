use std::fmt::{self, Display, Write};
use std::marker::PhantomData;

use serde::ser::{self, Serialize, Serializer};
use serde_json::Number;

use crate::limits::{KNOWN_SECRET_BYTES_MIN, VALUE_BYTES_MAX, VALUE_DEPTH_MAX, VALUE_MEMBERS_MAX};
use crate::pass::{egress_text, egress_text_reporting};
use crate::report::Report;
use crate::snapshot_structure::{array, object, under};
use crate::snapshot_tree::{Tree, marker};
use crate::tier::Tier;

/// What a snapshot may still take.
#[derive(Debug)]
pub(crate) struct Budget {
    members: usize,
    bytes: usize,
    depth: usize,
}

impl Budget {
    pub(crate) fn full() -> Self {
        Self { members: VALUE_MEMBERS_MAX, bytes: VALUE_BYTES_MAX, depth: VALUE_DEPTH_MAX }
    }

    /// For a value that is in memory as a text already and no deeper than `depth`.
    pub(crate) fn of_text(depth: usize) -> Self {
        Self { members: usize::MAX, bytes: usize::MAX, depth }
    }

    fn take_bytes(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }

    fn take_member(&mut self) -> bool {
        let left = self.members.checked_sub(1);
        self.members = left.unwrap_or(0);
        left.is_some()
    }
}

/// Reads a value once, passing each text as it comes, so that no copy of the raw value is ever made and a value without
/// end stops at the budget.
pub(crate) struct Snapshot<'b, T: Tier> {
    budget: &'b mut Budget,
    tier: PhantomData<T>,
}

/// The value refused to be read. It carries nothing of the refusal's words, which may quote the value.
#[derive(Debug)]
pub(crate) struct Unreadable;

impl Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("read a value")
    }
}

impl std::error::Error for Unreadable {}

impl ser::Error for Unreadable {
    fn custom<M: Display>(_: M) -> Self {
        Self
    }
}

fn limit() -> Tree {
    Tree::Marker("limit")
}

impl<'b, T: Tier> Snapshot<'b, T> {
    pub(crate) fn new(budget: &'b mut Budget) -> Self {
        Self { budget, tier: PhantomData }
    }

    fn text(self, text: &str) -> Tree {
        if self.budget.take_bytes(text.len()) {
            Tree::String(egress_text::<T>(text).as_str().to_owned())
        } else {
            limit()
        }
    }

    /// A number, unless its digits are a secret's.
    fn number(number: Number) -> Tree {
        let digits = number.to_string();
        Self::digits(&digits).unwrap_or(Tree::Number(number))
    }

    /// A number that JSON readers cannot hold stands as a text.
    fn large(digits: String) -> Tree {
        Self::digits(&digits).unwrap_or(Tree::String(digits))
    }

    fn digits(digits: &str) -> Option<Tree> {
        if digits.len() < KNOWN_SECRET_BYTES_MIN {
            return None;
        }
        let mut report = Report::new();
        egress_text_reporting::<T>(digits, &mut report);
        report.findings().first().map(|finding| Tree::Marker(finding.kind))
    }

    /// One value a level down, or a marker when there is no level left.
    fn below(budget: &mut Budget, value: &(impl Serialize + ?Sized)) -> Result<Tree, Unreadable> {
        if budget.depth == 0 {
            return Ok(limit());
        }
        budget.depth -= 1;
        let read = value.serialize(Snapshot::<T>::new(budget));
        budget.depth += 1;
        read
    }

    fn variant(budget: &mut Budget, name: &str, value: Tree) -> Tree {
        let mut members = Members::<T>::open(budget);
        members.put(name, value);
        members.done()
    }
}

/// Text up to a limit; what is beyond fails.
struct Bounded {
    text: String,
    max: usize,
    full: bool,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.full |= text.len() > self.max.saturating_sub(self.text.len());
        if self.full {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// The members of an object as they come.
pub(crate) struct Members<'b, T: Tier> {
    budget: &'b mut Budget,
    members: Vec<(String, Tree)>,
    key: String,
    full: bool,
    tier: PhantomData<T>,
}

impl<'b, T: Tier> Members<'b, T> {
    fn open(budget: &'b mut Budget) -> Self {
        Self { budget, members: Vec::new(), key: String::new(), full: false, tier: PhantomData }
    }

    fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Unreadable> {
        if self.full || !self.budget.take_member() || !self.budget.take_bytes(name.len()) {
            if !self.full {
                self.members.push((marker("limit"), limit()));
                self.full = true;
            }
            return Ok(());
        }
        let read = Snapshot::<T>::below(self.budget, value)?;
        self.put(name, read);
        Ok(())
    }

    fn put(&mut self, name: &str, value: Tree) {
        let name = egress_text::<T>(name).as_str().to_owned();
        let value = under(&name, value);
        self.members.push((name, value));
    }

    fn done(self) -> Tree {
        object(self.members)
    }
}

/// The elements of an array as they come.
pub(crate) struct Elements<'b, T: Tier> {
    budget: &'b mut Budget,
    elements: Vec<Tree>,
    variant: Option<&'static str>,
    full: bool,
    tier: PhantomData<T>,
}

impl<'b, T: Tier> Elements<'b, T> {
    fn open(budget: &'b mut Budget, variant: Option<&'static str>) -> Self {
        Self { budget, elements: Vec::new(), variant, full: false, tier: PhantomData }
    }

    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Unreadable> {
        if self.full || !self.budget.take_member() {
            if !self.full {
                self.elements.push(limit());
                self.full = true;
            }
            return Ok(());
        }
        let read = Snapshot::<T>::below(self.budget, value)?;
        self.elements.push(read);
        Ok(())
    }

    fn done(self) -> Tree {
        let elements = array::<T>(self.elements);
        match self.variant {
            Some(name) => Snapshot::<T>::variant(self.budget, name, elements),
            None => elements,
        }
    }
}

/// The members of a variant's struct.
pub(crate) struct VariantMembers<'b, T: Tier> {
    name: &'static str,
    members: Members<'b, T>,
}

macro_rules! numbers {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, v: $type) -> Result<Tree, Unreadable> { Ok(Self::number(Number::from(v))) })*
    };
}

impl<'b, T: Tier> Serializer for Snapshot<'b, T> {
    type Ok = Tree;
    type Error = Unreadable;
    type SerializeSeq = Elements<'b, T>;
    type SerializeTuple = Elements<'b, T>;
    type SerializeTupleStruct = Elements<'b, T>;
    type SerializeTupleVariant = Elements<'b, T>;
    type SerializeMap = Members<'b, T>;
    type SerializeStruct = Members<'b, T>;
    type SerializeStructVariant = VariantMembers<'b, T>;

    numbers!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);

    fn serialize_bool(self, v: bool) -> Result<Tree, Unreadable> {
        Ok(Tree::Bool(v))
    }

    fn serialize_i128(self, v: i128) -> Result<Tree, Unreadable> {
        Ok(i64::try_from(v).map_or_else(|_| Self::large(v.to_string()), |v| Self::number(Number::from(v))))
    }

    fn serialize_u128(self, v: u128) -> Result<Tree, Unreadable> {
        Ok(u64::try_from(v).map_or_else(|_| Self::large(v.to_string()), |v| Self::number(Number::from(v))))
    }

    fn serialize_f32(self, v: f32) -> Result<Tree, Unreadable> {
        self.serialize_f64(f64::from(v))
    }

    fn serialize_f64(self, v: f64) -> Result<Tree, Unreadable> {
        Ok(Number::from_f64(v).map_or(Tree::Null, Self::number))
    }

    fn serialize_char(self, v: char) -> Result<Tree, Unreadable> {
        Ok(self.text(v.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, v: &str) -> Result<Tree, Unreadable> {
        Ok(self.text(v))
    }

    /// Reads what a `Display` writes, up to the budget; one that fails makes the value unreadable.
    fn collect_str<V: Display + ?Sized>(self, value: &V) -> Result<Tree, Unreadable> {
        let mut written = Bounded { text: String::new(), max: self.budget.bytes, full: false };
        let outcome = write!(written, "{value}");
        if written.full {
            self.budget.bytes = 0;
            return Ok(limit());
        }
        outcome.map_err(|_| Unreadable)?;
        Ok(self.text(&written.text))
    }

    /// Bytes are not text, so no pass can read them: they stay inside.
    fn serialize_bytes(self, _: &[u8]) -> Result<Tree, Unreadable> {
        Ok(Tree::Marker("bytes"))
    }

    fn serialize_none(self) -> Result<Tree, Unreadable> {
        Ok(Tree::Null)
    }

    fn serialize_some<V: Serialize + ?Sized>(self, value: &V) -> Result<Tree, Unreadable> {
        Self::below(self.budget, value)
    }

    fn serialize_unit(self) -> Result<Tree, Unreadable> {
        Ok(Tree::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Tree, Unreadable> {
        Ok(Tree::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Tree, Unreadable> {
        Ok(self.text(variant))
    }

    fn serialize_newtype_struct<V: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &V,
    ) -> Result<Tree, Unreadable> {
        Self::below(self.budget, value)
    }

    fn serialize_newtype_variant<V: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &V,
    ) -> Result<Tree, Unreadable> {
        let value = Self::below(self.budget, value)?;
        Ok(Self::variant(self.budget, variant, value))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'b, T>, Unreadable> {
        Ok(Elements::open(self.budget, None))
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements<'b, T>, Unreadable> {
        Ok(Elements::open(self.budget, None))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements<'b, T>, Unreadable> {
        Ok(Elements::open(self.budget, None))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements<'b, T>, Unreadable> {
        Ok(Elements::open(self.budget, Some(variant)))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'b, T>, Unreadable> {
        Ok(Members::open(self.budget))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'b, T>, Unreadable> {
        Ok(Members::open(self.budget))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<VariantMembers<'b, T>, Unreadable> {
        Ok(VariantMembers { name: variant, members: Members::open(self.budget) })
    }
}

macro_rules! elements {
    ($($trait:ident $method:ident),*) => {
        $(impl<T: Tier> ser::$trait for Elements<'_, T> {
            type Ok = Tree;
            type Error = Unreadable;

            fn $method<V: Serialize + ?Sized>(&mut self, value: &V) -> Result<(), Unreadable> {
                self.element(value)
            }

            fn end(self) -> Result<Tree, Unreadable> {
                Ok(self.done())
            }
        })*
    };
}

elements!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

impl<T: Tier> ser::SerializeMap for Members<'_, T> {
    type Ok = Tree;
    type Error = Unreadable;

    fn serialize_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), Unreadable> {
        // What JSON can write as a name: texts, numbers, truth values and unit variants.
        self.key = match Snapshot::<T>::below(self.budget, key)? {
            Tree::String(name) => name,
            Tree::Number(number) => number.to_string(),
            Tree::Bool(truth) => truth.to_string(),
            Tree::Marker(kind) => marker(kind),
            Tree::Null | Tree::Array(_) | Tree::Object(_) => return Err(Unreadable),
        };
        Ok(())
    }

    fn serialize_value<V: Serialize + ?Sized>(&mut self, value: &V) -> Result<(), Unreadable> {
        let key = std::mem::take(&mut self.key);
        self.member(&key, value)
    }

    fn end(self) -> Result<Tree, Unreadable> {
        Ok(self.done())
    }
}

impl<T: Tier> ser::SerializeStruct for Members<'_, T> {
    type Ok = Tree;
    type Error = Unreadable;

    fn serialize_field<V: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &V,
    ) -> Result<(), Unreadable> {
        self.member(name, value)
    }

    fn end(self) -> Result<Tree, Unreadable> {
        Ok(self.done())
    }
}

impl<T: Tier> ser::SerializeStructVariant for VariantMembers<'_, T> {
    type Ok = Tree;
    type Error = Unreadable;

    fn serialize_field<V: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &V,
    ) -> Result<(), Unreadable> {
        self.members.member(name, value)
    }

    fn end(self) -> Result<Tree, Unreadable> {
        let Members { budget, members, .. } = self.members;
        Ok(Snapshot::<T>::variant(budget, self.name, object(members)))
    }
}
