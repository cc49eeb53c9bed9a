//! The way from the top of a plan to one of its values: how errors name a value before anyone needs
//! to know its line and column.

use std::borrow::Cow;
use std::rc::Rc;

/// One step of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// The value of this key of a map.
    Key(Cow<'static, str>),
    /// This element of a list, from 0.
    Index(usize),
}

/// A way down a plan. Cheap to make and to keep: paths share their beginnings.
#[derive(Debug, Clone, Default)]
pub struct Path(Option<Rc<Link>>);

#[derive(Debug)]
struct Link {
    parent: Path,
    segment: Segment,
}

impl Path {
    /// The top of the plan.
    pub fn root() -> Self {
        Self(None)
    }

    /// The value of `key` of the map here.
    #[must_use]
    pub fn key(&self, key: impl Into<Cow<'static, str>>) -> Self {
        self.then(Segment::Key(key.into()))
    }

    /// The element `index` of the list here. Where the plan has one item without brackets, this is
    /// that item.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.then(Segment::Index(index))
    }

    fn then(&self, segment: Segment) -> Self {
        Self(Some(Rc::new(Link { parent: self.clone(), segment })))
    }

    /// Whether the way begins with one of these keys.
    pub fn is_within(&self, keys: &[&str]) -> bool {
        matches!(self.segments().first(), Some(Segment::Key(key)) if keys.contains(&key.as_ref()))
    }

    /// The segments from the top.
    pub fn segments(&self) -> Vec<&Segment> {
        let mut segments = Vec::new();
        let mut here = self;
        while let Some(link) = &here.0 {
            segments.push(&link.segment);
            here = &link.parent;
        }
        segments.reverse();
        segments
    }

    /// The nearest key above or at the value; `None` at the top of the plan.
    pub fn last_key(&self) -> Option<&str> {
        let mut here = self;
        while let Some(link) = &here.0 {
            if let Segment::Key(key) = &link.segment {
                return Some(key);
            }
            here = &link.parent;
        }
        None
    }
}
