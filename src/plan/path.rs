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
    /// The top of this included file; before it stands the way to the step that includes it.
    File(FileId),
}

/// One of the files that a plan includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(pub(super) usize);

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

    /// The top of a file that the step here includes.
    #[must_use]
    pub fn file(&self, file: FileId) -> Self {
        self.then(Segment::File(file))
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

    /// The file in which the value stands; `None` for the plan's own.
    pub fn in_file(&self) -> Option<FileId> {
        let mut here = self;
        while let Some(link) = &here.0 {
            if let Segment::File(file) = link.segment {
                return Some(file);
            }
            here = &link.parent;
        }
        None
    }

    /// The segments from the top of the file in which the value stands.
    pub fn in_its_file(&self) -> Vec<&Segment> {
        self.by_file().pop().map(|(_, segments)| segments).unwrap_or_default()
    }

    /// The segments within each file on the way: first the plan's own, last that of the value.
    pub fn by_file(&self) -> Vec<(Option<FileId>, Vec<&Segment>)> {
        let mut parts = vec![(None, Vec::new())];
        for segment in self.segments() {
            match (segment, parts.last_mut()) {
                (Segment::File(file), _) => parts.push((Some(*file), Vec::new())),
                (_, Some((_, way))) => way.push(segment),
                (_, None) => {}
            }
        }
        parts
    }

    /// Whether this is the top of an included file.
    pub fn is_top_of_included(&self) -> bool {
        self.0.as_ref().is_some_and(|link| matches!(link.segment, Segment::File(_)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_through_included_files_is_a_way_within_each() {
        let include = Path::root().key("steps").index(2).key("include");
        let path = include.file(FileId(0)).index(1).key("include").file(FileId(4)).key("steps");
        let ways: Vec<_> =
            path.by_file().into_iter().map(|(file, way)| (file, way.len())).collect();
        assert_eq!(ways, [(None, 3), (Some(FileId(0)), 2), (Some(FileId(4)), 1)]);
        assert_eq!(path.in_file(), Some(FileId(4)));
        assert_eq!(path.in_its_file(), [&Segment::Key("steps".into())]);
        assert!(include.file(FileId(0)).is_top_of_included() && !path.is_top_of_included());
        assert_eq!(include.by_file().len(), 1);
    }
}
