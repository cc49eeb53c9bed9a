//! What `-J name=value` gives.

/// Properties by name, in the order in which they were first set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(Vec<(String, String)>);

impl Properties {
    /// Sets a property; a later value replaces an earlier one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// The value of a property.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Properties {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(entries: I) -> Self {
        let mut properties = Self::default();
        for (name, value) in entries {
            properties.insert(name, value);
        }
        properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_value_replaces_an_earlier_one_in_its_place() {
        let properties: Properties = [("a", "1"), ("b", "2"), ("a", "3")].into_iter().collect();
        assert_eq!(properties.iter().collect::<Vec<_>>(), [("a", "3"), ("b", "2")]);
        assert_eq!(properties.get("c"), None);
    }
}
